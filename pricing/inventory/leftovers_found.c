/* Which entries of the lists are left over (leftovers.h). */
#include "leftovers_priv.h"
#include <stdlib.h>
#include <string.h>

static int by_key(const void *a, const void *b)
{
    const struct left_entry *x = a, *y = b;
    int c = (int)x->kind - (int)y->kind;
    c = c ? c : (int)x->vendor - (int)y->vendor;
    return c ? c : strcmp(x->key, y->key);
}

static const struct left_entry *find(const struct leftovers *l, enum left_kind kind,
                                     enum left_vendor vendor, const char *key)
{
    struct left_entry want = {.kind = kind, .vendor = vendor, .key = key};
    return l->n ? bsearch(&want, l->entry, l->n, sizeof want, by_key) : NULL;
}

static void note(struct leftovers *l, const char *text)
{
    if (text && l->n_notes < LEFT_NOTES) {
        l->note[l->n_notes++] = text;
    }
}

const char *leftovers_note(const struct leftovers *l, size_t i)
{
    return i < l->n_notes ? l->note[i] : NULL;
}

/* Uploads of one region and class in one. */
static struct leftover *sum_for(struct leftovers *l, const struct leftover *like)
{
    const char *region = like->region ? like->region : "";
    for (size_t i = 0; i < l->n_found; i++) {
        struct leftover *f = &l->found[i];
        if (strcmp(f->tier, like->tier) == 0 && strcmp(f->region ? f->region : "", region) == 0) {
            return f;
        }
    }
    struct leftover *f = &l->found[l->n_found++];
    *f = (struct leftover){.kind = SAVING_MULTIPART,
                           .id = "",
                           .vendor = like->vendor,
                           .region = like->region,
                           .tier = like->tier,
                           .component = like->component,
                           .exact = true};
    return f;
}

static int add(struct leftover *sum, uint64_t count, uint64_t bytes, struct gt_error *err)
{
    if (__builtin_add_overflow(sum->count, count, &sum->count) ||
        __builtin_add_overflow(sum->bytes, bytes, &sum->bytes)) {
        return gt_fail(err, GT_ERANGE, "", "a sum of bytes or uploads passes 2^64");
    }
    return 0;
}

struct upload_sums {
    uint64_t listed, running, without, nameless;
};

static int listed_upload(struct leftovers *l, size_t i, struct upload_sums *s, struct gt_error *err)
{
    const struct left_entry *e = &l->entry[i];
    bool again = i > 0 && by_key(e, e - 1) == 0; /* the same page twice, or pages of parts */
    if (e->kind == LEFT_UPLOAD && !again) {
        s->listed++;
        s->running += e->running;
        bool known = find(l, LEFT_PARTS, LEFT_AWS, e->key) != NULL;
        s->without += !e->running && !known;
        return e->running ? 0 : add(sum_for(l, &e->item), 1, 0, err);
    }
    if (e->kind == LEFT_PARTS) {
        const struct left_entry *u = e->key[0] ? find(l, LEFT_UPLOAD, LEFT_AWS, e->key) : NULL;
        bool running = u ? u->running : e->running, nameless = !e->key[0];
        s->nameless += nameless && !running;
        s->running += running && !u && (nameless ? s->listed == 0 : !again);
        /* a nameless one is of an upload that is listed, if any is */
        uint64_t count = !u && (nameless ? s->listed == 0 : !again);
        return running ? 0 : add(sum_for(l, &e->item), count, e->item.bytes, err);
    }
    return 0;
}

/* Storage Lens of the last day; the figures of more than 7 days where they are told. */
static int lens(struct leftovers *l, struct gt_error *err)
{
    bool older = false;
    int rc = 0;
    for (size_t i = 0; i < l->n; i++) {
        older = older || (l->entry[i].kind == LEFT_LENS && l->entry[i].older);
    }
    for (size_t i = 0; i < l->n && rc == 0; i++) {
        const struct left_entry *e = &l->entry[i];
        bool again = i > 0 && by_key(e, e - 1) == 0;
        if (e->kind == LEFT_LENS && !again && e->older == older &&
            strncmp(e->scope, l->lens_date, sizeof l->lens_date - 1) == 0 &&
            e->item.count + e->item.bytes > 0) {
            rc = add(sum_for(l, &e->item), e->item.count, e->item.bytes, err);
        }
    }
    if (l->lens_date[0] && !older) {
        note(l, "Storage Lens without its advanced metrics counts all incomplete uploads, those "
                "that are running too");
    }
    return rc;
}

static int uploads(struct leftovers *l, struct gt_error *err)
{
    struct upload_sums s = {0};
    int rc = 0;
    for (size_t i = 0; i < l->n && rc == 0; i++) {
        rc = listed_upload(l, i, &s, err);
    }
    if (l->n_found == 0 && s.listed == 0) {
        rc = rc < 0 ? rc : lens(l, err);
    } else if (l->lens_date[0]) {
        note(l, "uploads are listed, so that what Storage Lens says of them is left out");
    }
    uint64_t unknown = s.without > s.nameless ? s.without - s.nameless : 0;
    if (s.running) {
        note(l, arena_printf(l->arena,
                             "%llu multipart uploads were begun within %d days and may be running: "
                             "not counted",
                             (unsigned long long)s.running, LEFTOVERS_RUNNING_DAYS));
    }
    if (unknown) {
        note(l, arena_printf(l->arena,
                             "the parts of %llu uploads are not listed (aws s3api list-parts): "
                             "their bytes are not counted",
                             (unsigned long long)unknown));
    }
    for (size_t i = 0; i < l->n_found; i++) {
        l->found[i].unknown = unknown > 0;
    }
    return rc;
}

