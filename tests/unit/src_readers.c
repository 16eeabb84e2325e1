/* The CSV and JSON readers: every document gives the same rows and events whatever the pieces it
 * arrives in; malformed ones are refused with line and column; skipping equals reading. */
#include "../../pricing/sources/csv_read.h"
#include "../../pricing/sources/json_read.h"
#include "gputier/buf.h"
#include "gputier/rng.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int row_text(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    (void)err;
    buf_addf(ctx, "%d:", (int)row->line);
    for (size_t i = 0; i < row->n; i++) {
        buf_addf(ctx, "<%s>", csv_field(row, (int)i));
        assert_ptr_equal(csv_field(row, (int)i), csv_field(row, (int)i)); /* again the same */
    }
    buf_addc(ctx, '\n');
    return 0;
}

static int csv_run(const char *text, size_t step, struct buf *b, struct gt_error *err)
{
    struct csv_reader *r;
    size_t len = strlen(text);
    assert_int_equal(csv_reader_new("t.csv", ',', row_text, b, &r, err), 0);
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0; i += step) {
        rc = csv_reader_feed(r, text + i, len - i < step ? len - i : step, err);
    }
    rc = rc ? rc : csv_reader_end(r, err);
    csv_reader_free(r);
    return rc;
}

static void csv_cases(void **s)
{
    (void)s;
    static const struct {
        const char *text, *rows, *where;
    } cases[] = {
        {"a,b\n1,2\n", "1:<a><b>\n2:<1><2>\n", NULL},
        {"a,b\r\n1,\r\n", "1:<a><b>\n2:<1><>\n", NULL},
        {"\xef\xbb\xbf"
         "a\n\n\nb",
         "1:<a>\n4:<b>\n", NULL},
        {"\"x,y\",\"say \"\"hi\"\"\",\"\"\n", "1:<x,y><say \"hi\"><>\n", NULL},
        {"\"two\nlines\",1\nnext,2\n", "1:<two\nlines><1>\n3:<next><2>\n", NULL},
        {"\"\"\"\"\n", "1:<\">\n", NULL},
        {",,\n", "1:<><><>\n", NULL},
        {"a,b\n1,2\"3\n", NULL, "t.csv:2:1"},
        {"a,b\n1,2\"3\"\n", NULL, "t.csv:2:3"},
        {"a\n\"x\"y\n", NULL, "t.csv:2:4"},
        {"a,b\n1,\"open\nand,on\n", NULL, "t.csv:2:1"},
    };
    static const size_t steps[] = {1, 2, 5, 63, 64, 65, 4096};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            struct buf b;
            struct gt_error err = {0};
            buf_init(&b, 1 << 20);
            int rc = csv_run(cases[i].text, steps[k], &b, &err);
            if (cases[i].rows) {
                assert_int_equal(rc, 0);
                assert_string_equal(b.data, cases[i].rows);
            } else {
                assert_int_equal(rc, GT_EPARSE);
                assert_string_equal(err.where, cases[i].where);
            }
            buf_release(&b);
        }
    }
}

/* Random cells written with quotes come back, whatever the pieces. */
static void csv_round_trip(void **s)
{
    (void)s;
    static const char alphabet[] = "ab,\"\n\r x'";
    struct rng g;
    rng_init(&g, 7, 1);
    for (int round = 0; round < 300; round++) {
        struct buf text, want, got;
        buf_init(&text, 1 << 20);
        buf_init(&want, 1 << 20);
        buf_init(&got, 1 << 20);
        int line = 1, rows = 1 + (int)(rng_u64(&g) % 6);
        for (int r = 0; r < rows; r++) {
            buf_addf(&want, "%d:", line);
            int cells = 2 + (int)(rng_u64(&g) % 5);
            for (int c = 0; c < cells; c++) {
                buf_adds(&text, c ? ",\"" : "\"");
                buf_addc(&want, '<');
                for (int n = (int)(rng_u64(&g) % 40); n > 0; n--) {
                    char ch = alphabet[rng_u64(&g) % (sizeof alphabet - 1)];
                    line += ch == '\n';
                    buf_addc(&want, ch);
                    buf_adds(&text, ch == '"' ? "\"\"" : (char[]){ch, 0});
                }
                buf_addc(&text, '"');
                buf_addc(&want, '>');
            }
            buf_addc(&text, '\n');
            buf_addc(&want, '\n');
            line++;
        }
        assert_int_equal(csv_run(text.data, 1 + rng_u64(&g) % 100, &got, NULL), 0);
        assert_string_equal(got.data, want.data);
        buf_release(&text);
        buf_release(&want);
        buf_release(&got);
    }
}

