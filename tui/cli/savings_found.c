/* What `inventory savings` finds: files are told apart by their content, lists priced item by item
 * (planner/storage/savings_price.c), inventories planned (planner/storage/savings.c). */
#include "gputier/duplicates.h"
#include "gputier/savings_price.h"
#include "gputier/units.h"
#include "inventory_args.h"
#include "savings_view.h"
#include "tier_view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX    (64UL << 20) /* of one file: some 100,000 snapshots */
#define HEAD        (64UL << 10)
#define SAVINGS_MAX 4000000

static void note(struct savings_answer *a, const char *text)
{
    for (size_t i = 0; text && i < a->n_notes; i++) {
        if (strcmp(a->note[i], text) == 0) {
            return;
        }
    }
    text = text ? arena_strdup(a->arena, text) : NULL;
    if (text && a->n_notes < SAVINGS_NOTES) {
        a->note[a->n_notes++] = text;
    }
}

static struct saving *add(struct savings_answer *a, const struct saving *s)
{
    if (a->n == a->cap) {
        size_t cap = a->cap ? 2 * a->cap : 64;
        struct saving *p = cap <= SAVINGS_MAX ? realloc(a->item, cap * sizeof *p) : NULL;
        if (!p) {
            return NULL;
        }
        a->item = p;
        a->cap = cap;
    }
    a->item[a->n] = *s;
    return &a->item[a->n++];
}

static const char *own(struct savings_answer *a, const char *text, bool *ok)
{
    const char *p = text ? arena_strdup(a->arena, text) : NULL;
    *ok = *ok && (p || !text);
    return p;
}

/* 1: a list of leftovers; 0: something else. */
static int is_list(const char *path, struct gt_error *err)
{
    FILE *f = fopen(path, "rb");
    char *head = malloc(HEAD);
    size_t n = f && head ? fread(head, 1, HEAD, f) : 0;
    int rc = 0;
    if (!head) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    } else if (!f || (ferror(f) && errno != EISDIR)) {
        rc = gt_fail(err, GT_EPARSE, path, "cannot open: %s", strerror(errno));
    } else {
        rc = leftovers_told(head, n);
    }
    if (f) {
        fclose(f);
    }
    free(head);
    return rc;
}

static int read_list(struct leftovers *l, const char *path, struct gt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    int rc = app_read_file(path, LIST_MAX, &text, &len, err);
    rc = rc ? rc : leftovers_read(l, strcmp(path, "-") ? path : "standard input", text, len, err);
    free(text);
    return rc == GT_ENOTFOUND || rc == GT_EIO || rc == GT_ELIMIT ? GT_EPARSE : rc;
}

