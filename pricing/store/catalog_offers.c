/* Offers of the catalog: one pass over the table into columns. When several sources price one key,
 * precedence.c says which is shown; the others are noted if they differ (catalog_conflicts.c). */
#include "gputier/units.h"
#include "offers_load.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BIG_PAGES ((size_t)4 << 20)
#define SKU_BYTES 16 /* what most take */

/* First use of a small page costs as much as reading some rows; a large catalog has 40,000. */
static void big_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    uintptr_t page = 4096, from = ((uintptr_t)p + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)p + bytes) & ~(page - 1);
    if (p != NULL && bytes >= BIG_PAGES) {
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
#endif
}

static size_t round16(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

int offers_columns(const struct loader *l, size_t n, struct columns *c, struct gt_error *err)
{
    size_t bytes = 0;
#define SIZE(name) bytes += round16((n + 1) * sizeof(*c->name));
    OFFER_COLUMNS(SIZE)
#undef SIZE
    char *at = arena_alloc(l->cat->arena, bytes);
    if (at == NULL) {
        return load_nomem(l, err);
    }
    big_pages(at, bytes);
#define COLUMN(name)                                                                               \
    c->name = (void *)at;                                                                          \
    at += round16((n + 1) * sizeof(*c->name));
    OFFER_COLUMNS(COLUMN)
#undef COLUMN
    return 0;
}

struct catalog_offers offers_share(const struct columns *c, size_t n)
{
#define SHARE(name) .name = c->name,
    return (struct catalog_offers){.n = n, OFFER_COLUMNS(SHARE)};
#undef SHARE
}

static int make_columns(struct pass *p, struct gt_error *err)
{
    int rc = offers_columns(p->l, p->cap, &p->c, err);
    if (rc != 0) {
        return rc;
    }
    uint32_t slots = 1024;
    while (slots < p->cap * 2) {
        slots *= 2;
    }
    p->mask = slots - 1;
    p->slot = calloc(slots, sizeof(*p->slot));
    p->place = malloc((p->cap + 1) * sizeof(*p->place));
    p->type = malloc((p->cap + 1) * sizeof(*p->type));
    p->options = malloc((p->cap + 1) * sizeof(*p->options));
    p->feed = malloc((p->cap + 1) * sizeof(*p->feed));
    big_pages(p->slot, slots * sizeof(*p->slot));
    big_pages(p->place, p->cap * sizeof(*p->place));
    big_pages(p->type, p->cap * sizeof(*p->type));
    big_pages(p->options, p->cap * sizeof(*p->options));
    big_pages(p->feed, p->cap * sizeof(*p->feed));
    return p->slot == NULL || p->place == NULL || p->type == NULL || p->options == NULL ||
                   p->feed == NULL
               ? load_nomem(p->l, err)
               : 0;
}

/* Room for the texts of a large catalog, nearly all of them SKUs, on big pages. */
static void reserve_texts(const struct pass *p)
{
    struct intern *strings = p->l->cat->strings;
    uint32_t n = p->cap < UINT32_MAX / 8 ? (uint32_t)p->cap : 0;
    size_t bytes = intern_room(strings, n, SKU_BYTES);
    if (bytes >= BIG_PAGES) { /* without it the load goes on, only slower */
        big_pages(arena_reserve(p->l->cat->arena, bytes), bytes);
        (void)intern_reserve(strings, n);
    }
}

static double usd_per_hour(struct pass *p, const struct offer *o)
{
    if (o->state != PRICE_KNOWN) {
        return (double)NAN;
    }
    uint32_t currency = o->text[TEXT_CURRENCY];
    if (currency != p->usd_currency) {
        money rate = catalog_fx_rate(p->l->cat, intern_text(p->l->cat->strings, currency), NULL);
        p->usd_currency = currency;
        p->usd_rate = rate > 0 ? 1.0 / money_to_double(rate) : (double)NAN;
    }
    double hour = money_to_double(o->hour);
    int64_t term = purchase_term_hours((enum purchase)(o->options & 0xff));
    if (o->upfront != 0 && term > 0) {
        hour += money_to_double(o->upfront) / (double)term;
    }
    if (o->month != 0) {
        hour += money_to_double(o->month) / GT_HOURS_PER_MONTH;
    }
    return hour * p->usd_rate;
}

static int read_offer(struct pass *p, sqlite3_stmt *st, struct offer *o, struct gt_error *err)
{
    const struct loader *l = p->l;
    o->id = sqlite3_column_int64(st, 0);
    o->feed = (uint32_t)sqlite3_column_int(st, 1);
    o->place = (uint32_t)sqlite3_column_int(st, 2);
    o->type = (uint32_t)sqlite3_column_int(st, 3);
    if (o->feed >= l->n_feeds || o->place >= l->n_places || o->type >= l->n_types) {
        return gt_fail(err, GT_EDB, l->db->path, "offer %lld refers to a row that does not exist",
                       (long long)o->id);
    }
    o->options = (uint32_t)(sqlite3_column_int(st, 4) & 0xff) |
                 (uint32_t)(sqlite3_column_int(st, 5) & 0xff) << 8 |
                 (uint32_t)(sqlite3_column_int(st, 6) & 0xff) << 16;
    o->state = (uint8_t)sqlite3_column_int(st, 7);
    int rc = column_money(l->db, st, 8, &o->hour, err);
    if (rc == 0) {
        rc = column_money(l->db, st, 9, &o->upfront, err);
    }
    if (rc == 0) {
        rc = column_money(l->db, st, 10, &o->month, err);
    }
    for (int i = 0; rc == 0 && i < N_TEXT; i++) {
        rc = load_text(l, st, 11 + i, &p->cache[i], &o->text[i], err);
    }
    o->valid_from = column_time(st, 14);
    o->valid_to = column_time(st, 15);
    o->as_of = load_date(&l->feeds[o->feed], column_time(st, 16));
    o->usd = rc == 0 ? usd_per_hour(p, o) : (double)NAN;
    return rc;
}

static void write_row(struct pass *p, size_t row, const struct offer *o)
{
    const struct place_info *place = &p->l->places[o->place];
    const struct type_info *type = &p->l->types[o->type];
    const struct feed_info *feed = &p->l->feeds[o->feed];
    struct columns *c = &p->c;
    p->place[row] = o->place;
    p->type[row] = o->type;
    p->options[row] = o->options;
    p->feed[row] = o->feed;
    c->vendor[row] = place->vendor;
    c->region[row] = place->region;
    c->zone[row] = place->zone;
    c->instance_type[row] = type->name;
    c->gpu[row] = type->gpu;
    c->gpu_spec[row] = type->spec;
    c->gpu_num[row] = type->num;
    c->gpu_den[row] = type->den;
    c->gpu_memory_gib[row] = type->gpu_memory_gib;
    c->vcpus[row] = type->vcpus;
    c->memory_gib[row] = type->memory_gib;
    c->local_nvme_gb[row] = type->local_nvme_gb;
    c->network_gbps[row] = type->network_gbps;
    c->currency[row] = o->text[TEXT_CURRENCY];
    c->sku[row] = o->text[TEXT_SKU];
    /* these are mostly 0 as they are: a page unwritten costs nothing */
    if (o->text[TEXT_NOTE] != c->note[row]) {
        c->note[row] = o->text[TEXT_NOTE];
    }
    c->source[row] = feed->source;
    c->origin[row] = feed->origin;
    c->fetched_at[row] = feed->fetched_at;
    c->purchase[row] = (uint8_t)(o->options & 0xff);
    c->payment[row] = (uint8_t)(o->options >> 8 & 0xff);
    c->offering_class[row] = (uint8_t)(o->options >> 16 & 0xff);
    c->price_state[row] = o->state;
    c->price_per_hour[row] = o->hour;
    if (o->upfront != c->upfront[row]) {
        c->upfront[row] = o->upfront;
    }
    if (o->month != c->price_month[row]) {
        c->price_month[row] = o->month;
    }
    c->usd_per_hour[row] = o->usd;
    c->as_of[row] = o->as_of;
    c->valid_from[row] = o->valid_from;
    c->valid_to[row] = o->valid_to;
    c->id[row] = o->id;
}

static uint64_t hash_key(uint32_t place, uint32_t type, uint32_t options)
{
    uint64_t h = (uint64_t)place * 0x9E3779B97F4A7C15ULL;
    h = (h ^ h >> 29 ^ type) * 0xBF58476D1CE4E5B9ULL;
    return (h ^ h >> 32 ^ options) * 0x94D049BB133111EBULL;
}

uint32_t *offers_slot(const struct pass *p, uint32_t place, uint32_t type, uint32_t options)
{
    uint64_t h = hash_key(place, type, options);
    for (uint32_t i = (uint32_t)(h >> 32) & p->mask;; i = (i + 1) & p->mask) {
        struct offer_slot *s = &p->slot[i];
        if (s->row == 0) {
            s->tag = (uint32_t)h;
            return &s->row;
        }
        if (s->tag == (uint32_t)h && p->place[s->row - 1] == place && p->type[s->row - 1] == type &&
            p->options[s->row - 1] == options) {
            return &s->row;
        }
    }
}

struct claim offers_claim(const struct pass *p, size_t row)
{
    return (struct claim){p->feed[row], p->c.price_state[row], p->c.as_of[row]};
}

/* True when the new offer is shown instead of the row that stands. */
static bool beats(const struct pass *p, const struct offer *o, size_t row)
{
    struct claim a = {o->feed, o->state, o->as_of}, b = offers_claim(p, row);
    int rank = load_prefer(p->l, &a, &b);
    return rank != 0 ? rank > 0 : o->valid_from > p->c.valid_from[row];
}

static int add_offer(struct pass *p, const struct offer *o, struct gt_error *err)
{
    uint32_t *slot = offers_slot(p, o->place, o->type, o->options);
    if (*slot == 0) {
        if (p->n == p->cap || p->n >= UINT32_MAX - 1) {
            return gt_fail(err, GT_ELIMIT, p->l->db->path, "more offers than counted");
        }
        write_row(p, p->n, o);
        *slot = (uint32_t)++p->n;
        return 0;
    }
    size_t row = *slot - 1;
    if (!beats(p, o, row)) {
        return offers_lose_new(p, o, row, err);
    }
    int rc = offers_lose(p, row, row, err);
    write_row(p, row, o);
    return rc;
}

/* Reads a row and adds the one AHEAD before it: the memory of its slot has come by then. */
static int next_offer(struct pass *p, sqlite3_stmt *st, struct gt_error *err)
{
    struct offer *o = &p->ahead[p->n_read % AHEAD];
    int rc = p->n_read >= AHEAD ? add_offer(p, o, err) : 0;
    rc = rc ? rc : read_offer(p, st, o, err);
    if (rc == 0) {
        __builtin_prefetch(
            &p->slot[(uint32_t)(hash_key(o->place, o->type, o->options) >> 32) & p->mask], 1);
        p->n_read++;
    }
    return rc;
}

static int read_offers(struct pass *p, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    int64_t most = 0;
    /* An upper bound: counting what is valid would cost another pass over the table. */
    int rc = db_int(p->l->db,
                    p->l->at ? "SELECT count(*) FROM offer"
                             : "SELECT count(*) FROM offer WHERE known_to IS NULL",
                    &most, err);
    p->cap = (size_t)most;
    p->cache[TEXT_SKU].single = true;
    if (rc == 0) {
        rc = make_columns(p, err);
    }
    if (rc == 0) {
        reserve_texts(p);
        rc = load_prepare(p->l,
                          "SELECT o.id, o.feed, o.place, o.instance_type, o.purchase, o.payment,"
                          " o.offering_class, o.price_state, o.price, o.upfront, o.price_month,"
                          " o.currency, o.sku, o.note, o.valid_from, o.valid_to, o.as_of"
                          " FROM offer o NOT INDEXED",
                          LOAD_OFFERS, "", &st, err);
    }
    bool row = rc == 0;
    while (rc == 0 && row && (rc = db_step(p->l->db, st, &row, err)) == 0 && row) {
        size_t type = (size_t)sqlite3_column_int(st, 3);
        if (!p->l->with_cpu_only && type < p->l->n_types && p->l->types[type].num == 0) {
            continue;
        }
        rc = next_offer(p, st, err);
    }
    (void)sqlite3_finalize(st);
    for (size_t i = p->n_read < AHEAD ? 0 : p->n_read - AHEAD; rc == 0 && i < p->n_read; i++) {
        rc = add_offer(p, &p->ahead[i % AHEAD], err);
    }
    return rc == 0 ? offers_conflicts(p, err) : rc;
}

int load_offers(struct loader *l, struct gt_error *err)
{
    struct pass p = {.l = l};
    int rc = read_offers(&p, err);
    l->cat->offers = offers_share(&p.c, p.n);
    free(p.slot);
    free(p.place);
    free(p.type);
    free(p.options);
    free(p.feed);
    free(p.losers);
    return rc;
}
