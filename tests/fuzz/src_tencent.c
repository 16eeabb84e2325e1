/* Fuzz: the tencent importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "tencent"
#include "source.h"
