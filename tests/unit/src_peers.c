/* The readers of JSON and CSV against yajl and libcsv on documents made up and then damaged: the
 * same events and rows or the same refusal, whatever is passed over, whatever the pieces, and with
 * each of the loops (AVX-512, AVX2, plain C, byte by byte). The fuzz targets
 * json_peer and csv_peer go on from here. */
#include "gputier/rng.h"
#include "support/peers.h"
#include "unit.h"
#include <stdio.h>

static struct rng g;

static size_t below(size_t n)
{
    return (size_t)(rng_u64(&g) % n);
}

static void spaces(struct buf *b, bool pretty)
{
    static const char *const some[] = {"", " ", "\n", "\r\n", "\t", "  "};
    if (!pretty) {
        buf_adds(b, below(20) == 0 ? some[below(6)] : "");
        return;
    }
    buf_addc(b, '\n');
    for (size_t n = below(40); n > 0; n--) {
        buf_addc(b, ' ');
    }
}

static void write_string(struct buf *b)
{
    static const char *const odd[] = {"\\\"",
                                      "\\\\",
                                      "\\n",
                                      "\\u00e9",
                                      "\\ud83d\\ude00",
                                      "\xc3\xa9",
                                      "\xe2\x82\xac",
                                      "\xf0\x9f\x98\x80",
                                      "{",
                                      "}",
                                      "[",
                                      "]",
                                      ",",
                                      ":"};
    size_t kind = below(8), n = below(4) == 0 ? below(200) : below(12);
    buf_addc(b, '"');
    for (; n > 0; n--) {
        if (kind == 0 && below(4) == 0) {
            buf_adds(b, odd[below(sizeof odd / sizeof *odd)]);
        } else {
            buf_addc(b, (char)('a' + below(26)));
        }
    }
    buf_addc(b, '"');
}

static void write_value(struct buf *b, int depth, bool pretty)
{
    static const char *const words[] = {"true",    "false", "null",        "0",
                                        "-1.5e+3", "12",    "0.0810000000"};
    size_t kind = below(depth > 4 ? 5 : 9);
    if (kind == 0) {
        buf_adds(b, words[below(7)]);
    } else if (kind < 5) {
        write_string(b);
    } else {
        bool list = kind == 5;
        buf_addc(b, list ? '[' : '{');
        for (size_t i = 0, n = below(list ? 3 : 6); i < n; i++) {
            buf_adds(b, i > 0 ? "," : "");
            spaces(b, pretty);
            if (!list) {
                write_string(b);
                buf_adds(b, pretty ? " : " : ":");
            }
            write_value(b, depth + 1, pretty);
        }
        spaces(b, pretty);
        buf_addc(b, list ? ']' : '}');
    }
}

/* Bytes put in, taken out and exchanged, mostly by such as have a meaning. */
static void damage(struct buf *b, const char *alphabet, size_t n_alphabet)
{
    for (size_t n = 1 + below(3); n > 0 && b->len > 1; n--) {
        size_t at = below(b->len);
        char c = below(10) == 0 ? (char)below(256) : alphabet[below(n_alphabet)];
        switch (below(4)) {
        case 0:
            memmove(b->data + at, b->data + at + 1, b->len - at);
            b->len--;
            break;
        case 1:
            buf_addc(b, '\0');
            memmove(b->data + at + 1, b->data + at, b->len - at - 1);
            b->data[at] = c;
            break;
        case 2:
            b->data[at] = c;
            break;
        default:
            b->len = below(20) == 0 ? at : b->len;
        }
    }
}

static void show(const char *wrong, const struct buf *b)
{
    for (size_t i = 0; i < b->len; i++) {
        unsigned char c = (unsigned char)b->data[i];
        printf(c >= ' ' && c < 0x7f && c != '\\' ? "%c" : "\\x%02x", c);
    }
    printf("\n");
    fail_msg("%s", wrong);
}

