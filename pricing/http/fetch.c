/* fetch_sources: which sources, then one loop that keeps their transfers going until all have
 * ended or the user interrupts. Read http.h, then engine.h, then this. */
#include "engine.h"
#include "gputier/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS   100 /* Ctrl-C is seen within this */
#define REPORT_MS 200
#define ARENA_MAX (256U << 20)
#define SOURCES   64

int64_t engine_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

bool engine_cancelled(const struct engine *e)
{
    return e->o->cancel && *e->o->cancel;
}

const char *fetch_key_variable(const char *source_id, char buf[64])
{
    const struct source_def *d = source_find(source_id);
    if (d && d->key_variable) {
        snprintf(buf, 64, "%s", d->key_variable);
        return buf;
    }
    size_t n = (size_t)snprintf(buf, 64, "GPUTIER_KEY_%s", source_id);
    for (size_t i = 0; i < n && i < 63; i++) {
        buf[i] = buf[i] == '-' ? '_' : (char)toupper((unsigned char)buf[i]);
    }
    return buf;
}

void engine_report(struct engine *e, const struct transfer *t, int state, const char *message)
{
    struct fetch_progress p = {
        .source_id = t->run->def->id,
        .scope = t->scope,
        .bytes = t->body.raw > 0 ? t->body.raw : t->got,
        .total = t->total,
        .rows = t->body.parse.rows,
        .index = t->done && !t->sum,
        .state = (unsigned)state,
        .message = message,
    };
    if (t->sum && state < FETCH_DONE) { /* a page: the list is what is shown */
        p.bytes += t->sum->bytes;
        p.rows = t->sum->rows;
        p.total = 0;
    }
    if (message) {
        log_line(&t->run->log, LOG_INFO, p.source_id, "%s%s%s", t->scope, t->scope[0] ? ": " : "",
                 message);
    }
    if (e->o->progress) {
        e->o->progress(e->o->ctx, &p);
    }
}

struct selection {
    const struct source_def *def[SOURCES];
    size_t n;
};

static void select_one(struct selection *s, const struct source_def *d)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->def[i] == d) {
            return;
        }
    }
    if (s->n < SOURCES) {
        s->def[s->n++] = d;
    }
}

