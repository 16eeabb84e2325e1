/* Offers of the catalog: one pass over the table into columns. When several sources price one key,
 * the newest date is shown (then fetched, imported, bundled) and the others are noted if they
 * differ by more than 1 %. */
#include "gputier/units.h"
#include "store_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_RATIO 0.01

enum { TEXT_CURRENCY, TEXT_SKU, TEXT_NOTE, N_TEXT };
/* Mutable view of the columns while they fill. */
struct columns {
    uint32_t *vendor, *region, *zone, *instance_type, *gpu, *currency, *sku, *source, *note;
    int16_t *gpu_spec;
    uint16_t *gpu_num, *gpu_den;
    float *gpu_memory_gib, *vcpus, *memory_gib, *local_nvme_gb, *network_gbps;
    uint8_t *purchase, *payment, *offering_class, *price_state, *origin;
    money *price_per_hour, *upfront, *price_month;
    double *usd_per_hour;
    int64_t *as_of, *fetched_at, *valid_from, *valid_to, *id;
};
/* One row before it has its place. */
struct offer {
    uint32_t place, type, options; /* options: purchase, payment, class in one number */
    uint32_t feed, text[N_TEXT];
    uint8_t state;
    money hour, upfront, month;
    double usd;
    int64_t as_of, valid_from, valid_to, id;
};
/* A price that is not shown, for the note beside the one that is. */
struct loser {
    size_t row;
    uint32_t source, currency;
    money hour, upfront, month;
    double usd;
    int64_t as_of;
};
struct pass {
    struct loader *l;
    struct columns c;
    size_t n, cap;
    uint32_t *slot, mask; /* hash of keys -> row + 1 */
    uint32_t *place, *type, *options, *feed;
    struct loser *losers;
    size_t n_losers, losers_cap;
    struct text_cache cache[N_TEXT];
    uint32_t usd_currency; /* of usd_rate */
    double usd_rate;
};

