/* The snapshot's priced rows: offers, storage, transfer, interruption bands, exchange rates. Each
 * goes through the same staging and checks as a fetched row, into the feed of its own source. */
#include "gputier/units.h"
#include "snapshot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Names and dates of sources.csv, from a copy: reading cuts the text. */
static int read_sources(struct snapshot *snap, struct gt_error *err)
{
    const struct snap_csv *f = &snap->file[SNAP_SOURCES];
    if (f->data == NULL) {
        return 0;
    }
    struct snap_csv c = *f;
    c.data = malloc(f->len + 1);
    if (c.data == NULL) {
        return gt_fail(err, GT_ENOMEM, f->path, "out of memory");
    }
    memcpy(c.data, f->data, f->len + 1);
    c.p = c.data;
    c.end = c.data + c.len;
    int name = 0, as_of = 0;
    bool row = false;
    int rc = snap_csv_header(&c, err);
    if (rc == 0) {
        rc = snap_csv_column(&c, "source", true, &name, err);
    }
    if (rc == 0) {
        rc = snap_csv_column(&c, "as_of", true, &as_of, err);
    }
    while (rc == 0 && (rc = snap_csv_next(&c, &row, err)) == 0 && row) {
        struct snapshot_source *grown =
            realloc(snap->source, (snap->n_sources + 1) * sizeof(*snap->source));
        if (grown == NULL) {
            rc = gt_fail(err, GT_ENOMEM, f->path, "out of memory");
            break;
        }
        snap->source = grown;
        struct snapshot_source *s = &grown[snap->n_sources];
        rc = snap_csv_time(&c, as_of, &s->as_of, err);
        s->name = rc == 0 ? strdup(snap_csv_text(&c, name)) : NULL;
        if (rc == 0 && s->name == NULL) {
            rc = gt_fail(err, GT_ENOMEM, f->path, "out of memory");
        }
        snap->n_sources += rc == 0;
    }
    free(c.data);
    return rc;
}

/* A row's feed and date; the date falls back to its source's. */
static int use_source(struct snapshot *snap, struct staging *st, const struct snap_csv *f,
                      int source, int as_of, int64_t *date, struct gt_error *err)
{
    const char *name = snap_csv_text(f, source);
    size_t i = snap->last_source;
    if (i >= snap->n_sources || strcmp(snap->source[i].name, name) != 0) {
        for (i = 0; i < snap->n_sources && strcmp(snap->source[i].name, name) != 0; i++) {
        }
    }
    if (i == snap->n_sources) {
        return snap_csv_fail(f, source, err, GT_EPARSE, "\"%.60s\" is not in sources.csv", name);
    }
    snap->last_source = i;
    int rc = snap_csv_time(f, as_of, date, err);
    if (rc == 0 && *date == GT_TIME_NONE) {
        *date = snap->source[i].as_of;
    }
    return rc == 0 ? staging_feed(st, name, "", err) : rc;
}

/* Gives a refused row its place in the file. */
static int placed(const struct snap_csv *f, int rc, const struct gt_error *why,
                  struct gt_error *err)
{
    return rc == 0 ? 0 : snap_csv_fail(f, -1, err, rc, "%s", why->text);
}

static int columns(struct snap_csv *f, const char *const *names, int *column, size_t n,
                   struct gt_error *err)
{
    int rc = snap_csv_header(f, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = snap_csv_column(f, names[i], true, &column[i], err);
    }
    return rc;
}

static int offer_enums(const struct snap_csv *f, const int *c, struct offer_row *r,
                       struct gt_error *err)
{
    const char *state = snap_csv_text(f, c[7]);
    if (purchase_from_name(snap_csv_text(f, c[4]), &r->purchase) != 0) {
        return snap_csv_fail(f, c[4], err, GT_EPARSE, "\"%.40s\" is no purchase option",
                             snap_csv_text(f, c[4]));
    }
    if (payment_from_name(snap_csv_text(f, c[5]), &r->payment) != 0) {
        return snap_csv_fail(f, c[5], err, GT_EPARSE,
                             "\"%.40s\" is not none, partial, all or empty",
                             snap_csv_text(f, c[5]));
    }
    if (offering_class_from_name(snap_csv_text(f, c[6]), &r->offering_class) != 0) {
        return snap_csv_fail(f, c[6], err, GT_EPARSE,
                             "\"%.40s\" is not standard, convertible or empty",
                             snap_csv_text(f, c[6]));
    }
    r->price_state = PRICE_KNOWN;
    if (state[0] != '\0' && price_state_from_name(state, &r->price_state) != 0) {
        return snap_csv_fail(f, c[7], err, GT_EPARSE,
                             "\"%.40s\" is not known, none or sold_otherwise", state);
    }
    return 0;
}

