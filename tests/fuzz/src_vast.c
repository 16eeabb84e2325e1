/* Fuzz: the vast importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "vast"
#include "source.h"
