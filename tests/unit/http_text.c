/* The fetch engine's pure parts: addresses (what is refused, what may be shown), retry rules,
 * Retry-After, stated checksums, SHA-256 against FIPS 180-4 examples and against itself. */
#include "../../pricing/http/digest.h"
#include "../../pricing/http/retry.h"
#include "../../pricing/http/sha256.h"
#include "../../pricing/http/sign.h"
#include "../../pricing/http/url.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RFC 4231, test cases 1, 2, 6. */
static void hmac_of_rfc_4231(void **state)
{
    char key[131], hex[65];
    (void)state;
    memset(key, 0x0b, 20);
    assert_string_equal(hmac_hex(key, 20, "Hi There", hex),
                        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_string_equal(hmac_hex("Jefe", 4, "what do ya want for nothing?", hex),
                        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    assert_string_equal(
        hmac_hex(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", hex),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/* AWS's published example of a canonical request, which these vendors took over. */
static void canonical_request(void **state)
{
    struct arena *a = arena_new(0);
    struct sign s;
    char hex[65], names[256];
    const char *const *lines;
    (void)state;
    sign_begin(&s, a, "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", NULL);
    sign_line(&s, true, "X-Amz-Date: 20150830T123600Z");
    sign_line(&s, true, "Content-Type: application/x-www-form-urlencoded; charset=utf-8");
    sign_line(&s, false, "Unsigned: x");
    sign_digest(&s, hex, names);
    assert_string_equal(names, "content-type;host;x-amz-date");
    assert_string_equal(hex, "f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59");
    assert_int_equal(sign_end(&s, &lines, NULL), 0);
    assert_string_equal(lines[2], "Unsigned: x");
    assert_null(lines[3]);
    for (int i = 0; i < SIGN_LINES; i++) {
        sign_line(&s, true, "x-%d: %0*d", i, 40, i);
    }
    assert_int_equal(sign_end(&s, &lines, NULL), GT_EINVALID);
    arena_free(a);
}

static void addresses_refused(void **state)
{
    static const char *const bad[] = {
        "file:///etc/passwd",
        "ftp://host/x",
        "HTTPS:/host",
        "http://",
        "http:///path",
        "https://?q",
        "gopher://h",
        "/path",
        "http://user:pw@host/x",
        "https://tok@h",
        "http://h/a b",
        "http://h/\x01",
        "http://h/\r\nHost: other",
        "javascript:alert(1)",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_error err = {0};
        assert_int_equal(url_check(bad[i], &err), GT_EHTTP);
        assert_null(strstr(err.where, "pw"));
        assert_null(strstr(err.text, "pw"));
    }
    assert_int_equal(url_check("https://h", NULL), 0);
    assert_int_equal(url_check("http://[::1]:80/a?b=@c", NULL), 0);
    char *longest = malloc(5001);
    memset(longest, 'a', 5000);
    memcpy(longest, "http://h/", 9);
    longest[5000] = '\0';
    assert_int_equal(url_check(longest, NULL), GT_ELIMIT);
    free(longest);
}

static void addresses_shown(void **state)
{
    static const struct {
        const char *url, *shown;
    } c[] = {
        {"https://h/p?key=SECRET", "https://h/p?..."},    {"https://u:SECRET@h/p", "https://h/p"},
        {"https://u:a@SECRET@h/p#SECRET", "https://h/p"}, {"http://h", "http://h"},
        {"http://h/\x1b[31m", "http://h/?[31m"},          {"u:SECRET@h/p", "h/p"},
    };
    char buf[64];
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        assert_string_equal(url_redact(c[i].url, buf, sizeof buf), c[i].shown);
    }
    assert_int_equal(strlen(url_redact("http://a-rather-long-host.example/", buf, 10)), 9);
}

static void addresses_joined(void **state)
{
    struct arena *a = arena_new(0);
    char *out = NULL;
    (void)state;
    assert_int_equal(url_join(a, "http://m/mirror/", "/offers/i.json", &out, NULL), 0);
    assert_string_equal(out, "http://m/mirror/offers/i.json");
    assert_int_equal(url_join(a, "http://m", "https://o/x", &out, NULL), 0);
    assert_string_equal(out, "https://o/x");
    assert_int_equal(url_join(a, "http://m", "//evil/x", &out, NULL), GT_EHTTP);
    assert_int_equal(url_join(a, "http://m", "file:///x", &out, NULL), GT_EHTTP);
    assert_int_equal(url_join(a, "http://m", "relative", &out, NULL), GT_EHTTP);
    assert_true(url_same_origin("https://H:1/a", "https://h:1/b"));
    assert_false(url_same_origin("https://h/a", "http://h/a"));
    assert_false(url_same_origin("https://h/a", "https://h:444/a"));
    assert_false(url_same_origin("https://h/a", "https://h.evil/a"));
    arena_free(a);
}

static void what_is_tried_again(void **state)
{
    (void)state;
    assert_true(retry_status(429, false) && retry_status(503, false) && retry_status(500, false));
    assert_false(retry_status(400, true) || retry_status(401, true) || retry_status(403, true));
    assert_false(retry_status(404, false));
    assert_true(retry_status(404, true));
    assert_int_equal(retry_after("7", 0), 7);
    assert_int_equal(retry_after("  120 \r\n", 0), 120);
    assert_int_equal(retry_after("99999999999999999999", 0) >= INT32_MAX - 10, 1);
    /* 784111777 is the instant of the example in RFC 9110. */
    assert_int_equal(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111770), 7);
    assert_int_equal(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111999), 0);
    assert_int_equal(retry_after("", 0), RETRY_AFTER_NONE);
    assert_int_equal(retry_after("-5", 0), RETRY_AFTER_NONE);
    assert_int_equal(retry_after("5 apples", 0), RETRY_AFTER_NONE);
    assert_int_equal(retry_after("Sun, 06 Foo 1994 08:49:37 GMT", 0), RETRY_AFTER_NONE);
    assert_int_equal(retry_after("Sun, 46 Nov 1994 08:49:37 GMT", 0), RETRY_AFTER_NONE);
}

static void how_long_it_waits(void **state)
{
    (void)state;
    assert_int_equal(retry_delay_ms(1, 0, RETRY_AFTER_NONE), 500);
    assert_int_equal(retry_delay_ms(1, 1, RETRY_AFTER_NONE), 50);
    assert_int_equal(retry_delay_ms(3, 0.25, RETRY_AFTER_NONE), 1500);
    assert_int_equal(retry_delay_ms(3, 0, RETRY_AFTER_NONE), 2000);
    assert_int_equal(retry_delay_ms(40, 0, RETRY_AFTER_NONE), 30000);
    assert_true(retry_delay_ms(1, 0.5, 4) >= 4000);
    assert_int_equal(retry_delay_ms(1, 0.5, 0), 250);
}

static const char *hex_of(void (*init)(struct sha256 *), const char *s, size_t len, size_t step)
{
    static char out[65];
    unsigned char d[32];
    struct sha256 h;
    init(&h);
    for (size_t i = 0; i < len; i += step) {
        sha256_add(&h, s + i, len - i < step ? len - i : step);
    }
    sha256_end(&h, d);
    return sha256_hex(d, out);
}

static void sha256_known_answers(void **state)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    (void)state;
    for (size_t step = 1; step < 70; step += 13) {
        assert_string_equal(hex_of(sha256_init, "", 0, step),
                            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_string_equal(hex_of(sha256_init, "abc", 3, step),
                            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_string_equal(hex_of(sha256_init, two, strlen(two), step),
                            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
    char *a = malloc(1000000);
    memset(a, 'a', 1000000);
    assert_string_equal(hex_of(sha256_init, a, 1000000, 4093),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    /* Every length around the block edge, both ways of computing. */
    for (size_t n = 0; n < 300; n++) {
        char first[65];
        for (size_t i = 0; i < n; i++) {
            a[i] = (char)(i * 31 + n);
        }
        snprintf(first, sizeof first, "%s", hex_of(sha256_init, a, n, 7));
        assert_string_equal(first, hex_of(sha256_init_portable, a, n, n + 1));
    }
    free(a);
}

static void stated_checksums(void **state)
{
    /* SHA-256 of "abc" in base64. */
    static const char abc[] = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
    unsigned char d[32];
    char value[128], hex[65];
    (void)state;
    assert_true(digest_header("X-Amz-Checksum-Sha256", abc, d));
    assert_string_equal(sha256_hex(d, hex),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    snprintf(value, sizeof value, "md5=:AAAA:, sha-256=:%s:", abc);
    assert_true(digest_header("Repr-Digest", value, d));
    snprintf(value, sizeof value, "SHA-256=%s", abc);
    assert_true(digest_header("digest", value, d));
    snprintf(value, sizeof value, "%s-12", abc);
    assert_false(digest_header("x-amz-checksum-sha256", value, d));
    assert_false(digest_header("x-amz-checksum-sha256", "short", d));
    assert_false(digest_header("digest", "sha-512=abc", d));
    assert_false(digest_header("digest", "", d));
    assert_false(digest_header("etag", abc, d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hmac_of_rfc_4231),  cmocka_unit_test(canonical_request),
        cmocka_unit_test(addresses_refused), cmocka_unit_test(addresses_shown),
        cmocka_unit_test(addresses_joined),  cmocka_unit_test(what_is_tried_again),
        cmocka_unit_test(how_long_it_waits), cmocka_unit_test(sha256_known_answers),
        cmocka_unit_test(stated_checksums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
