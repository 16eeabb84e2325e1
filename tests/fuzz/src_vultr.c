/* Fuzz: the vultr importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "vultr"
#include "source.h"
