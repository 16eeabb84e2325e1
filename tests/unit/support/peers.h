/* The JSON and CSV readers beside yajl and libcsv: both give one text of events or rows, and a
 * verdict. Used by tests/unit/src_peers.c and by the fuzz targets of the readers. */
#ifndef GPUTIER_PEERS_H
#define GPUTIER_PEERS_H
#include "../../../pricing/sources/csv_read.h"
#include "../../../pricing/sources/json_read.h"
#include "gputier/buf.h"
#include "gputier/text.h"
#include <csv.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define PEER_TEXT ((size_t)64 << 20)

/* What a reader of a document does with it: with salt 0 it looks at everything, else it passes over
 * some values and leaves some containers, as chance and the texts will. */
struct peer_log {
    struct buf out;
    unsigned salt;
    bool mask_text; /* strings only by their kind */
    /* of the yajl side: */
    int depth, deepest;
    int leave; /* pass over all until depth is this; -1: no */
    bool skip; /* pass over the next value */
};

static inline unsigned peer_mix(const struct peer_log *l, const char *text, size_t len)
{
    unsigned h = l->salt * 2654435761u;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    }
    return (h >> 13) % 8;
}
static inline bool peer_skips(const struct peer_log *l, const char *text, size_t len)
{
    return l->salt != 0 && peer_mix(l, text, len) < 3;
}
static inline bool peer_leaves(const struct peer_log *l, const char *text, size_t len)
{
    return l->salt != 0 && peer_mix(l, text, len) == 7;
}

static inline void peer_note(struct peer_log *l, char mark, const char *text, size_t len)
{
    buf_addc(&l->out, mark);
    buf_add(&l->out, text, mark == '#' || !l->mask_text ? len : 0);
    buf_addc(&l->out, '\n');
}

/* yajl: one function a kind of event, all to one place. False: passed over. */
static inline bool peer_event(struct peer_log *l, char mark, const char *text, size_t len)
{
    bool opens = mark == '{' || mark == '[', closes = mark == '}' || mark == ']';
    int before = l->depth;
    l->depth += opens - closes;
    l->deepest = l->depth > l->deepest ? l->depth : l->deepest;
    if (l->leave >= 0) {
        l->leave = closes && l->depth == l->leave ? -1 : l->leave;
        return false;
    }
    if (l->skip && mark != 'K') {
        l->skip = false;
        l->leave = opens ? before : -1;
        return false;
    }
    peer_note(l, mark, text, len);
    if (mark == 'K' && peer_skips(l, text, len)) {
        l->skip = true;
    } else if (mark == '"' && l->depth > 0 && peer_leaves(l, text, len)) {
        l->leave = l->depth - 1;
    }
    return true;
}
#define PEER_EVENT(name, mark)                                                                     \
    static inline int name(void *l)                                                                \
    {                                                                                              \
        peer_event(l, mark, "", 0);                                                                \
        return 1;                                                                                  \
    }
PEER_EVENT(peer_null, '0')
PEER_EVENT(peer_open_map, '{')
PEER_EVENT(peer_close_map, '}')
PEER_EVENT(peer_open_list, '[')
PEER_EVENT(peer_close_list, ']')
static inline int peer_bool(void *l, int v)
{
    peer_event(l, v ? 't' : 'f', "", 0);
    return 1;
}
static inline int peer_number(void *l, const char *s, size_t n)
{
    peer_event(l, '#', s, n);
    return 1;
}
static inline int peer_string(void *l, const unsigned char *s, size_t n)
{
    peer_event(l, '"', (const char *)s, n);
    return 1;
}
static inline int peer_key(void *l, const unsigned char *s, size_t n)
{
    peer_event(l, 'K', (const char *)s, n);
    return 1;
}

/* Escapes of half characters and of NUL: yajl makes '?' and other things of them, our reader
 * U+FFFD. Then texts are not compared, nor anything passed over by them. */
static inline bool peer_odd_escape(const char *text, size_t len)
{
    for (size_t i = 0; i + 5 < len; i++) {
        if (text[i] == '\\' && text[i + 1] == 'u' &&
            ((text[i + 2] | 0x20) == 'd' || memcmp(text + i + 2, "0000", 4) == 0)) {
            return true;
        }
    }
    return false;
}

/* What our reader refuses and yajl does not: see json_read.h. Of a text that yajl accepted. */
static inline bool peer_stricter(const struct peer_log *l, const char *text, size_t len)
{
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        if (inside && text[i] == '\\') {
            i++;
        } else if (text[i] == '"') {
            inside = !inside;
        } else if (!inside && (text[i] == '\v' || text[i] == '\f')) {
            return true;
        }
    }
    return l->deepest > JSON_DEPTH || !utf8_valid(text, len);
}

/* yajl takes an unfinished token behind a document ("0\"") for the end: one that is refused once
 * more follows. */
