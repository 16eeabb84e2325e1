/* Lists of entries out of JSON documents: the entries that stand in the named containers are
 * handed over one by one as small trees, whatever the size of the document; numbers stay the
 * text that the vendor sent. Documents may follow one another (the pages of a list, or two lists
 * that belong together). What stands elsewhere is passed over.
 *
 * Refused: an entry of more than 8192 values or 512 KiB of text, and all that json_read.h refuses.
 */
#ifndef GPUTIER_RECORDS_H
#define GPUTIER_RECORDS_H
#include "gputier/arena.h"
#include "json_read.h"
#include "source.h"

struct rec {
    const char *key;  /* within an object, else "" */
    const char *text; /* of strings and numbers, "true", "false"; "" else */
    enum json_event kind;
    struct rec *child, *next;
};
struct records;
#define RECORDS_LISTS 4
struct records_shape {
    /* Paths of the containers ("data.gpuTypes"), NULL-terminated; "" = the document itself. */
    const char *list[RECORDS_LISTS + 1];
    /* One entry of list[i]. Borrowed for the call. */
    int (*entry)(struct records *r, int i, const struct rec *e, struct gt_error *err);
    /* A value beside the lists, by its path; NULL = not wanted. */
    int (*field)(struct records *r, const char *path, const char *text, struct gt_error *err);
    int (*document)(struct records *r,
                    struct gt_error *err);               /* behind each document; NULL = none */
    int (*end)(struct records *r, struct gt_error *err); /* behind the last byte; NULL = none */
    bool regions_vary;                                   /* staging_regions_vary */
    bool pages; /* every document is one: refused without any of the lists, as it would end them */
};
struct records {
    struct parse_context *ctx;
    const struct records_shape *shape;
    struct json_reader *json;
    struct arena *arena; /* for what a source must remember */
    void *state;         /* the source's own, in arena */
    struct bad_rows bad;
    uint64_t entries;
    bool listed;        /* the document at hand has one of the lists, or says so in another way */
    uint64_t documents; /* of the file at hand */
    bool fed;           /* it has come, or begun to */
    struct records_tree *tree;
};
int records_open(struct parse_context *ctx, const struct records_shape *shape, struct parser **out,
                 struct gt_error *err) GT_CHECK;
/* The parse_feed, parse_close and parse_abort of a source. close refuses a list without entries. */
int records_feed(struct parser *p, const char *data, size_t len, struct gt_error *err) GT_CHECK;
int records_close(struct parser *p, struct gt_error *err) GT_CHECK;
void records_abort(struct parser *p);
/* parse_next of a source whose lists come in several documents. */
int records_next(struct parser *p, struct gt_error *err) GT_CHECK;
/* Counts and logs an entry that can not be read; see src_bad_row. */
int records_bad(struct records *r, const char *what, const char *found,
                struct gt_error *err) GT_CHECK;

/* The value at a path below e ("specs.gpus"), NULL if there is none or it is null. */
const struct rec *rec_get(const struct rec *e, const char *path);
/* Its text, "" when it is none. */
const char *rec_text(const struct rec *e, const char *path);
bool rec_true(const struct rec *e, const char *path);

#endif
