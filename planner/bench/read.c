/* Reads the bench document (schema gputier/bench/1), from the measuring process or from somebody
 * else: every figure must be possible, and the first that is not ends it with its place. Texts are
 * cleaned of what could drive a terminal. */
#include "gputier/bench.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX    300
#define RESULTS_MAX 128

struct reader {
    const char *file;
    struct arena *a;
    struct gt_error *err;
    int rc; /* of the first error */
};

#define REFUSE(r, ...)                                                                             \
    do {                                                                                           \
        if (!(r)->rc) {                                                                            \
            (r)->rc = gt_fail((r)->err, GT_EPARSE, (r)->file, __VA_ARGS__);                        \
        }                                                                                          \
    } while (0)

static const char *clean(struct reader *r, const char *s)
{
    struct buf b;
    buf_init(&b, 8 * TEXT_MAX);
    int rc = text_safe(&b, s, strlen(s), false);
    const char *copy = rc ? NULL : arena_strdup(r->a, b.data ? b.data : "");
    buf_release(&b);
    if (!copy && !r->rc) {
        r->rc = gt_fail(r->err, GT_ENOMEM, "", "out of memory");
    }
    return copy ? copy : "";
}

/* place: "device" or "results[3]". */
static const char *text_at(struct reader *r, const cJSON *o, const char *place, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!cJSON_IsString(v) || strlen(v->valuestring) > TEXT_MAX) {
        REFUSE(r, "%s.%s: expected a text of at most %d bytes", place, key, TEXT_MAX);
        return "";
    }
    return clean(r, v->valuestring);
}

static double number_at(struct reader *r, const cJSON *o, const char *place, const char *key,
                        double least, double most)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= least && v->valuedouble <= most)) {
        char found[40] = "nothing of the kind";
        if (cJSON_IsNumber(v)) {
            snprintf(found, sizeof found, "%.6g", v->valuedouble);
        }
        REFUSE(r, "%s.%s: found %s, expected a number from %g to %g", place, key, found, least,
               most);
        return least;
    }
    return v->valuedouble;
}

static void read_device(struct reader *r, const cJSON *o, struct bench_device *d)
{
    const cJSON *memory = cJSON_GetObjectItemCaseSensitive(o, "memory_gib");
    const cJSON *vendor = cJSON_GetObjectItemCaseSensitive(o, "vendor");
    const char *cls = text_at(r, o, "device", "class");
    *d = (struct bench_device){.name = text_at(r, o, "device", "name"),
                               .backend = text_at(r, o, "device", "backend"),
                               .driver = text_at(r, o, "device", "driver"),
                               .is_gpu = strcmp(cls, "gpu") == 0};
    d->vendor = vendor ? text_at(r, o, "device", "vendor") : "";
    d->memory_gib = memory ? number_at(r, o, "device", "memory_gib", 0, 1e5) : 0;
    if (!d->is_gpu && strcmp(cls, "cpu-fallback") != 0) {
        REFUSE(r, "device.class: found '%.40s', expected gpu or cpu-fallback", cls);
    }
    bool cuda = strcmp(d->backend, "cuda") == 0, cpu = strcmp(d->backend, "cpu") == 0;
    if (!cuda && !cpu && strcmp(d->backend, "opencl") != 0) {
        REFUSE(r, "device.backend: found '%.40s', expected cuda, opencl or cpu", d->backend);
    }
    if ((cuda && !d->is_gpu) || (cpu && d->is_gpu)) {
        REFUSE(r, "device: class '%.40s' cannot come from back end '%s'", cls, d->backend);
    }
    if (!d->name[strspn(d->name, " ")]) {
        REFUSE(r, "device.name: expected the device's name");
    }
}

/* Far above what any device does, by unit. */
static double most_of(const char *unit)
{
    static const struct {
        const char *unit;
        double most;
    } units[] = {{"GB/s", 1e6}, {"GFLOP/s", 1e9}, {"GOP/s", 1e9},    {"Mop/s", 1e9},
                 {"us", 1e9},   {"x", 1e4},       {"images/s", 1e9}, {"files/s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(units[i].unit, unit) == 0) {
            return units[i].most;
        }
    }
    return 0;
}

static bool metric_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return islower((unsigned char)s[0]) && !s[n] && n <= 40;
}

