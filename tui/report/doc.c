/* Building a document (doc.h). */
#include "doc.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_CELLS 100

static struct doc_block *block(struct doc *d, enum doc_kind kind, const char *text)
{
    struct doc_block *b = arena_alloc(d->arena, sizeof *b);
    if (!b || !text) {
        d->failed = true;
        return NULL;
    }
    b->kind = kind;
    b->text = text;
    if (d->last) {
        d->last->next = b;
    } else {
        d->first = b;
    }
    d->last = b;
    return b;
}

static const char *vprint(struct doc *d, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *text = n < 0 ? NULL : arena_alloc(d->arena, (size_t)n + 1);
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    d->failed = d->failed || !text;
    return text ? text : "";
}

const char *doc_printf(struct doc *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = vprint(d, fmt, ap);
    va_end(ap);
    return s;
}

void doc_heading(struct doc *d, int level, const char *text)
{
    struct doc_block *b = block(d, DOC_HEADING, text);
    if (b) {
        b->level = level;
    }
}

void doc_text(struct doc *d, enum doc_kind kind, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    block(d, kind, vprint(d, fmt, ap));
    va_end(ap);
}

const char *doc_title(const struct doc_block *t, size_t i)
{
    return t->title[i] + (t->title[i][0] == '>' || t->title[i][0] == '!');
}

struct doc_block *doc_table(struct doc *d, const char *caption, const char *const *titles)
{
    struct doc_block *b = block(d, DOC_TABLE, caption);
    while (b && titles[b->columns]) {
        b->columns++;
    }
    if (b) {
        b->title = arena_array(d->arena, b->columns, sizeof *b->title);
        d->failed = d->failed || !b->title;
        for (size_t i = 0; b->title && i < b->columns; i++) {
            b->title[i] = titles[i];
        }
    }
    return b;
}

struct doc_block *doc_facts(struct doc *d)
{
    static const char *const titles[] = {"Key figure", "Value", "Note", NULL};
    struct doc_block *b = doc_table(d, "Key figures", titles);
    if (b) {
        b->kind = DOC_FACTS;
    }
    return b;
}

static bool grow(struct doc *d, struct doc_block *t)
{
    size_t cap = t->cap ? t->cap * 2 : 16;
    const char **cell = arena_array(d->arena, cap * t->columns, sizeof *cell);
    enum doc_mark *mark = arena_array(d->arena, cap, sizeof *mark);
    if (!cell || !mark) {
        return false;
    }
    if (t->rows) {
        memcpy(cell, t->cell, t->rows * t->columns * sizeof *cell);
        memcpy(mark, t->mark, t->rows * sizeof *mark);
    }
    t->cell = cell;
    t->mark = mark;
    t->cap = cap;
    return true;
}

void doc_row(struct doc *d, struct doc_block *t, enum doc_mark mark, const char *const *cells)
{
    if (!t || d->failed || (t->rows == t->cap && !grow(d, t))) {
        d->failed = true;
        return;
    }
    for (size_t i = 0; i < t->columns; i++) {
        t->cell[t->rows * t->columns + i] = cells[i] ? cells[i] : "";
    }
    t->mark[t->rows++] = mark;
}

void doc_figure(struct doc *d, const char *caption, const char *svg)
{
    struct doc_block *b = block(d, DOC_FIGURE, caption);
    if (b) {
        b->svg = svg;
    }
}

const char *doc_name(struct doc *d, const char *s)
{
    struct buf safe, cut;
    buf_init(&safe, 0x7fffffff);
    buf_init(&cut, 65536);
    text_safe(&safe, s, strlen(s), false);
    text_fit(&cut, safe.data ? safe.data : "", NAME_CELLS, 0, false);
    const char *copy = arena_strdup(d->arena, cut.data ? cut.data : "");
    d->failed = d->failed || !copy || safe.failed || cut.failed;
    buf_release(&safe);
    buf_release(&cut);
    return copy ? copy : "";
}

const char *doc_words(struct doc *d, const char *name)
{
    char *copy = arena_strdup(d->arena, name ? name : "");
    d->failed = d->failed || !copy;
    for (char *p = copy; p && *p; p++) {
        *p = *p == '_' ? ' ' : *p;
    }
    return copy ? copy : "";
}

const char *doc_amount(struct doc *d, money m, const char *currency)
{
    char text[MONEY_TEXT];
    return doc_printf(d, "%s %s", money_format_fixed(m, money_minor_digits(currency), true, text),
                      currency);
}

const char *doc_rate(struct doc *d, const struct bill_line *l)
{
    char text[MONEY_TEXT];
    return doc_printf(d, "%s %s", money_format(l->rate, text), l->currency);
}

const char *doc_duration(struct doc *d, double s)
{
    char text[32];
    return isnan(s) ? "unknown" : doc_printf(d, "%s", duration_format(s, text));
}

const char *doc_date(struct doc *d, int64_t when)
{
    char text[16];
    return when == GT_TIME_NONE ? "unknown" : doc_printf(d, "%s", date_format(when, text));
}

const char *doc_as_of(struct doc *d, const struct bill_line *l)
{
    return doc_printf(d, "%s, as of %s", origin_name(l->origin), doc_date(d, l->as_of));
}