static int event_text(void *ctx, struct json_reader *r, enum json_event e, const char *text,
                      size_t len, struct gt_error *err)
{
    (void)err;
    static const char mark[] = "{}[]K\"#tf0";
    assert_int_equal(strlen(text), len);
    buf_addf(ctx, "%d%c%s ", json_depth(r), mark[e], text);
    if (e == JSON_KEY && strcmp(text, "skip") == 0) {
        json_skip_value(r);
    }
    if (e == JSON_STRING && strcmp(text, "leave") == 0) {
        json_leave(r, 1);
    }
    if (e == JSON_STRING && strcmp(text, "leave2") == 0) {
        json_leave(r, 2);
    }
    return 0;
}

static int json_run(const char *text, size_t step, struct buf *b, struct gt_error *err)
{
    struct json_reader *r;
    size_t len = strlen(text);
    assert_int_equal(json_reader_new("t.json", event_text, b, &r, err), 0);
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0; i += step) {
        rc = json_reader_feed(r, text + i, len - i < step ? len - i : step, err);
    }
    rc = rc ? rc : json_reader_end(r, err);
    json_reader_free(r);
    return rc;
}

static void json_cases(void **s)
{
    (void)s;
    static const struct {
        const char *text, *events, *where;
    } cases[] = {
        {"{\"a\" : 1.50, \"b\":[true,null,\"x\"]}", "1{ 1Ka 1#1.50 1Kb 2[ 2t 20 2\"x 1] 0} ", NULL},
        {"[\"\\u0041\\ud83d\\ude00\\n\\\"\"]", "1[ 1\"A\xf0\x9f\x98\x80\n\" 0] ", NULL},
        {"{\"skip\":{\"x\":[1,\"}]\\\"\",{}]},\"k\":2}", "1{ 1Kskip 1Kk 1#2 0} ", NULL},
        {"{\"skip\":\"}\",\"k\":2}", "1{ 1Kskip 1Kk 1#2 0} ", NULL},
        {"{\"skip\":-1e5}", "1{ 1Kskip 0} ", NULL},
        {"{\"o\":{\"a\":\"leave\",\"b\":{\"c\":\"\\\\\"}},\"k\":2}",
         "1{ 1Ko 2{ 2Ka 2\"leave 1Kk 1#2 0} ", NULL},
        {"[{\"o\":[\"leave2\",[],{}]},5]", "1[ 2{ 2Ko 3[ 3\"leave2 1#5 0] ", NULL},
        {"7", "0#7 ", NULL},
        {"{\"a\":1,}", NULL, "t.json:1:8"},
        {"{\"a\":1\n \"b\":2}", NULL, "t.json:2:2"},
        {"[1,2", NULL, "t.json:1:5"},
        {"{\"skip\":{\"x\":1}", NULL, "t.json:1:16"},
        {"{\"skip\":{\"x\":1", NULL, "t.json:1:15"},
        {"[01]", NULL, "t.json:1:2"},
        {"[\"\\q\"]", NULL, "t.json:1:4"},
        {"[\"a\nb\"]", NULL, "t.json:1:4"},
        {"[1] 2", NULL, "t.json:1:5"},
        {"\n\n[nul]", NULL, "t.json:3:2"},
        {"", NULL, "t.json:1:1"},
    };
    static const size_t steps[] = {1, 2, 3, 63, 64, 65, 4096};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            struct buf b;
            struct gt_error err = {0};
            buf_init(&b, 1 << 20);
            int rc = json_run(cases[i].text, steps[k], &b, &err);
            if (cases[i].events) {
                assert_int_equal(rc, 0);
                assert_string_equal(b.data, cases[i].events);
            } else {
                assert_int_equal(rc, GT_EPARSE);
                assert_string_equal(err.where, cases[i].where);
            }
            buf_release(&b);
        }
    }
}

static void json_depth_and_length(void **s)
{
    (void)s;
    struct buf b;
    struct gt_error err = {0};
    char deep[200];
    memset(deep, '[', 100);
    deep[100] = '\0';
    buf_init(&b, 1 << 20);
    assert_int_equal(json_run(deep, 10, &b, &err), GT_ELIMIT);
    buf_release(&b);
    size_t n = (size_t)3 << 20;
    char *big = malloc(n + 1);
    memset(big, 'x', n);
    big[0] = '"';
    big[n] = '\0';
    buf_init(&b, 1 << 20);
    assert_int_equal(json_run(big, 65536, &b, &err), GT_ELIMIT);
    buf_release(&b);
    free(big);
}

/* A value with hostile strings is passed by skipping exactly as by reading. */
static void write_value(struct buf *b, struct rng *g, int depth)
{
    static const char *const pieces[] = {"{", "}", "[", "]", "\\\"", "\\\\", ",", ":", "a", " "};
    uint64_t kind = rng_u64(g) % (depth > 4 ? 2 : 4);
    if (kind == 0) {
        buf_addf(b, "%d", (int)(rng_u64(g) % 1000));
    } else if (kind == 1) {
        buf_addc(b, '"');
        for (int n = (int)(rng_u64(g) % 30); n > 0; n--) {
            buf_adds(b, pieces[rng_u64(g) % 10]);
        }
        buf_addc(b, '"');
    } else {
        buf_addc(b, kind == 2 ? '[' : '{');
        for (int i = 0, n = (int)(rng_u64(g) % 5); i < n; i++) {
            buf_adds(b, i ? ", " : " ");
            buf_adds(b, kind == 3 ? "\"k\" : " : "");
            write_value(b, g, depth + 1);
        }
        buf_addc(b, kind == 2 ? ']' : '}');
    }
}