static const char *const offer_columns[] = {
    "vendor",      "region",         "zone",        "instance_type",  "purchase",
    "payment",     "offering_class", "price_state", "price_per_hour", "upfront",
    "price_month", "currency",       "sku",         "as_of",          "valid_from",
    "valid_to",    "source",         "note"};

static int offers(struct snapshot *snap, struct staging *st, struct snap_csv *f,
                  struct gt_error *err)
{
    int c[18];
    bool row = false;
    int rc = columns(f, offer_columns, c, 18, err);
    while (rc == 0 && (rc = snap_csv_next(f, &row, err)) == 0 && row) {
        struct offer_row r = {.vendor = snap_csv_text(f, c[0]),
                              .region = snap_csv_text(f, c[1]),
                              .zone = snap_csv_text(f, c[2]),
                              .instance_type = snap_csv_text(f, c[3]),
                              .gpu_den = 1,
                              .gpu_memory_gib = -1,
                              .vcpus = -1,
                              .memory_gib = -1,
                              .local_nvme_gb = -1,
                              .network_gbps = -1,
                              .currency = snap_csv_text(f, c[11]),
                              .sku = snap_csv_text(f, c[12]),
                              .note = snap_csv_text(f, c[17])};
        struct gt_error why = {0};
        rc = offer_enums(f, c, &r, err);
        money *const amount[] = {&r.price_per_hour, &r.upfront, &r.price_month};
        for (int i = 0; rc == 0 && i < 3; i++) {
            rc = snap_csv_money(f, c[8 + i], 0, amount[i], err);
        }
        if (rc == 0) {
            rc = snap_csv_time(f, c[14], &r.valid_from, err);
        }
        if (rc == 0) {
            rc = snap_csv_time(f, c[15], &r.valid_to, err);
        }
        if (rc == 0) {
            rc = use_source(snap, st, f, c[16], c[13], &r.as_of, err);
        }
        if (rc == 0) {
            rc = placed(f, staging_put_offer(st, &r, &why), &why, err);
        }
    }
    return rc;
}

static const char *const storage_columns[] = {
    "vendor", "region", "tier",     "component", "unit",   "unit_qty", "from_qty",
    "to_qty", "rate",   "currency", "as_of",     "source", "note"};

static int storage(struct snapshot *snap, struct staging *st, struct snap_csv *f,
                   struct gt_error *err)
{
    int c[13];
    bool row = false;
    int rc = columns(f, storage_columns, c, 13, err);
    while (rc == 0 && (rc = snap_csv_next(f, &row, err)) == 0 && row) {
        struct storage_rate_row r = {.vendor = snap_csv_text(f, c[0]),
                                     .region = snap_csv_text(f, c[1]),
                                     .tier = snap_csv_text(f, c[2]),
                                     .component = snap_csv_text(f, c[3]),
                                     .currency = snap_csv_text(f, c[9]),
                                     .note = snap_csv_text(f, c[12]),
                                     .valid_from = GT_TIME_NONE,
                                     .valid_to = GT_TIME_NONE};
        struct gt_error why = {0};
        int64_t qty = 1;
        if (storage_unit_from_name(snap_csv_text(f, c[4]), &r.unit) != 0) {
            rc = snap_csv_fail(f, c[4], err, GT_EPARSE, "\"%.40s\" is no unit",
                               snap_csv_text(f, c[4]));
        }
        if (rc == 0) {
            rc = snap_csv_int(f, c[5], 1, &qty, err);
        }
        if (rc == 0 && (qty < 1 || qty > UINT32_MAX)) {
            rc = snap_csv_fail(f, c[5], err, GT_ERANGE, "%lld is out of range", (long long)qty);
        }
        r.unit_qty = (uint32_t)qty;
        if (rc == 0) {
            rc = snap_csv_money(f, c[6], 0, &r.from_qty, err);
        }
        if (rc == 0) {
            rc = snap_csv_money(f, c[7], -1, &r.to_qty, err);
        }
        if (rc == 0) {
            rc = snap_csv_money(f, c[8], -1, &r.rate, err);
        }
        if (rc == 0) {
            rc = use_source(snap, st, f, c[11], c[10], &r.as_of, err);
        }
        if (rc == 0) {
            rc = placed(f, staging_put_storage(st, &r, &why), &why, err);
        }
    }
    return rc;
}

static const char *const transfer_columns[] = {"vendor",  "from",   "to",   "gb_bytes",
                                               "from_gb", "to_gb",  "rate", "currency",
                                               "as_of",   "source", "note"};

