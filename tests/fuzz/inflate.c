/* Fuzz: packed bytes in pieces give what they give as a whole, and of gzip zlib says the same:
 * which bytes come out, and whether the file is whole. */
#include "../../pricing/sources/inflate.h"
#include "../unit/support/by_zlib.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX (1u << 20)

static int to_buf(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    (void)err;
    return buf_add(ctx, data, len);
}

static int unpack(const char *in, size_t len, size_t step, struct buf *out, bool *gzip)
{
    struct unpack *u;
    buf_init(out, OUT_MAX + 1);
    if (unpack_new("fuzz", OUT_MAX, to_buf, out, &u, NULL)) {
        abort();
    }
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0; i += step) {
        rc = unpack_feed(u, in + i, len - i < step ? len - i : step, NULL);
    }
    rc = rc ? rc : unpack_end(u, NULL);
    const char *kind = unpack_kind(u);
    *gzip = kind && strcmp(kind, "gzip") == 0;
    unpack_free(u);
    return rc;
}

static bool equal(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, cut, peer;
    bool gzip;
    if (size < 2) {
        return 0;
    }
    const char *in = (const char *)data + 1;
    size_t len = size - 1;
    int rc = unpack(in, len, len, &whole, &gzip),
        again = unpack(in, len, 1u + data[0], &cut, &gzip);
    if (rc != again || (rc == 0 && !equal(&whole, &cut))) {
        abort();
    }
    if (gzip) {
        buf_init(&peer, 2 * OUT_MAX);
        bool ok = by_zlib(in, len, &peer, OUT_MAX);
        if (peer.len <= OUT_MAX && (ok != (rc == 0) || (ok && !equal(&whole, &peer)))) {
            abort();
        }
        buf_release(&peer);
    }
    buf_release(&whole);
    buf_release(&cut);
    return 0;
}
