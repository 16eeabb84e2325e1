/* The exact bill of one group on one path: each line is rate x quantity, rounded once (product.md
 * section 4). The search in tier_dp.c reads the same functions through doubles. */
#include "tier_model.h"

int tm_amount(const struct tm_rate *r, gt_u128 quantity, gt_u128 months, money *out)
{
    *out = 0;
    if (quantity == 0 || months == 0 || r->rate == 0) {
        return 0;
    }
    gt_u128 q, product;
    gt_u128 den = r->qty * (gt_u128)(r->bytes ? r->bytes : 1);
    uint64_t q64;
    bool small = quantity >> 64 == 0 && months >> 64 == 0 && r->rate > 0 && r->rate >> 62 == 0 &&
                 !__builtin_mul_overflow((uint64_t)quantity, (uint64_t)months, &q64);
    if (small) {
        q = q64;
        product = (gt_u128)(uint64_t)r->rate * q64;
    } else if (__builtin_mul_overflow(quantity, months, &q)) {
        return GT_ERANGE;
    }
    /* The usual case fits 128 bits: one product, one division, half to even. */
    if (small || (r->rate > 0 && !__builtin_mul_overflow((gt_u128)r->rate, q, &product) &&
                  product >> 126 == 0)) {
        gt_u128 whole, rest;
        if (den == (gt_u128)1 << 30) {
            whole = product >> 30;
            rest = product & (((gt_u128)1 << 30) - 1);
        } else if (product >> 64 == 0) {
            whole = (uint64_t)product / (uint64_t)den;
            rest = (uint64_t)product % (uint64_t)den;
        } else {
            whole = product / den;
            rest = product % den;
        }
        gt_u128 twice = rest * 2;
        *out = (money)(whole + (twice > den || (twice == den && (whole & 1))));
        return 0;
    }
    return money_mul_ratio(r->rate, q, den, out);
}

static int add(money *sum, const struct tm_rate *r, gt_u128 quantity, gt_u128 months)
{
    money line;
    int rc = tm_amount(r, quantity, months, &line);
    return rc < 0 ? rc : money_add(*sum, line, sum);
}

static int add_storage(const struct tier_model *m, const struct tm_group *g, int k, int since,
                       gt_u128 months, money *sum)
{
    const struct tm_tier *t = &m->tier[k];
    if (!t->rule->automatic) {
        return add(sum, &t->storage, g->billed[k], months);
    }
    int phase = since >= 3 ? 2 : since > 0;
    int rc = add(sum, &t->storage, g->it_bytes[phase][0], months);
    rc = rc < 0 ? rc : add(sum, &t->infrequent, g->it_bytes[phase][1], months);
    rc = rc < 0 ? rc : add(sum, &t->instant, g->it_bytes[phase][2], months);
    return rc < 0 ? rc : add(sum, &t->monitor, g->monitored, months);
}

int cost_stay(const struct tier_model *m, const struct tm_group *g, int k, int since,
              gt_u128 months, money *out)
{
    const struct tm_tier *t = &m->tier[k];
    const struct tm_rate *hot = &m->tier[m->hot].storage;
    *out = 0;
    int rc = add_storage(m, g, k, since, months, out);
    if (t->rule->overhead_hot) {
        rc = rc < 0 ? rc : add(out, hot, g->objects * t->rule->overhead_hot, months);
    }
    if (g->reads == 0 && g->read_bytes == 0) {
        return rc;
    }
    rc = rc < 0 ? rc : add(out, &t->get, g->reads, months);
    rc = rc < 0 ? rc : add(out, &t->retrieval, g->read_bytes, months);
    if (t->rule->archive) { /* restored copies stand in the hot tier for some days (R-S3-18) */
        struct tm_rate copy = *hot;
        copy.qty *= 30;
        rc = rc < 0 ? rc : add(out, &t->restore, g->reads, months);
        rc = rc < 0 ? rc : add(out, &copy, g->read_bytes * COPY_DAYS, months);
    }
    return rc;
}

int cost_move(const struct tier_model *m, const struct tm_group *g, int from, int to, money *out)
{
    const struct tm_tier *f = &m->tier[from], *t = &m->tier[to];
    *out = 0;
    if (m->move[from][to] == MOVE_LIFECYCLE) {
        return add(out, &t->transition, t->transition.bytes ? g->bytes : g->objects, 1);
    }
    /* Copy back: restore and read every object, write it to the hot tier. */
    int rc = add(out, &f->get, g->objects, 1);
    rc = rc < 0 ? rc : add(out, &f->retrieval, g->bytes, 1);
    if (f->rule->archive) {
        rc = rc < 0 ? rc : add(out, &f->restore, g->objects, 1);
    }
    return rc < 0 ? rc : add(out, &t->put, g->objects, 1);
}

int cost_penalty(const struct tier_model *m, const struct tm_group *g, int k, int served,
                 money *out)
{
    const struct tm_tier *t = &m->tier[k];
    *out = 0;
    int left = t->periods - served;
    return left > 0 ? tm_amount(&t->storage, g->billed[k], (gt_u128)left, out) : 0;
}

/* Months [since, since + n) after entry, split where the monthly cost changes. */
static int add_months(const struct tier_model *m, const struct tm_group *g, int k, int since, int n,
                      money *sum)
{
    int rc = 0;
    while (n > 0 && rc == 0) {
        int run = n;
        if (m->tier[k].rule->automatic) {
            int edge = since < 1 ? 1 : since < 3 ? 3 : since + n;
            run = edge - since < n ? edge - since : n;
        }
        money line;
        rc = cost_stay(m, g, k, since, (gt_u128)run, &line);
        rc = rc < 0 ? rc : money_add(*sum, line, sum);
        since += run;
        n -= run;
    }
    return rc;
}

int cost_path(const struct tier_model *m, const struct tm_group *g, const struct tm_segment *s,
              size_t n, money *out)
{
    int at = g->start, served = g->served, rc = 0;
    *out = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        money line;
        if (s[i].tier != at) {
            rc = cost_penalty(m, g, at, served, &line);
            rc = rc < 0 ? rc : money_add(*out, line, out);
            rc = rc < 0 ? rc : cost_move(m, g, at, s[i].tier, &line);
            rc = rc < 0 ? rc : money_add(*out, line, out);
            at = s[i].tier;
            served = 0;
        }
        rc = rc < 0 ? rc : add_months(m, g, at, served, s[i].to - s[i].from, out);
        served += s[i].to - s[i].from;
    }
    if (m->delete_at_end && rc == 0) {
        money line;
        rc = cost_penalty(m, g, at, served, &line);
        rc = rc < 0 ? rc : money_add(*out, line, out);
    }
    return rc;
}
