/* One query that yields the histogram of R-IM-02 in an engine that already holds the inventory
 * (storage-tiers.md, section 12). An instant is never converted to days: age >= E days is the same
 * as t <= as_of - E days, exactly, so that all the engine does is to compare with constants. What
 * engines write differently is in one table. */
#include "gputier/inventory_sql.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct engine {
    const char *name;
    const char *instant;       /* a constant: %s = 2026-12-01 00:00:00, %lld = epoch seconds */
    bool epoch;                /* ... and it takes the seconds */
    const char *time;          /* a column to compare with it, %s */
    const char *text_time;     /* the same of a text; NULL: no files */
    const char *prefix;        /* %s = key, %s = pattern */
    const char *decode;        /* %s = an encoded key; NULL: the engine has no function */
    const char *parquet, *csv; /* %s = file; csv: its columns follow */
    const char *csv_column, *csv_end; /* %s = name */
    const char *size;                 /* of a text */
    char quote;                       /* of identifiers */
    const char *order;                /* behind the prefix: byte by byte */
    bool nested;                      /* queries in parentheses for WITH, which 18.16 lacks */
};

static const struct engine engines[] = {
    {"duckdb", "%lld000000", true, "epoch_us(%s)", "epoch_us(CAST(%s AS TIMESTAMPTZ))",
     "regexp_extract(%s, '%s', 1)", "url_decode(replace(%s, '+', '%%20'))", "read_parquet('%s')",
     "read_csv('%s', header = false, delim = ',', quote = '\"', escape = '\"', columns = {",
     "'%s': 'VARCHAR'", "})", "TRY_CAST(%s AS BIGINT)", '"', "", false},
    {"clickhouse", "toDateTime(%lld, 'UTC')", true, "%s", "parseDateTime64BestEffort(%s, 3, 'UTC')",
     "extract(%s, '%s')", "decodeURLComponent(replaceAll(%s, '+', '%%20'))",
     "file('%s', 'Parquet')", "file('%s', 'CSV', '", "%s String", "')", "toInt64OrNull(%s)", '`',
     "", true},
    {"athena", "TIMESTAMP '%s'", false, "%s", NULL, "regexp_extract(%s, '%s', 1)", "url_decode(%s)",
     NULL, NULL, NULL, NULL, NULL, '"', "", false},
    {"trino", "TIMESTAMP '%s'", false, "%s", NULL, "regexp_extract(%s, '%s', 1)", "url_decode(%s)",
     NULL, NULL, NULL, NULL, NULL, '"', "", false},
    {"spark", "TIMESTAMP '%s UTC'", false, "%s", NULL, "regexp_extract(%s, '%s', 1)",
     "url_decode(%s)", NULL, NULL, NULL, NULL, NULL, '`', "", false},
    {"postgresql", "%lld", true, "extract(epoch FROM %s)", NULL, "substring(%s FROM '%s')", NULL,
     NULL, NULL, NULL, NULL, NULL, '"', " COLLATE \"C\"", false},
};

/* What a row is made of: the name for --columns, the column of S3 Inventory in Parquet, and in
 * CSV. */
enum part { PART_KEY, PART_SIZE, PART_MODIFIED, PART_CLASS, PART_LATEST, PART_MARKER, PARTS };
static const struct {
    const char *name, *column, *csv;
} parts[PARTS] = {
    [PART_KEY] = {"key", "key", "Key"},
    [PART_SIZE] = {"size", "size", "Size"},
    [PART_MODIFIED] = {"last_modified", "last_modified_date", "LastModifiedDate"},
    [PART_CLASS] = {"storage_class", "storage_class", "StorageClass"},
    [PART_LATEST] = {"is_latest", "is_latest", "IsLatest"},
    [PART_MARKER] = {"is_delete_marker", "is_delete_marker", "IsDeleteMarker"},
};
#define EXPRESSION 400
#define TEXT_MOST  65536
struct source {
    const struct engine *e;
    char part[PARTS][EXPRESSION];
    char table[16384];
};

static bool plain_name(const char *s, size_t len, bool dots)
{
    bool ok = len > 0 && len < 200 && !(s[0] >= '0' && s[0] <= '9');
    for (size_t i = 0; i < len && ok; i++) {
        ok = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' ||
             (s[i] >= '0' && s[i] <= '9') || (dots && s[i] == '.');
    }
    return ok;
}