static int unknown_source(const char *name, struct gt_error *err)
{
    const char *best[3] = {NULL, NULL, NULL};
    size_t distance[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    const struct source_def *d;
    for (size_t i = 0; (d = source_at(i)) != NULL; i++) {
        size_t x = text_distance(name, d->id);
        for (size_t k = 0; k < 3; k++) {
            if (x < distance[k]) {
                for (size_t m = 2; m > k; m--) {
                    best[m] = best[m - 1];
                    distance[m] = distance[m - 1];
                }
                best[k] = d->id;
                distance[k] = x;
                break;
            }
        }
    }
    return gt_fail(err, GT_EUSAGE, "fetch", "unknown source \"%.60s\"; nearest: %s%s%s%s%s", name,
                   best[0] ? best[0] : "none", best[1] ? ", " : "", best[1] ? best[1] : "",
                   best[2] ? ", " : "", best[2] ? best[2] : "");
}

static bool has_key(const struct fetch_options *o, const struct source_def *d)
{
    const char *key = o->key_of ? o->key_of(o->ctx, d->id) : NULL;
    return key && *key;
}

static bool has_address(const struct fetch_options *o, const struct source_def *d)
{
    const char *url = o->url_of ? o->url_of(o->ctx, d->id) : NULL;
    return (url && *url) || (d->default_url && *d->default_url);
}

/* A vendor's name stands for those of its sources that can be fetched here and now. */
static bool select_vendor(struct selection *s, const struct fetch_options *o, const char *vendor,
                          bool tell)
{
    const struct source_def *d;
    bool any = false;
    vendor = vendor_canonical(vendor) ? vendor_canonical(vendor) : vendor; /* aliyun */
    for (size_t i = 0; (d = source_at(i)) != NULL; i++) {
        if (d->vendor && *d->vendor && text_ieq(d->vendor, vendor) && has_address(o, d)) {
            any = true;
            if (!d->needs_key || has_key(o, d)) {
                select_one(s, d);
            } else if (tell) {
                log_line(o->log, LOG_WARNING, d->id, "left out: it needs a key");
            }
        }
    }
    return any;
}

/* tell: what is left out is said, once. */
static int select_sources(struct selection *s, const struct fetch_options *o, bool tell,
                          struct gt_error *err)
{
    const struct source_def *d;
    for (size_t i = 0; o->n_sources == 0 && (d = source_at(i)) != NULL; i++) {
        if (!d->default_on || !has_address(o, d) || (d->needs_key && !has_key(o, d))) {
            continue;
        }
        if (run_has_region(o, d)) {
            select_one(s, d);
        } else if (tell) {
            log_line(o->log, LOG_WARNING, d->id, "left out: no region that is asked for is of %s",
                     d->vendor);
        }
    }
    for (size_t i = 0; i < o->n_sources; i++) {
        d = source_find(o->sources[i]);
        if (d) {
            select_one(s, d);
        } else if (!select_vendor(s, o, o->sources[i], tell)) {
            return unknown_source(o->sources[i], err);
        }
    }
    if (s->n == 0) {
        return gt_fail(err, GT_EUSAGE, "fetch", "nothing to fetch: every source named needs a key");
    }
    return 0;
}

int fetch_expected(const struct fetch_options *o, uint64_t *bytes, struct gt_error *err)
{
    struct selection s = {.n = 0};
    int rc = select_sources(&s, o, false, err);
    *bytes = 0;
    for (size_t i = 0; rc == 0 && i < s.n; i++) {
        uint64_t n = 1;
        if (s.def[i]->per_region) {
            struct engine e = {.o = o, .arena = arena_new(ARENA_MAX)};
            struct fetch_run run;
            struct gt_error ignored; /* the fetch itself says it */
            n = run_init(&run, &e, s.def[i], &ignored) == 0 ? run.n_regions : 0;
            n = o->all_regions ? 30 : n; /* about as many as AWS and Azure have */
            arena_free(e.arena);
        }
        *bytes += s.def[i]->expected_bytes * n;
    }
    return rc;
}

static void start_due(struct engine *e, struct fetch_run *run, int64_t now)
{
    for (struct transfer *t = run->first; t; t = t->next) {
        if (e->active >= ENGINE_PARALLEL || run->active >= ENGINE_PER_RUN) {
            return;
        }
        if (t->state == TRANSFER_WAITING && t->not_before_ms <= now) {
            if (transfer_start(e, t, &t->err) != 0) {
                transfer_fail(e, t);
            } else {
                engine_report(e, t, FETCH_RUNNING, NULL);
            }
        }
    }
}

static size_t open_transfers(const struct engine *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n_runs; i++) {
        n += e->run[i].open;
    }
    return n;
}

static void take_ended(struct engine *e)
{
    CURLMsg *m;
    int left;
    while ((m = e->curl.multi_info_read(e->multi, &left)) != NULL) {
        if (m->msg == CURLMSG_DONE) {
            char *private = NULL;
            CURLcode code = m->data.result;
            CURL *h = m->easy_handle;
            e->curl.easy_getinfo(h, CURLINFO_PRIVATE, &private);
            struct transfer *t = (struct transfer *)(void *)private;
            e->curl.easy_getinfo(h, CURLINFO_RESPONSE_CODE, &t->answer.status);
            transfer_finish(e, t, code);
        }
    }
}

static void report_running(struct engine *e)
{
    int64_t now = engine_now_ms();
    if (now - e->shown_ms < REPORT_MS) {
        return;
    }
    e->shown_ms = now;
    for (size_t i = 0; i < e->n_runs; i++) {
        for (struct transfer *t = e->run[i].first; t; t = t->next) {
            if (t->state == TRANSFER_ACTIVE) {
                engine_report(e, t, FETCH_RUNNING, NULL);
            }
        }
    }
}

