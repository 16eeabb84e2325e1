/* PostgreSQL by libpq: COPY (query) TO STDOUT, row by row, so that memory is of one row and the
 * answer is CSV like that of other engines. Who asks is libpq's own matter (PGUSER, PGPASSWORD,
 * ~/.pgpass). libpq's header is needed at build, the library when it is first used: linked, it
 * would cost every start more than the rest of it. */
#include "result.h"
#ifdef GT_LIBPQ
#include <dlfcn.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECT_MS 20000
#define LOOK_MS    100
#define CANCEL_S   3

struct pq_api {
    __typeof__(PQconninfoParse) *conninfoParse;
    __typeof__(PQconninfoFree) *conninfoFree;
    __typeof__(PQconnectStartParams) *connectStartParams;
    __typeof__(PQconnectPoll) *connectPoll;
    __typeof__(PQstatus) *status;
    __typeof__(PQsocket) *socket;
    __typeof__(PQerrorMessage) *errorMessage;
    __typeof__(PQsetNoticeProcessor) *setNoticeProcessor;
    __typeof__(PQsendQuery) *sendQuery;
    __typeof__(PQconsumeInput) *consumeInput;
    __typeof__(PQisBusy) *isBusy;
    __typeof__(PQgetResult) *getResult;
    __typeof__(PQresultStatus) *resultStatus;
    __typeof__(PQclear) *clear;
    __typeof__(PQgetCopyData) *getCopyData;
    __typeof__(PQfreemem) *freemem;
    __typeof__(PQgetCancel) *getCancel;
    __typeof__(PQcancel) *cancel;
    __typeof__(PQfreeCancel) *freeCancel;
    __typeof__(PQfinish) *finish;
};
#define SYMBOL(field)                                                                              \
    {                                                                                              \
        "PQ" #field, offsetof(struct pq_api, field)                                                \
    }
static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    SYMBOL(conninfoParse), SYMBOL(conninfoFree), SYMBOL(connectStartParams),
    SYMBOL(connectPoll),   SYMBOL(status),       SYMBOL(socket),
    SYMBOL(errorMessage),  SYMBOL(sendQuery),    SYMBOL(setNoticeProcessor),
    SYMBOL(consumeInput),  SYMBOL(isBusy),       SYMBOL(getResult),
    SYMBOL(resultStatus),  SYMBOL(clear),        SYMBOL(getCopyData),
    SYMBOL(freemem),       SYMBOL(getCancel),    SYMBOL(cancel),
    SYMBOL(freeCancel),    SYMBOL(finish),
};

struct postgresql {
    struct sql_running *g;
    struct pq_api pq;
    PGconn *conn;
};

/* The library stays loaded until the process ends. */
static int load(struct pq_api *pq, struct gt_error *err)
{
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return gt_fail(err, GT_EUNSUPPORTED, "libpq",
                       "libpq.so.5 is not installed (Debian: apt install libpq5)");
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = dlsym(handle, symbols[i].name);
        if (!p) {
            return gt_fail(err, GT_EUNSUPPORTED, "libpq", "the installed libpq lacks %s",
                           symbols[i].name);
        }
        memcpy((char *)pq + symbols[i].offset, &p, sizeof p);
    }
    return 0;
}

/* What libpq or the server says, on one line and without its line end. */
static int told(const struct postgresql *s, int code, struct gt_error *err)
{
    char text[360];
    snprintf(text, sizeof text, "%s", s->pq.errorMessage(s->conn));
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ')) {
        text[--n] = '\0';
    }
    for (char *p = text; *p; p++) {
        *p = (char)(*p == '\n' ? ' ' : *p);
    }
    return gt_fail(err, code, s->g->name, "%s", n ? text : "libpq gives no reason");
}

/* Looks at the connection string; a password in it would stand in the list of processes. */
static int check_where(struct postgresql *s, struct gt_error *err)
{
    char *why = NULL;
    const char *host = "", *database = "";
    PQconninfoOption *all = s->pq.conninfoParse(s->g->o->where, &why);
    bool secret = false;
    for (const PQconninfoOption *p = all; p && p->keyword; p++) {
        secret = secret || (p->val && strstr(p->keyword, "password"));
        host = p->val && strcmp(p->keyword, "host") == 0 ? p->val : host;
        database = p->val && strcmp(p->keyword, "dbname") == 0 ? p->val : database;
    }
    if (!all || secret) {
        int rc = gt_fail(err, GT_EUSAGE, "",
                         "--run: expected a connection string as postgresql://HOST/DATABASE; the "
                         "password belongs in PGPASSWORD or ~/.pgpass");
        s->pq.conninfoFree(all);
        s->pq.freemem(why);
        return rc;
    }
    snprintf(s->g->name, sizeof s->g->name, "postgresql at %.60s/%.60s", host, database);
    s->pq.conninfoFree(all);
    return 0;
}

