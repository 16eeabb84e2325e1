/* fetch: downloads price sources into the database (product.md section 2). */
#include "fetch_regions.h"
#include "fetch_view.h"
#include "gputier/fetch.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK_ABOVE 1000000000ULL /* bytes */

static const struct cli_option options[] = {
    {"region", 'r', OPT_LIST, "VENDOR/CODE", "prices of this region; may be given several times"},
    {"all-regions", 0, OPT_FLAG, NULL, "every region that a vendor lists"},
    {"accept-large-change", 0, OPT_FLAG, NULL, "publish although much shrank or jumped"},
    {"tries", 0, OPT_VALUE, "N", "tries of one file before it counts as failed (5)"},
    {"max-time", 0, OPT_VALUE, "DURATION", "longest time for one file (2h)"},
    {"stall", 0, OPT_VALUE, "DURATION", "give a transfer up that brings nothing for so long (60s)"},
    {"connect-time", 0, OPT_VALUE, "DURATION", "give up after so long without a connection (20s)"},
    {"ipv4", '4', OPT_FLAG, NULL, "IPv4 addresses alone"},
    {"ipv6", '6', OPT_FLAG, NULL, "IPv6 addresses alone"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

/* Says how much is coming; above 1 GB somebody has to agree. */
static int agree(struct app *app, const struct fetch_options *o, struct gt_error *err)
{
    uint64_t bytes = 0;
    char size[32], answer[16];
    int rc = fetch_expected(o, &bytes, err);
    if (rc != 0) {
        return rc;
    }
    size_format(bytes, size);
    if (!app->quiet && bytes > 0) {
        fprintf(stderr, "expecting about %s\n", size);
    }
    if (bytes <= ASK_ABOVE || o->all_regions) {
        return 0;
    }
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        return gt_fail(err, GT_EUSAGE, "fetch",
                       "about %s would be fetched: name fewer regions, or agree with --all-regions",
                       size);
    }
    fprintf(stderr, "fetch about %s? [y/N] ", size);
    if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y')) {
        return gt_fail(err, GT_ECANCELLED, "fetch", "not agreed; nothing was fetched");
    }
    return 0;
}

static const char *view_url(void *ctx, const char *id)
{
    return app_source_url(((struct fetch_view *)ctx)->app, id);
}

static const char *view_key(void *ctx, const char *id)
{
    return app_source_key(((struct fetch_view *)ctx)->app, id);
}

static int print_json(const struct fetch_view *v, const struct fetch_summary *s,
                      struct gt_error *err)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, 16 << 20);
    jsonw_init(&w, &b, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/fetch/1");
    jsonw_key(&w, "parts");
    jsonw_array(&w);
    for (size_t i = 0; i < v->n; i++) {
        const struct fetch_part *p = &v->part[i];
        if (fetch_part_past(p)) {
            continue;
        }
        jsonw_object(&w);
        jsonw_kstring(&w, "source_id", p->source);
        jsonw_kstring(&w, "scope", p->scope);
        jsonw_kstring(&w, "state", fetch_state_name(p->state));
        jsonw_kint(&w, "rows", (int64_t)p->rows);
        jsonw_kint(&w, "bytes", (int64_t)p->bytes);
        jsonw_key(&w, "message");
        jsonw_string_or_null(&w, p->message);
        jsonw_end_object(&w);
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "sources");
    jsonw_object(&w);
    jsonw_kint(&w, "done", (int64_t)s->done);
    jsonw_kint(&w, "unchanged", (int64_t)s->unchanged);
    jsonw_kint(&w, "failed", (int64_t)s->failed);
    jsonw_kint(&w, "quarantined", (int64_t)s->quarantined);
    jsonw_end_object(&w);
    jsonw_kint(&w, "rows", (int64_t)s->rows);
    jsonw_kint(&w, "bytes", (int64_t)s->bytes);
    jsonw_end_object(&w);
    int rc = jsonw_finish(&w);
    rc = rc ? gt_fail(err, rc, "", "out of memory") : app_put(&b, err);
    buf_release(&b);
    return rc;
}

/* " (aws-offer, oci)": the sources that have a part in this state. */
static void print_names(const struct fetch_view *v, int state)
{
    const char *before = " (";
    for (size_t i = 0; i < v->n; i++) {
        bool named = v->part[i].state != state;
        for (size_t k = 0; k < i && !named; k++) {
            named = v->part[k].state == state && strcmp(v->part[k].source, v->part[i].source) == 0;
        }
        if (!named) {
            fprintf(stderr, "%s%s", before, v->part[i].source);
            before = ", ";
        }
    }
    fputs(*before == ',' ? ")" : "", stderr);
}

