/* A report as a neutral document: headings, paragraphs, key figures, tables, figures. build.c and
 * annex.c fill it from a plan set; md.c and html.c write it. All strings live in the document's
 * arena and are already rounded for people, so that every format shows the same digits. */
#ifndef GPUTIER_REPORT_DOC_H
#define GPUTIER_REPORT_DOC_H
#include "gputier/arena.h"
#include "gputier/buf.h"
#include "gputier/plan.h"
#include "gputier/scenario.h"

enum doc_kind {
    DOC_HEADING,
    DOC_PARAGRAPH,
    DOC_LEAD,  /* the answer in one sentence */
    DOC_SMALL, /* dates and terms below a heading */
    DOC_ITEM,
    DOC_FACTS, /* key figures: a table of label, value, note */
    DOC_TABLE,
    DOC_FIGURE
};
enum doc_mark { ROW_PLAIN, ROW_TOTAL, ROW_CHOSEN };
struct doc_block {
    struct doc_block *next;
    enum doc_kind kind;
    int level;        /* heading 1..3 */
    const char *text; /* heading, paragraph, item; caption of a table or a figure */
    size_t columns, rows, cap;
    const char **title;  /* columns; a leading '>' marks numbers, aligned right */
    const char **cell;   /* rows x columns */
    enum doc_mark *mark; /* one a row */
    const char *svg;     /* figure: an <svg> element */
};
struct doc {
    struct arena *arena;
    const char *title;
    struct doc_block *first, *last;
    bool failed; /* memory ended; the writers refuse */
};
/* Where price rows came from, for --audit: one a published part of a source. */
struct report_source {
    const char *source_id, *title, *url, *licence, *scope, *hash;
    int64_t as_of, fetched_at;
};
struct report_input {
    const struct plan_set *set;
    const struct scenario *scenario; /* NULL when planned elsewhere */
    size_t index;                    /* the recommended plan */
    bool audit;
    const struct report_source *source; /* of the sources that the plan cites; NULL = not asked */
    size_t n_sources;
};

void doc_heading(struct doc *d, int level, const char *text);
void doc_text(struct doc *d, enum doc_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Title of a column without its mark. */
const char *doc_title(const struct doc_block *table, size_t column);
/* titles NULL-terminated. */
struct doc_block *doc_table(struct doc *d, const char *caption, const char *const *titles);
struct doc_block *doc_facts(struct doc *d);
void doc_row(struct doc *d, struct doc_block *table, enum doc_mark mark, const char *const *cells);
void doc_figure(struct doc *d, const char *caption, const char *svg);
const char *doc_printf(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Names from outside, cut to a length that people read; whole in CSV and JSON. */
const char *doc_name(struct doc *d, const char *s);
/* Shared by build.c and annex.c: figures for people. */
const char *doc_words(struct doc *d, const char *name); /* input_cpu -> input cpu */
const char *doc_amount(struct doc *d, money m, const char *currency);
const char *doc_rate(struct doc *d, const struct bill_line *l);
const char *doc_duration(struct doc *d, double s);
const char *doc_date(struct doc *d, int64_t when);
const char *doc_as_of(struct doc *d, const struct bill_line *l); /* "bundled, as of 2026-08-22" */

/* The table of commitments, nothing when there is none (commitments.c). */
void report_commitments(const struct report_input *in, struct doc *d);
/* Any text format by name (html, md, csv). */
int report_document(const struct report_input *in, const char *format, struct buf *out,
                    struct gt_error *err) GT_CHECK;
int report_build(const struct report_input *in, struct doc *d, struct gt_error *err) GT_CHECK;
void report_annex(const struct report_input *in, struct doc *d);
int report_md(const struct doc *d, struct buf *out);
int report_html(const struct doc *d, struct buf *out);
/* Bill lines of all shown plans in full precision: one row a line. */
int report_csv(const struct report_input *in, struct buf *out);
/* The page's style sheet (style.c). */
extern const char report_style[];

/* Text with &, <, > and quotes replaced; control and bidi characters made visible. */
void html_escape(struct buf *out, const char *s);

/* Figures. Colours come from the page's style sheet (classes s0..s7), so dark pages work. NULL
 * when there is nothing to draw. */
const char *svg_pareto(struct doc *d, const struct plan_set *set, size_t chosen);
const char *svg_components(struct doc *d, const struct plan *p);
struct stack_figure {
    const char *title;
    size_t n;
    int months;
    const char *const *name; /* n parts, the lowest first, a letter each */
    const char *letter;
    const double *value; /* [part * months + month] */
    const double *line;  /* [month], beside the stack; NULL = none */
    const char *line_name;
    const char *currency; /* NULL: bytes */
};
const char *svg_stack(struct doc *d, const struct stack_figure *f);
/* Groups as tiles, two maps side by side: the area of a tile is its bytes and its money. */
struct tree_figure {
    const char *title;
    size_t n_parts; /* what the colours and letters mean: the parts of the stack */
    const char *const *part;
    const char *letter;
    size_t n;
    const char *const *name; /* [tile] */
    const size_t *of;        /* [tile]: its part; n_parts = none */
    struct {
        const char *title;
        const double *value; /* [tile]: nothing is drawn of what is not above 0 */
        const char *const *text;
    } map[2];
};
const char *svg_tree(struct doc *d, const struct tree_figure *f);
/* Rows of names with their colours and letters at the top; returns where these end. */
#define SVG_COLOURS 8
double svg_legend(struct buf *b, int left, size_t n, const char *const *name, const char *letter,
                  const char *line_name);
double svg_step(double span); /* 1, 2 or 5 times a power of ten: about five of them in the span */
const char *svg_tick(double v, char out[MONEY_TEXT]); /* 12,500 or 0.25 */

#endif