static const struct engine *engine_of(const char *name)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        if (strcmp(engines[i].name, name) == 0) {
            return &engines[i];
        }
    }
    return NULL;
}

/* Up to the next comma outside parentheses and quotes. */
static size_t item_len(const char *s)
{
    int depth = 0;
    char quote = 0;
    size_t n = 0;
    for (; s[n] && (depth > 0 || quote || s[n] != ','); n++) {
        if (quote) {
            quote = s[n] == quote ? 0 : quote;
        } else if (s[n] == '\'' || s[n] == '"' || s[n] == '`') {
            quote = s[n];
        } else {
            depth += (s[n] == '(') - (s[n] == ')');
        }
    }
    return n;
}

/* key=NAME,size=NAME… A value that is no plain name is taken as an expression of the engine's. */
static int map_columns(struct source *s, const char *list, struct gt_error *err)
{
    for (const char *p = list; *p;) {
        size_t n = item_len(p), name = strcspn(p, "=");
        int at = 0;
        while (at < PARTS && !(strlen(parts[at].name) == name && name < n &&
                               memcmp(p, parts[at].name, name) == 0)) {
            at++;
        }
        if (at == PARTS || n - name - 1 == 0 || n - name - 1 >= EXPRESSION - 2) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--columns: found '%.*s', expected key=, size=, last_modified=, "
                           "storage_class=, is_latest= or is_delete_marker= and a column",
                           (int)(n < 60 ? n : 60), p);
        }
        snprintf(s->part[at], EXPRESSION, "%.*s", (int)(n - name - 1), p + name + 1);
        p += n + (p[n] == ',');
    }
    return 0;
}

static int append(char *to, size_t size, const char *text, struct gt_error *err)
{
    size_t len = strlen(to);
    return (size_t)snprintf(to + len, size - len, "%s", text) < size - len
               ? 0
               : gt_fail(err, GT_ELIMIT, "", "the names of columns or files are too long");
}

/* Formats with one or two texts; the formats are those of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put(char *to, size_t size, const char *format, const char *a, const char *b)
{
    snprintf(to, size, format, a, b);
}

static void constant(const struct engine *e, int64_t when, char out[80])
{
    char text[32];
    time_format(when, text);
    text[10] = ' ';
    text[19] = '\0'; /* without the Z */
    if (e->epoch) {
        snprintf(out, 80, e->instant, (long long)when);
    } else {
        snprintf(out, 80, e->instant, text);
    }
}
#pragma GCC diagnostic pop

/* A CSV of S3 Inventory: its columns by the manifest's list, all of them texts. */
static int csv_source(struct source *s, const char *file, const char *list, struct gt_error *err)
{
    const struct engine *e = s->e;
    bool has[PARTS] = {false};
    int n = 0;
    if (!list || strchr(list, '=')) {
        return gt_fail(
            err, GT_EUSAGE, "",
            "a CSV of S3 Inventory has no header: --columns takes its fileSchema, as the "
            "manifest has it");
    }
    put(s->table, sizeof s->table, e->csv, file, "");
    for (const char *p = list; *p && n < 64; n++) {
        char name[80], column[120] = "";
        p += strspn(p, ", \t");
        size_t len = strcspn(p, ", \t");
        int part = 0;
        while (part < PARTS &&
               !(strlen(parts[part].csv) == len && strncasecmp(p, parts[part].csv, len) == 0)) {
            part++;
        }
        if (part < PARTS) {
            has[part] = true;
            snprintf(name, sizeof name, "%s", parts[part].column);
        } else {
            snprintf(name, sizeof name, "column_%d", n + 1);
        }
        put(column, sizeof column, e->csv_column, name, "");
        int rc = n ? append(s->table, sizeof s->table, ", ", err) : 0;
        rc = rc ? rc : append(s->table, sizeof s->table, column, err);
        if (rc) {
            return rc;
        }
        p += len;
        p += strspn(p, ", \t");
    }
    if (!has[PART_KEY] || !has[PART_SIZE] || !has[PART_MODIFIED]) {
        return gt_fail(err, GT_EUSAGE, "", "--columns: Key, Size and LastModifiedDate are needed");
    }
    put(s->part[PART_KEY], EXPRESSION, e->decode, "key", "");
    put(s->part[PART_SIZE], EXPRESSION, e->size, "size", "");
    put(s->part[PART_MODIFIED], EXPRESSION, e->text_time, "last_modified_date", "");
    snprintf(s->part[PART_CLASS], EXPRESSION, "%s", has[PART_CLASS] ? "storage_class" : "''");
    snprintf(s->part[PART_LATEST], EXPRESSION, "%s",
             has[PART_LATEST] ? "lower(is_latest) = 'true'" : "1 = 1");
    snprintf(s->part[PART_MARKER], EXPRESSION, "%s",
             has[PART_MARKER] ? "lower(is_delete_marker) = 'true'" : "1 = 0");
    return append(s->table, sizeof s->table, e->csv_end, err);
}

