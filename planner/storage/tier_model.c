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

/* What is free up to some quantity is an allowance of the account, not a price. */
static size_t skip_allowance(const struct catalog_storage *s, size_t first, size_t *n)
{
    while (*n > 1 && s->rate[first] == 0 && s->to_qty[first] >= 0) {
        first++;
        --*n;
    }
    return first;
}

/* Scale of a price by the month: a period of 30 days is 720 of 730 hours where the vendor bills by
 * the hour (R-GCS-01); objects are monitored by periods of 30 days (R-GCS-08). */
static uint64_t period_of(const struct tier_model *m, enum storage_unit u, uint64_t *of)
{
    bool month = u == SU_GIB_MONTH || u == SU_GB_MONTH || u == SU_IOPS_MONTH || u == SU_DISK_MONTH;
    *of = month && m->terms->month == MONTH_730_HOURS ? 73 : 1;
    return *of == 73 ? 72 : 1;
}

/* First bracket of one component; unknown stays unknown. */
static struct tm_rate rate_of(const struct lookup *l, const char *tier, const char *component)
{
    const struct catalog_storage *s = &l->c->storage;
    size_t first, n = 0;
    uint32_t id = catalog_id(l->c, tier);
    struct tm_rate r = {.known = false, .qty = 1};
    if (id != 0) {
        n = catalog_storage_rates(l->c, l->vendor, l->region, id, component, &first);
    }
    if (n == 0) {
        return r;
    }
    first = skip_allowance(s, first, &n);
    enum storage_unit unit = (enum storage_unit)s->unit[first];
    uint64_t of, part = period_of(l->m, unit, &of);
    r.known = true;
    r.rate = s->rate[first] * (money)part;
    r.qty = (s->unit_qty[first] ? s->unit_qty[first] : 1) * of;
    switch (unit) {
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

/* Disks sold by size: the rate becomes 10^-12 and what is billed the price itself. */
static void read_sizes(const struct lookup *l, struct tm_tier *t, const char *tier)
{
    const struct catalog_storage *s = &l->c->storage;
    size_t first, n = catalog_storage_rates(l->c, l->vendor, l->region, catalog_id(l->c, tier),
                                            "storage", &first);
    if (!t->storage.known || s->unit[first] != SU_DISK_MONTH) {
        return;
    }
    uint64_t of, part = period_of(l->m, SU_DISK_MONTH, &of);
    t->storage = (struct tm_rate){.known = true, .rate = (money)part, .qty = of};
    t->size = s;
    t->first_size = first;
    t->n_sizes = n;
    for (size_t i = 1; i < n; i++) {
        remember(l->m, first + i);
    }
}

static void read_storage(const struct lookup *l, struct tm_tier *t)
{
    const struct storage_rule *r = t->rule;
    const char *component = r->price.component ? r->price.component : "storage";
    const char *tier = r->price.tier ? r->price.tier : r->tier;
    t->storage = rate_of(l, tier, component);
    for (int i = 0; i < STORAGE_STEPS && r->step[i].months > 0; i++) {
        t->step[i] = rate_of(l, r->step[i].tier, r->step[i].component);
    }
    if (r->automatic) {
        t->monitor = rate_of(l, tier, "monitoring");
    }
    if (r->volume && strcmp(component, "storage") == 0) {
        read_sizes(l, t, tier);
    }
    if (r->iops) {
        t->iops = rate_of(l, tier, "provisioned_iops");
    }
}

/* What is known decides which tiers are tried: what reads, the way in and every month cost. */
static void judge_tier(const struct lookup *l, struct tm_tier *t)
{
    const struct storage_rule *r = t->rule;
    bool hot = r == storage_rule_at(r->product, 0);
    bool home = t->storage.known && !r->single_zone;
    if (r->volume) {
        t->reads_known = !r->archive || t->retrieval.known;
        t->usable = home && t->reads_known && (r->iops == 0 || t->iops.known);
    } else if (r->product == PRODUCT_EFS) {
        t->reads_known = hot || t->retrieval.known;
        t->usable = home && (hot || t->transition.known);
    } else {
        bool steps = !r->automatic || t->monitor.known;
        for (int i = 0; i < STORAGE_STEPS && r->step[i].months > 0; i++) {
            steps = steps && t->step[i].known;
        }
        bool entry = r->whole_bucket || l->m->terms->fee == FEE_TARGET_PUT ? t->put.known
                     : l->m->terms->fee == FEE_SOURCE_PUT                  ? true
                                                                           : t->transition.known;
        t->reads_known =
            t->get.known && (hot || t->retrieval.known) && (!r->restore_fee || t->restore.known);
        t->usable = home && entry && steps;
    }
}

static void read_tier(const struct lookup *l, struct tm_tier *t)
{
    const char *name = t->rule->tier;
    const char *requests =
        l->m->terms->one_request_price ? l->m->tier[l->m->hot].rule->tier : t->rule->tier;
    read_storage(l, t);
    t->put = rate_of(l, requests, "put");
    t->get = rate_of(l, requests, "get");
    t->transition = rate_of(l, name, "transition");
    t->retrieval = rate_of(l, name, "retrieval");
    t->restore = rate_of(l, name, "retrieval_request");
    t->periods = t->rule->from_creation ? 0 : (t->rule->min_days + 29) / 30;
    judge_tier(l, t);
}

/* What a move needs must be priced: entering by lifecycle, or a copy back to the hot tier. */
static enum tm_move move_of(const struct tier_model *m, int from, int to)
{
    const struct tm_tier *f = &m->tier[from], *t = &m->tier[to];
    if (from == to || f->rule->whole_bucket) {
        return MOVE_NONE;
    }
    if (t->rule->whole_bucket) { /* written into another bucket */
        return t->usable && f->reads_known ? MOVE_COPY : MOVE_NONE;
    }
    if (f->rule->down >> to & 1) {
        bool priced = m->terms->fee != FEE_SOURCE_PUT || f->put.known;
        return t->usable && priced ? MOVE_LIFECYCLE : MOVE_NONE;
    }
    if (to != m->hot || !t->storage.known || !f->reads_known) {
        return MOVE_NONE;
    }
    return m->terms->up == UP_COPY && !t->put.known ? MOVE_NONE : MOVE_COPY;
}

static void read_brackets(const struct lookup *l, struct tier_model *m)
{
    const struct catalog_storage *s = &l->c->storage;
    size_t first;
    const char *hot = m->tier[m->hot].rule->tier;
    uint32_t id = catalog_id(l->c, hot);
    size_t n = catalog_storage_rates(l->c, l->vendor, l->region, id, "storage", &first);
    if (n == 0 || m->tier[m->hot].n_sizes > 0) { /* sizes are no brackets */
        return;
    }
    first = skip_allowance(s, first, &n);
    uint64_t of, part = period_of(m, (enum storage_unit)s->unit[first], &of);
    m->n_brackets = (int)(n < TM_BRACKETS ? n : TM_BRACKETS);
    uint64_t unit = m->tier[m->hot].storage.bytes;
    for (int i = 0; i < m->n_brackets; i++) {
        money to = s->to_qty[first + (size_t)i];
        m->bracket[i].rate = s->rate[first + (size_t)i] * (money)part;
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
    m->terms = storage_terms(p);
    m->delete_at_end = o->delete_at_end;
    m->forecast = o->forecast;
    m->horizon = o->horizon_months;
    struct lookup l = {c, catalog_id(c, o->vendor), catalog_id(c, o->region), m};
    const struct storage_rule *r;
    bool dated = false;
    for (int i = 0; i < TM_TIERS && (r = storage_rule_at(p, i)) != NULL; i++) {
        struct tm_tier *t = &m->tier[m->n++];
        t->rule = r;
        m->created = m->created || r->from_creation;
        dated = dated || r->later_min_bytes > 0;
        while (r->automatic && m->n_steps < STORAGE_STEPS && r->step[m->n_steps].months > 0) {
            m->step = r->step;
            m->n_steps++;
        }
        read_tier(&l, t);
        t->usable = t->usable && !(r->unmounted && isinf(o->max_wait_s));
        if (i > 0 && !t->usable && notes && *n_notes < 8) {
            notes[(*n_notes)++] = arena_printf(
                a,
                r->single_zone ? "%s is left out as a target: it keeps the data in one zone only"
                : t->storage.known && r->unmounted
                    ? "%s is left out: data in it must be made a volume again before use; a "
                      "longest wait (--max-wait) lets it be tried"
                    : "%s is left out: the catalog has no price of its storage or of "
                      "moving into it in this region",
                r->tier);
        }
        if (r->latency_s > o->max_wait_s) {
            t->usable = false;
        }
    }
    m->min_size_month = dated && o->min_size_from > 0 ? o->min_size_from - 1 : INT_MAX;
    if (m->tier[m->hot].rule->scratch) { /* R-SCR-01, R-FSX-01 */
        return gt_fail(err, GT_EUNSUPPORTED, "",
                       "%s is lost with its machine or server: no data have their home there",
                       m->tier[m->hot].rule->tier);
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

static gt_u128 up_to(gt_u128 bytes, uint64_t step)
{
    return (bytes + step - 1) / step * step;
}

/* Money of the disks that hold so many bytes: the largest size as often as it is filled and the
 * least one that takes the rest (R-AZ-10). */
static gt_u128 disks_price(const struct tm_tier *t, gt_u128 bytes)
{
    const struct catalog_storage *s = t->size;
    size_t last = t->first_size + t->n_sizes - 1, i = t->first_size;
    gt_u128 gib = larger(bytes + GT_GIB - 1, GT_GIB) / GT_GIB;
    money top = s->to_qty[last] / MONEY_SCALE;
    gt_u128 largest = top > 0 ? (gt_u128)top : gib, whole = (gib - 1) / largest;
    gt_u128 rest = gib - whole * largest;
    while (i < last && (gt_u128)(s->to_qty[i] / MONEY_SCALE) < rest) {
        i++;
    }
    return whole * (gt_u128)s->rate[last] + (gt_u128)s->rate[i];
}

/* Bytes billed at the tier's own rate, no object below `least`. A cell of the histogram lies on one
 * side of every vendor's least size (R-IM-02), but for 128 KiB, which has a sum of its own. */
static gt_u128 billed(const struct tm_tier *t, const struct tm_group *g, gt_u128 min128k,
                      uint64_t least)
{
    const struct storage_rule *r = t->rule;
    if (r->volume) {
        return t->n_sizes ? disks_price(t, g->bytes)
                          : storage_whole(g->bytes, r->least_bytes, r->step_bytes);
    }
    gt_u128 b = g->bytes;
    if (r->object_step) { /* each up to the next step; the mean stands for all */
        gt_u128 mean = g->objects ? (g->bytes + g->objects - 1) / g->objects : 0;
        b = g->objects * up_to(larger(mean, 1), r->object_step);
    }
    b = larger(b, g->objects * least);
    if (least == 131072) {
        b = larger(b, min128k);
    }
    return b + g->objects * r->overhead_tier;
}

int tm_phase(const struct tier_model *m, int since)
{
    int open = 0;
    while (open < m->n_steps && m->step[open].months <= since) {
        open++;
    }
    return open;
}

int tm_phase_from(const struct tier_model *m, int phase)
{
    return phase > 0 ? m->step[phase - 1].months : 0;
}

/* With r reads an object and month they touch at most r of the objects in a month and 3r in three,
 * so that at least 1 - r are idle for a month and 1 - 3r for three. The least idle share is taken:
 * the steps never cost more than said. Objects below 128 KiB stay in the first place and pay no
 * monitoring (R-S3-04, R-GCS-08). */
void model_steps(const struct tier_model *m, const struct tm_group *g, int phase, int t,
                 gt_u128 bytes[STORAGE_STEPS + 1])
{
    double read = 0;
    gt_u128 above = g->bytes; /* what is in this step or a colder one */
    int month = 0;
    for (int s = 0; s < m->n_steps; s++) {
        for (; month < m->step[s].months && read < 1; month++) {
            int at = t > month ? t - month : 0;
            read += g->rate * (m->forecast ? m->forecast[at] : 1);
        }
        bool open = g->monitored > 0 && s < phase && read < 1;
        gt_u128 idle = open ? rounded((double)g->bytes * (1 - read)) : 0;
        idle = idle < above ? idle : above;
        bytes[s] = above - idle;
        above = idle;
    }
    bytes[m->n_steps] = above;
}

static int first_entry(const struct tier_model *m, int k, const struct tier_group *g,
                       const struct tm_group *q)
{
    const struct tm_tier *t = &m->tier[k];
    if (q->reads > 0 && !t->reads_known) {
        return INT_MAX;
    }
    uint32_t least = t->rule->read_least;
    bool small = q->objects && q->bytes / q->objects < least;
    if (q->reads > 0 && least > 0 && (small || least == UINT32_MAX)) {
        return INT_MAX;
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
        const struct storage_rule *r = m->tier[k].rule;
        uint64_t later = r->later_min_bytes ? r->later_min_bytes : r->min_bytes;
        out->billed[k] = billed(&m->tier[k], out, min128k, r->min_bytes);
        out->later[k] =
            later == r->min_bytes ? out->billed[k] : billed(&m->tier[k], out, min128k, later);
    }
    double reads = g->reads_per_month > 0 ? g->reads_per_month : 0;
    double share = g->read_fraction >= 0 ? g->read_fraction : reads;
    out->reads = rounded(reads * (double)g->objects);
    out->read_bytes = rounded(share * (double)g->bytes);
    out->start = start;
    out->must_leave = m->tier[start].rule->latency_s > o->max_wait_s;
    double months = floor(g->age_days > 0 ? g->age_days / 30 : 0);
    out->served = months > 1200 ? 1200 : (int)months;
    out->rate = reads;
    gt_u128 mean = out->objects ? out->bytes / out->objects : 0;
    bool small =
        g->size_lo < 131072 && (g->bytes_min128k ? g->bytes_min128k > g->bytes : mean < 131072);
    out->monitored = small ? 0 : out->objects;
    for (int phase = 0; phase <= m->n_steps; phase++) {
        model_steps(m, out, phase, 0, out->auto_bytes[phase]);
    }
    for (int k = 0; k < m->n; k++) {
        out->enter[k] = first_entry(m, k, g, out);
    }
}