static void json_made_up(void **s)
{
    static const char alphabet[] = "{}[]\",:\\ \n\t\v\f\0u01-.eE+tfn\x80\xc3\xe0\xed\xf4/";
    (void)s;
    rng_init(&g, 3, 1);
    for (int round = 0; round < 2500; round++) {
        struct buf b;
        buf_init(&b, PEER_TEXT);
        spaces(&b, false);
        write_value(&b, below(4) == 0 ? 3 : 0, round % 3 != 0);
        spaces(&b, false);
        for (int k = 0; k < 4; k++) {
            size_t piece = k == 0 ? 1 + below(3) : 1 + below(200);
            const char *wrong = peer_check_json(b.data ? b.data : "", b.len,
                                                below(3) ? (unsigned)below(1000) : 0, piece);
            if (wrong) {
                show(wrong, &b);
            }
            damage(&b, alphabet, sizeof alphabet - 1);
        }
        buf_release(&b);
    }
}

static const char *const json_cases[] = {
    "",
    " ",
    "{}",
    "{ }",
    "[ ]",
    "[]",
    "{\"a\":{}}",
    "{\"a\":[]}",
    "{\"a\":[ ],\"b\":{ }}",
    "{,}",
    "{\"a\":1,}",
    "[1,]",
    "[,1]",
    "{\"a\"}",
    "{\"a\" \"b\"}",
    "{\"a\":}",
    "{\"a\"::1}",
    "{\"a\":1:2}",
    "{\"a\":\"b\":\"c\"}",
    "{\"a\":\"b\" \"c\":\"d\"}",
    "{\"a\":{} \"c\":\"d\"}",
    "{\"a\":{}:\"d\"}",
    "{{}}",
    "{[]}",
    "{\"a\":{]}",
    "{\"a\":[}]}",
    "[}",
    "{]",
    "{\"a\":\"b\"]",
    "[\"a\"}",
    "{}{}",
    "{} x",
    "{}}",
    "[]]",
    "1 2",
    "\"a\" \"b\"",
    "01",
    "-",
    "-01",
    "1.",
    "1.e5",
    "1e",
    "1e+",
    "+1",
    ".5",
    "1.5.5",
    "truex",
    "tru",
    "nul",
    "nullx",
    "NaN",
    "Infinity",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\x\"",
    "\"\\",
    "\"\t\"",
    "\"\x7f\"",
    "\"\xc0\xaf\"",
    "\"\xed\xa0\x80\"",
    "\"\xf5\x80\x80\x80\"",
    "\"\xe2\x82\"",
    "\"\x80\"",
    "\xef\xbb\xbf{}",
    "{\"a\":\v1}",
    "{\"a\":\"\v\"}",
    "/**/{}",
    "{'a':1}",
    "{\"a\":\"b\"}\0",
    "[\"a\",\n\"b\"\n]\n",
};

static void json_by_hand(void **s)
{
    (void)s;
    /* each alone and within objects, at all places of a block */
    for (size_t i = 0; i < sizeof json_cases / sizeof *json_cases; i++) {
        for (size_t pad = 0; pad < 70; pad++) {
            struct buf b;
            buf_init(&b, PEER_TEXT);
            buf_addf(&b,
                     pad % 2 ? "{\"k\":\"v\",%*s\"k\":%s}"
                             : "{\"k\":{\"v\":\"v\"},%*s\"k\":{\"x\":%s, \"y\":\"z\"}}",
                     (int)pad, "", json_cases[i]);
            const char *wrong =
                peer_check_json(b.data, b.len, pad % 5 == 0 ? (unsigned)pad : 0, 1 + pad % 70);
            if (wrong) {
                show(wrong, &b);
            }
            buf_release(&b);
        }
        const char *wrong = peer_check_json(json_cases[i], strlen(json_cases[i]), 0, 1);
        if (wrong) {
            fail_msg("%s: %s", json_cases[i], wrong);
        }
    }
}

