/* Fetch and import: price sources as a table, one parser each for network and file.
 * pricing/sources/ holds one file per source; pricing/http/ the transfer engine. */
#ifndef GPUTIER_FETCH_H
#define GPUTIER_FETCH_H
#include "gputier/error.h"
#include "gputier/log.h"
#include "gputier/store.h"
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parser is fed bytes as they arrive (already decompressed) and puts rows into a staging. */
struct parser;
struct fetch_run; /* pricing/http/http.h */
struct records_shape;
/* Why rows were left out, and how many. */
#define LEFT_OUT_REASONS 16
struct left_out {
    const char *reason; /* static text; NULL ends the list */
    uint64_t rows;
};
struct parse_context {
    struct staging *staging;
    const char *name;   /* file name or redacted URL, for messages */
    const char *region; /* hint from the caller, "" = none */
    const char *vendor; /* likewise, NULL or "" = none: for files that do not name it */
    int64_t now;
    int64_t as_of;    /* from the document if it says, else now */
    uint64_t rows;    /* rows put so far, for progress */
    uint64_t skipped; /* rows left out on purpose, and those that can not be read */
    struct left_out left_out[LEFT_OUT_REASONS];
    const struct log_sink *log;
    char scope[128]; /* out: the part of the source that the document is, as far as it says */
    bool sold_out;   /* out: that there are no rows is the answer (staging_sells_out) */
    char next[512];  /* out: what the page says of the one that follows, "" = none */
};
/* Whose prices they are decides which of two that disagree is shown (pricing/store/precedence.c).
 */
enum source_kind {
    SOURCE_VENDOR,  /* the vendor's own list */
    SOURCE_CATALOG, /* a third party's collection */
    SOURCE_OWN      /* the user's own list */
};
/* Scope of a table met elsewhere that came in with the user's own lists: this and its name. */
#define SCOPE_TABLE "table: "
struct source_def {
    const char *id;     /* "aws-offer" */
    const char *vendor; /* group name for `fetch aws`, "" = none */
    const char *default_url;
    enum source_kind kind;
    bool needs_key, default_on;
    const char *key_variable; /* environment variable of the key, NULL = GPUTIER_KEY_ID */
    bool per_region;          /* one set of files a region: --region chooses */
    /* Whether a code given without a vendor is a region of this one's, as far as its form or a list
     * tells; NULL = nothing is known of its codes. */
    bool (*has_region)(const char *code);
    /* What part of the list a file holds nobody can tell from it: each replaces the one of its
     * name, not what was fetched. */
    bool files_are_parts;
    uint64_t expected_bytes; /* per region or in all, for the question before a big fetch */
    const char *help;
    /* File recognition for `import auto` (source_recognises, records.c): JSON whose first bytes
     * hold both words of a pair, or a function of the first bytes (decompressed) and the file name.
     */
    const char *known_by[2][2];
    bool (*recognise)(const char *head, size_t len, const char *name);
    /* How it is read (source_open): as the lists of records_shape (pricing/sources/records.h), or
     * by a function. */
    const struct records_shape *records;
    int (*parse_open)(struct parse_context *ctx, struct parser **out, struct gt_error *err);
    int (*parse_feed)(struct parser *p, const char *data, size_t len, struct gt_error *err);
    /* A document ends and another one of the same list follows (pages, a question and its answer).
     * NULL: each file is a list of its own. */
    int (*parse_next)(struct parser *p, struct gt_error *err);
    int (*parse_close)(struct parser *p, struct gt_error *err); /* complete document; frees p */
    void (*parse_abort)(struct parser *p);                      /* frees p */
    /* Plans the requests of a fetch (index -> region index -> offer); see pricing/http/http.h.
     * NULL = one GET of the base URL. */
    int (*fetch)(struct fetch_run *run, struct gt_error *err);
};
const struct source_def *source_at(size_t i); /* NULL past the end */
const struct source_def *source_find(const char *id);
bool source_recognises(const struct source_def *d, const char *head, size_t len, const char *name);
int source_open(const struct source_def *d, struct parse_context *ctx, struct parser **out,
                struct gt_error *err) GT_CHECK;

