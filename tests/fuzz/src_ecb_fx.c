/* Fuzz: the ecb-fx importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "ecb-fx"
#include "source.h"
