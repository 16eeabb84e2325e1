/* store_changes (changes.h): two states of the price tables, compared key by key. First the keys
 * that have a row in one state and not in the other, then all rows of those keys in one ordered
 * pass: their earlier rows tell a price that came back from one that is new. */
#include "gputier/changes.h"
#include "gputier/units.h"
#include "store_impl.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *change_table_name(enum change_table t)
{
    static const char *const names[] = {"offer", "storage", "transfer"};
    return names[t];
}

const char *change_kind_name(enum change_kind k)
{
    static const char *const names[] = {"rose",     "fell",     "redenominated", "appeared",
                                        "restored", "vanished", "expired"};
    return names[k];
}

/* Row o was known at k and valid at v; what ends at an instant no longer holds at it. */
#define KNOWN(k, v)                                                                                \
    "(o.known_from <= " k " AND coalesce(o.known_to > " k ", 1)"                                   \
    " AND coalesce(o.valid_from <= " v ", 1) AND coalesce(o.valid_to > " v ", 1))"
#define BEFORE KNOWN("?1", "?1")
#define AFTER  KNOWN("?2", "?3")

enum column {
    C_KEY,
    C_VENDOR,
    C_REGION,
    C_ZONE,
    C_ITEM,
    C_COMPONENT,
    C_GPU,
    C_GPU_NUM,
    C_GPU_DEN,
    C_PURCHASE,
    C_PAYMENT,
    C_CLASS,
    C_FROM,
    C_STATE,
    C_PRICE,
    C_UPFRONT,
    C_MONTH,
    C_UNIT,
    C_UNIT_QTY,
    C_CURRENCY,
    C_SKU,
    C_AS_OF,
    C_KNOWN_FROM,
    C_KNOWN_TO,
    C_VALID_FROM,
    C_VALID_TO,
    C_BEFORE,
    C_AFTER,
    C_SOURCE
};
#define ENDS                                                                                       \
    " o.currency, o.sku, coalesce(o.as_of, o.known_from), o.known_from, o.known_to, o.valid_from," \
    " o.valid_to, " BEFORE ", " AFTER ", s.name"
#define JOINS                                                                                      \
    " JOIN place p ON p.id = o.place JOIN feed f ON f.id = o.feed JOIN source s ON s.id = "        \
    "f.source"
#define IN_ORDER " WHERE o.known_from <= ?2 ORDER BY k.n, o.valid_from, o.id"

/* One table: its name and the columns that make a key beside the feed, apart from `period`, since
 * a price that follows another is the same key; and the pass over the rows of the keys found. */
static const struct {
    const char *name, *key, *on, *rows;
} tables[] = {
    [CHANGE_OFFER] =
        {"offer", "place, instance_type, purchase, payment, offering_class",
         "o.instance_type = k.instance_type AND o.place = k.place AND o.feed = k.feed"
         " AND o.purchase = k.purchase AND o.payment = k.payment"
         " AND o.offering_class = k.offering_class",
         "SELECT k.n, p.vendor, p.region, p.zone, t.name, '', t.gpu, t.gpu_num, t.gpu_den,"
         " o.purchase, o.payment, o.offering_class, '0', o.price_state, o.price, o.upfront,"
         " o.price_month, 'hour', 1," ENDS " FROM temp.touched k CROSS JOIN offer o ON %s" JOINS
         " JOIN instance_type t ON t.id = o.instance_type" IN_ORDER},
    [CHANGE_STORAGE] =
        {"storage_rate", "place, tier, component, from_qty",
         "o.feed = k.feed AND o.place = k.place AND o.tier = k.tier AND o.component = k.component"
         " AND o.from_qty = k.from_qty",
         "SELECT k.n, p.vendor, p.region, p.zone, o.tier, o.component, '', 0, 1, 0, 0, 0,"
         " o.from_qty, 0, o.rate, NULL, NULL, o.unit, o.unit_qty," ENDS
         " FROM temp.touched k JOIN storage_rate o ON %s" JOINS IN_ORDER},
    [CHANGE_TRANSFER] =
        {"transfer_rate", "place, destination, from_gb",
         "o.feed = k.feed AND o.place = k.place AND o.destination = k.destination"
         " AND o.from_gb = k.from_gb",
         "SELECT k.n, p.vendor, p.region, p.zone, o.destination, '', '', 0, 1, 0, 0, 0,"
         " o.from_gb, 0, o.rate, NULL, NULL, 'byte', o.gb_bytes," ENDS
         " FROM temp.touched k JOIN transfer_rate o ON %s" JOINS IN_ORDER},
};