static inline bool peer_unfinished(const char *text, size_t len)
{
    static const unsigned char more[] = " \"";
    yajl_handle h = yajl_alloc(NULL, NULL, NULL);
    bool ok = h && yajl_parse(h, (const unsigned char *)text, len) == yajl_status_ok &&
              yajl_parse(h, more, 2) == yajl_status_ok && yajl_complete_parse(h) == yajl_status_ok;
    yajl_free(h);
    return !ok;
}

/* Whether the document is accepted; what it holds in l->out. */
static inline bool peer_yajl(struct peer_log *l, const char *text, size_t len)
{
    static const yajl_callbacks calls = {
        .yajl_null = peer_null,
        .yajl_boolean = peer_bool,
        .yajl_number = peer_number,
        .yajl_string = peer_string,
        .yajl_start_map = peer_open_map,
        .yajl_map_key = peer_key,
        .yajl_end_map = peer_close_map,
        .yajl_start_array = peer_open_list,
        .yajl_end_array = peer_close_list,
    };
    yajl_handle h = yajl_alloc(&calls, NULL, l);
    l->leave = -1;
    bool ok = h && yajl_parse(h, (const unsigned char *)text, len) == yajl_status_ok &&
              yajl_complete_parse(h) == yajl_status_ok;
    yajl_free(h);
    return ok && !peer_stricter(l, text, len) && !peer_unfinished(text, len);
}

static inline int peer_our_event(void *ctx, struct json_reader *r, enum json_event e,
                                 const char *text, size_t len, struct gt_error *err)
{
    static const char mark[] = "{}[]K\"#tf0";
    struct peer_log *l = ctx;
    (void)err;
    if (text[len] != '\0') {
        abort();
    }
    peer_note(l, mark[e], text, len);
    if (e == JSON_KEY && peer_skips(l, text, len)) {
        json_skip_value(r);
    } else if (e == JSON_STRING && json_depth(r) > 0 && peer_leaves(l, text, len)) {
        json_leave(r, 1);
    }
    return 0;
}

/* How one run goes over the bytes. piece: bytes a call, 0 = all at once. */
struct peer_way {
    size_t piece;
    enum scan_path path;
};

/* Each piece in memory of its own size: reading past it is seen by AddressSanitizer. */
#define PEER_FEED(feed, reader, rc)                                                                \
    for (size_t at = 0, n; (rc) == 0 && at < len; at += n) {                                       \
        n = w->piece != 0 && w->piece < len - at ? w->piece : len - at;                            \
        char *copy = malloc(n);                                                                    \
        if (!copy) {                                                                               \
            abort();                                                                               \
        }                                                                                          \
        memcpy(copy, text + at, n);                                                                \
        (rc) = feed(reader, copy, n, err);                                                         \
        free(copy);                                                                                \
    }

static inline bool peer_json(struct peer_log *l, const char *text, size_t len,
                             const struct peer_way *w, struct gt_error *err)
{
    struct json_reader *r = NULL;
    int rc = json_reader_new("t", peer_our_event, l, &r, err);
    json_reader_path(r, w->path);
    PEER_FEED(json_reader_feed, r, rc)
    rc = rc ? rc : json_reader_end(r, err);
    json_reader_free(r);
    return rc == 0;
}

/* CSV: rows of fields as C strings. */
struct peer_rows {
    struct buf out;
    size_t fields;
    bool wide; /* a row of too many fields */
};
static inline void peer_field(void *text, size_t len, void *ctx)
{
    struct peer_rows *p = ctx;
    buf_addc(&p->out, '<');
    buf_add(&p->out, text, len > 0 ? strnlen(text, len) : 0);
    buf_addc(&p->out, '>');
    p->wide = p->wide || ++p->fields > CSV_FIELDS;
}
static inline void peer_row(int end, void *ctx)
{
    struct peer_rows *p = ctx;
    (void)end;
    buf_addc(&p->out, '\n');
    p->fields = 0;
}
static inline int peer_no_space(unsigned char c)
{
    (void)c;
    return 0;
}

/* Where our reader takes what libcsv does not: spaces before an opening quote; and a CR that does
 * not belong to the end of a line, which libcsv takes for one. Then the two are not compared. */
static inline bool peer_csv_differs(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((text[i] == ' ' && i + 1 < len && text[i + 1] == '"') ||
            (text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n'))) {
            return true;
        }
    }
    return false;
}