static int make_columns(struct pass *p, struct gt_error *err)
{
    struct columns *c = &p->c;
    struct arena *a = p->l->cat->arena;
    bool ok = true;
#define COLUMN(name) ok = ok && (c->name = arena_array(a, p->cap + 1, sizeof(*c->name))) != NULL
    COLUMN(vendor);
    COLUMN(region);
    COLUMN(zone);
    COLUMN(instance_type);
    COLUMN(gpu);
    COLUMN(currency);
    COLUMN(sku);
    COLUMN(source);
    COLUMN(note);
    COLUMN(gpu_spec);
    COLUMN(gpu_num);
    COLUMN(gpu_den);
    COLUMN(gpu_memory_gib);
    COLUMN(vcpus);
    COLUMN(memory_gib);
    COLUMN(local_nvme_gb);
    COLUMN(network_gbps);
    COLUMN(purchase);
    COLUMN(payment);
    COLUMN(offering_class);
    COLUMN(price_state);
    COLUMN(origin);
    COLUMN(price_per_hour);
    COLUMN(upfront);
    COLUMN(price_month);
    COLUMN(usd_per_hour);
    COLUMN(as_of);
    COLUMN(fetched_at);
    COLUMN(valid_from);
    COLUMN(valid_to);
    COLUMN(id);
#undef COLUMN
    if (!ok) {
        return load_nomem(p->l, err);
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
    return p->slot == NULL || p->place == NULL || p->type == NULL || p->options == NULL ||
                   p->feed == NULL
               ? load_nomem(p->l, err)
               : 0;
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
    c->note[row] = o->text[TEXT_NOTE];
    c->source[row] = feed->source;
    c->origin[row] = feed->origin;
    c->fetched_at[row] = feed->fetched_at;
    c->purchase[row] = (uint8_t)(o->options & 0xff);
    c->payment[row] = (uint8_t)(o->options >> 8 & 0xff);
    c->offering_class[row] = (uint8_t)(o->options >> 16 & 0xff);
    c->price_state[row] = o->state;
    c->price_per_hour[row] = o->hour;
    c->upfront[row] = o->upfront;
    c->price_month[row] = o->month;
    c->usd_per_hour[row] = o->usd;
    c->as_of[row] = o->as_of;
    c->valid_from[row] = o->valid_from;
    c->valid_to[row] = o->valid_to;
    c->id[row] = o->id;
}

/* The row of the same key, or the empty slot for it. */
static uint32_t *find_slot(const struct pass *p, const struct offer *o)
{
    uint64_t h = (uint64_t)o->place * 0x9E3779B97F4A7C15ULL;
    h = (h ^ h >> 29 ^ o->type) * 0xBF58476D1CE4E5B9ULL;
    h = (h ^ h >> 32 ^ o->options) * 0x94D049BB133111EBULL;
    for (uint32_t i = (uint32_t)(h >> 32) & p->mask;; i = (i + 1) & p->mask) {
        uint32_t row = p->slot[i];
        if (row == 0 || (p->place[row - 1] == o->place && p->type[row - 1] == o->type &&
                         p->options[row - 1] == o->options)) {
            return &p->slot[i];
        }
    }
}

/* True when the new offer is shown instead of the row that stands. */
static bool beats(const struct pass *p, const struct offer *o, size_t row)
{
    int rank = load_rank(o->as_of, p->l->feeds[o->feed].origin, p->c.as_of[row], p->c.origin[row]);
    if (rank == 0) { /* one source with several periods: the one that began last */
        rank = (o->valid_from > p->c.valid_from[row]) - (o->valid_from < p->c.valid_from[row]);
    }
    if (rank == 0) {
        rank = (o->state == PRICE_KNOWN) - (p->c.price_state[row] == PRICE_KNOWN);
    }
    return rank > 0;
}

static int add_loser(struct pass *p, const struct loser *x, struct gt_error *err)
{
    if (p->n_losers == p->losers_cap) {
        size_t cap = p->losers_cap == 0 ? 256 : p->losers_cap * 2;
        struct loser *grown = realloc(p->losers, cap * sizeof(*grown));
        if (grown == NULL) {
            return load_nomem(p->l, err);
        }
        p->losers = grown;
        p->losers_cap = cap;
    }
    p->losers[p->n_losers++] = *x;
    return 0;
}

static int add_offer(struct pass *p, const struct offer *o, struct gt_error *err)
{
    uint32_t *slot = find_slot(p, o);
    if (*slot == 0) {
        if (p->n == p->cap || p->n >= UINT32_MAX - 1) {
            return gt_fail(err, GT_ELIMIT, p->l->db->path, "more offers than counted");
        }
        write_row(p, p->n, o);
        *slot = (uint32_t)++p->n;
        return 0;
    }
    size_t row = *slot - 1;
    const struct columns *c = &p->c;
    bool wins = beats(p, o, row);
    struct loser x = {row,
                      p->l->feeds[o->feed].source,
                      o->text[TEXT_CURRENCY],
                      o->hour,
                      o->upfront,
                      o->month,
                      o->state == PRICE_KNOWN ? o->usd : -1,
                      o->as_of};
    if (wins) {
        x = (struct loser){row,
                           c->source[row],
                           c->currency[row],
                           c->price_per_hour[row],
                           c->upfront[row],
                           c->price_month[row],
                           c->price_state[row] == PRICE_KNOWN ? c->usd_per_hour[row] : -1,
                           c->as_of[row]};
        write_row(p, row, o);
    }
    return x.usd == -1 ? 0 : add_loser(p, &x, err); /* a price that is not known says nothing */
}

/* "12.5 USD/h" in the loser's own currency. */
static void say(const struct pass *p, const struct loser *x, char out[90])
{
    char a[MONEY_TEXT], b[MONEY_TEXT];
    const char *currency = intern_text(p->l->cat->strings, x->currency);
    if (x->month != 0) {
        (void)snprintf(out, 90, "%.40s %.3s a month", money_format(x->month, a), currency);
    } else if (x->upfront != 0) {
        (void)snprintf(out, 90, "%.30s %.3s/h and %.30s upfront", money_format(x->hour, a),
                       currency, money_format(x->upfront, b));
    } else {
        (void)snprintf(out, 90, "%.40s %.3s/h", money_format(x->hour, a), currency);
    }
}

static int note_losers(struct pass *p, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < p->n_losers; i++) {
        const struct loser *x = &p->losers[i];
        double shown = p->c.usd_per_hour[x->row];
        bool known = p->c.price_state[x->row] == PRICE_KNOWN;
        if (x->source == p->c.source[x->row] ||
            (known && !(fabs(x->usd - shown) > NOTE_RATIO * shown))) {
            continue; /* also when a currency has no rate: nothing can be said then */
        }
        char text[90];
        say(p, x, text);
        rc = load_conflict(p->l, &p->c.note[x->row], x->source, text, x->as_of, err);
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
    if (rc == 0) {
        rc = make_columns(p, err);
    }
    if (rc == 0) {
        rc = load_prepare(p->l,
                          "SELECT o.id, o.feed, o.place, o.instance_type, o.purchase, o.payment,"
                          " o.offering_class, o.price_state, o.price, o.upfront, o.price_month,"
                          " o.currency, o.sku, o.note, o.valid_from, o.valid_to, o.as_of"
                          " FROM offer o NOT INDEXED",
                          true, "", &st, err);
    }
    bool row = rc == 0;
    while (rc == 0 && row && (rc = db_step(p->l->db, st, &row, err)) == 0 && row) {
        size_t type = (size_t)sqlite3_column_int(st, 3);
        if (!p->l->with_cpu_only && type < p->l->n_types && p->l->types[type].num == 0) {
            continue;
        }
        struct offer o;
        rc = read_offer(p, st, &o, err);
        if (rc == 0) {
            rc = add_offer(p, &o, err);
        }
    }
    (void)sqlite3_finalize(st);
    return rc == 0 ? note_losers(p, err) : rc;
}

int load_offers(struct loader *l, struct gt_error *err)
{
    struct pass p = {.l = l};
    int rc = read_offers(&p, err);
    const struct columns *c = &p.c;
    l->cat->offers = (struct catalog_offers){
        .n = p.n,
        .vendor = c->vendor,
        .region = c->region,
        .zone = c->zone,
        .instance_type = c->instance_type,
        .gpu = c->gpu,
        .currency = c->currency,
        .sku = c->sku,
        .source = c->source,
        .note = c->note,
        .gpu_spec = c->gpu_spec,
        .gpu_num = c->gpu_num,
        .gpu_den = c->gpu_den,
        .gpu_memory_gib = c->gpu_memory_gib,
        .vcpus = c->vcpus,
        .memory_gib = c->memory_gib,
        .local_nvme_gb = c->local_nvme_gb,
        .network_gbps = c->network_gbps,
        .purchase = c->purchase,
        .payment = c->payment,
        .offering_class = c->offering_class,
        .price_state = c->price_state,
        .origin = c->origin,
        .price_per_hour = c->price_per_hour,
        .upfront = c->upfront,
        .price_month = c->price_month,
        .usd_per_hour = c->usd_per_hour,
        .as_of = c->as_of,
        .fetched_at = c->fetched_at,
        .valid_from = c->valid_from,
        .valid_to = c->valid_to,
        .id = c->id,
    };
    free(p.slot);
    free(p.place);
    free(p.type);
    free(p.options);
    free(p.feed);
    free(p.losers);
    return rc;
}