/* One row of a key; its texts live as long as the pass. */
struct version {
    struct change_price p;
    bool before, after;
    int64_t known_from, known_to, valid_from, valid_to;
};
struct pass {
    const struct db *d;
    enum change_table table;
    int64_t since, until;
    struct arena *arena;
    struct intern *strings;
    struct price_change c; /* of the key at hand */
    int64_t key;
    struct version *v; /* its rows, by valid_from */
    size_t n, cap;
    int (*row)(void *ctx, const struct price_change *c);
    void *ctx;
};

static const char *keep(struct pass *p, sqlite3_stmt *st, int i)
{
    const char *text = column_str(st, i);
    uint32_t id = intern_add(p->strings, text, strlen(text));
    return id != UINT32_MAX ? intern_text(p->strings, id) : "";
}

/* The recurring price with what is paid once spread over the term. */
static int hourly(const struct pass *p, sqlite3_stmt *st, money *out, struct gt_error *err)
{
    money upfront = 0, month = 0;
    int rc = column_money(p->d, st, C_PRICE, out, err);
    rc = rc ? rc : column_money(p->d, st, C_UPFRONT, &upfront, err);
    rc = rc ? rc : column_money(p->d, st, C_MONTH, &month, err);
    int64_t term = purchase_term_hours((enum purchase)sqlite3_column_int(st, C_PURCHASE));
    if (rc == 0 && upfront != 0 && term > 0 &&
        (money_mul_ratio(upfront, 1, (gt_u128)term, &upfront) != 0 ||
         money_add(*out, upfront, out) != 0)) {
        rc = gt_fail(err, GT_ERANGE, p->d->path, "a price is out of range");
    }
    if (rc == 0 && month != 0 &&
        (money_mul_ratio(month, 1, GT_HOURS_PER_MONTH, &month) != 0 ||
         money_add(*out, month, out) != 0)) {
        rc = gt_fail(err, GT_ERANGE, p->d->path, "a price is out of range");
    }
    return rc;
}

static int read_version(struct pass *p, sqlite3_stmt *st, struct version *v, struct gt_error *err)
{
    *v = (struct version){.p = {.known = sqlite3_column_int(st, C_STATE) == PRICE_KNOWN,
                                .unit_qty = sqlite3_column_int64(st, C_UNIT_QTY),
                                .currency = keep(p, st, C_CURRENCY),
                                .unit = keep(p, st, C_UNIT),
                                .sku = keep(p, st, C_SKU),
                                .as_of = column_time(st, C_AS_OF)},
                          .before = sqlite3_column_int(st, C_BEFORE) != 0,
                          .after = sqlite3_column_int(st, C_AFTER) != 0,
                          .known_from = column_time(st, C_KNOWN_FROM),
                          .known_to = column_time(st, C_KNOWN_TO),
                          .valid_from = column_time(st, C_VALID_FROM),
                          .valid_to = column_time(st, C_VALID_TO)};
    return hourly(p, st, &v->p.price, err);
}

/* Of the rows that hold in a state the one that began last is shown, as in the catalog; a price
 * before the word that there is none. */
static const struct version *shown(const struct pass *p, bool after)
{
    const struct version *best = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const struct version *v = &p->v[i];
        if ((after ? v->after : v->before) && (best == NULL || v->p.known || !best->p.known)) {
            best = v;
        }
    }
    return best;
}

/* The price that was closed some time before `now` was known, when `now` came after `since`. */
static const struct version *lost_before(const struct pass *p, const struct version *now)
{
    const struct version *last = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const struct version *v = &p->v[i];
        if (v->p.known && v->known_to != GT_TIME_NONE && v->known_to <= now->known_from &&
            (last == NULL || v->known_to >= last->known_to)) {
            last = v;
        }
    }
    return last != NULL && now->known_from > p->since && last->known_to < now->known_from ? last
                                                                                          : NULL;
}

