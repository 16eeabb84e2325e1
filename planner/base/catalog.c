/* Look-ups in a loaded catalog (catalog.h): pure reads, no allocation but for catalog_set_fx. */
#include "gputier/catalog.h"
#include "gputier/text.h"
#include <stdlib.h>
#include <string.h>

const char *catalog_text(const struct catalog *c, uint32_t id)
{
    return intern_text(c->strings, id);
}

uint32_t catalog_id(const struct catalog *c, const char *text)
{
    return text == NULL ? 0 : intern_find(c->strings, text, strlen(text));
}

void catalog_free(struct catalog *c)
{
    if (c != NULL) {
        arena_free(c->arena);
        free(c);
    }
}

int catalog_gpu(const struct catalog *c, const char *model)
{
    for (size_t i = 0; model != NULL && i < c->n_gpus; i++) {
        if (strcmp(c->gpus[i].model, model) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int catalog_model(const struct catalog *c, const char *name)
{
    for (size_t i = 0; name != NULL && i < c->n_models; i++) {
        if (strcmp(c->models[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Order of two interned strings by their text. */
static int id_order(const struct catalog *c, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(catalog_text(c, a), catalog_text(c, b));
}

static int storage_order(const struct catalog *c, size_t row, uint32_t vendor, uint32_t region,
                         uint32_t tier, const char *component)
{
    const struct catalog_storage *s = &c->storage;
    int d = id_order(c, s->vendor[row], vendor);
    if (d == 0) {
        d = id_order(c, s->region[row], region);
    }
    if (d == 0) {
        d = id_order(c, s->tier[row], tier);
    }
    return d != 0 ? d : strcmp(catalog_text(c, s->component[row]), component);
}

size_t catalog_storage_rates(const struct catalog *c, uint32_t vendor, uint32_t region,
                             uint32_t tier, const char *component, size_t *first)
{
    size_t lo = 0, hi = c->storage.n;
    while (lo < hi) { /* first row that is not before the key */
        size_t mid = lo + (hi - lo) / 2;
        if (storage_order(c, mid, vendor, region, tier, component) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    *first = lo;
    size_t end = lo;
    while (end < c->storage.n && storage_order(c, end, vendor, region, tier, component) == 0) {
        end++;
    }
    return end - lo;
}

static int transfer_order(const struct catalog *c, size_t row, uint32_t vendor, uint32_t from,
                          const char *to)
{
    const struct catalog_transfer *t = &c->transfer;
    int d = id_order(c, t->vendor[row], vendor);
    if (d == 0) {
        d = id_order(c, t->from[row], from);
    }
    return d != 0 ? d : strcmp(catalog_text(c, t->to[row]), to);
}

static size_t transfer_exact(const struct catalog *c, uint32_t vendor, uint32_t from,
                             const char *to, size_t *first)
{
    size_t lo = 0, hi = c->transfer.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (transfer_order(c, mid, vendor, from, to) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    *first = lo;
    size_t end = lo;
    while (end < c->transfer.n && transfer_order(c, end, vendor, from, to) == 0) {
        end++;
    }
    return end - lo;
}

/* Continent of a region code by the vendors' own naming; NULL when the name does not say. */
static const char *continent(const char *region)
{
    static const struct {
        const char *prefix, *continent;
    } table[] = {
        {"us", "north-america"},
        {"ca-", "north-america"},
        {"canada", "north-america"},
        {"mx-", "north-america"},
        {"northamerica", "north-america"},
        {"mexico", "north-america"},
        {"eastus", "north-america"},
        {"westus", "north-america"},
        {"centralus", "north-america"},
        {"northcentralus", "north-america"},
        {"southcentralus", "north-america"},
        {"westcentralus", "north-america"},
        {"eu", "europe"},
        {"uk", "europe"},
        {"northeurope", "europe"},
        {"westeurope", "europe"},
        {"france", "europe"},
        {"germany", "europe"},
        {"sweden", "europe"},
        {"norway", "europe"},
        {"switzerland", "europe"},
        {"italy", "europe"},
        {"poland", "europe"},
        {"spain", "europe"},
        {"ap-southeast-2", "oceania"},
        {"ap-southeast-4", "oceania"},
        {"ap-southeast-6", "oceania"},
        {"australia", "oceania"},
        {"newzealand", "oceania"},
        {"ap-", "asia"},
        {"asia", "asia"},
        {"eastasia", "asia"},
        {"southeastasia", "asia"},
        {"cn-", "asia"},
        {"il-", "asia"},
        {"me-", "asia"},
        {"japan", "asia"},
        {"korea", "asia"},
        {"centralindia", "asia"},
        {"southindia", "asia"},
        {"westindia", "asia"},
        {"jioindia", "asia"},
        {"uae", "asia"},
        {"qatar", "asia"},
        {"israel", "asia"},
        {"sa-", "south-america"},
        {"southamerica", "south-america"},
        {"brazil", "south-america"},
        {"chile", "south-america"},
        {"af-", "africa"},
        {"africa", "africa"},
        {"southafrica", "africa"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strncmp(region, table[i].prefix, strlen(table[i].prefix)) == 0) {
            return table[i].continent;
        }
    }
    return NULL;
}

size_t catalog_transfer_rates(const struct catalog *c, uint32_t vendor, uint32_t from,
                              const char *to, size_t *first)
{
    size_t n = transfer_exact(c, vendor, from, to, first);
    const char *source = catalog_text(c, from);
    static const char *const classes[] = {
        "internet",        "other_region", "other_region_same_continent",
        "other_continent", "other_az",     "same_region"};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (strcmp(to, classes[i]) == 0) {
            return n; /* a class is its own answer */
        }
    }
    if (n > 0) {
        return n;
    }
    if (strcmp(source, to) == 0) {
        return transfer_exact(c, vendor, from, "same_region", first);
    }
    const char *a = continent(source), *b = continent(to);
    if (a != NULL && b != NULL) {
        const char *class = strcmp(a, b) == 0 ? "other_region_same_continent" : "other_continent";
        n = transfer_exact(c, vendor, from, class, first);
    }
    return n > 0 ? n : transfer_exact(c, vendor, from, "other_region", first);
}

size_t catalog_others(const struct catalog *c, size_t offer, size_t *first)
{
    size_t lo = 0, hi = c->others.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->others_of[mid] < offer) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    *first = lo;
    while (hi < c->others.n && c->others_of[hi] == offer) {
        hi++;
    }
    return hi - lo;
}

money catalog_fx_rate(const struct catalog *c, const char *currency, int64_t *date)
{
    money rate = 0;
    int64_t newest = INT64_MIN;
    if (strcmp(currency, "USD") == 0) {
        rate = MONEY_SCALE;
        newest = c->as_of;
    }
    for (size_t i = 0; rate != MONEY_SCALE && i < c->fx.n; i++) {
        if (c->fx.date[i] >= newest && strcmp(catalog_text(c, c->fx.currency[i]), currency) == 0) {
            rate = c->fx.per_usd[i];
            newest = c->fx.date[i];
        }
    }
    if (date != NULL) {
        *date = newest;
    }
    return rate;
}

/* The dollars that search and ordering use follow the rate of their currency. */
static const double *dollars_at(const struct catalog *c, const struct catalog_offers *o,
                                uint32_t currency, double old, double now)
{
    double *usd = arena_array(c->arena, o->n + 1, sizeof *usd);
    for (size_t i = 0; usd != NULL && i < o->n; i++) {
        usd[i] = o->usd_per_hour[i];
        if (o->currency[i] != currency || o->price_state[i] != PRICE_KNOWN) {
            continue;
        }
        if (old > 0) {
            usd[i] *= old / now;
        } else if (o->upfront[i] == 0 && o->price_month[i] == 0) {
            usd[i] = money_to_double(o->price_per_hour[i]) / now;
        }
    }
    return usd;
}

int catalog_set_fx(struct catalog *c, const char *currency, const char *source, money per_usd,
                   int64_t date)
{
    const struct catalog_fx *old = &c->fx;
    size_t n = 0, room = old->n + 1;
    if (strcmp(currency, "USD") == 0 || per_usd <= 0) {
        return GT_EINVALID;
    }
    uint32_t *code = arena_array(c->arena, room, sizeof *code);
    uint32_t *from = arena_array(c->arena, room, sizeof *from);
    money *rate = arena_array(c->arena, room, sizeof *rate);
    int64_t *when = arena_array(c->arena, room, sizeof *when);
    uint32_t id = intern_add(c->strings, currency, strlen(currency));
    uint32_t source_id = intern_add(c->strings, source, strlen(source));
    double was = money_to_double(catalog_fx_rate(c, currency, NULL)), is = money_to_double(per_usd);
    const double *usd = dollars_at(c, &c->offers, id, was, is),
                 *others_usd = dollars_at(c, &c->others, id, was, is);
    if (usd == NULL || others_usd == NULL || code == NULL || from == NULL || rate == NULL ||
        when == NULL || id == UINT32_MAX || source_id == UINT32_MAX) {
        return GT_ENOMEM;
    }
    for (size_t i = 0; i < old->n; i++) {
        if (old->currency[i] != id) {
            code[n] = old->currency[i];
            from[n] = old->source[i];
            rate[n] = old->per_usd[i];
            when[n++] = old->date[i];
        }
    }
    code[n] = id;
    from[n] = source_id;
    rate[n] = per_usd;
    when[n++] = date;
    c->fx = (struct catalog_fx){n, code, from, rate, when};
    c->offers.usd_per_hour = usd;
    c->others.usd_per_hour = others_usd;
    return 0;
}

int catalog_to_usd(const struct catalog *c, const char *from, money amount, money *usd)
{
    money rate = catalog_fx_rate(c, from, NULL);
    if (rate <= 0) {
        return GT_ENOTFOUND;
    }
    if (rate == MONEY_SCALE) { /* dollars themselves, most often */
        *usd = amount;
        return 0;
    }
    return money_mul_ratio(amount, (gt_u128)MONEY_SCALE, (gt_u128)rate, usd);
}

int catalog_convert(const struct catalog *c, const char *from, const char *to, money amount,
                    money *out)
{
    if (strcmp(from, to) == 0) {
        *out = amount;
        return 0;
    }
    money usd = 0, rate = catalog_fx_rate(c, to, NULL);
    int rc = rate > 0 ? catalog_to_usd(c, from, amount, &usd) : GT_ENOTFOUND;
    return rc ? rc : money_mul_ratio(usd, (gt_u128)rate, (gt_u128)MONEY_SCALE, out);
}

/* Cards for desks are let by people for a few cents. */
static bool desk_card(const char *gpu)
{
    static const char *const begin[] = {"GTX", "GeForce", "TITAN", "Titan", "Quadro", "RTX A2000"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        if (strncmp(gpu, begin[i], strlen(begin[i])) == 0) {
            return true;
        }
    }
    return strncmp(gpu, "RTX ", 4) == 0 && gpu[4] >= '2' && gpu[4] <= '5'; /* RTX 3060 */
}

bool catalog_under_floor(const struct catalog *c, size_t i)
{
    const struct catalog_offers *o = &c->offers;
    if (o->price_state[i] != PRICE_KNOWN || o->gpu_num[i] == 0 || o->gpu_num[i] < o->gpu_den[i] ||
        o->purchase[i] == PURCHASE_SPOT || o->purchase[i] == PURCHASE_LOW_PRIORITY ||
        desk_card(catalog_text(c, o->gpu[i]))) {
        return false;
    }
    double usd = o->usd_per_hour[i] * o->gpu_den[i] / o->gpu_num[i];
    return usd > 0 && usd < CATALOG_GPU_FLOOR_USD * (1 - 1e-9); /* 0.35 / 7 is the floor */
}
