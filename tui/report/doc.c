/* Building a document (doc.h). */
#include "doc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    char text[2048];
    vsnprintf(text, sizeof text, fmt, ap);
    const char *copy = arena_strdup(d->arena, text);
    d->failed = d->failed || !copy;
    return copy ? copy : "";
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

void doc_paragraph(struct doc *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    block(d, DOC_PARAGRAPH, vprint(d, fmt, ap));
    va_end(ap);
}

void doc_item(struct doc *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    block(d, DOC_ITEM, vprint(d, fmt, ap));
    va_end(ap);
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

void doc_row(struct doc *d, struct doc_block *t, const char *const *cells)
{
    if (!t || d->failed) {
        return;
    }
    if (t->rows == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 16;
        const char **p = arena_array(d->arena, cap * t->columns, sizeof *p);
        if (!p) {
            d->failed = true;
            return;
        }
        if (t->rows) {
            memcpy(p, t->cell, t->rows * t->columns * sizeof *p);
        }
        t->cell = p;
        t->cap = cap;
    }
    for (size_t i = 0; i < t->columns; i++) {
        t->cell[t->rows * t->columns + i] = cells[i] ? cells[i] : "";
    }
    t->rows++;
}

void doc_figure(struct doc *d, const char *alt, const char *svg)
{
    struct doc_block *b = block(d, DOC_FIGURE, alt);
    if (b) {
        b->svg = svg;
    }
}
