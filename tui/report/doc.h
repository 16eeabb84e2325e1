/* A report as a neutral document: headings, paragraphs, tables, figures. build.c fills it from a
 * plan set; md.c and html.c write it. All strings live in the document's arena and are already
 * rounded for people, so that every format shows the same digits. */
#ifndef GPUTIER_REPORT_DOC_H
#define GPUTIER_REPORT_DOC_H
#include "gputier/arena.h"
#include "gputier/buf.h"
#include "gputier/plan.h"
#include "gputier/scenario.h"

enum doc_kind { DOC_HEADING, DOC_PARAGRAPH, DOC_ITEM, DOC_TABLE, DOC_FIGURE };
struct doc_block {
    struct doc_block *next;
    enum doc_kind kind;
    int level;        /* heading 1..3 */
    const char *text; /* heading, paragraph, item; caption of a table; alt text of a figure */
    size_t columns, rows, cap;
    const char **title; /* columns; a leading '>' marks numbers, aligned right */
    const char **cell;  /* rows x columns */
    const char *svg;    /* figure: an <svg> element */
};
struct doc {
    struct arena *arena;
    const char *title;
    struct doc_block *first, *last;
    bool failed; /* memory ended; the writers refuse */
};
struct report_input {
    const struct plan_set *set;
    const struct scenario *scenario; /* NULL when planned elsewhere */
    size_t index;                    /* the recommended plan */
    bool audit;
};

void doc_heading(struct doc *d, int level, const char *text);
void doc_paragraph(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_item(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* titles NULL-terminated. */
struct doc_block *doc_table(struct doc *d, const char *caption, const char *const *titles);
void doc_row(struct doc *d, struct doc_block *table, const char *const *cells);
void doc_figure(struct doc *d, const char *alt, const char *svg);
const char *doc_printf(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Any text format by name (html, md, csv). */
int report_document(const struct report_input *in, const char *format, struct buf *out,
                    struct gt_error *err) GT_CHECK;
int report_build(const struct report_input *in, struct doc *d, struct gt_error *err) GT_CHECK;
int report_md(const struct doc *d, struct buf *out);
int report_html(const struct doc *d, struct buf *out);
/* Bill lines of all shown plans in full precision: one row a line. */
int report_csv(const struct report_input *in, struct buf *out);

/* Figures. Colours come from the page's style sheet (classes s0..s3), so dark pages work. */
const char *svg_pareto(struct doc *d, const struct plan_set *set, size_t chosen);
const char *svg_components(struct doc *d, const struct plan *p);

#endif
