/* The HTTP cache folder: index documents, so that a refresh with nothing new is answered by 304.
 * Never anything that a key opened. One file a document, named by the hash of its address:
 *     gputier/http/2 \n address \n etag \n last-modified \n hash of the body \n body
 * Whatever does not read back exactly so counts as not there. Files untouched for 90 days go. */
#include "engine.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC    "gputier/http/2"
#define ENDING   ".http"
#define KEPT_S   ((time_t)90 * 86400)
#define HEAD_MAX 6144

static const char *hash(const char *data, size_t len, char text[BLAKE3_TEXT])
{
    struct blake3 h;
    blake3_init(&h);
    blake3_add(&h, data, len);
    return blake3_text(&h, text);
}

static const char *file_of(const struct fetch_run *run, const char *url)
{
    char text[BLAKE3_TEXT];
    const char *dir = run->engine->o->cache_dir;
    const char *digits = hash(url, strlen(url), text) + strlen(BLAKE3_NAME);
    return dir ? arena_printf(run->arena, "%s/%s" ENDING, dir, digits) : NULL;
}

/* The whole file, in the arena and ended by NUL; NULL when it is none of ours. */
static char *slurp(struct fetch_run *run, const char *path, size_t *len)
{
    struct stat st;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return NULL;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0 &&
        (uint64_t)st.st_size <= DOCUMENT_BYTES + HEAD_MAX) {
        *len = (size_t)st.st_size;
        text = arena_alloc(run->arena, *len + 1);
    }
    size_t got = 0;
    ssize_t n = 1;
    while (text && got < *len && (n = read(fd, text + got, *len - got)) > 0) {
        got += (size_t)n;
    }
    if (text && got == *len) {
        text[got] = '\0';
        (void)futimens(fd, NULL); /* in use */
    } else {
        text = NULL;
    }
    close(fd);
    return text;
}

/* Cuts the next line off; NULL when there is none. */
static char *line_of(char **at, const char *end)
{
    char *line = *at, *nl = memchr(line, '\n', (size_t)(end - line));
    if (!nl) {
        return NULL;
    }
    *nl = '\0';
    *at = nl + 1;
    return line;
}

struct cached cache_get(struct fetch_run *run, const char *url)
{
    struct cached none = {0}, c = {0};
    char text[BLAKE3_TEXT], *line[5];
    size_t len = 0;
    const char *path = file_of(run, url);
    char *at = path ? slurp(run, path, &len) : NULL;
    if (!at) {
        return none;
    }
    const char *end = at + len;
    for (size_t i = 0; i < 5; i++) {
        line[i] = line_of(&at, end);
        if (!line[i]) {
            return none;
        }
    }
    c.body = at;
    c.len = (size_t)(end - at);
    if (strcmp(line[0], MAGIC) != 0 || strcmp(line[1], url) != 0 ||
        strcmp(line[4], hash(c.body, c.len, text)) != 0 || (!line[2][0] && !line[3][0])) {
        return none;
    }
    c.condition = line[2][0] ? arena_printf(run->arena, "If-None-Match: %s", line[2])
                             : arena_printf(run->arena, "If-Modified-Since: %s", line[3]);
    return c.condition ? c : none;
}

static void clean(const char *dir)
{
    DIR *d = opendir(dir);
    time_t before = time(NULL) - KEPT_S;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat st;
        size_t n = strlen(e->d_name), k = strlen(ENDING);
        bool ours = n >= 64 + k && strspn(e->d_name, "0123456789abcdef") >= 64 &&
                    memcmp(e->d_name + 64, ENDING, k) == 0;
        if (ours && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_mtime < before) {
            (void)unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        closedir(d);
    }
}

static bool write_all(int fd, const char *p, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        p += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Each missing folder, for the user alone. */
static bool make_folders(const char *dir)
{
    char path[1024];
    if ((size_t)snprintf(path, sizeof path, "%s", dir) >= sizeof path) {
        return false;
    }
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(path, 0700); /* there already, or the last one fails */
        *p = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* A cache that cannot be written is no cache; the fetch goes on. */
void cache_put(const struct transfer *t, const char *body, size_t len)
{
    struct fetch_run *run = t->run;
    char text[BLAKE3_TEXT], head[HEAD_MAX];
    const char *path = file_of(run, t->first_url);
    int n = snprintf(head, sizeof head, MAGIC "\n%s\n%s\n%s\n%s\n", t->first_url, t->body.etag,
                     t->body.last_modified, hash(body, len, text));
    if (!path || (!t->body.etag[0] && !t->body.last_modified[0]) || n < 0 ||
        (size_t)n >= sizeof head || len > DOCUMENT_BYTES ||
        !make_folders(run->engine->o->cache_dir)) {
        return;
    }
    const char *tmp = arena_printf(run->arena, "%s.%ld", path, (long)getpid());
    int fd = tmp ? open(tmp, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0) {
        return;
    }
    bool ok = write_all(fd, head, (size_t)n) && write_all(fd, body, len);
    ok = close(fd) == 0 && ok;
    if (!ok || rename(tmp, path) != 0) {
        (void)unlink(tmp);
    }
    clean(run->engine->o->cache_dir);
}