static void silent(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

/* Waits for the connection; looks at Ctrl-C and the time. */
static int await(struct postgresql *s, short events, struct gt_error *err)
{
    struct pollfd fd = {.fd = s->pq.socket(s->conn), .events = events};
    if (poll(&fd, 1, LOOK_MS) < 0 && errno != EINTR) {
        return gt_fail(err, GT_ENET, s->g->name, "poll: %s", strerror(errno));
    }
    return running_look(s->g, err);
}

static int open_connection(struct postgresql *s, struct gt_error *err)
{
    const char *const name[] = {"dbname", "client_encoding", "fallback_application_name", NULL};
    const char *const value[] = {s->g->o->where, "UTF8", "gputier", NULL};
    int64_t until = running_now_ms() + CONNECT_MS;
    s->conn = s->pq.connectStartParams(name, value, 1);
    if (!s->conn) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (s->pq.status(s->conn) == CONNECTION_BAD) {
        return told(s, GT_ENET, err);
    }
    s->pq.setNoticeProcessor(s->conn, silent, NULL);
    for (PostgresPollingStatusType state = PGRES_POLLING_WRITING; state != PGRES_POLLING_OK;) {
        short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        struct pollfd fd = {.fd = s->pq.socket(s->conn), .events = events};
        int rc = await(s, events, err);
        if (rc) {
            return rc;
        }
        if (running_now_ms() > until) {
            return gt_fail(err, GT_ENET, s->g->name, "no connection within %d s",
                           CONNECT_MS / 1000);
        }
        if (poll(&fd, 1, 0) > 0) {
            state = s->pq.connectPoll(s->conn);
        }
        if (state == PGRES_POLLING_FAILED) {
            return told(s, GT_ENET, err);
        }
    }
    return 0;
}

struct cancelling {
    const struct pq_api *pq;
    PGcancel *cancel;
};

static void *cancel_main(void *ctx)
{
    const struct cancelling *c = ctx;
    char ignored[256];
    c->pq->cancel(c->cancel, ignored, sizeof ignored);
    return NULL;
}

/* Asks the server to end the query. libpq waits for its answer without a limit, so that this has a
 * thread of its own, which is left alone when it takes too long: what it uses stays then. */
static void cancel_query(struct postgresql *s)
{
    struct cancelling *c = malloc(sizeof *c);
    struct pq_api *pq = malloc(sizeof *pq);
    PGcancel *cancel = s->pq.getCancel(s->conn);
    pthread_t thread;
    struct timespec until;
    if (c && pq && cancel) {
        *pq = s->pq;
        *c = (struct cancelling){.pq = pq, .cancel = cancel};
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += CANCEL_S;
        if (pthread_create(&thread, NULL, cancel_main, c) == 0 &&
            pthread_timedjoin_np(thread, NULL, &until) != 0) {
            pthread_detach(thread);
            return;
        }
    }
    if (cancel) {
        s->pq.freeCancel(cancel);
    }
    free(pq);
    free(c);
}

/* Rows that have come; *done: no more will. */
static int take(struct postgresql *s, bool *done, struct gt_error *err)
{
    char *row = NULL;
    int n, rc = 0;
    while (rc == 0 && (n = s->pq.getCopyData(s->conn, &row, 1)) > 0) {
        s->g->progress.bytes += (uint64_t)n;
        rc = sql_result_feed(&s->g->result, row, (size_t)n, err);
        s->pq.freemem(row);
        if (rc == 0 && s->g->o->cancel && *s->g->o->cancel) {
            break;
        }
    }
    *done = rc == 0 && n == -1;
    return rc || n != -2 ? rc : told(s, GT_EIO, err);
}

/* The next result; NULL after the last. */
static int result(struct postgresql *s, PGresult **out, struct gt_error *err)
{
    while (s->pq.isBusy(s->conn)) {
        int rc = await(s, POLLIN, err);
        if (rc) {
            return rc;
        }
        if (!s->pq.consumeInput(s->conn)) {
            return told(s, GT_ENET, err);
        }
    }
    *out = s->pq.getResult(s->conn);
    return 0;
}

/* The result that has to come, with its status. */
static int expect(struct postgresql *s, ExecStatusType status, struct gt_error *err)
{
    PGresult *r = NULL;
    int rc = result(s, &r, err);
    if (rc == 0 && (!r || s->pq.resultStatus(r) != status)) {
        rc = told(s, GT_EIO, err);
    }
    s->pq.clear(r);
    return rc;
}

static int copy_out(struct postgresql *s, const char *text, struct gt_error *err)
{
    if (!s->pq.sendQuery(s->conn, text)) {
        return told(s, GT_ENET, err);
    }
    bool done = false;
    int rc = expect(s, PGRES_COPY_OUT, err);
    while (rc == 0 && !done) {
        rc = take(s, &done, err);
        if (rc == 0 && !done) {
            rc = await(s, POLLIN, err);
            if (rc == 0 && !s->pq.consumeInput(s->conn)) {
                rc = told(s, GT_ENET, err);
            }
        }
    }
    rc = rc ? rc : expect(s, PGRES_COMMAND_OK, err);
    if (rc && rc != GT_EIO) { /* the server knows of its own errors */
        cancel_query(s);
    }
    return rc;
}

int run_postgresql(struct sql_running *g, struct gt_error *err)
{
    struct postgresql s = {.g = g};
    struct buf text;
    int rc = load(&s.pq, err);
    rc = rc ? rc : check_where(&s, err);
    if (rc) {
        return rc;
    }
    buf_init(&text, 1u << 20);
    buf_addf(&text, "COPY (%s) TO STDOUT WITH (FORMAT csv, HEADER true)", g->o->sql);
    rc = text.failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : open_connection(&s, err);
    rc = rc ? rc : copy_out(&s, text.data, err);
    if (s.conn) {
        s.pq.finish(s.conn);
    }
    buf_release(&text);
    return rc;
}

bool inventory_sql_libpq(void)
{
    return true;
}

#else

int run_postgresql(struct sql_running *g, struct gt_error *err)
{
    (void)g;
    return gt_fail(err, GT_EUSAGE, "",
                   "--run: this gputier was built without libpq (Debian: libpq-dev); psql --csv "
                   "carries out the query that `inventory sql` prints");
}

bool inventory_sql_libpq(void)
{
    return false;
}

#endif
