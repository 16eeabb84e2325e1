/* Unpacking: gzip, several gzip members, zstd and plain bytes give the text back at every chunk
 * size; every cut of a packed stream is an error; a bomb stops at the limit. */
#include "../../pricing/sources/inflate.h"
#include "gputier/buf.h"
#include "support/by_zlib.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

static int to_buf(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    (void)err;
    return buf_add(ctx, data, len);
}

static size_t gzip_of(const char *text, size_t len, char *out, size_t cap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(size_t)text;
    z.avail_in = (uInt)len;
    z.next_out = (unsigned char *)out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = cap - z.avail_out;
    deflateEnd(&z);
    return n;
}

static int run(const char *in, size_t len, size_t step, uint64_t max, struct buf *out)
{
    struct unpack *u;
    struct gt_error err = {0};
    assert_int_equal(unpack_new("t", max, to_buf, out, &u, &err), 0);
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0; i += step) {
        rc = unpack_feed(u, in + i, len - i < step ? len - i : step, &err);
    }
    rc = rc ? rc : unpack_end(u, &err);
    unpack_free(u);
    return rc;
}

static char text[20000];

static void check_all(const char *packed, size_t n, const char *want, size_t want_len)
{
    static const size_t steps[] = {1, 3, 7, 4096, 1 << 20};
    for (size_t i = 0; i < 5; i++) {
        struct buf b;
        buf_init(&b, 1 << 20);
        assert_int_equal(run(packed, n, steps[i], 0, &b), 0);
        assert_int_equal(b.len, want_len);
        assert_memory_equal(b.data, want, want_len);
        buf_release(&b);
    }
}

static void kinds_and_chunks(void **s)
{
    (void)s;
    char packed[60000], twice[40000];
    size_t n = gzip_of(text, sizeof text, packed, sizeof packed);
    check_all(packed, n, text, sizeof text);
    size_t m = gzip_of(text, sizeof text, packed + n, sizeof packed - n);
    memcpy(twice, text, sizeof text);
    memcpy(twice + sizeof text, text, sizeof text);
    check_all(packed, n + m, twice, sizeof twice);
    n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    assert_false(ZSTD_isError(n));
    check_all(packed, n, text, sizeof text);
    check_all(text, sizeof text, text, sizeof text);
    check_all("ab", 2, "ab", 2);
    check_all("(", 1, "(", 1);
}

static void cuts_are_errors(void **s)
{
    (void)s;
    char packed[30000];
    for (int zstd = 0; zstd < 2; zstd++) {
        size_t n = zstd ? ZSTD_compress(packed, sizeof packed, text, sizeof text, 3)
                        : gzip_of(text, sizeof text, packed, sizeof packed);
        for (size_t cut = zstd ? 4 : 2; cut < n; cut += cut < 64 ? 1 : 97) {
            struct buf b;
            buf_init(&b, 1 << 20);
            assert_int_equal(run(packed, cut, 512, 0, &b), GT_EPARSE);
            buf_release(&b);
        }
        packed[n / 2] = (char)(packed[n / 2] ^ 0x55);
        packed[n / 2 + 1] = (char)(packed[n / 2 + 1] ^ 0x55);
        struct buf b;
        buf_init(&b, 1 << 20);
        int rc = run(packed, n, 512, 0, &b);
        /* zstd without checksum may decode to other bytes, never to more than it says */
        assert_true(rc == GT_EPARSE || (zstd && rc == 0));
        buf_release(&b);
    }
}

static void limit(void **s)
{
    (void)s;
    char packed[30000];
    size_t n = gzip_of(text, sizeof text, packed, sizeof packed);
    struct buf b;
    buf_init(&b, 1 << 20);
    assert_int_equal(run(packed, n, 512, sizeof text - 1, &b), GT_ELIMIT);
    buf_clear(&b);
    assert_int_equal(run(packed, n, 512, sizeof text, &b), 0);
    buf_release(&b);
}

/* Another reader judges every changed byte of short members, one of them with all of the header's
 * optional parts. */
static void as_zlib_judges(void **s)
{
    (void)s;
    char packed[4000];
    size_t n = gzip_of(text, 700, packed, sizeof packed);
    z_stream z = {0};
    gz_header h = {.text = 1,
                   .time = 7,
                   .os = 3,
                   .extra = (Bytef *)packed,
                   .extra_len = 9,
                   .name = (Bytef *)(size_t) "a name",
                   .comment = (Bytef *)(size_t) "a comment",
                   .hcrc = 1};
    assert_int_equal(deflateInit2(&z, 0, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflateSetHeader(&z, &h), Z_OK);
    z.next_in = (unsigned char *)text;
    z.avail_in = 300;
    z.next_out = (unsigned char *)packed + n;
    z.avail_out = (uInt)(sizeof packed - n);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    n = sizeof packed - z.avail_out;
    deflateEnd(&z);
    n += gzip_of(text, 1, packed + n, sizeof packed - n);
    size_t refused = 0;
    for (size_t i = 2; i <= n; i++) { /* i == n: as it is */
        packed[i == n ? 0 : i] ^= (char)(i == n ? 0 : 1 << i % 8);
        struct buf want, got;
        buf_init(&want, 1 << 20);
        buf_init(&got, 1 << 20);
        bool ok = by_zlib(packed, n, &want, 1 << 20);
        assert_int_equal(run(packed, n, 1 + i % 40, 0, &got), ok ? 0 : GT_EPARSE);
        refused += !ok;
        if (ok) {
            assert_int_equal(got.len, want.len);
            assert_memory_equal(got.data, want.data, want.len);
        }
        buf_release(&want);
        buf_release(&got);
        packed[i == n ? 0 : i] ^= (char)(i == n ? 0 : 1 << i % 8);
    }
    assert_true(refused > n / 2 && refused < n);
}

int main(void)
{
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + (i * i / 7 + i / 13) % 26);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_chunks),
        cmocka_unit_test(cuts_are_errors),
        cmocka_unit_test(limit),
        cmocka_unit_test(as_zlib_judges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
