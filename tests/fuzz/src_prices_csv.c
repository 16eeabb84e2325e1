/* Fuzz: the prices-csv importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "prices-csv"
#include "source.h"
