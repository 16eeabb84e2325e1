/* Shared by the tests of the fetch engine: a store that only keeps the score, a parser that counts
 * lines and hashes what it is fed, servers on loopback, one fetch with its time. The test defines
 * `sources` and its source_at. Run from the repository's root. */
#ifndef HTTP_SCORE_H
#define HTTP_SCORE_H
#include "../../pricing/http/blake3.h"
#include "../../pricing/http/http.h"
#include "unit.h"
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* --- a store that keeps the score --- */
struct store {
    int begun, published, discarded, recorded, touched, open;
    char hash[BLAKE3_TEXT], etag[64], scope[128], why[700], url[256];
    char published_scopes[1024], failed_scopes[1024]; /* each with a blank before */
    uint64_t raw;
    const char *state_etag; /* what store_http_state answers */
    int publish_code;
};
struct staging {
    struct store *s;
    char scope[128], hash[BLAKE3_TEXT], etag[64];
    uint64_t raw;
};

int staging_begin(struct store *s, const struct staging_options *o, struct staging **out,
                  struct gt_error *err)
{
    (void)err;
    struct staging *st = calloc(1, sizeof *st);
    st->s = s;
    snprintf(st->scope, sizeof st->scope, "%s", o->scope);
    snprintf(s->url, sizeof s->url, "%s", o->url);
    s->begun++;
    s->open++;
    *out = st;
    return 0;
}

void staging_set_raw(struct staging *st, const char *hash, uint64_t bytes, const char *etag,
                     const char *modified)
{
    (void)modified;
    snprintf(st->hash, sizeof st->hash, "%s", hash);
    snprintf(st->etag, sizeof st->etag, "%s", etag ? etag : "");
    st->raw = bytes;
}

int staging_publish(struct staging *st, struct publish_result *out, struct gt_error *err)
{
    struct store *s = st->s;
    *out = (struct publish_result){0};
    memcpy(s->hash, st->hash, sizeof s->hash);
    memcpy(s->etag, st->etag, sizeof s->etag);
    memcpy(s->scope, st->scope, sizeof s->scope);
    s->raw = st->raw;
    s->open--;
    free(st);
    if (s->publish_code != 0) {
        return gt_fail(err, s->publish_code, "", "half of the rows are gone");
    }
    s->published++;
    size_t n = strlen(s->published_scopes);
    snprintf(s->published_scopes + n, sizeof s->published_scopes - n, " %s", s->scope);
    return 0;
}

void staging_discard(struct staging *st, const char *why)
{
    st->s->discarded++;
    st->s->open--;
    if (why) {
        st->s->recorded++;
        size_t n = strlen(st->s->failed_scopes);
        snprintf(st->s->failed_scopes + n, sizeof st->s->failed_scopes - n, " %s", st->scope);
        snprintf(st->s->why, sizeof st->s->why, "%s", why);
    }
    free(st);
}

int store_http_state(struct store *s, const char *id, const char *scope, char **etag, char **lm,
                     struct gt_error *err)
{
    (void)id;
    (void)scope;
    (void)err;
    *etag = s->state_etag ? strdup(s->state_etag) : NULL;
    *lm = NULL;
    return 0;
}

int store_last_fetch(struct store *s, const char *source_id, const char *scope, int64_t *when,
                     struct gt_error *err)
{
    (void)s;
    (void)source_id;
    (void)scope;
    (void)err;
    *when = INT64_MIN;
    return 0;
}

int store_touch_source(struct store *s, const char *id, const char *scope, int64_t when,
                       struct gt_error *err)
{
    (void)id;
    (void)scope;
    (void)when;
    (void)err;
    s->touched++;
    return 0;
}

/* --- a parser that counts lines and hashes what it is fed --- */
struct parser {
    struct parse_context *ctx;
    struct blake3 hash;
    uint64_t bytes;
};
static struct {
    int open, closed, aborted;
    char hash[BLAKE3_TEXT];
    uint64_t bytes;
} fed;

__attribute__((unused)) static int parse_open(struct parse_context *ctx, struct parser **out,
                                              struct gt_error *err)
{
    (void)err;
    *out = calloc(1, sizeof **out);
    (*out)->ctx = ctx;
    blake3_init(&(*out)->hash);
    fed.open++;
    return 0;
}

__attribute__((unused)) static int parse_feed(struct parser *p, const char *data, size_t len,
                                              struct gt_error *err)
{
    if (p->bytes == 0 && len > 0 && data[0] == '!') {
        return gt_fail(err, GT_EPARSE, "list:1:1", "found \"!\", expected a row");
    }
    blake3_add(&p->hash, data, len);
    p->bytes += len;
    for (size_t i = 0; i < len; i++) {
        p->ctx->rows += data[i] == '\n';
    }
    return 0;
}

