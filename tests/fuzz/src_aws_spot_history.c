/* Fuzz: the aws-spot-history importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "aws-spot-history"
#include "source.h"
