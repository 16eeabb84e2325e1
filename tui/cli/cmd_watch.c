/* watch: looks at the volatile lists (spot prices, capacity) again and again and keeps the series
 * (product.md section 2). One instance a database; whatever interrupts it (sleep, no network, a
 * restart), it goes on with the next round and never makes up for rounds that are missing. */
#include "gputier/record.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "watch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/select.h>
#include <unistd.h>

#define EVERY_S       600
#define LEAST_S       60   /* between two rounds */
#define OTHER_LEAST_S 3600 /* of a source that is not made for watching */
#define SLICE_S       20   /* a machine that wakes up is noticed within this */
#define JITTER        0.1

static const struct cli_option options[] = {
    {"every", 0, OPT_VALUE, "DURATION", "time between two rounds, +-10 % (10min)"},
    {"for", 0, OPT_VALUE, "DURATION", "end after this time (default: only when told to)"},
    {"once", 0, OPT_FLAG, NULL, "one round, for cron; --every says how often it is called"},
    {"region", 'r', OPT_LIST, "VENDOR/CODE", "this region; may be given several times"},
    {"seed", 0, OPT_VALUE, "N", "of the jitter (default: another one each time)"},
    {NULL, 0, OPT_FLAG, NULL, NULL}};

static bool has_address(struct app *app, const struct source_def *d)
{
    const char *own = app_source_url(app, d->id);
    return (own && *own) || (d->default_url && *d->default_url);
}

static bool has_key(struct app *app, const struct source_def *d)
{
    const char *key = app_source_key(app, d->id);
    return !d->needs_key || (key && *key);
}

/* An address of one's own (a mirror, a proxy) is nobody's to protect. */
static int64_t least_of(struct app *app, const struct source_def *d)
{
    const char *own = app_source_url(app, d->id);
    int64_t least = fetch_watch_interval(d->id);
    return own && *own ? 1 : least > 0 ? least : OTHER_LEAST_S;
}

static void select_one(struct watch *w, const struct source_def *d)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->source[i].def == d) {
            return;
        }
    }
    if (w->n < WATCH_SOURCES) {
        w->source[w->n++] = (struct watched){.def = d, .least_s = least_of(w->app, d)};
    }
}

static int select_named(struct watch *w, const char *name, struct gt_error *err)
{
    const struct source_def *d = source_find(name);
    char variable[64];
    bool any = false;
    if (d && !has_address(w->app, d)) {
        return gt_fail(err, GT_EUSAGE, "watch", "%s has no address: its files are imported", name);
    }
    if (d && !has_key(w->app, d)) {
        return gt_fail(err, GT_EUSAGE, "watch", "%s needs a key: set %s", name,
                       fetch_key_variable(d->id, variable));
    }
    if (d) {
        select_one(w, d);
        return 0;
    }
    for (size_t i = 0; (d = source_at(i)) != NULL; i++) {
        if (d->vendor && *d->vendor && text_ieq(d->vendor, name) && has_address(w->app, d) &&
            has_key(w->app, d) && fetch_watch_interval(d->id) > 0) {
            select_one(w, d);
            any = true;
        }
    }
    return any ? 0
               : gt_fail(err, GT_EUSAGE, "watch",
                         "found '%.60s', which is no source and no vendor of one to watch (or its "
                         "key is not set); 'gputier sources' lists them",
                         name);
}

static int select_sources(struct watch *w, const struct cli_args *args, struct gt_error *err)
{
    const struct source_def *d;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < args->n_positional; i++) {
        rc = select_named(w, args->positional[i], err);
    }
    for (size_t i = 0; args->n_positional == 0 && (d = source_at(i)) != NULL; i++) {
        if (fetch_watch_interval(d->id) > 0 && has_address(w->app, d) && has_key(w->app, d)) {
            select_one(w, d);
        }
    }
    return rc;
}

static int take_duration(const struct cli_args *args, const char *name, int64_t *out,
                         struct gt_error *err)
{
    const char *v = cli_value(args, name);
    double s = 0;
    if (v && (duration_parse(v, false, &s, NULL) != 0 || !(s >= 1 && s < 1e9))) {
        return gt_fail(err, GT_EUSAGE, "", "--%s: found '%.40s', expected a duration such as 10min",
                       name, v);
    }
    *out = v ? (int64_t)s : *out;
    return 0;
}