static bool same_scope(const struct left_entry *a, const struct left_entry *b)
{
    return a->vendor == b->vendor && strcmp(a->scope, b->scope) == 0;
}

/* What the lists of volumes allow to say of a vendor's snapshots. */
struct scope {
    size_t volumes, in_use, owners;
};

static struct scope scope_of(const struct leftovers *l, const struct left_entry *of)
{
    struct scope s = {0};
    const char *owner = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const struct left_entry *e = &l->entry[i];
        if (e->vendor != of->vendor) {
            continue;
        }
        if (e->kind == LEFT_VOLUME && (e->vendor == LEFT_AWS || same_scope(e, of))) {
            s.volumes++;
            s.in_use += e->in_use;
        } else if (e->kind == LEFT_SNAPSHOT && e->vendor == LEFT_AWS) {
            s.owners += !owner || strcmp(owner, e->scope) != 0;
            owner = owner && strcmp(owner, e->scope) == 0 ? owner : e->scope;
        }
    }
    return s;
}

/* NULL: they can be told. */
static const char *cannot_tell(const struct leftovers *l, const struct left_entry *e,
                               const struct scope *s)
{
    if (s->volumes == 0) {
        return "no list of volumes of their vendor and account was given";
    }
    if (l->cut[e->vendor]) {
        return "the list of volumes goes on (NextToken)";
    }
    if (s->in_use == 0) {
        return "no listed volume is in use: a list of the unattached ones alone does not tell "
               "whose volumes are gone";
    }
    if (s->owners > 1) {
        return "they are of several owners: list your own with --owner-ids self";
    }
    return NULL;
}

/* Region of all volumes of AWS that are listed, when there is one: its snapshots do not tell it. */
static const char *aws_region(const struct leftovers *l)
{
    const char *region = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const struct left_entry *e = &l->entry[i];
        if (e->kind != LEFT_VOLUME || e->vendor != LEFT_AWS || !e->item.region) {
            continue;
        }
        if (region && strcmp(region, e->item.region) != 0) {
            return NULL;
        }
        region = e->item.region;
    }
    return region;
}

/* Snapshots of one scope, by the same answer. */
struct telling {
    const char *scope;
    enum left_vendor vendor;
    const char *why;
    bool known;
};

static const char *why_not(const struct leftovers *l, const struct left_entry *e,
                           struct telling *last)
{
    if (!last->known || last->vendor != e->vendor ||
        (e->vendor != LEFT_AWS && strcmp(last->scope, e->scope) != 0)) {
        struct scope s = scope_of(l, e);
        *last = (struct telling){e->scope, e->vendor, cannot_tell(l, e, &s), true};
    }
    return last->why;
}

static void snapshot_notes(struct leftovers *l, size_t untold, const char *why, size_t sourceless,
                           bool aws)
{
    if (untold) {
        note(l, arena_printf(l->arena,
                             "of %zu snapshots it cannot be told whether their volumes "
                             "are gone: %s",
                             untold, why));
    }
    if (sourceless) {
        note(l, arena_printf(l->arena,
                             "%zu snapshots are copies or not of a volume: none of them is called "
                             "an orphan",
                             sourceless));
    }
    if (aws) {
        note(l, "lists of AWS's volumes and snapshots have to be of the same region and account: "
                "a snapshot does not say its region");
    }
    if (aws && !l->images) {
        note(l, "no aws ec2 describe-images --owners self was given: a snapshot may belong to an "
                "image");
    }
}

static void volumes_and_snapshots(struct leftovers *l)
{
    size_t untold = 0, sourceless = 0;
    bool aws = false;
    const char *region = aws_region(l), *why = NULL;
    struct telling last = {.known = false};
    for (size_t i = 0; i < l->n; i++) {
        struct left_entry *e = &l->entry[i];
        if (i > 0 && by_key(e, e - 1) == 0) {
            continue;
        }
        if (e->kind == LEFT_VOLUME && !e->in_use) {
            e->item.kind = SAVING_VOLUMES;
            l->found[l->n_found++] = e->item;
        } else if (e->kind == LEFT_SNAPSHOT) {
            const char *no = why_not(l, e, &last);
            if (no || !e->source[0]) {
                untold += no != NULL;
                sourceless += !no;
                why = no ? no : why;
            } else if (!find(l, LEFT_VOLUME, e->vendor, e->source) &&
                       !find(l, LEFT_USED, e->vendor, e->key)) {
                aws = aws || e->vendor == LEFT_AWS;
                e->item.kind = SAVING_SNAPSHOTS;
                e->item.region = e->vendor == LEFT_AWS ? region : e->item.region;
                l->found[l->n_found++] = e->item;
            }
        }
    }
    snapshot_notes(l, untold, why, sourceless, aws);
}

int leftovers_found(struct leftovers *l, const struct leftover **item, size_t *n,
                    struct gt_error *err)
{
    free(l->found);
    l->n_notes = 0;
    l->n_found = 0;
    l->found = calloc(l->n + 1, sizeof *l->found);
    if (!l->found) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    if (l->n) {
        qsort(l->entry, l->n, sizeof *l->entry, by_key);
    }
    int rc = uploads(l, err);
    if (rc == 0) {
        volumes_and_snapshots(l);
    }
    if (l->cut_other) {
        note(l, "a list goes on (NextToken, IsTruncated): only what is in it is counted");
    }
    *item = l->found;
    *n = l->n_found;
    return rc;
}
