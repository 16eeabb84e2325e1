/* The exact bill of one group on one path: each line is rate x quantity, rounded once (product.md
 * section 4). The search in tier_dp.c reads the same functions through doubles. */
#include "tier_model.h"
#include <string.h>

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

bool tm_varies(const struct tier_model *m)
{
    return m->forecast || (m->min_size_month > 0 && m->min_size_month < m->horizon);
}

gt_u128 tm_reads(const struct tier_model *m, gt_u128 first_month, int t)
{
    if (!m->forecast) {
        return first_month;
    }
    double v = (double)first_month * m->forecast[t];
    return v >= 0.5 ? (gt_u128)(v + 0.5) : 0;
}

int tm_alike(const struct tier_model *m, int k, int since, int t, int n)
{
    if (m->forecast) {
        return n > 0;
    }
    if (t < m->min_size_month && n > m->min_size_month - t) {
        n = m->min_size_month - t;
    }
    int phase = m->tier[k].rule->automatic ? tm_phase(m, since) : m->n_steps;
    if (phase < m->n_steps && tm_phase_from(m, phase + 1) - since < n) {
        n = tm_phase_from(m, phase + 1) - since;
    }
    return n;
}

static gt_u128 billed_at(const struct tier_model *m, const struct tm_group *g, int k, int t)
{
    return t >= m->min_size_month ? g->later[k] : g->billed[k];
}

static int add_automatic(const struct tier_model *m, const struct tm_group *g, int k, int since,
                         int t, gt_u128 months, money *sum)
{
    const struct tm_tier *tier = &m->tier[k];
    gt_u128 bytes[STORAGE_STEPS + 1];
    int phase = tm_phase(m, since);
    if (m->forecast) {
        model_steps(m, g, phase, t, bytes);
    } else {
        memcpy(bytes, g->auto_bytes[phase], sizeof bytes);
    }
    int rc = add(sum, &tier->storage, bytes[0], months);
    for (int i = 0; i < m->n_steps && rc == 0; i++) {
        rc = add(sum, &tier->step[i], bytes[i + 1], months);
    }
    return rc < 0 ? rc : add(sum, &tier->monitor, g->monitored, months);
}

int cost_stay(const struct tier_model *m, const struct tm_group *g, int k, int since, int t,
              gt_u128 months, money *out)
{
    const struct tm_tier *tier = &m->tier[k];
    const struct tm_rate *hot = &m->tier[m->hot].storage;
    *out = 0;
    int rc = tier->rule->automatic ? add_automatic(m, g, k, since, t, months, out)
                                   : add(out, &tier->storage, billed_at(m, g, k, t), months);
    if (tier->rule->overhead_hot) {
        rc = rc < 0 ? rc : add(out, hot, g->objects * tier->rule->overhead_hot, months);
    }
    if (tier->rule->iops) {
        uint64_t most = tier->rule->most_bytes;
        gt_u128 volumes = most && g->bytes > most ? (g->bytes + most - 1) / most : 1;
        rc = rc < 0 ? rc : add(out, &tier->iops, volumes * tier->rule->iops, months);
    }
    if (g->reads == 0 && g->read_bytes == 0) {
        return rc;
    }
    gt_u128 reads = tm_reads(m, g->reads, t), bytes = tm_reads(m, g->read_bytes, t);
    rc = rc < 0 ? rc : add(out, &tier->get, reads, months);
    rc = rc < 0 ? rc : add(out, &tier->retrieval, bytes, months);
    if (tier->rule->restore_fee) {
        rc = rc < 0 ? rc : add(out, &tier->restore, reads, months);
    }
    if (tier->rule->restore_copy) { /* it stands in the hot tier for some days (R-S3-18) */
        struct tm_rate copy = *hot;
        copy.qty *= 30;
        rc = rc < 0 ? rc : add(out, &copy, bytes * COPY_DAYS, months);
    }
    return rc;
}

int cost_read(const struct tier_model *m, const struct tm_group *g, int from, money *out)
{
    const struct tm_tier *f = &m->tier[from];
    *out = 0;
    int rc = add(out, &f->get, g->objects, 1);
    rc = rc < 0 ? rc : add(out, &f->retrieval, g->bytes, 1);
    return rc < 0 || !f->rule->restore_fee ? rc : add(out, &f->restore, g->objects, 1);
}

