/* Catalog and rules to a struct tier_model; a listing's group to billable quantities. */
#include "tier_model.h"
#include "gputier/units.h"
#include <limits.h>
#include <string.h>

struct lookup {
    const struct catalog *c;
    uint32_t vendor, region;
    struct tier_model *m;
};

static bool remember(struct tier_model *m, size_t row)
{
    if (m->n_rows < TM_ROWS) {
        m->row[m->n_rows++] = row;
        return true;
    }
    return false;
}

/* First bracket of one component; unknown stays unknown. */
static struct tm_rate rate_of(const struct lookup *l, const char *tier, const char *component)
{
    const struct catalog_storage *s = &l->c->storage;
    size_t first;
    uint32_t id = catalog_id(l->c, tier);
    struct tm_rate r = {.known = false, .qty = 1};
    if (id == 0 || catalog_storage_rates(l->c, l->vendor, l->region, id, component, &first) == 0) {
        return r;
    }
    r.known = true;
    r.rate = s->rate[first];
    r.qty = s->unit_qty[first] ? s->unit_qty[first] : 1;
    switch ((enum storage_unit)s->unit[first]) {
    case SU_GIB_MONTH:
    case SU_GIB:
        r.bytes = GT_GIB;
        break;
    case SU_GB_MONTH:
    case SU_GB:
        r.bytes = GT_GB;
        break;
    default:
        break;
    }
    l->m->currency = catalog_text(l->c, s->currency[first]);
    remember(l->m, first);
    return r;
}

static void read_tier(const struct lookup *l, struct tm_tier *t)
{
    const char *name = t->rule->tier;
    t->storage = rate_of(l, name, t->rule->automatic ? "storage_frequent" : "storage");
    if (t->rule->automatic) {
        t->infrequent = rate_of(l, name, "storage_infrequent");
        t->instant = rate_of(l, name, "storage_archive_instant");
        t->monitor = rate_of(l, name, "monitoring");
    }
    t->put = rate_of(l, name, "put");
    t->get = rate_of(l, name, "get");
    t->transition = rate_of(l, name, "transition");
    t->retrieval = rate_of(l, name, "retrieval");
    t->restore = rate_of(l, name, "retrieval_request");
    t->periods = (t->rule->min_days + 29) / 30;
    enum storage_product p = t->rule->product;
    if (p == PRODUCT_S3) {
        t->reads_known = t->get.known && (t->rule == storage_rule_at(p, 0) || t->retrieval.known) &&
                         (!t->rule->archive || t->restore.known);
        bool steps =
            !t->rule->automatic || (t->infrequent.known && t->instant.known && t->monitor.known);
        t->usable = t->storage.known && t->transition.known && steps && !t->rule->single_zone;
    } else if (p == PRODUCT_EFS) {
        bool hot = t->rule == storage_rule_at(p, 0);
        t->reads_known = hot || t->retrieval.known;
        t->usable = t->storage.known && (hot || t->transition.known);
    } else {
        t->reads_known = true;
        t->usable = t->storage.known;
    }
}

/* What a move needs must be priced: entering by lifecycle, or a copy back to the hot tier. */
static enum tm_move move_of(const struct tier_model *m, int from, int to)
{
    const struct tm_tier *f = &m->tier[from], *t = &m->tier[to];
    if (from == to) {
        return MOVE_NONE;
    }
    if (f->rule->down >> to & 1) {
        return t->usable ? MOVE_LIFECYCLE : MOVE_NONE;
    }
    if (to != m->hot || !t->storage.known || !f->reads_known) {
        return MOVE_NONE;
    }
    return m->product == PRODUCT_S3 && !t->put.known ? MOVE_NONE : MOVE_COPY;
}

static void read_brackets(const struct lookup *l, struct tier_model *m)
{
    const struct catalog_storage *s = &l->c->storage;
    size_t first;
    const char *hot = m->tier[m->hot].rule->tier;
    uint32_t id = catalog_id(l->c, hot);
    size_t n = catalog_storage_rates(l->c, l->vendor, l->region, id, "storage", &first);
    m->n_brackets = (int)(n < TM_BRACKETS ? n : TM_BRACKETS);
    uint64_t unit = m->tier[m->hot].storage.bytes;
    for (int i = 0; i < m->n_brackets; i++) {
        money to = s->to_qty[first + (size_t)i];
        m->bracket[i].rate = s->rate[first + (size_t)i];
        m->bracket[i].upto_bytes = to < 0 ? 0 : (gt_u128)(to / MONEY_SCALE) * unit;
        if (i > 0) {
            remember(m, first + (size_t)i);
        }
    }
    if (m->n_brackets > 0) {
        m->bracket[m->n_brackets - 1].upto_bytes = 0;
    }
}

int model_build(struct tier_model *m, enum storage_product p, const struct catalog *c,
                const struct tier_options *o, struct arena *a, const char **notes, size_t *n_notes,
                struct gt_error *err)
{
    memset(m, 0, sizeof *m);
    m->product = p;
    m->delete_at_end = o->delete_at_end;
    struct lookup l = {c, catalog_id(c, o->vendor), catalog_id(c, o->region), m};
    const struct storage_rule *r;
    for (int i = 0; i < TM_TIERS && (r = storage_rule_at(p, i)) != NULL; i++) {
        struct tm_tier *t = &m->tier[m->n++];
        t->rule = r;
        read_tier(&l, t);
        if (i > 0 && !t->usable && notes && *n_notes < 8) {
            notes[(*n_notes)++] = arena_printf(
                a,
                r->single_zone ? "%s is left out as a target: it keeps the data in one zone only"
                               : "%s is left out: the catalog has no price of its storage or of "
                                 "moving into it in this region",
                r->tier);
        }
        if (r->latency_s > o->max_wait_s) {
            t->usable = false;
        }
    }
    if (!m->tier[m->hot].storage.known) {
        return gt_fail(err, GT_ENOTFOUND, "catalog", "no price of %s in %s/%s: fetch or import it",
                       m->tier[m->hot].rule->tier, o->vendor, o->region);
    }
    read_brackets(&l, m);
    for (int i = 0; i < m->n; i++) {
        for (int k = 0; k < m->n; k++) {
            m->move[i][k] = move_of(m, i, k);
        }
    }
    return 0;
}

