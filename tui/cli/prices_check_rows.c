/* Rules of `prices check` that look at one row: no price, memory, dates, GPUs. */
#include "gputier/units.h"
#include "prices_check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void zero_price(struct check *k, size_t i)
{
    char name[CHECK_NAME];
    if (check_usd(k->c, i) <= 0 &&
        check_add(k, RULE_ZERO_PRICE, CHECK_ERROR, i,
                  "%s costs nothing: a price that nobody publishes is no price, not 0",
                  check_name(k->c, i, name))) {
        check_row(k, i);
    }
}

static void gpu_floor(struct check *k, size_t i)
{
    const struct catalog_offers *o = &k->c->offers;
    char name[CHECK_NAME], price[64];
    double gpu_hour = check_usd(k->c, i) / price_filter_gpus(o, i);
    if (catalog_under_floor(k->c, i) &&
        check_add(k, RULE_GPU_AT_CPU_PRICE, CHECK_ERROR, i,
                  "%s costs %s an hour, %.4f USD a GPU-hour: under %.2f, the price of CPUs alone",
                  check_name(k->c, i, name), check_price(k->c, i, price), gpu_hour,
                  CATALOG_GPU_FLOOR_USD)) {
        check_row(k, i);
    }
}

static void gpu_memory(struct check *k, size_t i)
{
    const struct catalog_offers *o = &k->c->offers;
    double have = (double)o->gpu_memory_gib[i];
    if (o->gpu_num[i] == 0 || o->gpu_spec[i] < 0 || isnan(have)) {
        return;
    }
    double sheet = k->c->gpus[o->gpu_spec[i]].mem_gb;
    bool slice = o->gpu_den[i] > 1 && o->gpu_num[i] < o->gpu_den[i];
    double want = slice ? sheet * price_filter_gpus(o, i) : sheet;
    double slack = slice ? SLICE_SLACK : MEMORY_SLACK;
    char name[CHECK_NAME];
    if (want > 0 && fabs(have - want) > (slack + CHECK_SLACK) * want &&
        check_add(k, RULE_IMPOSSIBLE_MEMORY, CHECK_ERROR, i,
                  "%s: %g GiB for %s of a %s, which has %g", check_name(k->c, i, name), have,
                  slice ? "a part" : "each", catalog_text(k->c, o->gpu[i]), want)) {
        check_row(k, i);
    }
}

static void host_memory(struct check *k, size_t i)
{
    const struct catalog_offers *o = &k->c->offers;
    double ram = (double)o->memory_gib[i], each = ram / (double)o->vcpus[i];
    char name[CHECK_NAME];
    if (((isfinite(each) && (each < GIB_PER_VCPU_MIN * (1 - CHECK_SLACK) ||
                             each > GIB_PER_VCPU_MAX * (1 + CHECK_SLACK))) ||
         ram > MACHINE_GIB_MAX) &&
        check_add(k, RULE_IMPOSSIBLE_MEMORY, CHECK_ERROR, i, "%s: %g GiB of memory for %g vCPUs",
                  check_name(k->c, i, name), ram, (double)o->vcpus[i])) {
        check_row(k, i);
    }
}

static void date_ahead(struct check *k, size_t i)
{
    int64_t date = k->c->offers.as_of[i];
    char name[CHECK_NAME], day[16], now[16];
    if (date > k->c->as_of + CHECK_DAY &&
        check_add(k, RULE_DATE_AHEAD, CHECK_ERROR, i, "%s is dated %s, today is %s",
                  check_name(k->c, i, name), date_format(date, day),
                  date_format(k->c->as_of, now))) {
        check_row(k, i);
    }
}

static bool is_spot(uint8_t purchase)
{
    return purchase == PURCHASE_SPOT || purchase == PURCHASE_LOW_PRIORITY;
}

/* Rows of one source that are old, one finding for all. */
static void stale(struct check *k, struct keyed *v, size_t n)
{
    const struct catalog_offers *o = &k->c->offers;
    char day[16];
    for (size_t i = 0, end; i < n; i = end) {
        size_t r = v[i].row, count = 0;
        int64_t oldest = o->as_of[r];
        for (end = i; end < n && v[end].hi == v[i].hi; end++, count++) {
            oldest = o->as_of[v[end].row] < oldest ? o->as_of[v[end].row] : oldest;
        }
        bool spot = is_spot(o->purchase[r]);
        if (check_add(k, RULE_STALE, o->origin[r] == ORIGIN_BUNDLED ? CHECK_INFO : CHECK_WARNING, r,
                      "%zu %s of %s are older than %d days, the oldest of %s", count,
                      spot ? "spot prices" : "prices", catalog_text(k->c, o->source[r]),
                      spot ? STALE_SPOT_DAYS : STALE_DAYS, date_format(oldest, day))) {
            for (size_t j = i; j < end; j++) {
                check_row(k, v[j].row);
            }
        }
    }
}

static void unknown_gpus(struct check *k, struct keyed *v, size_t n)
{
    const struct catalog_offers *o = &k->c->offers;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && v[end].hi == v[i].hi; end++) {
        }
        size_t r = v[i].row;
        if (check_add(k, RULE_UNKNOWN_GPU, CHECK_INFO, r,
                      "%s: \"%.60s\" is no model of the table; %zu offer%s",
                      catalog_text(k->c, o->vendor[r]), catalog_text(k->c, o->gpu[r]), end - i,
                      end - i == 1 ? "" : "s")) {
            for (size_t j = i; j < end; j++) {
                check_row(k, v[j].row);
            }
        }
    }
}

/* One key per offer that is old or of an unknown GPU, then a finding a key. */
static void by_key(struct check *k, bool old)
{
    const struct catalog_offers *o = &k->c->offers;
    struct keyed *v = check_keys(k);
    size_t n = 0;
    for (size_t i = 0; v && i < o->n; i++) {
        bool spot = is_spot(o->purchase[i]);
        int64_t limit = (spot ? STALE_SPOT_DAYS : STALE_DAYS) * (int64_t)CHECK_DAY;
        bool hit = old ? o->price_state[i] == PRICE_KNOWN && o->as_of[i] != GT_TIME_NONE &&
                             o->as_of[i] < k->c->as_of - limit
                       : o->gpu[i] != 0 && o->gpu_spec[i] < 0;
        if (hit && check_wants(k, i)) {
            v[n++] = (struct keyed){.hi = old ? key_pair(o->source[i], spot)
                                              : key_pair(o->vendor[i], o->gpu[i]),
                                    .row = (uint32_t)i};
        }
    }
    if (v) {
        check_sort(v, n);
        (old ? stale : unknown_gpus)(k, v, n);
    }
    free(v);
}

void check_rows(struct check *k)
{
    for (size_t i = 0; i < k->c->offers.n; i++) {
        zero_price(k, i);
        gpu_floor(k, i);
        gpu_memory(k, i);
        host_memory(k, i);
        date_ahead(k, i);
    }
    by_key(k, true);
    by_key(k, false);
}