/* Containers within each other, up to the limit and over it. */
static void json_depth_limit(void **s)
{
    (void)s;
    for (int depth = 60; depth < 70; depth++) {
        for (int kind = 0; kind < 3; kind++) {
            struct buf b;
            buf_init(&b, PEER_TEXT);
            for (int i = 0; i < depth; i++) {
                buf_adds(&b, kind == 0 || (kind == 2 && i % 3 == 0) ? "[" : "{\"a\": ");
            }
            buf_adds(&b, "\"x\"");
            for (int i = depth - 1; i >= 0; i--) {
                buf_adds(&b, kind == 0 || (kind == 2 && i % 3 == 0) ? "]" : " }");
            }
            const char *wrong = peer_check_json(b.data, b.len, (unsigned)depth, 7);
            if (wrong) {
                show(wrong, &b);
            }
            buf_release(&b);
        }
    }
}

static void write_row(struct buf *b)
{
    static const char inner[] = "ab ,\n'\"";
    for (size_t i = 0, n = 1 + below(12); i < n; i++) {
        bool quoted = below(2) == 0;
        buf_adds(b, i > 0 ? "," : "");
        buf_adds(b, quoted ? "\"" : "");
        for (size_t k = below(6) == 0 ? below(150) : below(10); k > 0; k--) {
            char c =
                quoted && below(8) == 0 ? inner[below(sizeof inner - 1)] : (char)('a' + below(26));
            buf_addc(b, c);
            buf_adds(b, c == '"' ? "\"" : "");
        }
        buf_adds(b, quoted ? "\"" : "");
    }
    buf_adds(b, below(8) == 0 ? "\r\n" : "\n");
}

static void csv_made_up(void **s)
{
    static const char alphabet[] = "\",\n\r a\0";
    (void)s;
    rng_init(&g, 5, 1);
    for (int round = 0; round < 2500; round++) {
        struct buf b;
        buf_init(&b, PEER_TEXT);
        buf_adds(&b, below(20) == 0 ? "\xef\xbb\xbf" : "");
        for (size_t n = 1 + below(8); n > 0; n--) {
            write_row(&b);
        }
        for (int k = 0; k < 4; k++) {
            const char *wrong =
                peer_check_csv(b.data, b.len, k == 0 ? 1 + below(3) : 1 + below(200));
            if (wrong) {
                show(wrong, &b);
            }
            damage(&b, alphabet, sizeof alphabet - 1);
        }
        buf_release(&b);
    }
}

static void csv_by_hand(void **s)
{
    static const char *const cases[] = {
        "",
        "\n",
        "\r\n",
        "a",
        "a,",
        ",",
        "a,b\n",
        "\"\"",
        "\"\"\n",
        "\"\"\"\"\n",
        "\"",
        "a\"b\n",
        "\"a\"b\n",
        "\"a\"\"\n",
        "\"a\",\"b\"\r\n",
        "\"a\nb\",c\n",
        "a,b\n\n\nc,d",
        " \"a\"\n",
        "a, \"b\"\n",
        "a,\"b\" \n",
        "\"a\r\n\",b\r\n",
    };
    (void)s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t pad = 0; pad < 70; pad++) {
            struct buf b;
            buf_init(&b, PEER_TEXT);
            buf_addf(&b, "%*s,x\n%s", (int)pad, "y", cases[i]);
            const char *wrong = peer_check_csv(b.data, b.len, 1 + pad % 70);
            if (wrong) {
                show(wrong, &b);
            }
            buf_release(&b);
        }
    }
    for (int fields = 500; fields < 530; fields++) {
        struct buf b;
        buf_init(&b, PEER_TEXT);
        for (int i = 1; i < fields; i++) {
            buf_addc(&b, ',');
        }
        buf_addc(&b, '\n');
        const char *wrong = peer_check_csv(b.data, b.len, 64);
        if (wrong) {
            show(wrong, &b);
        }
        buf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_by_hand), cmocka_unit_test(json_depth_limit),
        cmocka_unit_test(json_made_up), cmocka_unit_test(csv_by_hand),
        cmocka_unit_test(csv_made_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