/* Compares c->before with c->after; false when they are one price. */
static bool moved(struct price_change *c)
{
    const struct change_price *a = &c->before, *b = &c->after;
    if (strcmp(a->currency, b->currency) != 0 || strcmp(a->unit, b->unit) != 0) {
        c->kind = CHANGE_REDENOMINATED;
        return true;
    }
    money x = a->price * b->unit_qty, y = b->price * a->unit_qty; /* 10^21 x 10^12 at most */
    c->kind = y > x ? CHANGE_ROSE : CHANGE_FELL;
    c->change_pct =
        x > 0 ? 100 * (money_to_double(y) - money_to_double(x)) / money_to_double(x) : (double)NAN;
    return x != y;
}

static int tell_end(const struct pass *p, struct price_change *c, const struct version *was,
                    bool denied)
{
    bool closed = was->known_to != GT_TIME_NONE && was->known_to <= p->until;
    c->kind = closed || denied ? CHANGE_VANISHED : CHANGE_EXPIRED;
    c->when = closed ? was->known_to : was->valid_to;
    c->before = was->p;
    return p->row(p->ctx, c);
}

/* What became of the key at hand; told when it is a change. */
static int tell(struct pass *p)
{
    static const struct change_price none = {.currency = "", .unit = "", .sku = ""};
    struct price_change *c = &p->c;
    const struct version *was = shown(p, false), *is = shown(p, true);
    bool denied = is != NULL && !is->p.known;
    was = was != NULL && was->p.known ? was : NULL;
    is = denied ? NULL : is;
    c->table = p->table;
    c->missing_from = c->missing_to = GT_TIME_NONE;
    c->change_pct = (double)NAN;
    c->before = c->after = none;
    if (is == NULL) {
        return was != NULL ? tell_end(p, c, was, denied) : 0;
    }
    const struct version *lost = lost_before(p, is);
    c->after = is->p;
    c->when = is->known_from <= p->since ? is->valid_from : is->known_from;
    if (lost != NULL) {
        c->missing_from = lost->known_to;
        c->missing_to = is->known_from;
    }
    if (was == NULL && lost == NULL) {
        c->kind = CHANGE_APPEARED;
        return p->row(p->ctx, c);
    }
    c->before = was != NULL ? was->p : lost->p;
    bool changed = moved(c);
    if (!changed || was == NULL) {
        c->kind = CHANGE_RESTORED;
    }
    return changed || lost != NULL ? p->row(p->ctx, c) : 0;
}

static void begin_key(struct pass *p, sqlite3_stmt *st)
{
    p->key = sqlite3_column_int64(st, C_KEY);
    p->n = 0;
    p->c = (struct price_change){.vendor = keep(p, st, C_VENDOR),
                                 .region = keep(p, st, C_REGION),
                                 .zone = keep(p, st, C_ZONE),
                                 .item = keep(p, st, C_ITEM),
                                 .component = keep(p, st, C_COMPONENT),
                                 .gpu = keep(p, st, C_GPU),
                                 .gpu_num = sqlite3_column_int(st, C_GPU_NUM),
                                 .gpu_den = sqlite3_column_int(st, C_GPU_DEN),
                                 .purchase = (enum purchase)sqlite3_column_int(st, C_PURCHASE),
                                 .payment = (enum payment)sqlite3_column_int(st, C_PAYMENT),
                                 .offering_class =
                                     (enum offering_class)sqlite3_column_int(st, C_CLASS),
                                 .source_id = keep(p, st, C_SOURCE)};
}

static int take_row(struct pass *p, sqlite3_stmt *st, struct gt_error *err)
{
    int rc = 0;
    if (p->n == 0 || sqlite3_column_int64(st, C_KEY) != p->key) {
        rc = p->n > 0 ? tell(p) : 0;
        begin_key(p, st);
        rc = rc ? rc : column_money(p->d, st, C_FROM, &p->c.from_qty, err);
    }
    if (rc == 0 && p->n == p->cap) {
        size_t cap = p->cap == 0 ? 16 : 2 * p->cap;
        struct version *grown = realloc(p->v, cap * sizeof *grown);
        if (grown == NULL) {
            return gt_fail(err, GT_ENOMEM, p->d->path, "out of memory");
        }
        p->v = grown;
        p->cap = cap;
    }
    return rc ? rc : read_version(p, st, &p->v[p->n++], err);
}

