/* Fuzz: AWS Savings Plan lists, JSON and CSV, cut anywhere. */
#define FUZZ_SOURCE "aws-savings-plan"
#include "source.h"
