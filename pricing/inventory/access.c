/* When keys were last read, or how often prefixes are: a CSV that people make from access logs. */
#include "gputier/units.h"
#include "inventory_priv.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 20000000u

struct load {
    struct inventory_accesses *out;
    size_t cap;
    int key, value;
    bool by_prefix, known;
};

static int header(struct reader *r, struct load *l, const struct csv_record *rec,
                  struct gt_error *err)
{
    l->key = l->value = -1;
    for (size_t i = 0; i < rec->n && i < CSV_FIELDS; i++) {
        if (csv_named(rec, i, "key") || csv_named(rec, i, "prefix")) {
            l->key = (int)i;
            l->by_prefix = csv_named(rec, i, "prefix");
        } else if (csv_named(rec, i, "last_access") || csv_named(rec, i, "gets")) {
            l->value = (int)i;
        }
    }
    l->known = true;
    return l->key >= 0 && l->value >= 0
               ? 0
               : gt_fail(err, GT_EPARSE, r->name,
                         "the header is neither key,last_access nor prefix,gets");
}

static int add(struct load *l, const struct inventory_access *a, struct gt_error *err)
{
    struct inventory_accesses *o = l->out;
    if (o->n == MOST) {
        return gt_fail(err, GT_ELIMIT, "", "more than %u rows: give reads by prefix", MOST);
    }
    if (o->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 1024;
        struct inventory_access *p = realloc(o->at, cap * sizeof *p);
        if (!p) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        o->at = p;
        l->cap = cap;
    }
    o->at[o->n] = *a;
    o->at[o->n].key = arena_strndup(o->arena, a->key, a->len);
    return o->at[o->n++].key ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int row(struct reader *r, const struct csv_record *rec, struct gt_error *err)
{
    struct load *l = r->state;
    if (!l->known) {
        return header(r, l, rec, err);
    }
    struct inventory_access a = {0};
    char where[160];
    snprintf(where, sizeof where, "%.120s:%llu", r->name, (unsigned long long)r->line);
    if (rec->n <= (size_t)l->key || rec->n <= (size_t)l->value) {
        return gt_fail(err, GT_EPARSE, where, "fewer fields than the header has");
    }
    a.key = rec->field[l->key];
    a.len = rec->len[l->key];
    if (l->by_prefix) {
        uint64_t gets;
        while (a.len > 0 && a.key[a.len - 1] == '/') {
            a.len--;
        }
        if (!digits_u64(rec->field[l->value], rec->len[l->value], &gets)) {
            return gt_fail(err, GT_EPARSE, where, "gets is no whole number");
        }
        a.gets = (double)gets;
        a.when = GT_TIME_NONE;
    } else if (!instant(rec->field[l->value], rec->len[l->value], &a.when)) {
        return gt_fail(err, GT_EPARSE, where, "last_access is neither ISO 8601 nor epoch seconds");
    }
    return add(l, &a, err);
}

static int pump(FILE *f, struct reader *r, struct gt_error *err)
{
    static const size_t piece = 65536;
    char *data = malloc(piece);
    int rc = data ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    size_t n;
    while (rc == 0 && (n = fread(data, 1, piece, f)) > 0) {
        rc = csv_feed(r, data, n, false, row, err);
    }
    if (rc == 0 && ferror(f)) {
        rc = gt_fail(err, GT_EIO, r->name, "%s", strerror(errno));
    }
    rc = rc < 0 ? rc : csv_feed(r, "", 0, true, row, err);
    free(data);
    return rc;
}

int inventory_access_read(const char *path, struct inventory_accesses *out, struct gt_error *err)
{
    *out = (struct inventory_accesses){.arena = arena_new(0)};
    struct inventory_options none = {.depth = 0};
    struct inventory *inv = NULL; /* counts broken rows, of which none is accepted */
    FILE *f = fopen(path, "rb");
    int rc = f ? 0 : gt_fail(err, GT_ENOTFOUND, path, "%s", strerror(errno));
    if (rc == 0 && !out->arena) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    rc = rc < 0 ? rc : inventory_new(&none, &inv, err);
    struct load l = {.out = out};
    struct reader r = {.inv = inv, .name = path, .state = &l};
    rc = rc < 0 ? rc : pump(f, &r, err);
    if (rc == 0 && out->n == 0) {
        rc = gt_fail(err, GT_EPARSE, path, "no row in it");
    }
    if (f) {
        fclose(f);
    }
    free(r.hold);
    free(r.fields.at);
    inventory_free(inv);
    if (rc < 0) {
        inventory_access_free(out);
    }
    return rc;
}

void inventory_access_free(struct inventory_accesses *a)
{
    arena_free(a->arena);
    free(a->at);
    *a = (struct inventory_accesses){0};
}