static int take_options(struct watch *w, const struct cli_args *args, struct gt_error *err)
{
    const char *seed = cli_value(args, "seed");
    uint64_t n = (uint64_t)w->app->now ^ (uint64_t)getpid() << 32;
    w->every_s = EVERY_S;
    w->once = cli_flag(args, "once");
    w->fixed_clock = getenv("GPUTIER_NOW") && *getenv("GPUTIER_NOW");
    w->started_s = watch_boot_s();
    if (w->app->offline) {
        return gt_fail(err, GT_EUSAGE, "watch", "--offline is set: nothing is fetched");
    }
    int rc = take_duration(args, "every", &w->every_s, err);
    rc = rc ? rc : take_duration(args, "for", &w->for_s, err);
    if (rc == 0 && seed && count_parse(seed, &n, NULL) != 0) {
        rc = gt_fail(err, GT_EUSAGE, "--seed", "found '%.40s', expected a whole number", seed);
    }
    if (rc == 0 && w->once && w->for_s > 0) {
        rc = gt_fail(err, GT_EUSAGE, "watch", "--once and --for exclude each other");
    }
    rng_init(&w->rng, n, 0);
    rc = rc ? rc : select_sources(w, args, err);
    bool own = true;
    for (size_t i = 0; i < w->n; i++) {
        struct watched *s = &w->source[i];
        own = own && s->least_s == 1;
        int64_t rounds = (s->least_s + w->every_s - 1) / w->every_s;
        s->step_s = (rounds > 1 ? rounds : 1) * w->every_s;
    }
    if (rc == 0 && w->every_s < LEAST_S && !own) {
        rc = gt_fail(err, GT_EUSAGE, "--every",
                     "found %lld s, expected at least %d s: vendors are not asked more often",
                     (long long)w->every_s, LEAST_S);
    }
    return rc;
}

/* One recorder a database: two would ask the vendors twice and write the same rounds. The lock
 * goes with the process, however it ends. */
static int take_lock(const struct watch *w, int *fd, struct gt_error *err)
{
    char path[4096], text[32] = "";
    int n = snprintf(path, sizeof path, "%s.watch", w->app->db_path);
    if (n < 0 || n >= (int)sizeof path) {
        return gt_fail(err, GT_EIO, w->app->db_path, "the path is too long");
    }
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0) {
        return gt_fail(err, GT_EIO, path, "cannot open the lock: %s", strerror(errno));
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t got = read(*fd, text, sizeof text - 1);
        text[got > 0 ? strspn(text, "0123456789") : 0] = '\0';
        return gt_fail(err, GT_EIO, w->app->db_path,
                       "another gputier watch%s%s%s records into this database",
                       *text ? " (process " : "", text, *text ? ")" : "");
    }
    n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(*fd, 0) != 0 || pwrite(*fd, text, (size_t)n, 0) != n) {
        return gt_fail(err, GT_EIO, path, "cannot write: %s", strerror(errno));
    }
    return 0;
}

/* Where the last watch, or a fetch by hand, left off. */
static int take_up(struct watch *w, struct gt_error *err)
{
    int64_t wall = watch_wall_s(w), boot = watch_boot_s(), last;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < w->n; i++) {
        struct watched *s = &w->source[i];
        rc = store_last_run(w->store, s->def->id, &last, err);
        s->tried = rc == 0 && last != GT_TIME_NONE && last <= wall;
        s->last_s = s->tried ? boot - (wall - last) : 0;
    }
    return rc;
}

static bool told_to_end(const struct watch *w)
{
    return w->app->cancel && *w->app->cancel;
}

/* Waits until `until` on the clock since boot, or for a signal. The kernel's timers stand still
 * while the machine sleeps, so the wait is cut and the clock read again. */
