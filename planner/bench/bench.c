/* The parent's side: starts the child (this binary again), follows its progress, bounds its time,
 * reads its report. A crash, a hang or a missing driver becomes one sentence. */
#include "backend.h"
#include "gputier/jsonw.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_OUTPUT_MAX (1 << 20)
#define METRICS_MAX      1000
#define LIST_SECONDS     20
#define SILENT_SECONDS   60 /* without a metric begun: a metric takes 2 s at most */

extern char **environ;

struct child {
    pid_t pid;
    int out;
    struct buf line, json;
    struct gt_error *err;
    int error;       /* the child's own error code */
    double heard_at; /* when it last began a metric */
};

static int spawn(struct child *c, char *const argv[])
{
    int fd[2], rc;
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t none;
    if (pipe(fd) != 0) {
        return -1;
    }
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, fd[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&fa, fd[0]);
    posix_spawn_file_actions_addclose(&fa, fd[1]);
    posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", 1, 0); /* drivers chatter */
    sigemptyset(&none); /* a thread of the interface blocks all signals: the child does not */
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    rc = posix_spawn(&c->pid, argv[0], &fa, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    close(fd[1]);
    c->out = fd[0];
    if (rc) {
        close(fd[0]);
    }
    return rc;
}

static int start(const struct bench_options *o, const char *backend, const char *what,
                 struct child *c)
{
    char metrics[METRICS_MAX + 16] = "";
    if (o->metrics && strlen(o->metrics) > METRICS_MAX) {
        return gt_fail(c->err, GT_EUSAGE, "bench", "--metrics: more than %d characters",
                       METRICS_MAX);
    }
    snprintf(metrics, sizeof metrics, "metrics=%s", o->metrics ? o->metrics : "");
    const char *words[] = {o->self, "--bench-child", backend, what, o->metrics ? metrics : NULL};
    char *argv[sizeof words / sizeof *words + 1] = {NULL};
    int n = 0, rc = -1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        argv[n] = words[i] ? strdup(words[i]) : NULL;
        n += argv[n] != NULL;
    }
    if (n >= 4) {
        rc = spawn(c, argv);
    }
    while (n > 0) {
        free(argv[--n]);
    }
    return rc ? gt_fail(c->err, GT_EDEVICE, "bench", "cannot start the measuring process") : 0;
}

/* What lies in the line is shown while the run goes on; the report that follows is what counts. */
static void take_result(const char *s, const struct bench_options *o)
{
    char metric[32], unit[16];
    int checked;
    struct bench_result r = {.metric = metric, .unit = unit};
    if (o->result &&
        sscanf(s, "result %31s %15s %lf %lf %d", metric, unit, &r.median, &r.spread, &checked) ==
            5 &&
        isfinite(r.median) && r.median > 0 && isfinite(r.spread)) {
        r.value = r.median;
        r.checked = checked == 1;
        o->result(o->ctx, &r);
    }
}

static void take_line(struct child *c, const struct bench_options *o)
{
    char *s = c->line.data;
    char metric[32];
    int done, total, code;
    if (sscanf(s, "progress %31s %d %d", metric, &done, &total) == 3) {
        c->heard_at = bench_seconds();
        if (o->progress) {
            o->progress(o->ctx, metric, done, total);
        }
    } else if (strncmp(s, "result ", 7) == 0) {
        take_result(s, o);
    } else if (sscanf(s, "error %d", &code) == 1) {
        const char *text = strchr(s + 6, ' ');
        c->error = code < 0 ? code : GT_EDEVICE;
        gt_fail(c->err, c->error, "bench", "%s", text ? text + 1 : "the measuring process failed");
    } else {
        buf_adds(&c->json, s);
        buf_addc(&c->json, '\n');
    }
}

static void take_bytes(struct child *c, const struct bench_options *o, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\n') {
            if (c->line.len) {
                take_line(c, o);
            }
            buf_clear(&c->line);
        } else {
            buf_addc(&c->line, p[i]);
        }
    }
}

/* Reads until the child closes its output, the user cancels (checked every 50 ms) or time is up. */
static int follow(struct child *c, const struct bench_options *o, double limit)
{
    char chunk[4096];
    c->heard_at = bench_seconds();
    for (;;) {
        struct pollfd p = {.fd = c->out, .events = POLLIN};
        if (o->cancel && *o->cancel) {
            return gt_fail(c->err, GT_ECANCELLED, "bench", "interrupted");
        }
        if (bench_seconds() > c->heard_at + limit) {
            return gt_fail(c->err, GT_EDEVICE, "bench",
                           "the device gave no answer for %.0f s; the measurement was stopped",
                           limit);
        }
        if (poll(&p, 1, 50) <= 0) {
            continue;
        }
        ssize_t n = read(c->out, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return 0;
        }
        take_bytes(c, o, chunk, (size_t)n);
    }
}

