/* Fuzz: the lambda importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "lambda"
#include "source.h"
