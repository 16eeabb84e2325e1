/* One source in a fetch: what its walk may ask (http.h), and the tally of its parts. */
#include "engine.h"
#include "url.h"
#include <stdio.h>
#include <string.h>

#define LEAST_LIMIT  (256ULL << 20)
#define CODE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* Base address: as configured, else the record's; checked. */
static int set_base(struct fetch_run *run, struct gt_error *err)
{
    const struct fetch_options *o = run->engine->o;
    const char *base = o->url_of ? o->url_of(o->ctx, run->def->id) : NULL;
    base = base && *base ? base : run->def->default_url;
    if (!base || !*base) {
        return gt_fail(err, GT_EUSAGE, "",
                       "%s has no address; its files are read with `gputier import %s FILE`",
                       run->def->id, run->def->id);
    }
    char *copy = arena_strdup(run->arena, base);
    if (!copy) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    size_t n = strlen(copy);
    while (n > 0 && copy[n - 1] == '/') {
        copy[--n] = '\0';
    }
    run->base = copy;
    return url_check(copy, err);
}

static bool vendor_has(const char *vendor, const char *prefix, size_t n)
{
    /* aws-cn is asked of the AWS sources: the same list, another partition. */
    return (strlen(vendor) == n && strncmp(vendor, prefix, n) == 0) ||
           (strcmp(vendor, "aws") == 0 && n == 6 && strncmp(prefix, "aws-cn", 6) == 0);
}

/* Whether a region that is asked for is asked of d. A code without a vendor is asked of every
 * source, but where one knows it for its own, not of those that know it for none of theirs. */
static bool is_for(const struct source_def *d, const char *region)
{
    const struct source_def *other;
    const char *slash = strchr(region, '/');
    if (slash) {
        return vendor_has(d->vendor, region, (size_t)(slash - region));
    }
    if (!d->has_region || d->has_region(region)) {
        return true;
    }
    for (size_t i = 0; (other = source_at(i)) != NULL; i++) {
        if (other->has_region && other->has_region(region)) {
            return false;
        }
    }
    return true;
}

bool run_has_region(const struct fetch_options *o, const struct source_def *d)
{
    for (size_t i = 0; d->per_region && i < o->n_regions; i++) {
        if (is_for(d, o->regions[i])) {
            return true;
        }
    }
    return !d->per_region || o->all_regions;
}

static int set_regions(struct fetch_run *run, struct gt_error *err)
{
    const struct fetch_options *o = run->engine->o;
    run->region = arena_array(run->arena, o->n_regions + 1, sizeof *run->region);
    if (!run->region) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    for (size_t i = 0; i < o->n_regions; i++) {
        const char *r = o->regions[i], *slash = strchr(r, '/');
        if (!is_for(run->def, r)) {
            continue;
        }
        const char *code = slash ? slash + 1 : r;
        if (strspn(code, CODE_LETTERS) != strlen(code)) { /* it goes into addresses and bodies */
            return gt_fail(err, GT_EUSAGE, "", "region '%.60s': expected letters, digits, dashes",
                           r);
        }
        run->region[run->n_regions] = arena_strdup(run->arena, code);
        if (!run->region[run->n_regions++]) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
    }
    return 0;
}

void hide_secret(char *text, const char *secret)
{
    for (const char *part = secret ? secret : ""; *part; part += *part == ':') {
        size_t n = strcspn(part, ":"); /* two keys may stand in one: ID:SECRET */
        for (char *p = text; n >= 4 && (p = memmem(p, strlen(p), part, n)) != NULL; p += n) {
            memset(p, '*', n);
        }
        part += n;
    }
}

void run_hide_key(const struct fetch_run *run, char *text)
{
    hide_secret(text, run->key);
}

static void log_without_key(void *ctx, enum log_level level, const char *module, const char *text)
{
    const struct fetch_run *run = ctx;
    char line[1024];
    snprintf(line, sizeof line, "%s", text);
    run_hide_key(run, line);
    log_line(run->engine->o->log, level, module, "%s", line);
}