static void read_result(struct reader *r, const cJSON *o, const char *place, struct bench_result *b)
{
    b->metric = text_at(r, o, place, "metric");
    b->unit = text_at(r, o, place, "unit");
    double most = most_of(b->unit);
    if (!metric_name(b->metric)) {
        REFUSE(r, "%s.metric: found '%.40s', expected a name like fma_fp32", place, b->metric);
    }
    if (!(most > 0)) {
        REFUSE(r, "%s.unit: found '%.40s', expected GB/s, GFLOP/s, GOP/s, Mop/s, us or x", place,
               b->unit);
    }
    b->median = number_at(r, o, place, "median", 1e-9, most);
    b->min = number_at(r, o, place, "min", 1e-9, most);
    b->p95 = number_at(r, o, place, "p95", 1e-9, most);
    b->value = number_at(r, o, place, "value", 1e-9, most);
    b->spread = number_at(r, o, place, "spread", 0, 1e12);
    if (b->min > b->median || b->median > b->p95) {
        REFUSE(r, "%s: min %g, median %g, p95 %g are not in order", place, b->min, b->median,
               b->p95);
    }
    if (fabs(b->spread - (b->p95 - b->min) / b->median) > 1e-6 * (1 + b->spread) ||
        fabs(b->value - b->median) > 1e-9 * b->median) {
        REFUSE(r, "%s: value or spread does not follow from min, median and p95", place);
    }
    b->checked = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "checked"));
    if (!b->checked) {
        REFUSE(r, "%s.checked: a result that was not checked is not taken", place);
    }
}

static void read_results(struct reader *r, const cJSON *list, struct bench_report *out)
{
    int n = cJSON_GetArraySize(list);
    const cJSON *o;
    if (!cJSON_IsArray(list) || n < 1 || n > RESULTS_MAX) {
        REFUSE(r, "results: expected 1 to %d results", RESULTS_MAX);
        return;
    }
    out->result = arena_array(r->a, (size_t)n, sizeof *out->result);
    if (!out->result) {
        r->rc = gt_fail(r->err, GT_ENOMEM, "", "out of memory");
        return;
    }
    cJSON_ArrayForEach(o, list)
    {
        char place[32];
        snprintf(place, sizeof place, "results[%zu]", out->n);
        memset(&out->result[out->n], 0, sizeof *out->result);
        read_result(r, o, place, &out->result[out->n]);
        for (size_t i = 0; i < out->n && !r->rc; i++) {
            if (strcmp(out->result[i].metric, out->result[out->n].metric) == 0) {
                REFUSE(r, "%s.metric: %s stands there twice", place, out->result[i].metric);
            }
        }
        out->n++;
        if (r->rc) {
            return;
        }
    }
}

static void read_conditions(struct reader *r, const cJSON *o, struct bench_conditions *c)
{
    bench_conditions_init(c);
    if (!o || cJSON_IsNull(o)) {
        return;
    }
    if (!cJSON_IsObject(o)) {
        REFUSE(r, "conditions: expected an object or null");
        return;
    }
    c->known = true;
#define X(name, what, least, most)                                                                 \
    {                                                                                              \
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, #name);                               \
        if (v && !cJSON_IsNull(v)) {                                                               \
            c->name = number_at(r, o, "conditions", #name, least, most);                           \
        }                                                                                          \
    }
    BENCH_CONDITIONS(X)
#undef X
}

static void read_rest(struct reader *r, const cJSON *root, struct bench_report *out)
{
    const cJSON *when = cJSON_GetObjectItemCaseSensitive(root, "measured_at"), *n;
    const cJSON *origin = cJSON_GetObjectItemCaseSensitive(root, "origin");
    out->measured_at = GT_TIME_NONE;
    if (cJSON_IsString(when) && time_parse(when->valuestring, 0, &out->measured_at, NULL) != 0) {
        REFUSE(r, "measured_at: expected a time like 2026-12-03T06:05:00Z");
    }
    if (cJSON_IsString(origin)) {
        out->origin = text_at(r, root, "document", "origin");
    }
    cJSON_ArrayForEach(n, cJSON_GetObjectItemCaseSensitive(root, "notes"))
    {
        if (cJSON_IsString(n) && strlen(n->valuestring) <= 1000) {
            bench_note(out, clean(r, n->valuestring));
        }
    }
}

/* Line and column of a place in the text. */
static int not_json(const struct reader *r, const char *json, const char *at)
{
    int line = 1, column = 1;
    for (const char *p = json; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    return gt_fail(r->err, GT_EPARSE, r->file, "line %d, column %d: no JSON from here on", line,
                   column);
}

int bench_read_json(const char *json, size_t len, const char *file, struct arena *a,
                    struct bench_report *out, struct gt_error *err)
{
    struct reader r = {file, a, err, 0};
    const char *end = NULL;
    *out = (struct bench_report){0};
    bench_conditions_init(&out->conditions);
    cJSON *root = cJSON_ParseWithLengthOpts(json, len, &end, false);
    if (!root) {
        return not_json(&r, json, end && end >= json && end <= json + len ? end : json);
    }
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
    if (!cJSON_IsString(schema) || strcmp(schema->valuestring, "gputier/bench/1") != 0) {
        REFUSE(&r, "schema: expected \"gputier/bench/1\": not a bench document");
    } else {
        read_device(&r, cJSON_GetObjectItemCaseSensitive(root, "device"), &out->device);
        read_results(&r, cJSON_GetObjectItemCaseSensitive(root, "results"), out);
        read_conditions(&r, cJSON_GetObjectItemCaseSensitive(root, "conditions"), &out->conditions);
        read_rest(&r, root, out);
    }
    cJSON_Delete(root);
    return r.rc;
}
