/* Storage Class Analysis, the daily export in CSV: GET requests and bytes retrieved by storage
 * class and object age. The days within 30 before as_of are summed, and the sums shared out over
 * the current objects of that class and age by count and by bytes. Its age groups begin at the
 * edges of the histogram, too; objects under 128 KiB are only in the rows ALL, so that what those
 * have more is theirs. */
#include "access.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = ANALYSIS_AGES - 1 };
static const struct {
    const char *name;
    int from_days;
} ages[ANALYSIS_AGES] = {
    {"000-014", 0},   {"015-029", 15}, {"030-044", 30},  {"045-059", 45},  {"060-074", 60},
    {"075-089", 75},  {"090-119", 90}, {"120-149", 120}, {"150-179", 150}, {"180-364", 180},
    {"365-729", 365}, {"730+", 730},   {"ALL", -1},
};

static int header(struct analysis_columns *c, struct reader *r, const struct csv_record *rec,
                  struct gt_error *err)
{
    const struct {
        const char *name;
        int *at;
        bool needed;
    } columns[] = {
        {"Date", &c->date, true},
        {"ConfigId", &c->config, false},
        {"Filter", &c->filter, false},
        {"StorageClass", &c->storage_class, true},
        {"ObjectAge", &c->age, true},
        {"DataRetrieved_MB", &c->retrieved, true},
        {"GetRequestCount", &c->gets, true},
    };
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        *columns[k].at = -1;
        for (size_t i = 0; i < rec->n && i < CSV_FIELDS; i++) {
            if (csv_named(rec, i, columns[k].name)) {
                *columns[k].at = (int)i;
            }
        }
        if (*columns[k].at < 0 && columns[k].needed) {
            return gt_fail(err, GT_EPARSE, r->name, "the header has no column '%s'",
                           columns[k].name);
        }
    }
    c->known = true;
    return 0;
}

/* "12-01-2026" as the vendor writes, or ISO 8601. */
static bool day(const char *s, size_t len, int64_t *out)
{
    char iso[11];
    if (len == 10 && s[2] == '-' && s[5] == '-') {
        snprintf(iso, sizeof iso, "%.4s-%.5s", s + 6, s);
        return instant(iso, 10, out);
    }
    return len >= 10 && s[4] == '-' && instant(s, len, out);
}

static bool amount(const struct csv_record *rec, int at, double *out)
{
    char text[40], *end;
    *out = 0;
    if (rec->len[at] == 0) {
        return true;
    }
    if (rec->len[at] >= sizeof text) {
        return false;
    }
    memcpy(text, rec->field[at], rec->len[at]);
    text[rec->len[at]] = '\0';
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 0 && *out < 1e18;
}

static struct analysis_class *class_of(struct inventory_accesses *a, const char *name, size_t len)
{
    for (size_t i = 0; i < a->n_classes; i++) {
        if (strlen(a->analysis[i].name) == len && memcmp(a->analysis[i].name, name, len) == 0) {
            return &a->analysis[i];
        }
    }
    if (a->n_classes == ANALYSIS_CLASSES || len >= sizeof a->analysis->name) {
        return NULL;
    }
    struct analysis_class *c = &a->analysis[a->n_classes++];
    memcpy(c->name, name, len);
    return c;
}

/* Counts of two configurations overlap: they may not be added. */
static int same_config(struct inventory_accesses *a, const struct analysis_columns *c,
                       const struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    char text[sizeof a->config];
    int config = c->config < 0 ? 0 : (int)rec->len[c->config];
    int filter = c->filter < 0 ? 0 : (int)rec->len[c->filter];
    snprintf(text, sizeof text, "=%.*s %.*s", config, config ? rec->field[c->config] : "", filter,
             filter ? rec->field[c->filter] : "");
    if (a->config[0] == '\0') {
        memcpy(a->config, text, sizeof text);
    }
    return strcmp(a->config, text) == 0
               ? 0
               : gt_fail(err, GT_EPARSE, r->name,
                         "analyses of more than one configuration ('%.60s', '%.60s')",
                         a->config + 1, text + 1);
}

