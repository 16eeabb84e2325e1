/* What the tests of the clouds' lists share: one parse into a fake staging, and the rows found in
 * it. Include it in one file of a test. */
#ifndef GPUTIER_CLOUD_ROWS_H
#define GPUTIER_CLOUD_ROWS_H
#include "../../pricing/sources/source.h"
#include "fake_staging.h"
#include "unit.h"
#include <math.h>

static struct staging st;
static struct gt_error err;
static struct parse_context ctx;

static int parse(const char *id, const char *text, size_t len, size_t step)
{
    fake_clear(&st);
    memset(&err, 0, sizeof err);
    memset(&ctx, 0, sizeof ctx);
    return fake_parse(source_find(id), &st, "list.json", text, len, step, &ctx, &err);
}

static inline int parse_text(const char *id, const char *text)
{
    return parse(id, text, strlen(text), 7);
}

/* A shared file, recognised by its content, in pieces of several sizes. */
static bool parse_shared(const char *id, const char *name)
{
    size_t n, rows = 0;
    char *t = fake_shared(name, &n);
    if (!t) {
        return false;
    }
    for (size_t i = 0; source_at(i); i++) {
        assert_int_equal(source_recognises(source_at(i), t, n < 65536 ? n : 65536, name),
                         strcmp(source_at(i)->id, id) == 0);
    }
    static const size_t steps[] = {1, 61, 4099, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        if (parse(id, t, n, steps[i]) != 0) {
            fail_msg("%s: %s", err.where, err.text);
        }
        assert_true(i == 0 || st.n_offer == rows);
        rows = st.n_offer;
    }
    free(t);
    return true;
}

static const struct offer_row *find(const char *region, const char *type, enum purchase p)
{
    const struct offer_row *found = NULL;
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (strcmp(o->region, region) == 0 && strcmp(o->instance_type, type) == 0 &&
            o->purchase == p) {
            assert_null(found); /* one row a key */
            found = o;
        }
    }
    return found;
}

static void check(const struct offer_row *o, const char *price, const char *gpu, int count,
                  double memory)
{
    char buf[MONEY_TEXT];
    assert_non_null(o);
    assert_int_equal(o->price_state, PRICE_KNOWN);
    assert_string_equal(money_format(o->price_per_hour, buf), price);
    assert_string_equal(o->gpu, gpu);
    assert_int_equal(o->gpu_num, count);
    if (fabs(o->gpu_memory_gib - memory) > 1e-6) {
        fail_msg("%s: %g GiB a GPU, expected %g", o->instance_type, o->gpu_memory_gib, memory);
    }
}

#endif
