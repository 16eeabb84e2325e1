/* Fuzz: the digitalocean importer takes any bytes, cut anywhere. */
#define FUZZ_SOURCE "digitalocean"
#include "source.h"