static bool ends(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

static bool is_file(const char *from)
{
    return strchr(from, '/') || ends(from, ".parquet") || ends(from, ".csv") || ends(from, ".gz") ||
           ends(from, ".zst");
}

static int find_source(struct source *s, const struct inventory_sql *q, struct gt_error *err)
{
    const struct engine *e = s->e;
    const char *from = q->from ? q->from : "inventory";
    bool file = is_file(from);
    if (strlen(from) > 4000 || (file && strpbrk(from, "'\\\n\r"))) {
        return gt_fail(err, GT_EUSAGE, "", "--from: a name without quotes, backslashes, line ends");
    }
    if (file && !e->parquet) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--from: %s reads tables; make one of '%.100s' and give its name", e->name,
                       from);
    }
    if (file && !ends(from, ".parquet")) {
        return csv_source(s, from, q->columns, err);
    }
    if (!file && !plain_name(from, strlen(from), true)) {
        return gt_fail(err, GT_EUSAGE, "", "--from: found '%.60s', expected a table or a file",
                       from);
    }
    put(s->table, sizeof s->table, file ? e->parquet : "%s", from, "");
    for (int i = 0; i < PARTS; i++) {
        snprintf(s->part[i], EXPRESSION, "%s", parts[i].column);
    }
    int rc = q->columns ? map_columns(s, q->columns, err) : 0;
    for (int i = 0; i < PARTS && rc == 0; i++) {
        char raw[EXPRESSION];
        snprintf(raw, sizeof raw, "%s", s->part[i]);
        bool name = plain_name(raw, strlen(raw), false) && strcasecmp(raw, "true") != 0 &&
                    strcasecmp(raw, "false") != 0;
        if (name) {
            snprintf(s->part[i], EXPRESSION, "%c%.*s%c", e->quote, EXPRESSION - 3, raw, e->quote);
        }
    }
    if (rc == 0) {
        char column[EXPRESSION];
        snprintf(column, sizeof column, "%s", s->part[PART_MODIFIED]);
        put(s->part[PART_MODIFIED], EXPRESSION, e->time, column, "");
    }
    return rc;
}

static const uint64_t sizes[] = {1073741824, 134217728, 16777216, 1048576, 131072,
                                 65536,      40960,     4096,     1};
static const int ages[] = {365, 180, 90, 60, 30};

static void write_ages(struct buf *out, const struct source *s, int64_t as_of, const char *test,
                       const char *name)
{
    buf_addf(out, "         CASE");
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
        char c[80];
        constant(s->e, as_of - (int64_t)ages[i] * 86400, c);
        buf_addf(out, " WHEN i.modified <= %s", c);
        if (test) {
            buf_addf(out, " AND (%s IS NULL OR %s <= %s)", test, test, c);
        }
        buf_addf(out, " THEN %d\n             ", ages[i]);
    }
    buf_addf(out, " ELSE 0 END AS %s", name);
}

/* Accesses of a key, the last of each. */
static int write_access(struct buf *out, const struct source *s, const char *table,
                        struct gt_error *err)
{
    char column[16], time[EXPRESSION];
    if (!plain_name(table, strlen(table), true)) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--access: found '%.60s', expected a table with the columns key and "
                       "last_access",
                       table);
    }
    snprintf(column, sizeof column, "%clast_access%c", s->e->quote, s->e->quote);
    put(time, sizeof time, s->e->time, column, "");
    buf_addf(out,
             "\n  SELECT %ckey%c AS used_key, max(%s) AS accessed\n  FROM %s\n  GROUP BY "
             "%ckey%c\n",
             s->e->quote, s->e->quote, time, table, s->e->quote, s->e->quote);
    return 0;
}