static int put_leftover(struct savings_answer *a, const struct catalog *c,
                        const struct tier_request *ask, const struct leftover *l,
                        struct gt_error *err)
{
    bool told = l->region && l->region[0], ok = true;
    bool here = strcmp(ask->o.vendor, l->vendor) == 0 || strcmp(l->vendor, "aws") != 0;
    const char *region = told                            ? l->region
                         : strcmp(l->vendor, "aws") != 0 ? ""
                         : here                          ? ask->region
                                                         : "us-east-1";
    struct saving_item it = {l->vendor, region, l->tier, l->component, l->bytes, l->iops, l->mibps};
    struct saving s = {.kind = l->kind,
                       .place = own(a, l->id, &ok),
                       .tier = own(a, l->tier, &ok),
                       .vendor = own(a, l->vendor, &ok),
                       .region = region[0] ? own(a, region, &ok) : NULL,
                       .objects = l->count,
                       .bytes = l->bytes,
                       .break_even_month = -1,
                       .upper_bound = !l->exact,
                       .note = own(a, l->note, &ok)};
    const char *currency = a->currency;
    int rc = savings_price(c, &it, &s.month_now, &currency);
    s.priced = rc == 0 && !(l->unknown && l->bytes == 0);
    if (rc == GT_EUNSUPPORTED) {
        note(a, "prices in another currency are left out");
    } else if (rc != 0 && rc != GT_ENOTFOUND) {
        return gt_fail(err, rc, l->id, "the price passes the range of money");
    }
    if (s.priced) {
        a->currency = currency;
        rc = saving_ends(&s, a->horizon);
    } else {
        s.month_now = 0;
        rc = 0;
    }
    if (!told && strcmp(l->vendor, "aws") == 0) {
        note(a, arena_printf(a->arena,
                             "no list tells the region of the %s: priced as in aws/%s "
                             "(--region)",
                             l->kind == SAVING_MULTIPART ? "uploads" : "snapshots", region));
    }
    a->at_least = a->at_least || l->unknown;
    return rc                 ? gt_fail(err, rc, l->id, "the cost passes the range of money")
           : ok && add(a, &s) ? 0
                              : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int leftovers(struct savings_answer *a, const struct catalog *c,
                     const struct tier_request *ask, struct leftovers *l, struct gt_error *err)
{
    const struct leftover *item;
    size_t n;
    int rc = leftovers_found(l, &item, &n, err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = put_leftover(a, c, ask, &item[i], err);
        if (item[i].kind == SAVING_MULTIPART) {
            note(a, "uploads are priced from the first volume bracket of their class on; S3 "
                    "Inventory does not list them (R-S3-24)");
        }
    }
    const char *text;
    for (size_t i = 0; rc == 0 && (text = leftovers_note(l, i)) != NULL; i++) {
        note(a, text);
    }
    return rc;
}

/* Takes over what a plan shows, of one kind when that is not SAVING_KINDS; a copy's arena ends. */
static int take(struct savings_answer *a, const struct tier_answer *t, enum saving_kind as,
                struct gt_error *err)
{
    bool ok = true;
    const struct tier_plan *p = t->plan[0];
    for (size_t i = 0; p && ok && i < p->n_savings; i++) {
        struct saving s = p->savings[i];
        s.kind = as == SAVING_KINDS ? s.kind : as;
        s.place = own(a, s.place, &ok);
        s.tier = own(a, s.tier, &ok);
        s.note = as == SAVING_KINDS ? own(a, s.note, &ok) : NULL;
        ok = ok && add(a, &s);
    }
    a->currency = p ? own(a, p->currency, &ok) : a->currency;
    return ok ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

static int plan_rows(const struct tier_request *ask, const struct inventory_row *row, size_t n,
                     const struct catalog *c, enum saving_kind as, struct savings_answer *a,
                     struct gt_error *err)
{
    struct tier_input in;
    struct tier_options o = ask->o;
    int rc = tier_input_rows(ask->product, row, n, &in, err);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; as == SAVING_DUPLICATES && i < in.n; i++) {
        in.group[i].noncurrent = true; /* deleted at once, as old versions are, and not packed */
        in.group[i].reads_per_month = 0;
        in.group[i].read_fraction = 0;
    }
    struct tier_answer t = {.in = &in, .catalog = c};
    o.search_policy = false;
    o.find_savings = true;
    rc = tier_answer_make(&o, &t, err);
    rc = rc ? rc : take(a, &t, as, err);
    if (rc == 0 && as == SAVING_KINDS) {
        for (size_t i = 0; i < in.n_notes; i++) {
            note(a, in.note[i]);
        }
        if (t.saving <= 0) {
            note(a, "moving the data between tiers saves nothing: leave them where they are");
        }
    }
    tier_answer_release(&t);
    tier_input_release(&in);
    return rc;
}

/* The hot tier's copy stays. */
static int rank(void *ctx, const char *storage_class)
{
    const struct tier_request *ask = ctx;
    const struct storage_rule *r, *own_class = storage_rule_in(ask->product, storage_class);
    for (int i = 0; own_class && (r = storage_rule_at(ask->product, i)) != NULL; i++) {
        if (r == own_class) {
            return i;
        }
    }
    return 0;
}

static void duplicate_notes(struct savings_answer *a, const struct duplicates_stats *s, bool found)
{
    if (s->compared == 0) {
        note(a, "no ETag, Content-MD5 or md5Hash in the inventories: duplicates cannot be told");
        return;
    }
    if (s->opaque) {
        note(a,
             arena_printf(a->arena,
                          "%llu objects are encrypted with keys of KMS or the customer's, or lie "
                          "in directory buckets: their ETag says nothing of their bytes, none "
                          "of them is called a duplicate",
                          (unsigned long long)s->opaque));
    }
    if (s->untold) {
        note(a, "the list does not say how objects are encrypted (EncryptionStatus): the ETag of "
                "those with keys of KMS or the customer's says nothing of their bytes");
    }
    if (s->without) {
        note(a, arena_printf(a->arena, "%llu objects have no digest: not compared",
                             (unsigned long long)s->without));
    }
    if (s->multipart) {
        note(a, arena_printf(a->arena,
                             "%llu objects were uploaded in parts: the same bytes in parts of "
                             "another size have another ETag and are not found",
                             (unsigned long long)s->multipart));
    }
    if (found) {
        note(a, "duplicates are current objects, priced from the first volume bracket on; one of "
                "each set stays, in the hottest class; those that are packed are counted there, "
                "too");
        a->at_most = true;
    }
}

static int duplicates(struct inventory *inv, const struct tier_request *ask,
                      const struct catalog *c, struct savings_answer *a, struct gt_error *err)
{
    struct duplicates_stats stats;
    const struct inventory_row *row;
    struct tier_request by = *ask; /* rank takes it as it is given */
    size_t n;
    int rc = inventory_duplicates(inv, rank, &by, &row, &n, &stats, err);
    rc = rc || n == 0 ? rc : plan_rows(ask, row, n, c, SAVING_DUPLICATES, a, err);
    struct saving lone = {.kind = SAVING_MARKERS,
                          .place = "",
                          .objects = stats.lone_markers,
                          .break_even_month = -1,
                          .priced = true}; /* at nothing */
    if (rc == 0 && lone.objects && !add(a, &lone)) {
        rc = gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (rc == 0) {
        duplicate_notes(a, &stats, n > 0);
    }
    return rc;
}

static int read_rows(struct inventory *inv, const char *path, const struct tier_request *ask,
                     const struct catalog *c, struct savings_answer *a, struct gt_error *err)
{
    const struct inventory_row *row;
    const struct inventory_stats *s = inventory_stats(inv);
    size_t n;
    int rc = inventory_rows(inv, &row, &n, err);
    if (rc == 0 && n == 0) {
        return gt_fail(err, GT_EPARSE, path, "no object in it");
    }
    rc = rc ? rc : plan_rows(ask, row, n, c, SAVING_KINDS, a, err);
    if (rc == 0 && s->delete_markers) {
        note(a, arena_printf(a->arena,
                             "%llu delete markers in all; those that hide an old version stay "
                             "while it does",
                             (unsigned long long)s->delete_markers));
    }
    return rc;
}

/* Above what is called small, and no larger than S3 takes in one PUT. */
static int pack_size(const struct cli_args *args, struct tier_request *ask, struct gt_error *err)
{
    const char *text = cli_value(args, "pack-size");
    uint64_t v = (uint64_t)128 << 20;
    if (text && (size_parse(text, &v, NULL) || v < GT_MIB || v > 5 * GT_GIB)) {
        return gt_fail(err, GT_EUSAGE, "", "--pack-size: found '%.40s', expected 1MiB to 5GiB",
                       text);
    }
    ask->o.pack_bytes = v;
    return 0;
}

static int inventories(struct app *app, const struct cli_args *args, struct tier_request *ask,
                       const char *const *files, size_t n, const struct catalog *c,
                       struct savings_answer *a, struct gt_error *err)
{
    struct inventory *inv = NULL;
    struct duplicates *d = NULL;
    const char *dir = getenv("TMPDIR");
    int rc = pack_size(args, ask, err);
    a->pack_bytes = ask->o.pack_bytes;
    rc = rc ? rc : duplicates_new(dir && dir[0] ? dir : "/tmp", &d, err);
    rc = rc ? rc : inventory_with_duplicates(app, args, files, n, d, &inv, err);
    if (rc == 0) {
        inventory_warn(app, inv);
        rc = read_rows(inv, files[0], ask, c, a, err);
        rc = rc ? rc : duplicates(inv, ask, c, a, err);
    }
    inventory_free(inv);
    duplicates_free(d);
    return rc;
}

static int by_gain(const void *x, const void *y)
{
    const struct saving *a = x, *b = y;
    int c = (int)b->priced - (int)a->priced;
    c = c ? c : (a->horizon < b->horizon) - (a->horizon > b->horizon);
    c = c ? c : (int)a->kind - (int)b->kind;
    return c ? c : strcmp(a->place, b->place);
}

static int sum_up(struct savings_answer *a, struct gt_error *err)
{
    int rc = 0;
    if (a->n) {
        qsort(a->item, a->n, sizeof *a->item, by_gain);
    }
    for (size_t i = 0; i < a->n && rc == 0; i++) {
        const struct saving *s = &a->item[i];
        a->at_least = a->at_least || !s->priced;
        if (s->priced && s->horizon > 0) {
            a->at_most = a->at_most || s->upper_bound;
            rc = money_add(a->horizon_saving, s->horizon, &a->horizon_saving);
            rc = rc ? rc : money_add(a->month, s->month_now - s->month_then, &a->month);
        }
    }
    return rc ? gt_fail(err, rc, "", "a sum passes the range of money") : 0;
}

/* Lists are read at once, the names of the others kept. */
static int sort_files(struct app *app, const struct cli_args *args, const char *const *files,
                      size_t n, struct leftovers *l, const char **others, size_t *n_others,
                      struct gt_error *err)
{
    const char *kind = cli_value(args, "kind");
    bool all = kind && strcmp(kind, "lists") == 0, none = kind && !all && strcmp(kind, "auto");
    *n_others = 0;
    for (size_t i = 0; i < n; i++) {
        bool stdin_too = strcmp(files[i], "-") == 0;
        int list = all ? 1 : none || stdin_too ? 0 : is_list(files[i], err);
        if (list < 0) {
            return list;
        }
        if (!list) {
            others[(*n_others)++] = files[i];
            continue;
        }
        int rc = read_list(l, files[i], err);
        if (rc) {
            return rc;
        }
        if (*app->cancel) {
            return gt_fail(err, GT_ECANCELLED, files[i], "interrupted");
        }
    }
    return 0;
}

int savings_find(struct app *app, const struct cli_args *args, const char *const *files, size_t n,
                 struct savings_answer *a, struct gt_error *err)
{
    struct tier_request ask;
    struct leftovers *l = NULL;
    const struct catalog *c;
    size_t n_others = 0;
    const char **others = calloc(n + 1, sizeof *others);
    *a = (struct savings_answer){.arena = arena_new(0),
                                 .as_of = app->as_of == GT_TIME_NONE ? app->now : app->as_of};
    int rc = others && a->arena ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
    int asked = tier_request_read(app, args, &ask, rc ? NULL : err);
    rc = rc ? rc : asked;
    rc = rc ? rc : leftovers_new(a->as_of, &l, err);
    a->horizon = ask.o.horizon_months;
    rc = rc ? rc : sort_files(app, args, files, n, l, others, &n_others, err);
    rc = rc ? rc : app_catalog(app, &c, err);
    if (rc == 0 && n_others) {
        rc = inventories(app, args, &ask, others, n_others, c, a, err);
    }
    rc = rc ? rc : leftovers(a, c, &ask, l, err);
    rc = rc ? rc : sum_up(a, err);
    leftovers_free(l);
    tier_request_release(&ask);
    free(others);
    return rc;
}

void savings_release(struct savings_answer *a)
{
    arena_free(a->arena);
    free(a->item);
    a->arena = NULL;
    a->item = NULL;
}
