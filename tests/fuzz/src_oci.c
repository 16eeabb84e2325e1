/* Fuzz: the oci importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "oci"
#include "source.h"