static void bind_instants(const struct pass *p, sqlite3_stmt *st)
{
    (void)sqlite3_bind_int64(st, 1, p->since);
    (void)sqlite3_bind_int64(st, 2, p->until);
}

static int find_keys(const struct pass *p, int64_t now, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    char *sql = sqlite3_mprintf(
        "INSERT INTO temp.touched SELECT row_number() OVER (ORDER BY feed, %s), * FROM ("
        "SELECT DISTINCT feed, %s FROM main.%s o WHERE feed IN (SELECT id FROM temp.compared)"
        " AND " BEFORE " <> " AFTER ")",
        tables[p->table].key, tables[p->table].key, tables[p->table].name);
    char *table = sqlite3_mprintf("DROP TABLE IF EXISTS temp.touched;"
                                  "CREATE TEMP TABLE touched(n INTEGER PRIMARY KEY, feed, %s)",
                                  tables[p->table].key);
    int rc = sql == NULL || table == NULL ? gt_fail(err, GT_ENOMEM, p->d->path, "out of memory")
                                          : db_exec(p->d, table, err);
    rc = rc ? rc : db_prepare(p->d, sql, &st, err);
    if (rc == 0) {
        bind_instants(p, st);
        (void)sqlite3_bind_int64(st, 3, now);
        rc = db_run(p->d, st, err);
    }
    (void)sqlite3_finalize(st);
    sqlite3_free(sql);
    sqlite3_free(table);
    return rc;
}

static int read_keys(struct pass *p, int64_t now, struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool more = true;
    char *sql = sqlite3_mprintf(tables[p->table].rows, tables[p->table].on);
    int rc = sql == NULL ? gt_fail(err, GT_ENOMEM, p->d->path, "out of memory")
                         : db_prepare(p->d, sql, &st, err);
    if (rc == 0) {
        bind_instants(p, st);
        (void)sqlite3_bind_int64(st, 3, now);
    }
    p->n = 0;
    while (rc == 0 && (rc = db_step(p->d, st, &more, err)) == 0 && more) {
        rc = take_row(p, st, err);
    }
    if (rc == 0 && p->n > 0) {
        rc = tell(p);
    }
    (void)sqlite3_finalize(st);
    sqlite3_free(sql);
    return rc;
}

/* The instant before the last fetch or import: what it brought is then a change. */
static int last_fetch(const struct db *d, int64_t until, int64_t *since, struct gt_error *err)
{
    char sql[240];
    (void)snprintf(sql, sizeof sql,
                   "SELECT coalesce(max(r.started), 0) FROM fetch_run r JOIN feed f ON f.id ="
                   " r.feed WHERE f.bundled = 0 AND r.state IN ('published', 'unchanged')"
                   " AND r.started <= %lld",
                   (long long)(until == GT_TIME_NONE ? INT64_MAX : until));
    int rc = db_int(d, sql, since, err);
    *since = *since > 0 ? *since - 1 : GT_TIME_NONE;
    return rc;
}

/* The parts of sources that were known at `since`; those that came later have nothing before. */
static int choose_feeds(const struct db *d, struct changes_result *r, struct gt_error *err)
{
    int64_t first = 0;
    int rc =
        db_execf(d, err,
                 "DROP TABLE IF EXISTS temp.compared;"
                 "CREATE TEMP TABLE compared(id INTEGER PRIMARY KEY, known INTEGER);"
                 "INSERT INTO temp.compared SELECT f.id, min(r.started) <= %lld FROM feed f"
                 " JOIN fetch_run r ON r.feed = f.id WHERE f.bundled = 0 AND r.state = 'published'"
                 " AND r.started <= %lld GROUP BY f.id",
                 (long long)r->since, (long long)(r->until == GT_TIME_NONE ? INT64_MAX : r->until));
    rc = rc ? rc : db_int(d, "SELECT count(*) FROM temp.compared WHERE NOT known", &first, err);
    r->first_feeds = (uint64_t)first;
    return rc ? rc : db_exec(d, "DELETE FROM temp.compared WHERE NOT known", err);
}

