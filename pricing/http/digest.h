/* Checksums that a server states beside a body, as far as they are SHA-256. */
#ifndef GPUTIER_DIGEST_H
#define GPUTIER_DIGEST_H
#include <stdbool.h>

/* Reads one header line's name and value: Digest and Repr-Digest, Content-Digest (RFC 3230,
 * 9530) and x-amz-checksum-sha256. True and digest filled when it states the SHA-256 of the
 * whole body. */
bool digest_header(const char *name, const char *value, unsigned char digest[32]);

#endif