static int transfer(struct snapshot *snap, struct staging *st, struct snap_csv *f,
                    struct gt_error *err)
{
    int c[11];
    bool row = false;
    int rc = columns(f, transfer_columns, c, 11, err);
    while (rc == 0 && (rc = snap_csv_next(f, &row, err)) == 0 && row) {
        struct transfer_rate_row r = {.vendor = snap_csv_text(f, c[0]),
                                      .from = snap_csv_text(f, c[1]),
                                      .to = snap_csv_text(f, c[2]),
                                      .currency = snap_csv_text(f, c[7]),
                                      .note = snap_csv_text(f, c[10]),
                                      .valid_from = GT_TIME_NONE,
                                      .valid_to = GT_TIME_NONE};
        struct gt_error why = {0};
        int64_t bytes = 0;
        rc = snap_csv_int(f, c[3], (int64_t)GT_GIB, &bytes, err);
        r.gb_bytes = bytes > 0 ? (uint64_t)bytes : 0;
        if (rc == 0) {
            rc = snap_csv_money(f, c[4], 0, &r.from_gb, err);
        }
        if (rc == 0) {
            rc = snap_csv_money(f, c[5], -1, &r.to_gb, err);
        }
        if (rc == 0) {
            rc = snap_csv_money(f, c[6], -1, &r.rate, err);
        }
        if (rc == 0) {
            rc = use_source(snap, st, f, c[9], c[8], &r.as_of, err);
        }
        if (rc == 0) {
            rc = placed(f, staging_put_transfer(st, &r, &why), &why, err);
        }
    }
    return rc;
}

static const char *const band_columns[] = {"vendor",      "region",      "instance_type",
                                           "band_lo_pct", "band_hi_pct", "savings_pct",
                                           "as_of",       "source"};

static int interruption(struct snapshot *snap, struct staging *st, struct snap_csv *f,
                        struct gt_error *err)
{
    int c[8];
    bool row = false;
    int rc = columns(f, band_columns, c, 8, err);
    while (rc == 0 && (rc = snap_csv_next(f, &row, err)) == 0 && row) {
        struct interruption_row r = {.vendor = snap_csv_text(f, c[0]),
                                     .region = snap_csv_text(f, c[1]),
                                     .instance_type = snap_csv_text(f, c[2])};
        struct gt_error why = {0};
        rc = snap_csv_real(f, c[3], &r.band_lo_pct, err);
        if (rc == 0) {
            rc = snap_csv_real(f, c[4], &r.band_hi_pct, err);
        }
        if (rc == 0) {
            rc = snap_csv_real(f, c[5], &r.savings_pct, err);
        }
        if (isnan(r.band_hi_pct)) {
            r.band_hi_pct = -1;
        }
        if (rc == 0) {
            rc = use_source(snap, st, f, c[7], c[6], &r.as_of, err);
        }
        if (rc == 0) {
            rc = placed(f, staging_put_interruption(st, &r, &why), &why, err);
        }
    }
    return rc;
}

static const char *const fx_columns[] = {"currency", "per_usd", "date", "source"};

static int fx(struct snapshot *snap, struct staging *st, struct snap_csv *f, struct gt_error *err)
{
    int c[4];
    bool row = false;
    int rc = columns(f, fx_columns, c, 4, err);
    while (rc == 0 && (rc = snap_csv_next(f, &row, err)) == 0 && row) {
        struct fx_row r = {.currency = snap_csv_text(f, c[0])};
        struct gt_error why = {0};
        rc = snap_csv_money(f, c[1], 0, &r.per_usd, err);
        if (rc == 0) {
            rc = use_source(snap, st, f, c[3], c[2], &r.date, err);
        }
        if (rc == 0 && r.date == GT_TIME_NONE) {
            rc = snap_csv_fail(f, c[2], err, GT_EPARSE, "a rate needs its date");
        }
        if (rc == 0) {
            rc = placed(f, staging_put_fx(st, &r, &why), &why, err);
        }
    }
    return rc;
}

int snapshot_rows(struct snapshot *snap, struct staging *st, struct gt_error *err)
{
    static const struct {
        enum snapshot_file file;
        int (*load)(struct snapshot *, struct staging *, struct snap_csv *, struct gt_error *);
    } loads[] = {{SNAP_OFFERS, offers},
                 {SNAP_STORAGE, storage},
                 {SNAP_TRANSFER, transfer},
                 {SNAP_INTERRUPTION, interruption},
                 {SNAP_FX, fx}};
    int rc = read_sources(snap, err);
    for (size_t i = 0; rc == 0 && i < sizeof(loads) / sizeof(loads[0]); i++) {
        struct snap_csv *f = &snap->file[loads[i].file];
        if (f->data != NULL) {
            rc = loads[i].load(snap, st, f, err);
        }
    }
    return rc;
}