static int count_series(const struct db *d, struct changes_result *r, struct gt_error *err)
{
    char sql[160];
    int64_t any = 0, n = 0;
    (void)snprintf(
        sql, sizeof sql, "SELECT count(*) FROM spot_point WHERE time > %lld AND time <= %lld",
        (long long)r->since, (long long)(r->until == GT_TIME_NONE ? INT64_MAX : r->until));
    int rc = db_int(d, "SELECT EXISTS (SELECT 1 FROM spot_point)", &any, err);
    rc = rc || !any ? rc : db_int(d, sql, &n, err);
    r->has_series = any != 0;
    r->series_points = (uint64_t)n;
    return rc;
}

static int compare(struct pass *p, int64_t now, struct changes_result *r, struct gt_error *err)
{
    int rc = choose_feeds(p->d, r, err);
    for (p->table = CHANGE_OFFER; rc == 0 && p->table <= CHANGE_TRANSFER; p->table++) {
        rc = find_keys(p, now, err);
        rc = rc ? rc : read_keys(p, now, err);
    }
    return rc;
}

int store_changes(struct store *s, const struct changes_options *o,
                  int (*row)(void *ctx, const struct price_change *c), void *ctx,
                  struct changes_result *out, struct gt_error *err)
{
    const struct db *d = &s->db;
    struct pass p = {.d = d, .arena = arena_new(0), .row = row, .ctx = ctx};
    int64_t now = o->until == GT_TIME_NONE ? s->now : o->until, pruned = 0;
    *out = (struct changes_result){.since = o->since, .until = o->until};
    p.strings = p.arena != NULL ? intern_new(p.arena) : NULL;
    if (p.strings == NULL) {
        arena_free(p.arena);
        return gt_fail(err, GT_ENOMEM, d->path, "out of memory");
    }
    store_lock(s);
    int rc = db_exec(d, "BEGIN", err);
    rc = rc ? rc
            : db_int(d, "SELECT max(CAST(value AS INTEGER)) FROM meta WHERE key = 'pruned_before'",
                     &pruned, err);
    out->pruned_before = pruned > 0 ? pruned : GT_TIME_NONE;
    if (rc == 0 && out->since == GT_TIME_NONE) {
        rc = last_fetch(d, o->until, &out->since, err);
    }
    if (rc == 0 && out->since != GT_TIME_NONE) {
        p.since = out->since;
        p.until = out->until == GT_TIME_NONE ? INT64_MAX : out->until;
        rc = compare(&p, now, out, err);
        rc = rc ? rc : count_series(d, out, err);
    }
    db_rollback(d);
    (void)sqlite3_exec(d->h,
                       "DROP TABLE IF EXISTS temp.touched; DROP TABLE IF EXISTS temp.compared",
                       NULL, NULL, NULL);
    store_unlock(s);
    free(p.v);
    arena_free(p.arena);
    return rc;
}

int store_fx_on(struct store *s, const char *currency, int64_t when, money *per_usd, int64_t *date,
                char source[64], struct gt_error *err)
{
    sqlite3_stmt *st = NULL;
    bool found = false;
    source[0] = '\0';
    *date = GT_TIME_NONE;
    *per_usd = MONEY_SCALE;
    if (strcmp(currency, "USD") == 0) {
        return 0;
    }
    store_lock(s);
    int rc =
        db_prepare(&s->db,
                   "SELECT o.per_usd, o.date, s.name FROM fx o JOIN feed f ON f.id = o.feed"
                   " JOIN source s ON s.id = f.source WHERE o.currency = ?1 AND o.date <= ?2"
                   " AND o.known_to IS NULL ORDER BY o.date DESC, f.bundled, o.id DESC LIMIT 1",
                   &st, err);
    if (rc == 0) {
        (void)sqlite3_bind_text(st, 1, currency, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(st, 2, when);
        rc = db_step(&s->db, st, &found, err);
    }
    if (rc == 0 && found) {
        rc = column_money(&s->db, st, 0, per_usd, err);
        *date = sqlite3_column_int64(st, 1);
        (void)snprintf(source, 64, "%s", column_str(st, 2));
    } else if (rc == 0) {
        rc = gt_fail(err, GT_ENOTFOUND, currency, "no exchange rate of that day or before");
    }
    (void)sqlite3_finalize(st);
    store_unlock(s);
    return rc;
}