static void print_sum(const struct fetch_view *v, const struct fetch_summary *s)
{
    char size[32];
    fprintf(stderr, "%zu fetched, %zu unchanged, %zu failed", s->done, s->unchanged, s->failed);
    print_names(v, FETCH_FAILED);
    fprintf(stderr, ", %zu held back", s->quarantined);
    print_names(v, FETCH_QUARANTINED);
    fprintf(stderr, "; %llu rows, %s\n", (unsigned long long)s->rows, size_format(s->bytes, size));
}

static int carry_out(struct app *app, const struct fetch_options *given, struct gt_error *err)
{
    struct fetch_options o = *given;
    struct fetch_view view;
    struct fetch_summary sum = {0};
    fetch_view_init(&view, app);
    o.ctx = &view;
    o.url_of = view_url;
    o.key_of = view_key;
    o.progress = fetch_view_update;
    int rc = o.offline ? 0 : agree(app, &o, err);
    if (rc == 0) {
        rc = fetch_sources(&o, &sum, err);
        fetch_view_end(&view);
    }
    bool ended = sum.done + sum.unchanged + sum.failed + sum.quarantined > 0;
    if (ended && app->format == OUT_JSON) { /* what failed stands in it, whatever the exit status */
        struct gt_error why = {0};
        int told = print_json(&view, &sum, &why);
        if (rc == 0 && told != 0) {
            rc = gt_fail(err, told, why.where, "%s", why.text);
        }
    } else if (ended && !app->quiet) {
        print_sum(&view, &sum);
    }
    fetch_view_release(&view);
    return rc;
}

#define LIMIT_MAX 1000000

static int limit(const struct cli_args *args, const char *name, bool duration, int *out,
                 struct gt_error *err)
{
    const char *v = cli_value(args, name);
    double s = 0;
    uint64_t n = 0;
    int rc = !v ? 0 : duration ? duration_parse(v, false, &s, err) : count_parse(v, &n, err);
    if (v && !duration) {
        s = (double)n;
    }
    if (rc != 0 || (v && !(s >= 1 && s <= LIMIT_MAX))) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected %s", name, v,
                       duration ? "a duration such as 90s or 2h, from 1s to 11d"
                                : "a whole number from 1 to 1000000");
    }
    *out = (int)s;
    return 0;
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct fetch_regions regions = {.n = 0};
    struct fetch_options o = {
        .sources = args->positional,
        .n_sources = args->n_positional,
        .all_regions = cli_flag(args, "all-regions"),
        .accept_large_change = cli_flag(args, "accept-large-change"),
        .offline = app->offline,
        .cache_dir = app->cache_dir,
        .cancel = app->cancel,
        .log = &app->log,
        .now = app->now,
    };
    int rc = limit(args, "tries", false, &o.tries, err);
    rc = rc ? rc : limit(args, "max-time", true, &o.max_time_s, err);
    rc = rc ? rc : limit(args, "stall", true, &o.stall_s, err);
    rc = rc ? rc : limit(args, "connect-time", true, &o.connect_s, err);
    if (rc == 0 && cli_flag(args, "ipv4") && cli_flag(args, "ipv6")) {
        return gt_fail(err, GT_EUSAGE, "fetch", "--ipv4 and --ipv6 exclude each other");
    }
    o.ip_version = cli_flag(args, "ipv4") ? 4 : cli_flag(args, "ipv6") ? 6 : 0;
    if (rc == 0 && app->offline) {
        return gt_fail(err, GT_EUSAGE, "fetch", "--offline is set: nothing is fetched");
    }
    rc = rc ? rc : app_store(app, &o.store, err);
    rc = rc ? rc : fetch_regions_choose(app, args, &regions, err);
    if (rc == 0) {
        o.regions = (const char *const *)regions.name;
        o.n_regions = regions.n;
        rc = carry_out(app, &o, err);
    }
    fetch_regions_release(&regions);
    return rc;
}

const struct command command_fetch = {
    .name = "fetch",
    .usage = "[SOURCE...]",
    .summary = "downloads prices into the database; Ctrl-C keeps what was complete",
    .options = options,
    .example = "gputier fetch aws-offer skypilot --region us-east-1",
    .run = run,
    .no_csv = true,
};
