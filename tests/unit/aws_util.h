/* What the tests of the AWS price list share: parsing of samples and look-ups among the rows. */
#ifndef GPUTIER_AWS_UTIL_H
#define GPUTIER_AWS_UTIL_H
#include "fake_staging.h"
#include "unit.h"

static struct staging st;
static struct gt_error err;
static struct parse_context ctx;

static inline int parse(const char *name, const char *text, size_t len, size_t step)
{
    fake_clear(&st);
    memset(&err, 0, sizeof err);
    memset(&ctx, 0, sizeof ctx);
    return fake_parse(source_find("aws-offer"), &st, name, text, len, step, &ctx, &err);
}

static inline bool parse_sample(const char *name)
{
    char path[200];
    size_t n;
    snprintf(path, sizeof path, "samples/aws/%s", name);
    char *t = fake_shared(path, &n);
    if (!t) {
        return false;
    }
    static const size_t steps[] = {61, 4096, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        int rc = parse(name, t, n, steps[i]);
        if (rc != 0) {
            fail_msg("%s: %s: %s", name, err.where, err.text);
        }
    }
    assert_true(source_recognises(source_find("aws-offer"), t, n < 65536 ? n : 65536, name));
    free(t);
    return true;
}

static inline const struct offer_row *offer(const char *region, const char *type, enum purchase p,
                                            enum payment payment)
{
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (strcmp(o->region, region) == 0 && strcmp(o->instance_type, type) == 0 &&
            o->purchase == p && o->payment == payment) {
            return o;
        }
    }
    fail_msg("no offer of %s in %s", type, region);
    return NULL;
}

static inline void check(money m, const char *text)
{
    char buf[MONEY_TEXT];
    assert_string_equal(money_format(m, buf), text);
}

static inline const struct storage_rate_row *rate(const char *tier, const char *component,
                                                  money from)
{
    const struct storage_rate_row *found = NULL;
    for (size_t i = 0; i < st.n_storage; i++) {
        const struct storage_rate_row *s = &st.storage[i];
        if (strcmp(s->tier, tier) == 0 && strcmp(s->component, component) == 0 &&
            s->from_qty == from * MONEY_SCALE) {
            assert_null(found);
            found = s;
        }
    }
    if (!found) {
        fail_msg("no rate %s %s", tier, component);
    }
    return found;
}

#endif
