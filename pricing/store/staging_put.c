/* Putting rows into a staging: each row is checked (names, numbers, dates, text) and stored with
 * this staging's own numbers for place and type. Money becomes canonical decimal text. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "store_impl.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 500
#define NOTE_MAX_BYTES 2000

static const char *const insert_sql[ST_COUNT] = {
    [ST_OFFER] = "INSERT INTO offer VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ST_STORAGE] = "INSERT INTO storage_rate VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ST_TRANSFER] = "INSERT INTO transfer_rate VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [ST_INTERRUPTION] = "INSERT INTO interruption VALUES(?,?,?,?,?,?,?)",
    [ST_FX] = "INSERT INTO fx VALUES(?,?,?,?,?)",
    [ST_SPOT] = "INSERT INTO spot_point VALUES(?,?,?,?,?,?,?)",
    [ST_PLACE] = "INSERT INTO place VALUES(?,?,?,?)",
    [ST_TYPE] = "INSERT INTO instance_type VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [ST_TYPE_FILL] =
        "UPDATE instance_type SET gpu = coalesce(gpu, ?4),"
        " gpu_num = CASE WHEN gpu_num > 0 THEN gpu_num ELSE ?5 END,"
        " gpu_den = CASE WHEN gpu_num > 0 THEN gpu_den ELSE ?6 END,"
        " gpu_memory_gib = coalesce(gpu_memory_gib, ?7), vcpus = coalesce(vcpus, ?8),"
        " memory_gib = coalesce(memory_gib, ?9), local_nvme_gb = coalesce(local_nvme_gb, ?10),"
        " network_gbps = coalesce(network_gbps, ?11) WHERE id = ?1",
};

static int statement(struct staging *st, enum staging_table t, sqlite3_stmt **out,
                     struct gt_error *err)
{
    int rc = 0;
    if (st->stmt[t] == NULL) {
        rc = db_prepare(&st->db, insert_sql[t], &st->stmt[t], err);
    }
    *out = st->stmt[t];
    return rc;
}

/* Steps an insert; the fast path of every put. */
static int put(struct staging *st, enum staging_table t, struct gt_error *err)
{
    int rc = db_run(&st->db, st->stmt[t], err);
    if (rc == 0 && t < ST_FEED) {
        st->rows++;
        st->count[t]++;
    }
    return rc;
}

static int check_text(const char *field, const char *s, bool needed, size_t max,
                      struct gt_error *err)
{
    size_t len = s != NULL ? strlen(s) : 0;
    if (len == 0) {
        return needed ? gt_fail(err, GT_EPARSE, "", "%s is empty", field) : 0;
    }
    if (len > max) {
        return gt_fail(err, GT_ELIMIT, "", "%s has %zu bytes, at most %zu are allowed", field, len,
                       max);
    }
    if (!utf8_valid(s, len)) {
        return gt_fail(err, GT_EPARSE, "", "%s is not UTF-8", field);
    }
    return 0;
}

static int check_currency(const char *c, struct gt_error *err)
{
    if (c == NULL || strlen(c) != 3 || !isupper((unsigned char)c[0]) ||
        !isupper((unsigned char)c[1]) || !isupper((unsigned char)c[2])) {
        return gt_fail(err, GT_EPARSE, "", "currency \"%.10s\": three capital letters are needed",
                       c != NULL ? c : "");
    }
    return 0;
}

static int check_interval(int64_t from, int64_t to, struct gt_error *err)
{
    if (from != GT_TIME_NONE && to != GT_TIME_NONE && to <= from) {
        return gt_fail(err, GT_ERANGE, "", "valid_to is not after valid_from");
    }
    return 0;
}

/* 0 for a price that holds until further notice, else its start; never 0 for a dated one. */
static int64_t period(const struct staging *st, int64_t from, int64_t to)
{
    if (to == GT_TIME_NONE && (from == GT_TIME_NONE || from <= st->fetched_at)) {
        return 0;
    }
    return from == GT_TIME_NONE || from == 0 ? -1 : from;
}