__attribute__((unused)) static int parse_close(struct parser *p, struct gt_error *err)
{
    (void)err;
    (void)blake3_text(&p->hash, fed.hash);
    fed.bytes = p->bytes;
    fed.closed++;
    free(p);
    return 0;
}

__attribute__((unused)) static void parse_abort(struct parser *p)
{
    fed.aborted++;
    free(p);
}

#define PARSE                                                                                      \
    .parse_open = parse_open, .parse_feed = parse_feed, .parse_close = parse_close,                \
    .parse_abort = parse_abort
const struct source_def *source_find(const char *id)
{
    for (size_t i = 0; source_at(i); i++) {
        if (strcmp(source_at(i)->id, id) == 0) {
            return source_at(i);
        }
    }
    return NULL;
}

/* --- servers --- */
static char work[] = "/tmp/http_engine.XXXXXX";
static pid_t server[4];
static size_t n_servers;
static char fake_base[64], fake_log[128];

__attribute__((unused)) static void write_text(const char *name, const char *text, size_t len)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", work, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

__attribute__((unused)) static char *read_text(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *f = fopen(path, "r");
    if (f) {
        size_t n = fread(text, 1, (1 << 20) - 1, f);
        text[n] = '\0';
        fclose(f);
    }
    return text;
}

__attribute__((unused)) static void pause_ms(long ms)
{
    struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&ts, NULL);
}

/* Runs a shell line in the background and waits for the port that it writes. */
__attribute__((unused)) static void start(char *base, const char *scheme, const char *port_file,
                                          const char *line)
{
    char path[256], sh[] = "sh", c[] = "-c", copy[8192];
    char *argv[] = {sh, c, copy, NULL};
    snprintf(path, sizeof path, "%s/%s", work, port_file);
    assert_true(snprintf(copy, sizeof copy, "exec %s", line) < (int)sizeof copy);
    assert_int_equal(posix_spawnp(&server[n_servers++], sh, NULL, NULL, argv, environ), 0);
    for (int i = 0; i < 600; i++) {
        char *text = read_text(path);
        int port = atoi(text);
        free(text);
        if (port > 0) {
            snprintf(base, 64, "%s://127.0.0.1:%d", scheme, port);
            return;
        }
        pause_ms(50);
    }
    fail_msg("%s did not start", line);
}

__attribute__((unused)) static const char *shared_tool(void)
{
    static char tool[512];
    const char *shared = getenv("GPUTIER_SHARED");
    snprintf(tool, sizeof tool, "%s/tools/fake_vendor_server.py", shared ? shared : "../shared");
    return tool;
}

__attribute__((unused)) static int stop_servers(void **state)
{
    (void)state;
    char sh[] = "sh", c[] = "-c", line[64];
    char *argv[] = {sh, c, line, NULL};
    pid_t pid;
    for (size_t i = 0; i < n_servers; i++) {
        kill(server[i], SIGKILL);
        waitpid(server[i], NULL, 0);
    }
    snprintf(line, sizeof line, "rm -rf %s", work);
    if (posix_spawnp(&pid, sh, NULL, NULL, argv, environ) == 0) {
        waitpid(pid, NULL, 0);
    }
    return 0;
}

/* --- one fetch --- */
static char url_one[256], url_two[256];
static volatile sig_atomic_t cancel;

__attribute__((unused)) static const char *url_of(void *ctx, const char *id)
{
    (void)ctx;
    return strcmp(id, "two") == 0 ? url_two : strcmp(id, "files-only") == 0 ? NULL : url_one;
}

__attribute__((unused)) static const char *key_of(void *ctx, const char *id)
{
    (void)id;
    return ctx;
}

static struct fetch_summary sum;
static struct gt_error error;
static double seconds;

__attribute__((unused)) static int fetch_with(struct store *s, struct fetch_options *o,
                                              const char *source, const char *base,
                                              const char *path)
{
    const char *names[] = {source};
    struct timespec a, b;
    if (o->n_sources == 0) {
        o->sources = names;
        o->n_sources = 1;
    }
    o->store = s;
    o->url_of = url_of;
    o->key_of = key_of;
    o->cancel = &cancel;
    o->now = 1700000000;
    o->max_time_s = o->max_time_s ? o->max_time_s : 20;
    snprintf(url_one, sizeof url_one, "%s%s", base, path);
    memset(&fed, 0, sizeof fed);
    memset(&error, 0, sizeof error);
    clock_gettime(CLOCK_MONOTONIC, &a);
    int rc = fetch_sources(o, &sum, &error);
    clock_gettime(CLOCK_MONOTONIC, &b);
    seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    assert_int_equal(s->open, 0);
    assert_int_equal(fed.open, fed.closed + fed.aborted);
    return rc;
}

__attribute__((unused)) static int fetch_file(struct store *s, const char *path)
{
    struct fetch_options o = {0};
    return fetch_with(s, &o, "one", fake_base, path);
}

#endif
