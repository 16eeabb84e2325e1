/* ClickHouse over HTTP: the query by POST, the answer whole before its first byte is sent
 * (wait_end_of_query), so that an error is never hidden behind rows. Ctrl-C and a time that is up
 * end the query in the server too. */
#include "../http/post.h"
#include "../http/url.h"
#include "result.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define URL_ROOM 6000
/* Header lines with the progress come for two hours without passing libcurl's 300 KB of them. */
#define PROGRESS_MS 5000
#define KILL_MS     3000
#define LINE_MOST   300

struct clickhouse {
    struct sql_running *g;
    const char *header[3];
    char user[LINE_MOST], key[LINE_MOST], id[64];
    int64_t kill_until_ms;
};

/* The number behind "name":, with or without quotes, in a JSON object of one line. */
static bool number_of(const char *json, const char *name, uint64_t *out)
{
    char key[40];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *p = strstr(json, key);
    if (!p) {
        return false;
    }
    p += strlen(key);
    p += *p == '"';
    return digits_u64(p, strspn(p, "0123456789"), out);
}

static void on_line(void *ctx, const char *line)
{
    static const char name[] = "X-ClickHouse-Progress:";
    const struct clickhouse *c = ctx;
    struct inventory_progress *p = &c->g->progress;
    uint64_t total = 0;
    if (strncasecmp(line, name, sizeof name - 1) != 0 || !number_of(line, "read_rows", &p->rows) ||
        !number_of(line, "read_bytes", &p->bytes)) {
        return;
    }
    if (!number_of(line, "total_rows_to_read", &total)) {
        number_of(line, "total_rows", &total); /* 18.16 */
    }
    p->total_bytes = p->rows && total > p->rows
                         ? (uint64_t)((double)p->bytes / (double)p->rows * (double)total)
                         : 0;
}

static int on_look(void *ctx, struct gt_error *err)
{
    const struct clickhouse *c = ctx;
    return running_look(c->g, err);
}

static int on_data(void *ctx, const char *data, size_t len, struct gt_error *err)
{
    const struct clickhouse *c = ctx;
    return sql_result_feed(&c->g->result, data, len, err);
}

static int kill_look(void *ctx, struct gt_error *err)
{
    const struct clickhouse *c = ctx;
    return running_now_ms() < c->kill_until_ms ? 0 : gt_fail(err, GT_ENET, "", "late");
}

/* The address with what this request asks besides the query. */
static void address(const struct clickhouse *c, const char *more, char out[URL_ROOM])
{
    const char *where = c->g->o->where;
    snprintf(out, URL_ROOM, "%s%c%s", where, strchr(where, '?') ? '&' : '?', more);
}

/* An error or an interrupt is on its way to the user already: whatever comes of it. */
static void kill_query(struct clickhouse *c)
{
    char url[URL_ROOM], text[120];
    struct http_said said;
    struct gt_error ignored = {0};
    address(c, "default_format=TabSeparated", url);
    snprintf(text, sizeof text, "KILL QUERY WHERE query_id = '%s'", c->id);
    c->kill_until_ms = running_now_ms() + KILL_MS;
    const struct http_post q = {.url = url,
                                .body = text,
                                .len = strlen(text),
                                .header = c->header,
                                .ctx = c,
                                .look = kill_look};
    (void)!http_post(&q, &said, &ignored);
}

/* One line of the head with what the environment holds. */
static int head_line(char out[LINE_MOST], const char *name, const char *value, const char *variable,
                     struct gt_error *err)
{
    for (const char *p = value; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f) {
            return gt_fail(err, GT_EUSAGE, "", "%s holds a control character", variable);
        }
    }
    return snprintf(out, LINE_MOST, "%s: %s", name, value) < LINE_MOST
               ? 0
               : gt_fail(err, GT_EUSAGE, "", "%s is too long", variable);
}

static int who(struct clickhouse *c, struct gt_error *err)
{
    const char *user = c->g->o->user, *password = c->g->o->password;
    size_t n = 0;
    int rc = 0;
    if (user && *user) {
        rc = head_line(c->user, "X-ClickHouse-User", user, "CLICKHOUSE_USER", err);
        c->header[n++] = c->user;
    }
    if (rc == 0 && password && *password) {
        rc = head_line(c->key, "X-ClickHouse-Key", password, "CLICKHOUSE_PASSWORD", err);
        c->header[n++] = c->key;
    }
    return rc;
}

static int check_where(struct sql_running *g, struct gt_error *err)
{
    const char *where = g->o->where;
    char shown[120];
    int rc = url_check(where, err);
    if (rc || strchr(where, '#') || strstr(where, "?user=") || strstr(where, "&user=") ||
        strcasestr(where, "password=")) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--run: expected an address as http://HOST:8123/?database=NAME; user and "
                       "password belong in CLICKHOUSE_USER and CLICKHOUSE_PASSWORD");
    }
    snprintf(g->name, sizeof g->name, "clickhouse at %s", url_redact(where, shown, sizeof shown));
    return 0;
}

/* A reader who may not change settings, or a server that lacks one: asked again without them. */
static bool wants_no_settings(const struct http_said *said)
{
    return strncmp(said->text, "Code: 164", 9) == 0 || strncmp(said->text, "Code: 115", 9) == 0 ||
           strncmp(said->text, "Code: 452", 9) == 0;
}

static int ask(struct clickhouse *c, const char *text, size_t len, struct gt_error *err)
{
    const struct inventory_run *o = c->g->o;
    char url[URL_ROOM], more[300];
    struct http_said said = {0};
    struct gt_error why = {0};
    struct http_post q = {.url = url,
                          .body = text,
                          .len = len,
                          .header = c->header,
                          .secret = o->password,
                          .ctx = c,
                          .sink = on_data,
                          .line = on_line,
                          .look = on_look};
    int rc = 0;
    for (int settings = 1; settings >= 0; settings--) {
        int n = snprintf(more, sizeof more, "query_id=%s&wait_end_of_query=1", c->id);
        if (settings) {
            snprintf(more + n, sizeof more - (size_t)n,
                     "&send_progress_in_http_headers=1&http_headers_progress_interval_ms=%d"
                     "&max_execution_time=%" PRId64,
                     PROGRESS_MS, (c->g->deadline_ms - running_now_ms()) / 1000 + 1);
        }
        address(c, more, url);
        rc = http_post(&q, &said, &why);
        if (rc != GT_EHTTP || !wants_no_settings(&said)) {
            break;
        }
    }
    if (rc && rc != GT_EHTTP) { /* it may be at work still */
        kill_query(c);
    }
    if (rc) {
        return gt_fail(err, rc, why.where, "%s", why.text);
    }
    return 0;
}

int run_clickhouse(struct sql_running *g, struct gt_error *err)
{
    struct clickhouse c = {.g = g};
    struct buf text;
    int rc = check_where(g, err);
    rc = rc ? rc : who(&c, err);
    if (rc) {
        return rc;
    }
    /* no other query has it: of this process, at this time */
    snprintf(c.id, sizeof c.id, "gputier-%ld-%" PRId64, (long)getpid(), running_now_ms());
    buf_init(&text, 1u << 20);
    buf_adds(&text, g->o->sql);
    buf_adds(&text, "FORMAT CSVWithNames\n");
    rc = text.failed ? gt_fail(err, GT_ENOMEM, "", "out of memory")
                     : ask(&c, text.data, text.len, err);
    buf_release(&text);
    return rc;
}
