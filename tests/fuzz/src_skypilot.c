/* Fuzz: the skypilot importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "skypilot"
#include "source.h"