/* Objects, one row each. */
static void write_objects(struct buf *out, const struct source *s)
{
    buf_addf(out, "\n  SELECT %s AS object_key, %s AS object_size, %s AS modified,\n",
             s->part[PART_KEY], s->part[PART_SIZE], s->part[PART_MODIFIED]);
    buf_addf(
        out,
        "         COALESCE(NULLIF(%s, ''), 'STANDARD') AS class, CASE WHEN %s THEN 'true' ELSE "
        "'false' END AS latest\n  FROM %s\n  WHERE NOT COALESCE(%s, 1 = 0)\n",
        s->part[PART_CLASS], s->part[PART_LATEST], s->table, s->part[PART_MARKER]);
}

/* The cell of each object, but for where they come from. */
static void write_cells(struct buf *out, const struct source *s, const struct inventory_sql *q)
{
    char prefix[EXPRESSION], pattern[80];
    snprintf(pattern, sizeof pattern, "^(?:[.]/)*/*((?:[^/]*/){0,%d})", q->depth);
    put(prefix, sizeof prefix, s->e->prefix, "i.object_key", pattern);
    buf_addf(out,
             "\n  SELECT %s AS prefix, i.class AS storage_class, i.latest AS is_latest,"
             "\n         CASE",
             prefix);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buf_addf(out, " WHEN i.object_size >= %llu THEN %llu%s", (unsigned long long)sizes[i],
                 (unsigned long long)sizes[i], i % 3 == 2 ? "\n             " : "");
    }
    buf_addf(out, " ELSE 0 END AS size_lo,\n");
    write_ages(out, s, q->as_of, NULL, "age_lo_days");
    buf_addf(out, ",\n");
    write_ages(out, s, q->as_of, q->access ? "u.accessed" : NULL, "idle_lo_days");
    buf_addf(out, ",\n         i.object_size AS object_size\n");
}

static const char histogram[] =
    "SELECT prefix, storage_class, is_latest, size_lo, age_lo_days, idle_lo_days,\n       "
    "count(*) AS objects, sum(object_size) AS bytes,\n       sum(CASE WHEN object_size > "
    "131072 THEN object_size ELSE 131072 END) AS bytes_min128k\n";

static void assemble(struct buf *out, const struct source *s, const struct buf *i,
                     const struct buf *u, const struct buf *c)
{
    const char *join = "LEFT JOIN", *on = "ON u.used_key = i.object_key";
    if (s->e->nested) { /* ALL: without it 18.16 asks which */
        buf_addf(out, "%sFROM (%s  FROM (%s  ) AS i", histogram, c->data, i->data);
        if (u->len) {
            buf_addf(out, " ALL %s (%s  ) AS u %s", join, u->data, on);
        }
        buf_addf(out, "\n) AS c\n");
    } else {
        buf_addf(out, "WITH i AS (%s)", i->data);
        if (u->len) {
            buf_addf(out, ", u AS (%s)", u->data);
        }
        buf_addf(out, ", c AS (%s  FROM i", c->data);
        if (u->len) {
            buf_addf(out, " %s u %s", join, on);
        }
        buf_addf(out, "\n)\n%sFROM c\n", histogram);
    }
    buf_addf(out,
             "GROUP BY prefix, storage_class, is_latest, size_lo, age_lo_days, idle_lo_days\n"
             "ORDER BY prefix%s, storage_class%s, is_latest, size_lo, age_lo_days, idle_lo_days\n",
             s->e->order, s->e->order);
}

int inventory_sql(const struct inventory_sql *q, struct buf *out, struct gt_error *err)
{
    struct source *s = calloc(1, sizeof *s);
    struct buf i, u, c;
    if (!s) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    buf_init(&i, TEXT_MOST);
    buf_init(&u, TEXT_MOST);
    buf_init(&c, TEXT_MOST);
    s->e = engine_of(q->engine);
    int rc = s->e ? find_source(s, q, err)
                  : gt_fail(err, GT_EUSAGE, "",
                            "--engine: found '%.40s', expected duckdb, clickhouse, athena, spark, "
                            "trino or postgresql",
                            q->engine);
    rc = rc || !q->access ? rc : write_access(&u, s, q->access, err);
    if (rc == 0) {
        write_objects(&i, s);
        write_cells(&c, s, q);
        bool ok = !i.failed && !u.failed && !c.failed;
        if (ok) {
            assemble(out, s, &i, &u, &c);
        }
        rc = ok && !out->failed ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    buf_release(&i);
    buf_release(&u);
    buf_release(&c);
    free(s);
    return rc;
}