static int place_id(struct staging *st, const char *vendor, const char *region, const char *zone,
                    uint32_t *id, struct gt_error *err)
{
    const char *known = vendor_canonical(vendor);
    const char *key[] = {known != NULL ? known : vendor, region, zone};
    bool fresh = false;
    int rc = keymap_add(&st->places, key, 3, id, &fresh);
    if (rc != 0) {
        return gt_fail(err, rc, "", "place names too long or out of memory");
    }
    if (!fresh) {
        return 0;
    }
    rc = check_text("vendor", vendor, true, NAME_MAX_BYTES, err);
    if (rc == 0) {
        rc = check_text("region", region, false, NAME_MAX_BYTES, err);
    }
    if (rc == 0) {
        rc = check_text("zone", zone, false, NAME_MAX_BYTES, err);
    }
    sqlite3_stmt *in = NULL;
    if (rc == 0) {
        rc = statement(st, ST_PLACE, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    (void)sqlite3_bind_int64(in, 1, *id);
    for (int i = 0; i < 3; i++) {
        (void)sqlite3_bind_text(in, 2 + i, key[i] != NULL ? key[i] : "", -1, SQLITE_STATIC);
    }
    return put(st, ST_PLACE, err);
}

/* Bit set of the facts that a row states about its type. */
static unsigned char facts_of(const struct offer_row *r)
{
    unsigned bits = (r->gpu != NULL && r->gpu[0] != '\0' ? 1U : 0U) |
                    (r->gpu_num > 0 && r->gpu_den > 0 ? 2U : 0U) |
                    (r->gpu_memory_gib >= 0 ? 4U : 0U) | (r->vcpus >= 0 ? 8U : 0U) |
                    (r->memory_gib >= 0 ? 16U : 0U) | (r->local_nvme_gb >= 0 ? 32U : 0U) |
                    (r->network_gbps >= 0 ? 64U : 0U);
    return (unsigned char)bits;
}

static int put_type(struct staging *st, enum staging_table t, uint32_t id, const char *vendor,
                    const struct offer_row *r, struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    int rc = check_text("instance_type", r->instance_type, true, NAME_MAX_BYTES, err);
    if (rc == 0) {
        rc = check_text("gpu", r->gpu, false, NAME_MAX_BYTES, err);
    }
    if (rc == 0 && (r->gpu_num > UINT16_MAX || r->gpu_den > UINT16_MAX)) {
        rc =
            gt_fail(err, GT_ERANGE, "", "gpu count %d/%d is not plausible", r->gpu_num, r->gpu_den);
    }
    if (rc == 0) {
        rc = statement(st, t, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    bool counted = r->gpu_num > 0 && r->gpu_den > 0;
    (void)sqlite3_bind_int64(in, 1, id);
    if (t == ST_TYPE) {
        bind_text(in, 2, vendor);
        bind_text(in, 3, r->instance_type);
    }
    bind_text(in, 4, r->gpu);
    (void)sqlite3_bind_int(in, 5, counted ? r->gpu_num : 0);
    (void)sqlite3_bind_int(in, 6, counted ? r->gpu_den : 1);
    bind_real(in, 7, r->gpu_memory_gib);
    bind_real(in, 8, r->vcpus);
    bind_real(in, 9, r->memory_gib);
    bind_real(in, 10, r->local_nvme_gb);
    bind_real(in, 11, r->network_gbps);
    return put(st, t, err);
}

static int type_id(struct staging *st, const struct offer_row *r, uint32_t *id,
                   struct gt_error *err)
{
    const char *known = vendor_canonical(r->vendor);
    const char *vendor = known != NULL ? known : r->vendor;
    const char *key[] = {vendor, r->instance_type};
    bool fresh = false;
    int rc = keymap_add(&st->types, key, 2, id, &fresh);
    if (rc != 0) {
        return gt_fail(err, rc, "", "instance type name too long or out of memory");
    }
    unsigned char facts = facts_of(r);
    if (!fresh) {
        unsigned char *have = &st->type_facts[*id];
        if ((facts & ~*have) == 0) {
            return 0;
        }
        *have |= facts;
        return put_type(st, ST_TYPE_FILL, *id, vendor, r, err);
    }
    if (*id >= st->type_facts_cap) {
        size_t cap = st->type_facts_cap == 0 ? 1024 : st->type_facts_cap * 2;
        unsigned char *grown = realloc(st->type_facts, cap);
        if (grown == NULL) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        st->type_facts = grown;
        st->type_facts_cap = cap;
    }
    st->type_facts[*id] = facts;
    return put_type(st, ST_TYPE, *id, vendor, r, err);
}

/* The whole price per hour in the row's own currency, for ordering. */
static double sort_price(const struct offer_row *r)
{
    double hour = money_to_double(r->price_per_hour);
    if (r->price_month > 0) {
        hour += money_to_double(r->price_month) / GT_HOURS_PER_MONTH;
    }
    switch (r->purchase) {
    case PURCHASE_RESERVED_1Y:
    case PURCHASE_SAVINGS_PLAN_1Y:
    case PURCHASE_COMMITTED_USE_1Y:
        return hour + money_to_double(r->upfront) / GT_HOURS_PER_YEAR;
    case PURCHASE_RESERVED_3Y:
    case PURCHASE_SAVINGS_PLAN_3Y:
    case PURCHASE_COMMITTED_USE_3Y:
        return hour + money_to_double(r->upfront) / (3.0 * GT_HOURS_PER_YEAR);
    default:
        return hour;
    }
}

static int check_offer(const struct offer_row *r, struct gt_error *err)
{
    int rc = check_currency(r->currency, err);
    if (rc == 0) {
        rc = check_interval(r->valid_from, r->valid_to, err);
    }
    if (rc == 0) {
        rc = check_text("sku", r->sku, false, NAME_MAX_BYTES, err);
    }
    if (rc == 0) {
        rc = check_text("note", r->note, false, NOTE_MAX_BYTES, err);
    }
    if (rc == 0 && ((unsigned)r->purchase >= PURCHASE_COUNT || (unsigned)r->payment > PAYMENT_ALL ||
                    (unsigned)r->offering_class > OFFERING_CONVERTIBLE ||
                    (unsigned)r->price_state > PRICE_SOLD_OTHERWISE)) {
        rc = gt_fail(err, GT_EINVALID, "", "purchase, payment, class or state is out of range");
    }
    if (rc == 0 && (r->price_per_hour < 0 || r->upfront < 0 || r->price_month < 0)) {
        rc = gt_fail(err, GT_ERANGE, "", "a price is negative");
    }
    if (rc == 0 && r->price_state == PRICE_KNOWN && r->price_per_hour == 0 && r->upfront == 0 &&
        r->price_month == 0) {
        rc = gt_fail(err, GT_ERANGE, "",
                     "the price is 0; a price that nobody publishes has the state none");
    }
    return rc;
}

/* Money columns of an offer without a price are NULL, so that no query takes them for 0. */
static void bind_price(sqlite3_stmt *in, int i, money m, bool present, char buf[MONEY_TEXT])
{
    if (present) {
        (void)sqlite3_bind_text(in, i, money_format(m, buf), -1, SQLITE_STATIC);
    } else {
        (void)sqlite3_bind_null(in, i);
    }
}

int staging_put_offer(struct staging *st, const struct offer_row *r, struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    uint32_t place = 0, type = 0;
    int rc = check_offer(r, err);
    if (rc == 0) {
        rc = place_id(st, r->vendor, r->region, r->zone, &place, err);
    }
    if (rc == 0) {
        rc = type_id(st, r, &type, err);
    }
    if (rc == 0) {
        rc = statement(st, ST_OFFER, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    char hour[MONEY_TEXT], upfront[MONEY_TEXT], month[MONEY_TEXT];
    bool known = r->price_state == PRICE_KNOWN;
    (void)sqlite3_bind_int64(in, 1, st->feed);
    (void)sqlite3_bind_int64(in, 2, place);
    (void)sqlite3_bind_int64(in, 3, type);
    (void)sqlite3_bind_int(in, 4, (int)r->purchase);
    (void)sqlite3_bind_int(in, 5, (int)r->payment);
    (void)sqlite3_bind_int(in, 6, (int)r->offering_class);
    (void)sqlite3_bind_int64(in, 7, period(st, r->valid_from, r->valid_to));
    (void)sqlite3_bind_int(in, 8, (int)r->price_state);
    bind_price(in, 9, r->price_per_hour, known, hour);
    bind_price(in, 10, r->upfront, known && r->upfront > 0, upfront);
    bind_price(in, 11, r->price_month, known && r->price_month > 0, month);
    bind_real(in, 12, known ? sort_price(r) : (double)NAN);
    bind_text(in, 13, r->currency);
    bind_text(in, 14, r->sku);
    bind_text(in, 15, r->note);
    bind_time(in, 16, r->valid_from);
    bind_time(in, 17, r->valid_to);
    bind_time(in, 18, r->as_of);
    return put(st, ST_OFFER, err);
}

static int check_rate(const char *currency, const char *sku, const char *note, money rate,
                      money from, money to, struct gt_error *err)
{
    int rc = check_currency(currency, err);
    if (rc == 0) {
        rc = check_text("sku", sku, false, NAME_MAX_BYTES, err);
    }
    if (rc == 0) {
        rc = check_text("note", note, false, NOTE_MAX_BYTES, err);
    }
    if (rc == 0 && rate < 0) {
        rc = gt_fail(err, GT_ERANGE, "", "a rate is negative");
    }
    if (rc == 0 && (from < 0 || (to >= 0 && to <= from))) {
        rc = gt_fail(err, GT_ERANGE, "", "a bracket ends before it begins");
    }
    return rc;
}

int staging_put_storage(struct staging *st, const struct storage_rate_row *r, struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    uint32_t place = 0;
    int rc = check_rate(r->currency, r->sku, r->note, r->rate, r->from_qty, r->to_qty, err);
    if (rc == 0) {
        rc = check_text("tier", r->tier, true, NAME_MAX_BYTES, err);
    }
    if (rc == 0) {
        rc = check_text("component", r->component, true, NAME_MAX_BYTES, err);
    }
    if (rc == 0) {
        rc = check_interval(r->valid_from, r->valid_to, err);
    }
    if (rc == 0 && (r->unit_qty == 0 || (unsigned)r->unit >= SU_COUNT)) {
        rc = gt_fail(err, GT_ERANGE, "", "unit or unit quantity is out of range");
    }
    if (rc == 0) {
        rc = place_id(st, r->vendor, r->region, NULL, &place, err);
    }
    if (rc == 0) {
        rc = statement(st, ST_STORAGE, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    char from[MONEY_TEXT], rate[MONEY_TEXT];
    (void)sqlite3_bind_int64(in, 1, st->feed);
    (void)sqlite3_bind_int64(in, 2, place);
    bind_text(in, 3, r->tier);
    bind_text(in, 4, r->component);
    (void)sqlite3_bind_text(in, 5, money_format(r->from_qty, from), -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(in, 6, period(st, r->valid_from, r->valid_to));
    bind_text(in, 7, storage_unit_name(r->unit));
    (void)sqlite3_bind_int64(in, 8, r->unit_qty);
    bind_money(in, 9, r->to_qty);
    (void)sqlite3_bind_text(in, 10, money_format(r->rate, rate), -1, SQLITE_STATIC);
    bind_real(in, 11, money_to_double(r->rate));
    bind_text(in, 12, r->currency);
    bind_text(in, 13, r->sku);
    bind_text(in, 14, r->note);
    bind_time(in, 15, r->valid_from);
    bind_time(in, 16, r->valid_to);
    bind_time(in, 17, r->as_of);
    return put(st, ST_STORAGE, err);
}

int staging_put_transfer(struct staging *st, const struct transfer_rate_row *r,
                         struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    uint32_t place = 0;
    int rc = check_rate(r->currency, r->sku, r->note, r->rate, r->from_gb, r->to_gb, err);
    if (rc == 0) {
        rc = check_text("to", r->to, true, NAME_MAX_BYTES, err);
    }
    if (rc == 0) {
        rc = check_interval(r->valid_from, r->valid_to, err);
    }
    if (rc == 0 && (r->gb_bytes == 0 || r->gb_bytes > INT64_MAX)) {
        rc = gt_fail(err, GT_ERANGE, "", "gb_bytes is out of range");
    }
    if (rc == 0) {
        rc = place_id(st, r->vendor, r->from, NULL, &place, err);
    }
    if (rc == 0) {
        rc = statement(st, ST_TRANSFER, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    char from[MONEY_TEXT], rate[MONEY_TEXT];
    (void)sqlite3_bind_int64(in, 1, st->feed);
    (void)sqlite3_bind_int64(in, 2, place);
    bind_text(in, 3, r->to);
    (void)sqlite3_bind_text(in, 4, money_format(r->from_gb, from), -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(in, 5, period(st, r->valid_from, r->valid_to));
    bind_money(in, 6, r->to_gb);
    (void)sqlite3_bind_int64(in, 7, (sqlite3_int64)r->gb_bytes);
    (void)sqlite3_bind_text(in, 8, money_format(r->rate, rate), -1, SQLITE_STATIC);
    bind_real(in, 9, money_to_double(r->rate));
    bind_text(in, 10, r->currency);
    bind_text(in, 11, r->sku);
    bind_text(in, 12, r->note);
    bind_time(in, 13, r->valid_from);
    bind_time(in, 14, r->valid_to);
    bind_time(in, 15, r->as_of);
    return put(st, ST_TRANSFER, err);
}

/* A type named without facts. */
static int bare_type(struct staging *st, const char *vendor, const char *name, uint32_t *id,
                     struct gt_error *err)
{
    struct offer_row r = {.vendor = vendor,
                          .instance_type = name,
                          .gpu_den = 1,
                          .gpu_memory_gib = -1,
                          .vcpus = -1,
                          .memory_gib = -1,
                          .local_nvme_gb = -1,
                          .network_gbps = -1};
    return type_id(st, &r, id, err);
}

int staging_put_interruption(struct staging *st, const struct interruption_row *r,
                             struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    uint32_t place = 0, type = 0;
    int rc = 0;
    if (!(r->band_lo_pct >= 0 && r->band_lo_pct <= 100) || isnan(r->band_hi_pct) ||
        r->band_hi_pct > 100 || (r->band_hi_pct >= 0 && r->band_hi_pct < r->band_lo_pct)) {
        rc = gt_fail(err, GT_ERANGE, "", "interruption band %g..%g percent is not possible",
                     r->band_lo_pct, r->band_hi_pct);
    }
    if (rc == 0) {
        rc = place_id(st, r->vendor, r->region, NULL, &place, err);
    }
    if (rc == 0) {
        rc = bare_type(st, r->vendor, r->instance_type, &type, err);
    }
    if (rc == 0) {
        rc = statement(st, ST_INTERRUPTION, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    (void)sqlite3_bind_int64(in, 1, st->feed);
    (void)sqlite3_bind_int64(in, 2, place);
    (void)sqlite3_bind_int64(in, 3, type);
    bind_real(in, 4, r->band_lo_pct);
    bind_real(in, 5, r->band_hi_pct);
    bind_real(in, 6, r->savings_pct);
    bind_time(in, 7, r->as_of);
    return put(st, ST_INTERRUPTION, err);
}

int staging_put_spot_point(struct staging *st, const struct spot_point_row *r, struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    uint32_t place = 0, type = 0;
    int rc = 0;
    if (r->price < 0 && r->available < 0) {
        rc = gt_fail(err, GT_EINVALID, "", "a spot point has neither price nor availability");
    } else if (r->price >= 0) {
        rc = check_currency(r->currency, err);
    }
    if (rc == 0) {
        rc = place_id(st, r->vendor, r->region, r->zone, &place, err);
    }
    if (rc == 0) {
        rc = bare_type(st, r->vendor, r->instance_type, &type, err);
    }
    if (rc == 0) {
        rc = statement(st, ST_SPOT, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    (void)sqlite3_bind_int64(in, 1, st->feed);
    (void)sqlite3_bind_int64(in, 2, type);
    (void)sqlite3_bind_int64(in, 3, place);
    (void)sqlite3_bind_int64(in, 4, r->when);
    bind_money(in, 5, r->price);
    bind_text(in, 6, r->price >= 0 ? r->currency : NULL);
    bind_time(in, 7, r->available >= 0 ? (int64_t)r->available : GT_TIME_NONE);
    return put(st, ST_SPOT, err);
}

int staging_put_fx(struct staging *st, const struct fx_row *r, struct gt_error *err)
{
    sqlite3_stmt *in = NULL;
    int rc = check_currency(r->currency, err);
    if (rc == 0 && r->per_usd <= 0) {
        rc = gt_fail(err, GT_ERANGE, "", "the rate of %s is not positive", r->currency);
    }
    if (rc == 0) {
        rc = statement(st, ST_FX, &in, err);
    }
    if (rc != 0) {
        return rc;
    }
    char rate[MONEY_TEXT];
    (void)sqlite3_bind_int64(in, 1, st->feed);
    bind_text(in, 2, r->currency);
    (void)sqlite3_bind_int64(in, 3, r->date);
    (void)sqlite3_bind_text(in, 4, money_format(r->per_usd, rate), -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(in, 5, r->date);
    return put(st, ST_FX, err);
}

void staging_series_complete(struct staging *st)
{
    st->series_complete = true;
}

void staging_goes_on(struct staging *st)
{
    st->goes_on = true;
}

void staging_regions_vary(struct staging *st)
{
    st->regions_vary = true;
}

bool staging_sells_out(struct staging *st)
{
    st->regions_vary = true;
    st->sells_out = st->origin == ORIGIN_FETCHED;
    return st->sells_out;
}
