/* gzip content coding by zlib (several members are allowed, as in RFC 1952). */
#include "decode.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define OUT_BYTES 65536

struct decoder {
    decode_sink *sink;
    void *ctx;
    bool gzip, in_member, any;
    z_stream z;
    unsigned char out[OUT_BYTES];
};

int decoder_new(const char *coding, decode_sink *sink, void *ctx, struct decoder **out,
                struct gt_error *err)
{
    bool gzip = strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "x-gzip") == 0;
    if (!gzip && *coding && strcasecmp(coding, "identity") != 0) {
        return gt_fail(err, GT_EUNSUPPORTED, "", "content coding \"%s\"; gzip was asked for",
                       coding);
    }
    struct decoder *d = calloc(1, sizeof *d);
    if (!d) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    d->sink = sink;
    d->ctx = ctx;
    d->gzip = gzip;
    if (gzip && inflateInit2(&d->z, 15 + 16) != Z_OK) {
        free(d);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *out = d;
    return 0;
}

/* One call of inflate and its output; 0 or an error. */
static int step(struct decoder *d, struct gt_error *err)
{
    d->z.next_out = d->out;
    d->z.avail_out = OUT_BYTES;
    int rc = inflate(&d->z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
        return gt_fail(err, rc == Z_MEM_ERROR ? GT_ENOMEM : GT_EPARSE, "", "damaged gzip data: %s",
                       d->z.msg ? d->z.msg : "no valid stream");
    }
    size_t n = OUT_BYTES - d->z.avail_out;
    if (rc == Z_STREAM_END) {
        d->in_member = false;
        inflateReset(&d->z);
    } else if (rc == Z_OK) { /* Z_BUF_ERROR: nothing was there to do */
        d->in_member = true;
    }
    return n > 0 ? d->sink(d->ctx, (const char *)d->out, n, err) : 0;
}

int decoder_feed(struct decoder *d, const char *data, size_t len, struct gt_error *err)
{
    if (!d->gzip) {
        return d->sink(d->ctx, data, len, err);
    }
    unsigned char *in = (unsigned char *)(size_t)data; /* zlib's next_in lacks const by default */
    d->z.next_in = in;
    d->z.avail_in = (uInt)len;
    d->any = d->any || len > 0;
    do {
        int rc = step(d, err);
        if (rc != 0) {
            return rc;
        }
    } while (d->z.avail_in > 0 || d->z.avail_out == 0);
    return 0;
}

int decoder_end(struct decoder *d, struct gt_error *err)
{
    if (d->gzip && (d->in_member || !d->any)) {
        return gt_fail(err, GT_EPARSE, "", "the gzip data end before their time");
    }
    return 0;
}

void decoder_free(struct decoder *d)
{
    if (d && d->gzip) {
        inflateEnd(&d->z);
    }
    free(d);
}
