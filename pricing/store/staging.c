/* Life of a staging: a database file of its own beside the main one, so that sources load in
 * parallel and a kill loses only this file. The file is held with flock; what nobody holds is left
 * over from a dead process and is removed at the next open. */
#include "store_impl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MARK ".staging-"

static int64_t monotonic_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void staging_clean(const char *db_path)
{
    const char *slash = strrchr(db_path, '/');
    const char *base = slash != NULL ? slash + 1 : db_path;
    size_t base_len = strlen(base);
    char *folder = slash != NULL ? strndup(db_path, (size_t)(slash - db_path) + 1) : strdup("./");
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, base, base_len) != 0 ||
            strncmp(e->d_name + base_len, MARK, strlen(MARK)) != 0) {
            continue;
        }
        int fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            (void)unlinkat(dirfd(dir), e->d_name, 0);
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    free(folder);
}

/* Creates and locks a fresh file; between the two a cleaner may remove it, hence the second look.
 */
static int make_file(struct staging *st, struct gt_error *err)
{
    struct store *s = st->store;
    for (int attempt = 0; attempt < 1000; attempt++) {
        store_lock(s);
        unsigned seq = s->staging_seq++;
        store_unlock(s);
        char *file = NULL;
        if (asprintf(&file, "%s" MARK "%ld-%u", s->path, (long)getpid(), seq) < 0) {
            return gt_fail(err, GT_ENOMEM, s->path, "out of memory");
        }
        int fd = open(file, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST) {
            int rc = gt_fail(err, GT_EIO, file, "cannot create: %s", strerror(errno));
            free(file);
            return rc;
        }
        struct stat info;
        if (fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &info) == 0 && info.st_nlink > 0) {
            st->file = file;
            st->lock_fd = fd;
            return 0;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
        free(file);
    }
    return gt_fail(err, GT_EIO, s->path, "cannot create a staging file");
}

static char *copy(const char *s)
{
    return strdup(s != NULL ? s : "");
}

static int open_db(struct staging *st, struct gt_error *err)
{
    int rc = make_file(st, err);
    if (rc == 0) {
        rc = db_open(&st->db, st->file, SQLITE_OPEN_READWRITE, err);
    }
    if (rc == 0) { /* a lost staging is no loss: no journal, no sync */
        rc = db_exec(&st->db,
                     "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                     "PRAGMA cache_size = -16384",
                     err);
    }
    if (rc == 0) {
        rc = db_exec(&st->db, "BEGIN", err);
    }
    return rc == 0 ? db_exec(&st->db, schema_staging(), err) : rc;
}

int staging_begin(struct store *s, const struct staging_options *o, struct staging **out,
                  struct gt_error *err)
{
    *out = NULL;
    int rc = store_writable(s, err);
    if (rc != 0) {
        return rc;
    }
    if (o->source_id == NULL || o->source_id[0] == '\0') {
        return gt_fail(err, GT_EINVALID, "", "a staging needs a source id");
    }
    struct staging *st = calloc(1, sizeof(*st));
    if (st == NULL) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    st->store = s;
    st->lock_fd = -1;
    st->source = copy(o->source_id);
    st->scope = copy(o->scope);
    st->region = copy(o->region);
    st->url = copy(o->url);
    st->hash = copy(o->hash);
    st->etag = copy(NULL);
    st->last_modified = copy(NULL);
    st->origin = o->origin;
    st->fetched_at = o->fetched_at;
    st->accept_large_change = o->accept_large_change;
    st->started_ns = monotonic_ns();
    if (st->source == NULL || st->scope == NULL || st->region == NULL || st->url == NULL ||
        st->hash == NULL || st->etag == NULL || st->last_modified == NULL ||
        keymap_init(&st->feeds) != 0 || keymap_init(&st->places) != 0 ||
        keymap_init(&st->types) != 0) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (rc == 0) {
        rc = open_db(st, err);
    }
    if (rc == 0) {
        rc = staging_feed(st, st->source, st->scope, err);
    }
    if (rc != 0) {
        staging_release(st);
        return rc;
    }
    *out = st;
    return 0;
}

int staging_feed(struct staging *st, const char *source, const char *scope, struct gt_error *err)
{
    const char *key[] = {source, scope};
    bool fresh = false;
    int rc = keymap_add(&st->feeds, key, 2, &st->feed, &fresh);
    if (rc != 0) {
        return gt_fail(err, rc, "", "source name \"%.40s\": too long or out of memory", source);
    }
    return !fresh ? 0
                  : db_execf(&st->db, err, "INSERT INTO feed VALUES(%u, %Q, %Q)",
                             (unsigned)st->feed, source, scope);
}

static void replace(char **old, const char *s)
{
    char *fresh = s != NULL ? strdup(s) : NULL;
    if (fresh != NULL) {
        free(*old);
        *old = fresh;
    }
}

int staging_set_scope(struct staging *st, const char *scope, struct gt_error *err)
{
    if (strcmp(st->scope, scope) == 0) {
        return 0;
    }
    char *fresh = strdup(scope);
    int rc = fresh ? db_execf(&st->db, err, "UPDATE feed SET scope = %Q WHERE id = %u", scope,
                              (unsigned)st->feed)
                   : gt_fail(err, GT_ENOMEM, "", "out of memory");
    if (rc == 0) {
        free(st->scope);
        st->scope = fresh;
        fresh = NULL;
    }
    free(fresh);
    return rc;
}

void staging_set_raw(struct staging *st, const char *hash, uint64_t bytes, const char *etag,
                     const char *last_modified)
{
    replace(&st->hash, hash);
    replace(&st->etag, etag);
    replace(&st->last_modified, last_modified);
    st->raw_bytes = bytes;
}

void staging_discard(struct staging *st, const char *why)
{
    if (st == NULL) {
        return;
    }
    if (why != NULL) {
        store_lock(st->store);
        if (run_record(st, "failed", why, NULL) != 0) {
            db_rollback(&st->store->db); /* the record is a courtesy: nothing else to do */
        }
        store_unlock(st->store);
    }
    staging_release(st);
}

void staging_release(struct staging *st)
{
    if (st == NULL) {
        return;
    }
    for (size_t i = 0; i < ST_COUNT; i++) {
        (void)sqlite3_finalize(st->stmt[i]);
    }
    db_close(&st->db);
    if (st->file != NULL) {
        (void)unlink(st->file);
    }
    if (st->lock_fd >= 0) {
        (void)close(st->lock_fd);
    }
    keymap_release(&st->feeds);
    keymap_release(&st->places);
    keymap_release(&st->types);
    free(st->type_facts);
    free(st->file);
    free(st->source);
    free(st->scope);
    free(st->region);
    free(st->url);
    free(st->hash);
    free(st->etag);
    free(st->last_modified);
    free(st);
}
