/* Fuzz: the gpuhunt importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "gpuhunt"
#include "source.h"
