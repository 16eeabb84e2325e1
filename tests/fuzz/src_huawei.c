/* Fuzz: the huawei importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "huawei"
#include "source.h"
