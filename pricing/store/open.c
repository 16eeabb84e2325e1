/* Opening and closing the database: folder and file modes, pragmas, version, snapshot. */
#include "gputier/units.h"
#include "store_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS  10000
#define RETRY_MS 5

void store_lock(struct store *s)
{
    (void)pthread_mutex_lock(&s->lock);
}

void store_unlock(struct store *s)
{
    (void)pthread_mutex_unlock(&s->lock);
}

int store_writable(const struct store *s, struct gt_error *err)
{
    if (s->read_only) {
        return gt_fail(err, GT_EIO, s->path, "the database is open read-only");
    }
    return 0;
}

int store_version(struct store *s)
{
    int64_t v = 0;
    store_lock(s);
    if (db_int(&s->db, "PRAGMA user_version", &v, NULL) != 0) {
        v = 0;
    }
    store_unlock(s);
    return (int)v;
}

/* Creates the missing folders of path, each for the user alone. */
static int make_folders(char *path, struct gt_error *err)
{
    for (char *p = strchr(path + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        int rc = mkdir(path, 0700);
        int why = errno;
        if (rc != 0 && why != EEXIST) {
            int out = gt_fail(err, GT_EIO, path, "cannot create the folder: %s", strerror(why));
            *p = '/';
            return out;
        }
        *p = '/';
    }
    return 0;
}

static int make_file(char *path, struct gt_error *err)
{
    struct stat there;
    if (stat(path, &there) == 0) { /* as root SQLite would write into a device's node */
        return S_ISREG(there.st_mode)
                   ? 0
                   : gt_fail(err, GT_EIO, path, "the database must be a regular file");
    }
    int rc = make_folders(path, err);
    if (rc != 0) {
        return rc;
    }
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST) {
        return gt_fail(err, GT_EIO, path, "cannot create the database: %s", strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return 0;
}

/* A WAL database in a folder that takes no new files opens only as immutable; that is right while
 * no log waits beside it. */
static int open_immutable(struct store *s, struct gt_error *err)
{
    char *wal = sqlite3_mprintf("%s-wal", s->path);
    struct stat info;
    bool pending = wal != NULL && stat(wal, &info) == 0 && info.st_size > 0;
    sqlite3_free(wal);
    if (pending) {
        return gt_fail(err, GT_EIO, s->path,
                       "the folder is read-only and the database has an unfinished log");
    }
    struct buf uri;
    buf_init(&uri, 65536);
    (void)buf_adds(&uri, "file:");
    for (const char *p = s->path; *p != '\0'; p++) {
        if (*p == '%' || *p == '?' || *p == '#') {
            (void)buf_addf(&uri, "%%%02X", (unsigned)*p);
        } else {
            (void)buf_addc(&uri, *p);
        }
    }
    if (buf_adds(&uri, "?immutable=1") != 0) {
        buf_release(&uri);
        return gt_fail(err, GT_ENOMEM, s->path, "out of memory");
    }
    db_close(&s->db);
    s->read_only = true;
    int rc = db_open(&s->db, uri.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    s->db.path = s->path;
    buf_release(&uri);
    return rc;
}

static int open_connection(struct store *s, struct gt_error *err)
{
    int flags = s->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = db_open(&s->db, s->path, flags, err);
    if (rc != 0) {
        return rc;
    }
    (void)sqlite3_busy_timeout(s->db.h, BUSY_MS);
    int64_t v = 0;
    rc = db_int(&s->db, "SELECT count(*) FROM sqlite_schema", &v, err);
    int why = sqlite3_errcode(s->db.h) & 0xff;
    if (rc != 0 && (why == SQLITE_CANTOPEN || why == SQLITE_READONLY)) {
        return open_immutable(s, err);
    }
    if (rc == 0 && sqlite3_db_readonly(s->db.h, "main") == 1) {
        s->read_only = true;
    }
    return rc;
}

/* The change to WAL needs the file for itself and does not wait for it, so this does. */
static int use_wal(struct store *s, struct gt_error *err)
{
    for (int waited = 0;; waited += RETRY_MS) {
        sqlite3_stmt *st = NULL;
        bool row = false;
        struct gt_error mine = {0};
        int rc = db_prepare(&s->db, "PRAGMA journal_mode = WAL", &st, &mine);
        if (rc == 0) {
            rc = db_step(&s->db, st, &row, &mine);
        }
        bool busy = rc != 0 && (sqlite3_errcode(s->db.h) & 0xff) == SQLITE_BUSY;
        (void)sqlite3_finalize(st);
        if (rc == 0 || !busy || waited >= BUSY_MS) {
            return rc == 0 ? 0 : gt_fail(err, rc, mine.where, "%s", mine.text);
        }
        (void)sqlite3_sleep(RETRY_MS);
    }
}

static int prepare_writable(struct store *s, struct gt_error *err)
{
    int rc = use_wal(s, err);
    if (rc == 0) {
        rc = db_exec(&s->db,
                     "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                     "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768",
                     err);
    }
    int version = 0;
    if (rc == 0) {
        rc = schema_user_version(&s->db, &version, err);
    }
    if (rc == 0 && version < SCHEMA_VERSION) {
        rc = schema_migrate(&s->db, SCHEMA_VERSION, err);
    }
    if (rc == 0) {
        staging_clean(s->path);
        rc = snapshot_refresh(s, err);
    }
    return rc;
}

static int open_at(struct store *s, struct gt_error *err)
{
    if (s->read_only && access(s->path, F_OK) != 0) {
        return gt_fail(err, GT_ENOTFOUND, s->path, "there is no database here yet");
    }
    int rc = s->read_only ? 0 : make_file(s->path, err);
    if (rc == 0) {
        rc = open_connection(s, err);
    }
    int version = 0;
    if (rc == 0) {
        rc = schema_user_version(&s->db, &version, err);
    }
    if (rc != 0) {
        return rc;
    }
    if (!s->read_only) {
        return prepare_writable(s, err);
    }
    if (version < SCHEMA_VERSION) {
        return gt_fail(err, GT_EDB, s->path,
                       "the database has version %d and cannot be brought to %d read-only", version,
                       SCHEMA_VERSION);
    }
    return 0;
}

int store_open(const struct store_options *o, struct store **out, struct gt_error *err)
{
    *out = NULL;
    struct store *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    s->path = strdup(o->path);
    s->data_dir = o->data_dir != NULL ? strdup(o->data_dir) : NULL;
    s->read_only = o->read_only;
    s->now = o->now;
    pthread_mutexattr_t again; /* a row callback may call the store that calls it */
    (void)pthread_mutexattr_init(&again);
    (void)pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&s->lock, &again);
    (void)pthread_mutexattr_destroy(&again);
    int rc = s->path == NULL || (o->data_dir != NULL && s->data_dir == NULL)
                 ? gt_fail(err, GT_ENOMEM, "", "out of memory")
                 : open_at(s, err);
    if (rc != 0) {
        store_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

void store_close(struct store *s)
{
    if (s == NULL) {
        return;
    }
    db_close(&s->db);
    (void)pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s->data_dir);
    free(s);
}
