/* gzip by zlib (several members, RFC 1952) and zstd by libzstd (several frames), recognised by
 * their magic numbers. */
#include "inflate.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define OUT_BYTES     65536
#define MAGIC_BYTES   4
#define ZSTD_WINDOW27 27 /* 128 MiB: what every zstd level but --long=28 and more needs */

enum kind { KIND_UNKNOWN, KIND_PLAIN, KIND_GZIP, KIND_ZSTD };
struct unpack {
    const char *name;
    unpack_sink *sink;
    void *ctx;
    uint64_t max_bytes, out_bytes, in_bytes;
    enum kind kind;
    bool in_member; /* a gzip member or zstd frame is begun and not ended */
    char head[MAGIC_BYTES];
    size_t head_len;
    z_stream z;
    ZSTD_DStream *zs;
    unsigned char out[OUT_BYTES];
};

int unpack_new(const char *name, uint64_t max_bytes, unpack_sink *sink, void *ctx,
               struct unpack **out, struct gt_error *err)
{
    struct unpack *u = calloc(1, sizeof *u);
    if (!u) {
        return gt_fail(err, GT_ENOMEM, name, "out of memory");
    }
    u->name = name;
    u->max_bytes = max_bytes;
    u->sink = sink;
    u->ctx = ctx;
    *out = u;
    return 0;
}

void unpack_free(struct unpack *u)
{
    if (u && u->kind == KIND_GZIP) {
        inflateEnd(&u->z);
    }
    if (u && u->zs) {
        ZSTD_freeDStream(u->zs);
    }
    free(u);
}

const char *unpack_kind(const struct unpack *u)
{
    static const char *const names[] = {NULL, "plain", "gzip", "zstd"};
    return names[u->kind];
}

static int emit(struct unpack *u, const char *data, size_t len, struct gt_error *err)
{
    u->out_bytes += len;
    if (u->max_bytes != 0 && u->out_bytes > u->max_bytes) {
        return gt_fail(err, GT_ELIMIT, u->name,
                       "unpacks to more than %" PRIu64 " bytes, the limit for this source",
                       u->max_bytes);
    }
    return len > 0 ? u->sink(u->ctx, data, len, err) : 0;
}

static int open_kind(struct unpack *u, struct gt_error *err)
{
    const unsigned char *h = (const unsigned char *)u->head;
    u->kind = KIND_PLAIN;
    if (u->head_len >= 2 && h[0] == 0x1f && h[1] == 0x8b) {
        if (inflateInit2(&u->z, 15 + 16) != Z_OK) {
            return gt_fail(err, GT_ENOMEM, u->name, "out of memory");
        }
        u->kind = KIND_GZIP;
    } else if (u->head_len == 4 && h[0] == 0x28 && h[1] == 0xb5 && h[2] == 0x2f && h[3] == 0xfd) {
        u->zs = ZSTD_createDStream();
        if (!u->zs ||
            ZSTD_isError(ZSTD_DCtx_setParameter(u->zs, ZSTD_d_windowLogMax, ZSTD_WINDOW27))) {
            return gt_fail(err, GT_ENOMEM, u->name, "out of memory");
        }
        u->kind = KIND_ZSTD;
    }
    return 0;
}

static int damaged(struct unpack *u, const char *what, const char *why, struct gt_error *err)
{
    return gt_fail(err, GT_EPARSE, u->name, "damaged %s data near byte %" PRIu64 ": %s", what,
                   u->in_bytes, why ? why : "no valid stream");
}

static int feed_gzip(struct unpack *u, const char *data, size_t len, struct gt_error *err)
{
    u->z.next_in = (unsigned char *)(size_t)data; /* zlib's next_in lacks const by default */
    u->z.avail_in = (uInt)len;
    do {
        u->z.next_out = u->out;
        u->z.avail_out = OUT_BYTES;
        int rc = inflate(&u->z, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR) {
            return gt_fail(err, GT_ENOMEM, u->name, "out of memory");
        }
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
            return damaged(u, "gzip", u->z.msg, err);
        }
        size_t n = OUT_BYTES - u->z.avail_out;
        if (rc == Z_STREAM_END) {
            u->in_member = false;
            inflateReset(&u->z);
        } else if (rc == Z_OK) { /* Z_BUF_ERROR: nothing was there to do */
            u->in_member = true;
        }
        rc = emit(u, (const char *)u->out, n, err);
        if (rc != 0) {
            return rc;
        }
    } while (u->z.avail_in > 0 || u->z.avail_out == 0);
    return 0;
}

static int feed_zstd(struct unpack *u, const char *data, size_t len, struct gt_error *err)
{
    ZSTD_inBuffer in = {data, len, 0};
    bool full;
    do {
        ZSTD_outBuffer o = {u->out, OUT_BYTES, 0};
        size_t rc = ZSTD_decompressStream(u->zs, &o, &in);
        if (ZSTD_isError(rc)) {
            return damaged(u, "zstd", ZSTD_getErrorName(rc), err);
        }
        u->in_member = rc != 0;
        full = o.pos == OUT_BYTES;
        int e = emit(u, (const char *)u->out, o.pos, err);
        if (e != 0) {
            return e;
        }
    } while (in.pos < in.size || full);
    return 0;
}

static int feed_kind(struct unpack *u, const char *data, size_t len, struct gt_error *err)
{
    u->in_bytes += len;
    while (len > 0) { /* zlib counts in 32 bits */
        size_t n = len > (1u << 30) ? (1u << 30) : len;
        int rc = u->kind == KIND_GZIP   ? feed_gzip(u, data, n, err)
                 : u->kind == KIND_ZSTD ? feed_zstd(u, data, n, err)
                                        : emit(u, data, n, err);
        if (rc != 0) {
            return rc;
        }
        data += n;
        len -= n;
    }
    return 0;
}

int unpack_feed(struct unpack *u, const char *data, size_t len, struct gt_error *err)
{
    if (u->kind != KIND_UNKNOWN) {
        return feed_kind(u, data, len, err);
    }
    size_t n = MAGIC_BYTES - u->head_len;
    n = n < len ? n : len;
    memcpy(u->head + u->head_len, data, n);
    u->head_len += n;
    if (u->head_len < MAGIC_BYTES) {
        return 0;
    }
    int rc = open_kind(u, err);
    rc = rc ? rc : feed_kind(u, u->head, u->head_len, err);
    return rc ? rc : feed_kind(u, data + n, len - n, err);
}

int unpack_end(struct unpack *u, struct gt_error *err)
{
    if (u->kind == KIND_UNKNOWN && u->head_len > 0) { /* a file shorter than a magic number */
        int rc = open_kind(u, err);
        rc = rc ? rc : feed_kind(u, u->head, u->head_len, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (u->in_member) {
        return gt_fail(err, GT_EPARSE, u->name,
                       "the %s data end before their time, after byte %" PRIu64 ": a cut file",
                       unpack_kind(u), u->in_bytes);
    }
    return 0;
}