static void wait_until(const struct watch *w, int64_t until_s)
{
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ours, &before); /* none is lost between the look and the wait */
    for (int64_t left; !told_to_end(w) && (left = until_s - watch_boot_s()) > 0;) {
        struct timespec t = {.tv_sec = left < SLICE_S ? left : SLICE_S};
        (void)pselect(0, NULL, NULL, NULL, &t, &before);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

static int64_t with_jitter(struct watch *w)
{
    double f = 1 + JITTER * (2 * rng_unit(&w->rng) - 1);
    int64_t s = (int64_t)((double)w->every_s * f + 0.5);
    return s > 0 ? s : 1;
}

/* Seconds until the first source is due. */
static int64_t first_wait(const struct watch *w)
{
    int64_t now = watch_boot_s(), least = INT64_MAX;
    for (size_t i = 0; i < w->n; i++) {
        int64_t s = watch_wait_s(w, &w->source[i], now);
        least = s < least ? s : least;
    }
    return least == INT64_MAX ? 0 : least;
}

static int loop(struct watch *w, struct gt_error *err)
{
    int64_t end = w->for_s > 0 ? w->started_s + w->for_s : INT64_MAX, wait = first_wait(w);
    int64_t next = watch_boot_s() + wait;
    char shown[32];
    size_t ok = 0;
    int rc = 0;
    if (wait > 0 && !w->app->quiet) {
        fprintf(stderr, "going on where the last round was: next %s\n",
                time_format(watch_wall_s(w) + wait, shown));
    }
    for (;;) {
        wait_until(w, next < end ? next : end);
        if (told_to_end(w) || watch_boot_s() >= end) {
            break;
        }
        /* from now on, not from when it should have been: a machine that slept does one round */
        int64_t step = with_jitter(w);
        next = watch_boot_s() + step;
        rc = watch_round(w, next < end ? step : -1, &ok, err);
        if (rc != 0) {
            break;
        }
        if (watch_boot_s() > next) {
            next = watch_boot_s();
        }
    }
    if (rc != 0 && rc != GT_ECANCELLED) {
        return rc;
    }
    /* SIGTERM is how a service is stopped: that is a good end */
    return told_to_end(w) && *w->app->cancel != SIGTERM
               ? gt_fail(err, GT_ECANCELLED, "watch", "interrupted; what was recorded is kept")
               : 0;
}

static int once(struct watch *w, struct gt_error *err)
{
    size_t ok = 0, failed = 0;
    int rc = watch_round(w, -1, &ok, err);
    for (size_t i = 0; i < w->n; i++) {
        failed += w->source[i].failed;
    }
    return rc == 0 && ok == 0 && failed > 0
               ? gt_fail(err, GT_ENET, "watch", "no source brought anything")
               : rc;
}

static void greet(const struct watch *w)
{
    char every[32];
    if (w->app->quiet || w->once) {
        return;
    }
    fprintf(stderr, "watching");
    for (size_t i = 0; i < w->n; i++) {
        fprintf(stderr, "%s %s", i ? "," : "", w->source[i].def->id);
        if (w->source[i].step_s > w->every_s) {
            fprintf(stderr, " (every %s)", duration_format((double)w->source[i].step_s, every));
        }
    }
    fprintf(stderr, " every %s\n", duration_format((double)w->every_s, every));
}

static int run(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    struct watch *w = calloc(1, sizeof *w);
    int fd = -1;
    if (!w) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    w->app = app;
    int rc = take_options(w, args, err);
    rc = rc ? rc : app_store(app, &w->store, err);
    rc = rc ? rc : fetch_regions_choose(app, args, &w->regions, err);
    rc = rc ? rc : take_lock(w, &fd, err);
    rc = rc ? rc : take_up(w, err);
    if (rc == 0) {
        greet(w);
        rc = w->once ? once(w, err) : loop(w, err);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    fetch_regions_release(&w->regions);
    free(w);
    return rc;
}

const struct command command_watch = {
    .name = "watch",
    .usage = "[SOURCE...] [--every 10min] [--for 30d]",
    .summary = "records spot prices and capacity, round by round, into series",
    .options = options,
    .example = "gputier watch lambda runpod --every 10min --for 30d",
    .run = run,
    .no_csv = true,
};
