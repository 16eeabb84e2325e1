/* CSV records in pieces of any size are the records of the whole text, well-formed or not; a record
 * too long is one bad row. */
#include "../../pricing/inventory/inventory_priv.h"
#include "gputier/buf.h"
#include "gputier/rng.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

static size_t below(struct rng *rng, size_t n)
{
    return (size_t)(rng_u64(rng) % n);
}

/* Appends the fields of a row to the buffer in r->state. */
static int keep(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    (void)err;
    for (size_t i = 0; i < rec->n && i < CSV_FIELDS; i++) {
        assert_int_equal(buf_addf(r->state, "[%.*s]", (int)rec->len[i], rec->field[i]), 0);
    }
    return buf_addf(r->state, "%zu@%llu\n", rec->n, (unsigned long long)r->line);
}

static void read_pieces(const char *text, size_t len, struct rng *rng, size_t most, struct buf *out)
{
    struct inventory_options o = {.max_bad = 1000000};
    struct inventory *inv;
    assert_int_equal(inventory_new(&o, &inv, NULL), 0);
    struct reader r = {.inv = inv, .name = "t", .state = out};
    buf_init(out, 1 << 24);
    for (size_t i = 0; i < len;) {
        size_t n = most ? 1 + below(rng, most) : len;
        n = n < len - i ? n : len - i;
        /* a copy of its own, so that a sanitizer sees what reads past the piece */
        char *piece = malloc(n);
        assert_non_null(piece);
        memcpy(piece, text + i, n);
        assert_int_equal(csv_feed(&r, piece, n, false, keep, NULL), 0);
        free(piece);
        i += n;
    }
    assert_int_equal(csv_feed(&r, "", 0, true, keep, NULL), 0);
    buf_addf(out, "%llu bad\n", (unsigned long long)inventory_stats(inv)->bad_rows);
    free(r.hold);
    free(r.fields.at);
    inventory_free(inv);
}

static void as_written(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"a,b\n", "[a][b]2@1\n0 bad\n"},
        {"\"a\",\"b\"\n\"c\",\"d\"", "[a][b]2@1\n[c][d]2@2\n0 bad\n"},
        {"\"a\"\"b\",\"\"\r\nx,\"y,\n\"\"\"\r\n", "[a\"b][]2@1\n[x][y,\n\"]2@2\n0 bad\n"},
        {"\"a\nb\",c\nd,e\n", "[a\nb][c]2@1\n[d][e]2@3\n0 bad\n"},
        {"\"a\"b,c\nd,e\n", "[d][e]2@2\n1 bad\n"},
        {"a,\"b\nc,d\n", "1 bad\n"}, /* never closed: what follows belongs to it */
        {"\n\r\na,b\n", "[a][b]2@3\n0 bad\n"},
        {",\n", "[][]2@1\n0 bad\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf b;
        read_pieces(cases[i].text, strlen(cases[i].text), NULL, 0, &b);
        if (i == 5) { /* and the rest is read as the next rows */
            assert_non_null(strstr(b.data, "1 bad\n"));
        } else {
            assert_string_equal(b.data, cases[i].want);
        }
        buf_release(&b);
    }
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    static const char alphabet[] = "\"\"\"\",,,\n\n\rab;\xff";
    struct rng rng;
    rng_init(&rng, 7, 0);
    for (int round = 0; round < 4000; round++) {
        char text[400];
        size_t len = below(&rng, sizeof text);
        bool tame = round % 2; /* "…","…"\n as inventories are */
        for (size_t i = 0; i < len; i++) {
            text[i] = tame ? "\"ab\",\"c\"\n"[i % 9] : alphabet[below(&rng, sizeof alphabet - 1)];
        }
        if (tame && len) {
            text[below(&rng, len)] = alphabet[below(&rng, sizeof alphabet - 1)];
        }
        struct buf whole, cut;
        read_pieces(text, len, NULL, 0, &whole);
        read_pieces(text, len, &rng, 1 + (size_t)round % 60, &cut);
        assert_string_equal(whole.data, cut.data);
        buf_release(&whole);
        buf_release(&cut);
    }
}

/* Longer than a record may be, closed or not: one bad row, and the time is not that of its square.
 */
static void too_long(void **state)
{
    (void)state;
    size_t len = 3 * RECORD_MAX;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '\n', len);
    text[0] = '"';
    memcpy(text + len - 8, "\",z\nx,y\n", 8);
    struct rng rng;
    rng_init(&rng, 1, 0);
    struct buf b;
    read_pieces(text, len, &rng, 65536, &b);
    assert_non_null(strstr(b.data, "[x][y]2@"));
    buf_release(&b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_written),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