static int run_child(const struct bench_options *o, const char *backend, const char *what,
                     double limit, struct buf *json, struct gt_error *err)
{
    struct child c = {.err = err, .pid = -1};
    int status = 0;
    buf_init(&c.line, CHILD_OUTPUT_MAX);
    buf_init(&c.json, CHILD_OUTPUT_MAX);
    int rc = start(o, backend, what, &c);
    if (!rc) {
        rc = follow(&c, o, limit);
        if (rc) {
            kill(c.pid, SIGKILL);
        }
        close(c.out);
        while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR) {
        }
        if (!rc && c.error) {
            rc = c.error;
        } else if (!rc && WIFSIGNALED(status)) {
            rc = gt_fail(err, GT_EDEVICE, "bench", "the %s driver crashed (signal %d)", backend,
                         WTERMSIG(status));
        } else if (!rc &&
                   (!WIFEXITED(status) || WEXITSTATUS(status) || c.json.failed || !c.json.len)) {
            rc = gt_fail(err, GT_EDEVICE, "bench", "the measuring process failed (status %d)",
                         WEXITSTATUS(status));
        }
    }
    buf_release(&c.line);
    if (rc) {
        buf_release(&c.json);
    } else {
        *json = c.json;
    }
    return rc;
}

static const char *text_at(struct arena *a, const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return arena_strdup(a, cJSON_IsString(v) ? v->valuestring : "");
}

static double number_at(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static void read_device(struct arena *a, const cJSON *o, struct bench_device *d)
{
    const cJSON *cls = cJSON_GetObjectItemCaseSensitive(o, "class");
    *d =
        (struct bench_device){.name = text_at(a, o, "name"),
                              .backend = text_at(a, o, "backend"),
                              .driver = text_at(a, o, "driver"),
                              .vendor = text_at(a, o, "vendor"),
                              .is_gpu = cJSON_IsString(cls) && strcmp(cls->valuestring, "gpu") == 0,
                              .memory_gib = number_at(o, "memory_gib")};
}

static int measure_on(const struct bench_options *o, const char *backend, struct arena *a,
                      struct bench_report *out, struct gt_error *err)
{
    struct buf json;
    int rc = run_child(o, backend, o->quick ? "quick" : "full", SILENT_SECONDS, &json, err);
    if (rc) {
        return rc;
    }
    rc = bench_read_json(json.data, json.len, "bench", a, out, err);
    if (rc == GT_EPARSE) { /* no file of the user's */
        rc = gt_fail(err, GT_EDEVICE, "bench", "the measuring process sent a wrong report");
    }
    buf_release(&json);
    return rc;
}

/* GPUs first; then this machine's CPU, labelled. A CPU behind OpenCL says less about the machine
 * than the fallback itself does, so it is measured only when asked for. */
int bench_run(const struct bench_options *o, struct arena *a, struct bench_report *out,
              struct gt_error *err)
{
    static const char *const drivers[] = {"cuda", "opencl", "cpu"};
    bool automatic = strcmp(o->device, "auto") == 0, known = automatic;
    const char *why_not[2] = {NULL, NULL};
    size_t n_why = 0;
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        bool last = strcmp(drivers[i], "cpu") == 0;
        if (!automatic && strcmp(o->device, drivers[i]) != 0) {
            continue;
        }
        known = true;
        *out = (struct bench_report){0};
        struct gt_error why = {0};
        int rc = measure_on(o, drivers[i], a, out, &why);
        if (rc == GT_ECANCELLED || (rc && (!automatic || last))) {
            *err = why;
            return rc;
        }
        if (!rc && (out->device.is_gpu || !automatic || last)) {
            break;
        }
        why_not[n_why++] =
            rc ? arena_strdup(a, why.text)
               : arena_printf(a, "%s offers only %s: no GPU", drivers[i], out->device.name);
    }
    if (!known) {
        return gt_fail(err, GT_EUNSUPPORTED, "bench",
                       "no back end '%.30s' in this build; auto, cuda, opencl and cpu are there",
                       o->device);
    }
    for (size_t i = 0; i < n_why; i++) {
        bench_note(out, why_not[i]);
    }
    if (!out->device.is_gpu) {
        bench_note(out, strcmp(out->device.backend, "cpu") == 0
                            ? "CPU, not a GPU: never used for a GPU's rate"
                            : "CPU behind OpenCL, not a GPU: never used for a GPU's rate");
    }
    return 0;
}

int bench_list(const struct bench_options *o, struct arena *a, struct bench_device **out, size_t *n,
               struct gt_error *err)
{
    static const char *const backends[] = {"cuda", "opencl", "cpu"};
    struct bench_device *list = arena_array(a, 64, sizeof *list);
    if (!list) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *n = 0;
    for (int i = 0; i < 3; i++) {
        struct buf json;
        struct gt_error why = {0};
        int rc = run_child(o, backends[i], "list", LIST_SECONDS, &json, &why);
        if (rc == GT_ECANCELLED) {
            *err = why;
            return rc;
        }
        if (rc) {
            continue; /* a back end without a device is a shorter list, not an error */
        }
        cJSON *root = cJSON_Parse(json.data);
        const cJSON *d;
        cJSON_ArrayForEach(d, cJSON_GetObjectItemCaseSensitive(root, "devices"))
        {
            if (*n < 64) {
                read_device(a, d, &list[(*n)++]);
            }
        }
        cJSON_Delete(root);
        buf_release(&json);
    }
    *out = list;
    return 0;
}
