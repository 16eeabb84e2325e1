/* Fuzz: the aws-spot-price importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "aws-spot-price"
#include "source.h"
