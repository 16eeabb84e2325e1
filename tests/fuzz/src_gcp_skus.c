/* Fuzz: the gcp-skus importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "gcp-skus"
#include "source.h"
