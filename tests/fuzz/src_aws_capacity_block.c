/* Fuzz: the aws-capacity-block importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "aws-capacity-block"
#include "source.h"