struct fetch_progress { /* one source + scope; strings borrowed for the call */
    const char *source_id, *scope;
    uint64_t bytes, total; /* total 0 = unknown */
    uint64_t rows;
    bool index; /* a document that leads to prices, no prices of its own */
    enum {
        FETCH_QUEUED,
        FETCH_RUNNING,
        FETCH_DONE,
        FETCH_UNCHANGED,
        FETCH_FAILED,
        FETCH_QUARANTINED
    } state;
    const char *message;
};
struct fetch_options {
    struct store *store;
    const char *const *sources;
    size_t n_sources; /* ids or vendor names; none = default_on */
    const char *const *regions;
    size_t n_regions; /* vendor/code or code */
    bool all_regions; /* every region that a per-region source lists */
    bool accept_large_change, offline;
    /* Limits of one transfer, 0 = the default: whole time (7200 s), time until there is a
     * connection (20 s), time without bytes (60 s), tries (5), bytes after decompression (16 times
     * the expected, at least 256 MiB). */
    int max_time_s, connect_s, stall_s, tries;
    int ip_version; /* 4 or 6: addresses of this kind alone; 0 = both, the first that answers */
    uint64_t max_bytes;
    const char *cache_dir;                                   /* HTTP cache, NULL = none */
    const char *(*url_of)(void *ctx, const char *source_id); /* configured base, NULL = default */
    const char *(*key_of)(void *ctx, const char *source_id); /* key from the environment */
    void *ctx;
    void (*progress)(void *ctx, const struct fetch_progress *p);
    const volatile sig_atomic_t *cancel;
    const struct log_sink *log;
    int64_t now;
};
struct fetch_summary {
    size_t done, unchanged, failed, quarantined;
    uint64_t bytes, rows;
};
/* Bytes that a fetch with these options is expected to take; no request is made. */
int fetch_expected(const struct fetch_options *o, uint64_t *bytes, struct gt_error *err) GT_CHECK;
/* Environment variable that holds the key of a source: "GPUTIER_KEY_LAMBDA", or the vendor's own
 * ("AWS_ACCESS_KEY_ID"); returns buf. */
const char *fetch_key_variable(const char *source_id, char buf[64]);
/* Sources worth watching (spot prices, capacity): the least seconds between two looks, 0 for the
 * others, which change by the day. */
int64_t fetch_watch_interval(const char *source_id);
/* 0 when every source ended well, else the first error; the others are still carried out. */
int fetch_sources(const struct fetch_options *o, struct fetch_summary *out,
                  struct gt_error *err) GT_CHECK;

struct import_options {
    struct store *store;
    const char *kind;            /* source id or "auto" */
    const char *region, *vendor; /* hints, may be NULL */
    bool accept_large_change;
    const volatile sig_atomic_t *cancel;
    const struct log_sink *log;
    int64_t now;
    void (*progress)(void *ctx, uint64_t bytes, uint64_t rows);
    void *ctx;
};
struct import_result {
    const char *source_id;
    uint64_t bytes, skipped;
    struct left_out left_out[LEFT_OUT_REASONS]; /* as far as the source tells why */
    struct publish_result published;
};
/* "12 left out (Windows 9, dedicated 3)"; returns buf. */
const char *left_out_text(const struct left_out *l, uint64_t skipped, char buf[1024]);
/* path "-" = stdin. gzip and zstd are recognised by content. */
int import_file(const struct import_options *o, const char *path, struct import_result *out,
                struct gt_error *err) GT_CHECK;
/* n files that are one list: of a source with parse_next, published together. */
int import_files(const struct import_options *o, const char *const *path, size_t n,
                 struct import_result *out, struct gt_error *err) GT_CHECK;
/* The source that a file's first bytes tell; NULL when none does or it can't be read. */
const struct source_def *import_recognise(const char *path);

#endif