static gt_u128 rounded(double v)
{
    return v >= 0.5 ? (gt_u128)(v + 0.5) : 0;
}

static gt_u128 larger(gt_u128 a, gt_u128 b)
{
    return a > b ? a : b;
}

/* Bytes billed at the tier's own rate. */
static gt_u128 billed(const struct tier_model *m, const struct storage_rule *r, gt_u128 objects,
                      gt_u128 bytes, gt_u128 min128k)
{
    gt_u128 b = bytes;
    if (m->product == PRODUCT_EFS) { /* each file up to the next 4 KiB; the mean stands for all */
        gt_u128 mean = objects ? (bytes + objects - 1) / objects : 0;
        b = objects * ((larger(mean, 1) + 4095) / 4096) * 4096;
    } else if (m->product == PRODUCT_EBS) {
        gt_u128 least = strcmp(r->class_name, "st1") == 0 || strcmp(r->class_name, "sc1") == 0
                            ? (gt_u128)125 * GT_GIB
                            : GT_GIB;
        b = larger((bytes + GT_GIB - 1) / GT_GIB * GT_GIB, least);
    }
    if (r->min_bytes > 0) {
        b = larger(b, larger(min128k, objects * r->min_bytes));
    }
    return b + objects * r->overhead_tier;
}

/* Intelligent-Tiering with r reads an object and month: they touch at most r of the objects in a
 * month and 3r in three, so that at least 1 - r are idle for a month and 1 - 3r for three. The
 * least idle share is taken: the steps never cost more than said. Objects below 128 KiB stay
 * frequent and pay no monitoring. */
static void automatic_steps(const struct tier_group *g, struct tm_group *out)
{
    double r = g->reads_per_month > 0 ? g->reads_per_month : 0;
    double month = r < 1 ? 1 - r : 0, quarter = 3 * r < 1 ? 1 - 3 * r : 0;
    gt_u128 mean = out->objects ? out->bytes / out->objects : 0;
    bool small =
        g->size_lo < 131072 && (g->bytes_min128k ? g->bytes_min128k > g->bytes : mean < 131072);
    gt_u128 cool = small ? 0 : rounded((double)out->bytes * month);
    gt_u128 cold = small ? 0 : rounded((double)out->bytes * quarter);
    cool = cool < out->bytes ? cool : out->bytes;
    cold = cold < cool ? cold : cool;
    out->monitored = small ? 0 : out->objects;
    out->it_bytes[0][0] = out->bytes;
    out->it_bytes[1][0] = out->bytes - cool;
    out->it_bytes[1][1] = cool;
    out->it_bytes[2][0] = out->bytes - cool;
    out->it_bytes[2][1] = cool - cold;
    out->it_bytes[2][2] = cold;
}

static int first_entry(const struct tier_model *m, int k, const struct tier_group *g,
                       const struct tm_group *q)
{
    const struct tm_tier *t = &m->tier[k];
    if (q->reads > 0 && !t->reads_known) {
        return INT_MAX;
    }
    if (m->product == PRODUCT_EBS && q->reads > 0) {
        bool small = q->objects && q->bytes / q->objects < GT_MIB;
        bool cold = strcmp(t->rule->class_name, "sc1") == 0;
        if (cold || (small && strcmp(t->rule->class_name, "st1") == 0)) {
            return INT_MAX; /* hard disks: for large sequential reads, sc1 for rare ones */
        }
    }
    double wait = t->rule->min_age_days - g->age_days;
    return wait > 0 ? (int)ceil(wait / 30) : 0;
}

void model_group(const struct tier_model *m, const struct tier_group *g,
                 const struct tier_options *o, int start, struct tm_group *out)
{
    memset(out, 0, sizeof *out);
    out->objects = g->objects;
    out->bytes = g->bytes;
    gt_u128 min128k =
        g->bytes_min128k ? g->bytes_min128k : larger(g->bytes, (gt_u128)g->objects * 131072);
    for (int k = 0; k < m->n; k++) {
        out->billed[k] = billed(m, m->tier[k].rule, out->objects, out->bytes, min128k);
    }
    double reads = g->reads_per_month > 0 ? g->reads_per_month : 0;
    double share = g->read_fraction >= 0 ? g->read_fraction : reads;
    out->reads = rounded(reads * (double)g->objects);
    out->read_bytes = rounded(share * (double)g->bytes);
    out->start = start;
    out->must_leave = m->tier[start].rule->latency_s > o->max_wait_s;
    double months = floor(g->age_days > 0 ? g->age_days / 30 : 0);
    out->served = months > 1200 ? 1200 : (int)months;
    automatic_steps(g, out);
    for (int k = 0; k < m->n; k++) {
        out->enter[k] = first_entry(m, k, g, out);
    }
}
