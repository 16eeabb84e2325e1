/* Body of the fuzz targets of price sources: FUZZ_SOURCE names the source. The first byte sets how
 * the rest is cut into pieces: rows must not depend on it. Rows are looked at, then dropped. */
#include "gputier/fetch.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct staging {
    uint64_t rows, hash;
};
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct staging *st, const char *s)
{
    size_t len = s ? strlen(s) : 0;
    if (s && !utf8_valid(s, len)) {
        abort();
    }
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f) {
            abort();
        }
        st->hash = (st->hash ^ (unsigned char)s[i]) * 0x100000001b3ULL;
    }
    st->hash = (st->hash ^ 0x100) * 0x100000001b3ULL;
}

static void look_money(struct staging *st, money m)
{
    if (m < 0) {
        abort();
    }
    st->hash = (st->hash ^ (uint64_t)m) * 0x100000001b3ULL;
}

int staging_put_offer(struct staging *st, const struct offer_row *r, struct gt_error *err)
{
    (void)err;
    look(st, r->vendor);
    look(st, r->region);
    look(st, r->zone);
    look(st, r->instance_type);
    look(st, r->gpu);
    look(st, r->currency);
    look(st, r->sku);
    if (!r->vendor || !*r->vendor || !r->region || !r->instance_type || !*r->instance_type ||
        r->gpu_den < 1) {
        abort();
    }
    if (r->price_state == PRICE_KNOWN) {
        look_money(st, r->price_per_hour);
        look_money(st, r->upfront);
    }
    st->rows++;
    return 0;
}
int staging_put_storage(struct staging *st, const struct storage_rate_row *r, struct gt_error *err)
{
    (void)err;
    look(st, r->vendor);
    look(st, r->tier);
    look(st, r->component);
    look_money(st, r->rate);
    st->rows++;
    return 0;
}
int staging_put_transfer(struct staging *st, const struct transfer_rate_row *r,
                         struct gt_error *err)
{
    (void)err;
    look(st, r->vendor);
    look_money(st, r->rate);
    st->rows++;
    return 0;
}
int staging_put_interruption(struct staging *st, const struct interruption_row *r,
                             struct gt_error *err)
{
    (void)err;
    look(st, r->instance_type);
    st->rows++;
    return 0;
}
int staging_put_spot_point(struct staging *st, const struct spot_point_row *r, struct gt_error *err)
{
    (void)err;
    look(st, r->instance_type);
    st->rows++;
    return 0;
}
int staging_put_fx(struct staging *st, const struct fx_row *r, struct gt_error *err)
{
    (void)err;
    look(st, r->currency);
    st->rows++;
    return 0;
}

void staging_series_complete(struct staging *st)
{
    (void)st;
}

void staging_goes_on(struct staging *st)
{
    (void)st;
}

void staging_regions_vary(struct staging *st)
{
    (void)st;
}

bool staging_sells_out(struct staging *st)
{
    (void)st;
    return true;
}

static int feed(const char *text, size_t len, size_t piece, struct staging *st)
{
    const struct source_def *def = source_find(FUZZ_SOURCE);
    struct parse_context ctx = {
        .staging = st, .name = "aws-vms.csv", .region = "", .now = 1796178900, .as_of = 1796178900};
    struct parser *p = NULL;
    int rc = source_open(def, &ctx, &p, NULL);
    if (rc) {
        return rc;
    }
    for (size_t at = 0; at < len && !rc; at += piece) {
        /* A buffer of its own size: reading past it is seen. */
        size_t n = len - at < piece ? len - at : piece;
        char *copy = malloc(n);
        if (!copy) {
            abort();
        }
        memcpy(copy, text + at, n);
        rc = def->parse_feed(p, copy, n, NULL);
        free(copy);
    }
    if (rc) {
        def->parse_abort(p);
        return rc;
    }
    return def->parse_close(p, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct staging whole = {0, 0}, cut = {0, 0};
    if (size < 2) {
        return 0;
    }
    size_t piece = (size_t)data[0] + 1;
    int a = feed((const char *)data + 1, size - 1, size, &whole);
    int b = feed((const char *)data + 1, size - 1, piece, &cut);
    if ((a == 0) != (b == 0) || (a == 0 && (whole.rows != cut.rows || whole.hash != cut.hash))) {
        abort();
    }
    return 0;
}