static void json_skip_equals_read(void **s)
{
    (void)s;
    struct rng g;
    rng_init(&g, 11, 1);
    for (int round = 0; round < 2000; round++) {
        struct buf t, read, got;
        buf_init(&t, 1 << 20);
        buf_init(&read, 1 << 22);
        buf_init(&got, 1 << 22);
        buf_adds(&t, "{\"keep\":");
        size_t at = t.len - 5;
        write_value(&t, &g, 0);
        buf_adds(&t, ",\"k\":2}");
        struct gt_error err = {0};
        size_t step = 1 + rng_u64(&g) % 150;
        assert_int_equal(json_run(t.data, step, &read, &err), 0);
        memcpy(t.data + at - 1, "skip", 4);
        assert_int_equal(json_run(t.data, step, &got, &err), 0);
        assert_string_equal(got.data, "1{ 1Kskip 1Kk 1#2 0} ");
        assert_non_null(strstr(read.data, "1Kk 1#2 0} "));
        buf_release(&t);
        buf_release(&read);
        buf_release(&got);
    }
}

/* What a look ahead shows: the members with plain texts up to the first of another kind. */
struct ahead {
    char seen[64];
    size_t n, stop_at; /* the member at which to stop, 0 = none */
    bool stopped;
};

static bool show(void *ctx, const char *key, size_t key_len, const char *text, size_t len)
{
    struct ahead *a = ctx;
    size_t used = strlen(a->seen);
    snprintf(a->seen + used, sizeof a->seen - used, "%.*s=%.*s;", (int)key_len, key, (int)len,
             text);
    return ++a->n == a->stop_at;
}

static int look(void *ctx, struct json_reader *r, enum json_event e, const char *text, size_t len,
                struct gt_error *err)
{
    struct ahead *a = ctx;
    (void)text, (void)len, (void)err;
    if (e == JSON_OBJECT && json_depth(r) == 1) {
        a->stopped = json_look_ahead(r, show, a);
    }
    return 0;
}

static void looks_ahead(void **state)
{
    (void)state;
    static const struct {
        const char *doc, *seen;
        size_t stop_at;
        bool stopped;
    } cases[] = {
        {"{\"a\":\"1\", \"b\" : \"\"}", "a=1;b=;", 0, false},
        {"{\"a\":\"1\",\"b\":\"2\"}", "a=1;", 1, true},
        {"{\"a\":\"1\",\"b\":2,\"c\":\"3\"}", "a=1;", 0, false},
        {"{\"a\":\"1\",\"b\":{\"c\":\"3\"}}", "a=1;", 0, false},
        {"{\"a\":\"1\",\"b\":[\"c\"]}", "a=1;", 0, false},
        {"{}", "", 0, false},
    };
    char pad[200], escaped[500];
    memset(pad, ' ', sizeof pad - 1);
    pad[sizeof pad - 1] = '\0'; /* the end of the member comes in a block behind */
    struct gt_error e = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t piece = 1; piece < 400; piece += 97) {
            char doc[500];
            struct ahead a = {.stop_at = cases[i].stop_at};
            struct json_reader *r = NULL;
            snprintf(doc, sizeof doc, "%s%s", cases[i].doc, pad);
            assert_int_equal(json_reader_new("t", look, &a, &r, &e), 0);
            for (size_t at = 0, n = strlen(doc); at < n; at += piece) {
                size_t k = n - at < piece ? n - at : piece;
                assert_int_equal(json_reader_feed(r, doc + at, k, &e), 0);
            }
            assert_int_equal(json_reader_end(r, &e), 0);
            assert_string_equal(a.seen, cases[i].seen);
            assert_true(a.stopped == cases[i].stopped);
            json_reader_free(r);
        }
    }
    struct ahead a = {0};
    struct json_reader *r = NULL; /* an escape may stand for a quote: not shown */
    snprintf(escaped, sizeof escaped, "{\"a\":\"1\"%s,\"b\":\"\\u0022\"}%s", pad, pad);
    assert_int_equal(json_reader_new("t", look, &a, &r, &e), 0);
    assert_int_equal(json_reader_feed(r, escaped, strlen(escaped), &e), 0);
    assert_int_equal(json_reader_end(r, &e), 0);
    assert_string_equal(a.seen, "a=1;");
    json_reader_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_cases),
        cmocka_unit_test(csv_round_trip),
        cmocka_unit_test(json_cases),
        cmocka_unit_test(json_depth_and_length),
        cmocka_unit_test(json_skip_equals_read),
        cmocka_unit_test(looks_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