static int loop(struct engine *e, struct gt_error *err)
{
    while (open_transfers(e) > 0 && !engine_cancelled(e)) {
        int running = 0;
        int64_t now = engine_now_ms();
        for (size_t i = 0; i < e->n_runs; i++) {
            start_due(e, &e->run[i], now);
        }
        CURLMcode mc = e->curl.multi_perform(e->multi, &running);
        if (mc == CURLM_OK) {
            take_ended(e);
            report_running(e);
            mc = e->curl.multi_poll(e->multi, NULL, 0, running > 0 || e->active == 0 ? POLL_MS : 0,
                                    NULL);
        }
        if (mc != CURLM_OK) {
            return gt_fail(err, GT_ENET, "libcurl", "%s", e->curl.multi_strerror(mc));
        }
    }
    return engine_cancelled(e)
               ? gt_fail(err, GT_ECANCELLED, "fetch",
                         "interrupted; what was complete before is kept, the rest is dropped")
               : 0;
}

static void plan_runs(struct engine *e, const struct selection *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct fetch_run *run = &e->run[e->n_runs++];
        struct gt_error why = {0};
        int rc = run_init(run, e, s->def[i], &why);
        rc = rc ? rc : run_plan(run, &why);
        if (rc != 0) {
            struct transfer part = {.run = run, .scope = ""};
            run->open++;
            run_part_ended(run, &part, FETCH_FAILED, &why);
        }
    }
}

/* A source whose files were all absent has failed; else its worst part decides. */
static void sum_up(struct engine *e, struct fetch_summary *out, struct gt_error *err)
{
    for (size_t i = 0; i < e->n_runs; i++) {
        struct fetch_run *run = &e->run[i];
        out->bytes += run->bytes;
        out->rows += run->rows;
        if (run->done + run->unchanged + run->failed + run->quarantined == 0) {
            run->failed++;
            gt_fail(&run->err, GT_EHTTP, run->base, "none of the %zu files of %s is there",
                    run->absent, run->def->id);
            struct transfer part = {.run = run, .scope = ""};
            engine_report(e, &part, FETCH_FAILED, run->err.text);
        }
        out->failed += run->failed > 0;
        out->quarantined += run->failed == 0 && run->quarantined > 0;
        out->unchanged += run->failed + run->quarantined + run->done == 0;
        out->done += run->failed + run->quarantined == 0 && run->done > 0;
        bool first = err->code == 0 && run->err.code != 0;
        if (first || (err->code == GT_EQUARANTINE && run->failed > 0)) {
            *err = run->err; /* what failed weighs more than what was held back */
        }
    }
}

static void engine_release(struct engine *e)
{
    for (size_t i = 0; i < e->n_runs; i++) {
        for (struct transfer *t = e->run[i].first; t; t = t->next) {
            if (t->state != TRANSFER_ENDED) {
                transfer_drop(e, t);
            }
        }
        list_release(&e->run[i]);
    }
    if (e->multi) {
        e->curl.multi_cleanup(e->multi);
    }
    curl_api_unload(&e->curl);
    arena_free(e->arena);
}

int fetch_sources(const struct fetch_options *o, struct fetch_summary *out, struct gt_error *err)
{
    struct engine e = {.o = o};
    struct selection s = {.n = 0};
    struct gt_error first = {0};
    *out = (struct fetch_summary){0};
    if (o->offline) {
        return gt_fail(err, GT_EUSAGE, "fetch", "--offline is set: nothing is fetched");
    }
    int rc = select_sources(&s, o, true, err);
    rc = rc ? rc : curl_api_load(&e.curl, err);
    if (rc != 0) {
        return rc;
    }
    e.arena = arena_new(ARENA_MAX);
    e.run = e.arena ? arena_array(e.arena, s.n, sizeof *e.run) : NULL;
    e.multi = e.curl.multi_init();
    if (!e.run || !e.multi) {
        engine_release(&e);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    rng_init(&e.rng, (uint64_t)engine_now_ms(), (uint64_t)getpid());
    plan_runs(&e, &s);
    rc = loop(&e, &first);
    if (rc == 0) {
        sum_up(&e, out, &first);
        rc = first.code;
    }
    engine_release(&e);
    if (rc != 0 && err) {
        *err = first;
    }
    return rc;
}
