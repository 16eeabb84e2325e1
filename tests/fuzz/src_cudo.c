/* Fuzz: the cudo importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "cudo"
#include "source.h"