int access_analysis_row(struct inventory_accesses *a, struct analysis_columns *c, struct reader *r,
                        const struct csv_record *rec, struct gt_error *err)
{
    if (!c->known) {
        return header(c, r, rec, err);
    }
    const int needed[] = {c->date, c->config, c->filter,   c->storage_class,
                          c->age,  c->gets,   c->retrieved};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (needed[i] >= (int)rec->n) {
            return bad_row(r->inv, r->name, r->line, "fewer fields than the header has", err);
        }
    }
    int age = 0;
    int64_t when;
    double gets, mb;
    while (age < ANALYSIS_AGES &&
           !(rec->len[c->age] == strlen(ages[age].name) &&
             memcmp(rec->field[c->age], ages[age].name, rec->len[c->age]) == 0)) {
        age++;
    }
    if (age == ANALYSIS_AGES || !day(rec->field[c->date], rec->len[c->date], &when) ||
        !amount(rec, c->gets, &gets) || !amount(rec, c->retrieved, &mb)) {
        return bad_row(r->inv, r->name, r->line,
                       "Date, ObjectAge, GetRequestCount or DataRetrieved_MB is none", err);
    }
    int rc = same_config(a, c, r, rec, err);
    a->stats.rows++;
    if (rc < 0 || when > a->as_of || when <= a->as_of - ACCESS_DAYS * 86400) {
        return rc;
    }
    struct analysis_class *k =
        class_of(a, rec->field[c->storage_class], rec->len[c->storage_class]);
    if (!k) {
        return bad_row(r->inv, r->name, r->line, "no storage class", err);
    }
    k->age[age].gets += gets;
    k->age[age].bytes += mb * 1048576;
    k->age[age].known = true;
    a->stats.analysed = true;
    return 0;
}

/* Sums of the groups whose age falls into [from, to) days. */
static void within(const struct analysis_class *k, int from, int to, double *gets, double *bytes)
{
    for (int i = 0; i < ALL; i++) {
        if (ages[i].from_days >= from && ages[i].from_days < to) {
            *gets += k->age[i].gets;
            *bytes += k->age[i].bytes;
        }
    }
}

static bool belongs(const struct inventory_row *r, const struct analysis_class *k, bool small,
                    int age)
{
    return r->is_latest && (r->size_lo < 131072) == small && (small || r->age_lo_days == age) &&
           strcmp(r->storage_class, k->name) == 0;
}

static void share(struct inventory_row *rows, size_t n, const struct analysis_class *k, bool small,
                  int age, double gets, double bytes)
{
    double objects = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        if (belongs(&rows[i], k, small, age)) {
            objects += (double)rows[i].objects;
            size += (double)rows[i].bytes;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct inventory_row *r = &rows[i];
        if (belongs(r, k, small, age)) {
            r->gets_30d = objects > 0 ? gets * ((double)r->objects / objects) : 0;
            r->bytes_read_30d = size > 0 ? bytes * ((double)r->bytes / size) : 0;
        }
    }
}

void access_analysis_share(const struct inventory_accesses *a, struct inventory_row *rows, size_t n)
{
    static const int edges[] = {0, 30, 60, 90, 180, 365, 1 << 30};
    for (size_t c = 0; c < a->n_classes; c++) {
        const struct analysis_class *k = &a->analysis[c];
        double all_gets = 0, all_bytes = 0;
        within(k, 0, 1 << 30, &all_gets, &all_bytes);
        for (size_t e = 0; e + 1 < sizeof edges / sizeof *edges; e++) {
            double gets = 0, bytes = 0;
            within(k, edges[e], edges[e + 1], &gets, &bytes);
            share(rows, n, k, false, edges[e], gets, bytes);
        }
        double gets = k->age[ALL].gets - all_gets, bytes = k->age[ALL].bytes - all_bytes;
        share(rows, n, k, true, 0, gets > 0 ? gets : 0, bytes > 0 ? bytes : 0);
    }
}
