/* Fuzz: the hyperstack importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "hyperstack"
#include "source.h"
