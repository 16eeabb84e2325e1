/* Fuzz: the AWS price lists of every service, JSON and CSV, cut anywhere. */
#define FUZZ_SOURCE "aws-offer"
#include "source.h"
