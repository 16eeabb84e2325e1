/* Worked cases of replay on availability traces (spot-policies.md section 2). Trace files are
 * looked for in --traces, else beside the cases file, else in its sibling folder "traces". */
#include "gputier/spot.h"
#include "../cli/cli.h"
#include "fields.h"
#include "verify.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE_BYTES (64UL << 20)

/* A plain file name or a path below the folder: a cases file must not reach elsewhere. */
static bool inside(const char *name)
{
    return *name && *name != '/' && strcmp(name, "..") && strncmp(name, "../", 3) &&
           !strstr(name, "/../");
}

/* Path of a trace in `a`, NULL when out of memory; a name that is nowhere gets its first place. */
static const char *trace_path(const struct verify_context *ctx, const char *name, struct arena *a)
{
    static const char *const places[] = {"", "/traces", "/../traces"};
    const char *first = NULL;
    if (ctx->traces_dir) {
        return arena_printf(a, "%s/%s", ctx->traces_dir, name);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *path = arena_printf(a, "%s%s/%s", ctx->cases_dir, places[i], name);
        if (!path || access(path, R_OK) == 0) {
            return path;
        }
        first = first ? first : path;
    }
    return first;
}

static int load_trace(const struct verify_context *ctx, const char *name, struct arena *a,
                      struct spot_trace *out, struct gt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    if (!inside(name)) {
        return gt_fail(err, GT_EPARSE, "traces",
                       "a file name below the traces folder is needed, found \"%.80s\"", name);
    }
    const char *path = trace_path(ctx, name, a);
    if (!path) {
        return gt_fail(err, GT_ENOMEM, "traces", "out of memory");
    }
    int rc = app_read_file(path, TRACE_BYTES, &text, &len, err);
    if (rc) {
        return rc;
    }
    rc = spot_trace_parse(text, len, path, a, out, err);
    free(text);
    return rc;
}

static int load_traces(const struct verify_context *ctx, const cJSON *kase, struct arena *a,
                       struct spot_case *c, struct gt_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(kase, "traces"), *item;
    int n = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || n < 1 || n > SPOT_MAX_ZONES) {
        return gt_fail(err, GT_EPARSE, "traces", "a list of 1 to %d file names is needed",
                       SPOT_MAX_ZONES);
    }
    struct spot_trace *traces = arena_array(a, (size_t)n, sizeof *traces);
    if (!traces) {
        return gt_fail(err, GT_ENOMEM, "traces", "out of memory");
    }
    c->traces = traces;
    c->n_traces = (size_t)n;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            return gt_fail(err, GT_EPARSE, "traces", "a list of file names is needed");
        }
        int rc = load_trace(ctx, item->valuestring, a, traces++, err);
        if (rc) {
            return rc;
        }
    }
    return 0;
}

static int read_case(const struct verify_context *ctx, const cJSON *kase, struct arena *a,
                     struct spot_case *c, struct gt_error *err)
{
    double *prices = NULL;
    size_t n = 0;
    c->policy = field_text(kase, "policy");
    if (!spot_policy_known(c->policy)) {
        return gt_fail(err, GT_EUNSUPPORTED, "policy", "unknown policy \"%.40s\"",
                       c->policy ? c->policy : "");
    }
    int rc = field_int(kase, "start_tick", 0, &c->start_tick, err);
    rc = rc ? rc : field_int(kase, "work_s", FIELD_NEEDED, &c->work_s, err);
    rc = rc ? rc : field_int(kase, "deadline_s", FIELD_NEEDED, &c->deadline_s, err);
    rc = rc ? rc : field_int(kase, "restart_s", FIELD_NEEDED, &c->restart_s, err);
    rc = rc ? rc : field_int(kase, "ckpt_s", 0, &c->ckpt_s, err);
    rc = rc ? rc : field_int(kase, "nodes", 1, &c->nodes, err);
    rc = rc ? rc : field_int(kase, "n_slices", 8, &c->n_slices, err);
    rc = rc ? rc : field_int(kase, "switch_milli", 700, &c->switch_milli, err);
    rc = rc ? rc : field_double(kase, "p_od", (double)NAN, &c->p_od, err);
    rc = rc ? rc : field_doubles(kase, "p_spot", a, &prices, &n, err);
    rc = rc ? rc : load_traces(ctx, kase, a, c, err);
    if (!rc && n != c->n_traces) {
        rc = gt_fail(err, GT_EPARSE, "p_spot", "%zu prices for %zu traces", n, c->n_traces);
    }
    c->p_spot = prices;
    return rc;
}

static bool put_hours(cJSON *out, const struct spot_replay *r)
{
    return field_put(out, "finish_h", r->finished ? (double)r->finish_s / 3600 : (double)NAN) &&
           field_put(out, "spot_h", (double)r->spot_s / 3600) &&
           field_put(out, "od_h", (double)r->od_s / 3600);
}

static int put_replay(const struct spot_case *c, const struct spot_replay *r, cJSON *out,
                      struct gt_error *err)
{
    bool fine = field_put(out, "cost", r->cost);
    /* of `optimal` only the cost is unique */
    if (strcmp(c->policy, "optimal") != 0) {
        fine = fine &&
               field_put(out, "finish_s", r->finished ? (double)r->finish_s : (double)NAN) &&
               field_put(out, "spot_s", (double)r->spot_s) &&
               field_put(out, "od_s", (double)r->od_s) &&
               field_put(out, "overhead_s", (double)r->overhead_s) &&
               field_put(out, "interruptions", (double)r->interruptions) &&
               field_put(out, "launches", (double)r->launches) &&
               cJSON_AddBoolToObject(out, "deadline_met", r->deadline_met) && put_hours(out, r);
    }
    return fine ? 0 : gt_fail(err, GT_ENOMEM, "computed", "out of memory");
}

static bool matches(const cJSON *file, const cJSON *kase)
{
    const char *format = field_text(file, "format");
    return (field_text(kase, "policy") && cJSON_HasObjectItem(kase, "traces")) ||
           (format && !strncmp(format, "spot-policies/", 14) && !field_text(kase, "kind"));
}

static int compute(const struct verify_context *ctx, const cJSON *kase, cJSON *computed,
                   struct gt_error *err)
{
    struct spot_case c = {.policy = NULL};
    struct spot_replay r;
    struct arena *a = arena_new(0);
    if (!a) {
        return gt_fail(err, GT_ENOMEM, "traces", "out of memory");
    }
    int rc = read_case(ctx, kase, a, &c, err);
    rc = rc ? rc : spot_replay(&c, &r, err);
    rc = rc ? rc : put_replay(&c, &r, computed, err);
    arena_free(a);
    return rc;
}

const struct verify_kind verify_spot = {.name = "spot", .matches = matches, .compute = compute};
