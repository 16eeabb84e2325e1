/* Fuzz: the alibaba importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "alibaba"
#include "source.h"
