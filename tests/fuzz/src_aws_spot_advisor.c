/* Fuzz: the aws-spot-advisor importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "aws-spot-advisor"
#include "source.h"
