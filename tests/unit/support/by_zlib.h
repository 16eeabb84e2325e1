/* gzip as zlib reads it: the judge of what ISA-L unpacks, in tests and fuzzing. */
#ifndef GPUTIER_BY_ZLIB_H
#define GPUTIER_BY_ZLIB_H
#include "gputier/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

/* What zlib makes of in, all members: added to out, until that passes `most`; false: it refuses. */
static inline bool by_zlib(const char *in, size_t len, struct buf *out, size_t most)
{
    z_stream z = {.next_in = (unsigned char *)(size_t)in, .avail_in = (uInt)len};
    unsigned char piece[4096];
    int rc = inflateInit2(&z, 31);
    do {
        z.next_out = piece;
        z.avail_out = sizeof piece;
        rc = inflate(&z, Z_NO_FLUSH);
        buf_add(out, piece, sizeof piece - z.avail_out);
        if (rc == Z_STREAM_END && z.avail_in > 0) {
            rc = inflateReset(&z);
        }
    } while (rc == Z_OK && out->len <= most);
    inflateEnd(&z);
    return rc == Z_STREAM_END;
}

#endif