int run_init(struct fetch_run *run, struct engine *e, const struct source_def *def,
             struct gt_error *err)
{
    char variable[64];
    *run = (struct fetch_run){.engine = e, .def = def, .arena = e->arena};
    run->log = (struct log_sink){
        .level = e->o->log ? e->o->log->level : LOG_ERROR, .write = log_without_key, .ctx = run};
    int rc = set_base(run, err);
    rc = rc ? rc : set_regions(run, err);
    if (rc != 0) {
        return rc;
    }
    run->key = e->o->key_of ? e->o->key_of(e->o->ctx, def->id) : NULL;
    if (def->needs_key && (!run->key || !*run->key)) {
        return gt_fail(err, GT_EUSAGE, "", "%s needs a key: set %s", def->id,
                       fetch_key_variable(def->id, variable));
    }
    for (const char *p = run->key ? run->key : ""; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f) { /* it goes into a header line */
            return gt_fail(err, GT_EUSAGE, "",
                           "the key in %s holds a line break or another control "
                           "character",
                           fetch_key_variable(def->id, variable));
        }
    }
    if (def->per_region && run->n_regions == 0 && !e->o->all_regions) {
        return gt_fail(err, GT_EUSAGE, "",
                       "%s: no region of %s is asked for%s%.60s%s: give --region %s/CODE or "
                       "--all-regions",
                       def->id, def->vendor, e->o->n_regions > 0 ? " (" : "",
                       e->o->n_regions > 0 ? e->o->regions[0] : "",
                       e->o->n_regions > 1   ? ", ...)"
                       : e->o->n_regions > 0 ? ")"
                                             : "",
                       def->vendor);
    }
    return 0;
}

int run_plan(struct fetch_run *run, struct gt_error *err)
{
    if (run->def->fetch) {
        return run->def->fetch(run, err);
    }
    struct fetch_request q = {.url = run->base, .scope = ""};
    return fetch_rows(run, &q, err);
}

static int copy_text(struct arena *a, const char *s, const char **out)
{
    *out = s ? arena_strdup(a, s) : NULL;
    return s && !*out ? GT_ENOMEM : 0;
}

static int copy_lines(struct arena *a, const char *const *lines, const char *const **out)
{
    size_t n = 0;
    while (lines && lines[n]) {
        n++;
    }
    const char **copy = arena_array(a, n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        if (copy_text(a, lines[i], &copy[i]) != 0) {
            return GT_ENOMEM;
        }
    }
    *out = copy;
    return copy ? 0 : GT_ENOMEM;
}

static int add(struct fetch_run *run, const struct fetch_request *q, struct transfer **out,
               struct gt_error *err)
{
    struct arena *a = run->arena;
    struct transfer *t = arena_alloc(a, sizeof *t);
    char *url = NULL, *alternative = NULL;
    if (!t || copy_text(a, q->scope ? q->scope : "", &t->scope) != 0 ||
        copy_text(a, q->region, &t->region) != 0 || copy_text(a, q->vendor, &t->vendor) != 0 ||
        copy_text(a, q->post, &t->post) != 0 || copy_text(a, q->question, &t->question) != 0 ||
        copy_lines(a, q->header, &t->header) != 0 || copy_text(a, q->sigv4, &t->sigv4) != 0 ||
        copy_text(a, q->user, &t->user) != 0 || copy_text(a, q->secret, &t->secret) != 0 ||
        (q->refusal && !(t->said = arena_alloc(a, REFUSAL_BYTES)))) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    int rc = url_join(a, run->base, q->url, &url, err);
    if (rc == 0 && q->alternative) {
        rc = url_join(a, run->base, q->alternative, &alternative, err);
    }
    if (rc != 0) {
        return rc;
    }
    if (url_is_https(run->base) &&
        (!url_is_https(url) || (alternative && !url_is_https(alternative)))) {
        return gt_fail(err, GT_EHTTP, run->def->id, "an https index names an http address");
    }
    t->url = t->first_url = url;
    t->alternative = alternative;
    t->refusal = q->refusal;
    t->refusal_ctx = q->refusal_ctx;
    t->api = q->api;
    t->listed = q->listed;
    t->optional = q->optional;
    t->max_bytes = q->max_bytes;
    t->run = run;
    *out = t;
    return 0;
}

void run_append(struct transfer *t)
{
    struct fetch_run *run = t->run;
    if (run->last) {
        run->last->next = t;
    } else {
        run->first = t;
    }
    run->last = t;
    run->open++;
    engine_report(run->engine, t, FETCH_QUEUED, NULL);
}

int run_request(struct fetch_run *run, const struct fetch_request *q, fetch_document_fn *done,
                void *ctx, struct transfer **out, struct gt_error *err)
{
    int rc = add(run, q, out, err);
    if (rc != 0) {
        return rc;
    }
    struct transfer *t = *out;
    t->done = done;
    t->done_ctx = ctx;
    if (t->max_bytes == 0 && done) {
        t->max_bytes = DOCUMENT_BYTES;
    } else if (t->max_bytes == 0) {
        uint64_t usual = run->def->expected_bytes * 16;
        t->max_bytes = run->engine->o->max_bytes ? run->engine->o->max_bytes
                       : usual > LEAST_LIMIT     ? usual
                                                 : LEAST_LIMIT;
    }
    return 0;
}

