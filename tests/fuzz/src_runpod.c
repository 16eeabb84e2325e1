/* Fuzz: the runpod importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "runpod"
#include "source.h"
