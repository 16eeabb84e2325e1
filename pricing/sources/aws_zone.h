/* Which AWS region a zone, or a code of the spot feeds, belongs to. Names and ids of zones are told
 * apart by their form and never made into one another: an account's names are its own. */
#ifndef GPUTIER_AWS_ZONE_H
#define GPUTIER_AWS_ZONE_H
#include <stdbool.h>
#include <stddef.h>

/* "us-east-1a" and "use1-az1" to us-east-1; a Local Zone is a region of its own, as in the price
 * lists: "us-west-2-lax-1a" and "usw2-lax1-az1" to us-west-2-lax-1. False: no zone. */
bool aws_zone_region(const char *zone, char out[64]);
/* The form of AWS's regions, "us-east-1" and "us-gov-west-1", and of their Local and Wavelength
 * Zones. Other vendors may have a region of that form; "us-ashburn-1" or "us-central1" have not. */
bool aws_is_region(const char *code);
/* A Local or Wavelength Zone belongs to a region: bytes of us-east-1 in us-east-1-bos-1. */
size_t aws_parent_length(const char *region);
/* Codes of the first regions in the spot feeds ("us-east", "apac-sin"); others stay as they are. */
const char *aws_feed_region(const char *code);

#endif