int fetch_rows(struct fetch_run *run, const struct fetch_request *q, struct gt_error *err)
{
    struct transfer *t = NULL;
    int rc = run_request(run, q, NULL, NULL, &t, err);
    if (rc == 0) {
        run_append(t);
    }
    return rc;
}

static int from_cache(struct transfer *t, struct gt_error *err)
{
    return t->done(t->run, t->done_ctx, t->kept.body, t->kept.len, err);
}

int fetch_document(struct fetch_run *run, const struct fetch_request *q, fetch_document_fn *done,
                   void *ctx, struct gt_error *err)
{
    struct transfer *t = NULL;
    int rc = run_request(run, q, done, ctx, &t, err);
    if (rc != 0) {
        return rc;
    }
    if (!t->post && !t->header[0] && !run->engine->o->accept_large_change) {
        t->cacheable = true;
        t->kept = cache_get(run, t->url);
        t->condition = t->kept.condition;
        t->unchanged = from_cache;
    }
    run_append(t);
    return 0;
}

const struct source_def *fetch_source(const struct fetch_run *run)
{
    return run->def;
}

const char *fetch_base(const struct fetch_run *run)
{
    return run->base;
}

const char *fetch_key(const struct fetch_run *run)
{
    return run->key;
}

int64_t fetch_now(const struct fetch_run *run)
{
    return run->engine->o->now;
}

int fetch_last(const struct fetch_run *run, const char *scope, int64_t *when, struct gt_error *err)
{
    return store_last_fetch(run->engine->o->store, run->def->id, scope, when, err);
}

const char *fetch_region(const struct fetch_run *run, size_t i)
{
    return i < run->n_regions ? run->region[i] : NULL;
}

uint64_t fetch_nonce(struct fetch_run *run)
{
    return rng_u64(&run->engine->rng);
}

bool fetch_all_regions(const struct fetch_run *run)
{
    return run->engine->o->all_regions;
}

struct arena *fetch_arena(struct fetch_run *run)
{
    return run->arena;
}

void fetch_log(struct fetch_run *run, enum log_level level, const char *text)
{
    log_line(&run->log, level, run->def->id, "%s", text);
}

int run_staging(struct fetch_run *run, const char *scope, const char *url, struct staging **out,
                struct gt_error *err)
{
    const struct fetch_options *o = run->engine->o;
    char region[160] = "";
    if (run->def->per_region && *scope) { /* a scope begins with it */
        snprintf(region, sizeof region, "%s/%.*s", run->def->vendor, (int)strcspn(scope, "/"),
                 scope);
    }
    struct staging_options so = {
        .source_id = run->def->id,
        .scope = scope,
        .url = url,
        .region = region,
        .origin = ORIGIN_FETCHED,
        .fetched_at = o->now,
        .accept_large_change = o->accept_large_change,
    };
    return staging_begin(o->store, &so, out, err);
}

void fetch_part_failed(struct fetch_run *run, const char *scope, const struct gt_error *why)
{
    struct staging *st = NULL;
    struct gt_error ignored; /* the failure being recorded matters more */
    char shown[256], text[sizeof why->text + sizeof why->where + 4];
    snprintf(text, sizeof text, "%s%s%s", why->where, why->where[0] ? ": " : "", why->text);
    if (run_staging(run, scope, url_redact(run->base, shown, sizeof shown), &st, &ignored) == 0) {
        staging_discard(st, text);
    }
    struct transfer part = {.run = run, .scope = scope};
    run->open++;
    run_part_ended(run, &part, FETCH_FAILED, why);
}

void run_part_ended(struct fetch_run *run, const struct transfer *t, int state,
                    const struct gt_error *why)
{
    run->open--;
    switch (state) {
    case FETCH_DONE:
        run->done += t->done ? 0 : 1;
        break;
    case FETCH_UNCHANGED:
        run->unchanged += t->done ? 0 : 1;
        break;
    case FETCH_QUARANTINED:
        run->quarantined++;
        break;
    default:
        run->failed++;
        break;
    }
    bool worse = run->err.code == GT_EQUARANTINE && state == FETCH_FAILED;
    if (why && (run->err.code == 0 || worse)) {
        run->err = *why;
    }
    char message[sizeof why->text + sizeof why->where + 4] = "";
    if (why) {
        snprintf(message, sizeof message, "%s%s%s", why->where, why->where[0] ? ": " : "",
                 why->text);
    }
    if (!t->sum || state == FETCH_FAILED) { /* a list tells its end itself */
        engine_report(run->engine, t, state, why ? message : NULL);
    }
}
