/* Fuzz: the fluidstack importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "fluidstack"
#include "source.h"
