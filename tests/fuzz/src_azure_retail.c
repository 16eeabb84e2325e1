/* Fuzz: the azure-retail importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "azure-retail"
#include "source.h"
