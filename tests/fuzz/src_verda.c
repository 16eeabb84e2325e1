/* Fuzz: the verda importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "verda"
#include "source.h"