static inline bool peer_libcsv(struct peer_rows *p, const char *text, size_t len)
{
    struct csv_parser c;
    size_t bom = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (csv_init(&c, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        abort();
    }
    csv_set_space_func(&c, peer_no_space);
    bool ok = csv_parse(&c, text + bom, len - bom, peer_field, peer_row, p) == len - bom &&
              csv_fini(&c, peer_field, peer_row, p) == 0;
    csv_free(&c);
    return ok && !p->wide;
}

static inline int peer_our_row(void *ctx, const struct csv_row *row, struct gt_error *err)
{
    struct peer_rows *p = ctx;
    (void)err;
    for (size_t i = row->n; row->line % 4 != 1 && i-- > 0;) { /* looked up backwards before that */
        (void)csv_field_alone(row, (int)i);
    }
    for (size_t i = 0; i < row->n; i++) {
        buf_adds(&p->out, "<");
        bool alone = row->line % 2 == 0 || i % 3 == 0; /* some rows, some fields: looked up alone */
        buf_adds(&p->out, alone ? csv_field_alone(row, (int)i) : csv_field(row, (int)i));
        buf_adds(&p->out, ">");
    }
    buf_addc(&p->out, '\n');
    return 0;
}

static inline bool peer_csv(struct peer_rows *p, const char *text, size_t len,
                            const struct peer_way *w, struct gt_error *err)
{
    struct csv_reader *r = NULL;
    int rc = csv_reader_new("t", ',', peer_our_row, p, &r, err);
    csv_reader_path(r, w->path);
    PEER_FEED(csv_reader_feed, r, rc)
    rc = rc ? rc : csv_reader_end(r, err);
    csv_reader_free(r);
    return rc == 0;
}

/* The ways that must all give the same: the best loop, the plain one, byte by byte; in one piece
 * and in pieces. */
#define PEER_WAYS 5
static inline struct peer_way peer_way(int i, size_t piece)
{
    static const enum scan_path path[PEER_WAYS] = {SCAN_BEST, SCAN_BEST, SCAN_AVX2, SCAN_PLAIN,
                                                   SCAN_BYTES};
    return (struct peer_way){i == 0 ? 0 : piece, path[i]};
}

static inline bool peer_same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* NULL: our readers and yajl agree on a document, as do all our ways; else what does not. */
static inline const char *peer_check_json(const char *text, size_t len, unsigned salt, size_t piece)
{
    const char *wrong = NULL;
    struct gt_error first = {0};
    bool odd = peer_odd_escape(text, len);
    struct peer_log a = {.salt = odd ? 0 : salt, .mask_text = odd};
    buf_init(&a.out, PEER_TEXT);
    bool want = peer_yajl(&a, text, len);
    for (int i = 0; i < PEER_WAYS && !wrong; i++) {
        struct peer_log b = {.salt = a.salt, .mask_text = odd};
        struct gt_error err = {0};
        struct peer_way w = peer_way(i, piece);
        buf_init(&b.out, PEER_TEXT);
        bool got = peer_json(&b, text, len, &w, &err);
        first = i == 0 ? err : first;
        wrong = got != want                           ? got ? "yajl refuses it" : "yajl takes it"
                : strcmp(err.where, first.where) != 0 ? "the ways differ on the place"
                : strcmp(err.text, first.text) != 0   ? "the ways differ on the error"
                : got && !peer_same(&a.out, &b.out)   ? "other events than yajl's"
                                                      : NULL;
        buf_release(&b.out);
    }
    buf_release(&a.out);
    return wrong;
}

static inline const char *peer_check_csv(const char *text, size_t len, size_t piece)
{
    const char *wrong = NULL;
    struct gt_error first = {0};
    struct peer_rows peer = {.fields = 0}, ours = {.fields = 0};
    bool compare = !peer_csv_differs(text, len);
    buf_init(&peer.out, PEER_TEXT);
    buf_init(&ours.out, PEER_TEXT);
    bool want = peer_libcsv(&peer, text, len), whole = false;
    for (int i = 0; i < PEER_WAYS - 1 && !wrong; i++) { /* there is no way byte by byte */
        struct peer_rows b = {.fields = 0};
        struct gt_error err = {0};
        struct peer_way w = peer_way(i, piece);
        buf_init(&b.out, PEER_TEXT);
        bool got = peer_csv(i == 0 ? &ours : &b, text, len, &w, &err);
        first = i == 0 ? err : first;
        whole = i == 0 ? got : whole;
        const struct buf *out = i == 0 ? &ours.out : &b.out;
        wrong = compare && got != want ? got ? "libcsv refuses it" : "libcsv takes it"
                : got != whole         ? "the ways differ"
                : strcmp(err.where, first.where) != 0          ? "the ways differ on the place"
                : strcmp(err.text, first.text) != 0            ? "the ways differ on the error"
                : !peer_same(&ours.out, out)                   ? "the ways differ on the rows"
                : compare && got && !peer_same(&peer.out, out) ? "other rows than libcsv's"
                                                               : NULL;
        buf_release(&b.out);
    }
    buf_release(&peer.out);
    buf_release(&ours.out);
    return wrong;
}

#endif