int cost_move(const struct tier_model *m, const struct tm_group *g, int from, int to, money *out)
{
    const struct tm_tier *f = &m->tier[from], *t = &m->tier[to];
    *out = 0;
    if (m->move[from][to] == MOVE_LIFECYCLE) {
        if (m->terms->fee == FEE_COPY_DAY) {
            struct tm_rate day = t->storage;
            day.qty *= 30;
            return add(out, &day, g->billed[to], 1);
        }
        const struct tm_rate *fee = m->terms->fee == FEE_SOURCE_PUT   ? &f->put
                                    : m->terms->fee == FEE_TARGET_PUT ? &t->put
                                                                      : &t->transition;
        return add(out, fee, fee->bytes ? g->bytes : g->objects, 1);
    }
    /* Up to the hot tier: written there if that is a copy. */
    int rc = cost_read(m, g, from, out);
    return rc < 0 || m->terms->up != UP_COPY ? rc : add(out, &t->put, g->objects, 1);
}

int cost_penalty(const struct tier_model *m, const struct tm_group *g, int k, int served, int age,
                 int t, money *out)
{
    const struct tm_tier *tier = &m->tier[k];
    int left = tier->rule->min_days - 30 * (tier->rule->from_creation ? age : served);
    *out = 0;
    if (left <= 0) {
        return 0;
    }
    struct tm_rate day = tier->storage;
    day.qty *= 30;
    return tm_amount(&day, billed_at(m, g, k, t), (gt_u128)left, out);
}

int cost_leave(const struct tier_model *m, const struct tm_group *g, int from, int to, int served,
               int age, int t, money *out)
{
    *out = 0;
    return m->terms->early_free && m->move[from][to] == MOVE_LIFECYCLE
               ? 0
               : cost_penalty(m, g, from, served, age, t, out);
}

/* Months [t, t + n), `since` months after entry, split where the monthly cost changes. */
static int add_months(const struct tier_model *m, const struct tm_group *g, int k, int since, int t,
                      int n, money *sum)
{
    int rc = 0;
    while (n > 0 && rc == 0) {
        int run = tm_alike(m, k, since, t, n);
        money line;
        rc = cost_stay(m, g, k, since, t, (gt_u128)run, &line);
        rc = rc < 0 ? rc : money_add(*sum, line, sum);
        since += run;
        t += run;
        n -= run;
    }
    return rc;
}

int cost_path(const struct tier_model *m, const struct tm_group *g, const struct tm_segment *s,
              size_t n, money *out)
{
    int at = g->start, served = g->served, born = -g->served, rc = 0;
    *out = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        money line;
        if (s[i].tier != at) {
            rc = cost_leave(m, g, at, s[i].tier, served, s[i].from - born, s[i].from, &line);
            rc = rc < 0 ? rc : money_add(*out, line, out);
            rc = rc < 0 ? rc : cost_move(m, g, at, s[i].tier, &line);
            rc = rc < 0 ? rc : money_add(*out, line, out);
            born = m->move[at][s[i].tier] == MOVE_COPY ? s[i].from : born;
            at = s[i].tier;
            served = 0;
        }
        rc = rc < 0 ? rc : add_months(m, g, at, served, s[i].from, s[i].to - s[i].from, out);
        served += s[i].to - s[i].from;
    }
    if (m->delete_at_end && rc == 0 && n > 0) {
        money line;
        rc = cost_penalty(m, g, at, served, s[n - 1].to - born, s[n - 1].to, &line);
        rc = rc < 0 ? rc : money_add(*out, line, out);
    }
    return rc;
}

int tm_discount(const struct tier_model *m, gt_u128 hot_bytes, money *out)
{
    struct tm_rate r = m->tier[m->hot].storage;
    *out = 0;
    gt_u128 bought = storage_whole(hot_bytes, m->terms->min_account_bytes, m->terms->account_step);
    if (bought > hot_bytes) {
        money more;
        int rc = tm_amount(&r, bought - hot_bytes, 1, &more);
        rc = rc < 0 ? rc : money_add(*out, -more, out);
        if (rc < 0) {
            return rc;
        }
    }
    gt_u128 from = 0;
    for (int b = 0; b < m->n_brackets && from < hot_bytes; b++) {
        gt_u128 to = m->bracket[b].upto_bytes;
        to = to == 0 || to > hot_bytes ? hot_bytes : to;
        money line;
        r.rate = m->bracket[0].rate - m->bracket[b].rate;
        int rc = r.rate < 0 ? 0 : tm_amount(&r, to - from, 1, &line);
        if (rc < 0 || (r.rate > 0 && money_add(*out, line, out) < 0)) {
            return GT_ERANGE;
        }
        from = to;
    }
    return 0;
}
