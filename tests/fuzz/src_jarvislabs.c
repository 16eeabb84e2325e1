/* Fuzz: the jarvislabs importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "jarvislabs"
#include "source.h"
