/* At most N disjoint rules that save most: a knapsack on the tree of prefixes.
 *
 * A rule covers an interval of size classes of everything below one prefix. Let f(v, S, k) be the
 * most that k rules at v or below save in the subtree of v when the classes S are covered from
 * above. Either no rule stands at v, and k is shared among the children (g), or some rule does:
 *   f(v, S, k) = max(g(v, S, k), max over intervals I outside S of gain(v, I) + f(v, S + I, k - w))
 * with w what the rule counts for. Classes are what S is made of, so a rule below never meets one
 * above, and every set of disjoint rules is one way through this recursion: the maximum is exact.
 * gain is the sum over the cells covered, which is linear: savings by schedule are summed up the
 * tree. g: children whose f is concave in k give their steps to one list, of which the k largest
 * are taken (the maximum of a sum of concave functions); the others are shared one by one.
 * Over 600 lines: the tree, its recursion and the way back through it are one proof. */
#include "gputier/text.h"
#include "policy.h"
#include <stdlib.h>
#include <string.h>

#define DEPTH   64 /* prefixes nested deeper belong to the one at this depth */
#define OPTIONS 16
#define EPS     1e-12

struct option {
    unsigned mask;
    int low, high, weight, schedule[2];
    double gain;
};
struct node {
    const char *prefix;
    size_t len, parent, first, next; /* nodes: children in a chain, 0 = none */
    size_t cell, n_cells;
    int depth, n_options, most; /* most: rules that can be of use */
    unsigned present, span;     /* classes found below; with those between them */
    double possible;
    struct option *option;
    double *f; /* [subset of span, packed][0 .. most] */
};
struct step {
    double v;
    size_t node;
};
struct tree {
    const struct policy_search *s;
    struct node *node;
    size_t n;
    int rules;
    double *sum[DEPTH + 1][2][POLICY_CLASSES];
    bool filled[DEPTH + 1][2][POLICY_CLASSES];
    struct policy_pricer *pricer;
    struct policy_choice *chosen;
    size_t n_chosen;
    bool failed;
};

/* Bits of `mask` at the places of `span`, side by side. */
static unsigned pack(unsigned mask, unsigned span)
{
    unsigned out = 0;
    for (unsigned c = 0, at = 0; c < POLICY_CLASSES; c++) {
        if (span >> c & 1) {
            out |= (mask >> c & 1) << at++;
        }
    }
    return out;
}

static unsigned unpack(unsigned packed, unsigned span)
{
    unsigned out = 0;
    for (unsigned c = 0, at = 0; c < POLICY_CLASSES; c++) {
        if (span >> c & 1) {
            out |= (packed >> at++ & 1) << c;
        }
    }
    return out;
}

static double *row_of(const struct node *v, unsigned covered)
{
    return v->f + pack(covered, v->span) * ((size_t)v->most + 1);
}

static int by_prefix(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    int c = memcmp(x->prefix, y->prefix, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Prefixes that rules may stand at: the whole bucket, every one listed, and the folders in which
 * the listed ones part. */
static size_t list_prefixes(const struct policy_search *s, struct node *v)
{
    size_t n = 0;
    v[n++] = (struct node){.prefix = ""};
    for (size_t i = 0; i < s->n_cells; i++) {
        const char *p = s->cell[i].prefix, *last = i ? s->cell[i - 1].prefix : NULL;
        if (last && strcmp(p, last) == 0) {
            continue;
        }
        v[n++] = (struct node){.prefix = p, .len = strlen(p)};
        size_t folder = 0;
        for (size_t k = 0; last && p[k] != '\0' && p[k] == last[k]; k++) {
            folder = p[k] == '/' ? k + 1 : folder;
        }
        if (folder > 0) {
            v[n++] = (struct node){.prefix = p, .len = folder};
        }
    }
    qsort(v, n, sizeof *v, by_prefix);
    return n;
}

static bool begins(const struct node *v, const char *with, size_t len)
{
    return v->len >= len && memcmp(v->prefix, with, len) == 0;
}

/* Parents and children; cells go to the node of their prefix. */
static void link_nodes(struct tree *t, size_t listed)
{
    const struct policy_search *s = t->s;
    struct node *v = t->node;
    size_t stack[DEPTH], depth = 0, cell = 0;
    for (size_t i = 0; i < listed; i++) {
        struct node x = v[i];
        if (t->n > 0 && by_prefix(&x, &v[t->n - 1]) == 0) {
            continue;
        }
        while (depth > 0 && !begins(&x, v[stack[depth - 1]].prefix, v[stack[depth - 1]].len)) {
            depth--;
        }
        size_t at = depth == DEPTH ? stack[depth - 1] : t->n;
        if (depth < DEPTH) {
            x.depth = (int)depth;
            x.cell = cell;
            x.parent = depth ? stack[depth - 1] : 0;
            v[at] = x;
            stack[depth++] = at;
            t->n++;
        }
        while (cell < s->n_cells && strlen(s->cell[cell].prefix) == x.len &&
               memcmp(s->cell[cell].prefix, x.prefix, x.len) == 0) {
            v[at].n_cells++;
            cell++;
        }
    }
    for (size_t i = t->n - 1; i > 0; i--) {
        v[i].next = v[v[i].parent].first;
        v[v[i].parent].first = i;
    }
}

static double *sums_of(struct tree *t, int depth, int kind, int c)
{
    double **sum = &t->sum[depth][kind][c];
    if (!*sum) {
        *sum = malloc((t->s->n_schedules + 1) * sizeof **sum);
    }
    if (!*sum) {
        t->failed = true;
    } else if (!t->filled[depth][kind][c]) {
        memset(*sum, 0, t->s->n_schedules * sizeof **sum);
        t->filled[depth][kind][c] = true;
    }
    return *sum;
}

static void add_cells(struct tree *t, struct node *v)
{
    for (size_t i = v->cell; i < v->cell + v->n_cells && !t->failed; i++) {
        const struct cell *c = &t->s->cell[i];
        double *sum = sums_of(t, v->depth, c->noncurrent, c->size_class);
        v->present |= 1u << c->size_class;
        v->possible += c->possible;
        t->failed = t->failed || !policy_add_savings(t->pricer, c, sum);
    }
}

/* What was summed at v belongs to its parent too. */
static void hand_up(struct tree *t, const struct node *v)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int c = 0; c < POLICY_CLASSES; c++) {
            if (t->filled[v->depth][kind][c] && v->depth > 0) {
                const double *from = t->sum[v->depth][kind][c];
                double *to = sums_of(t, v->depth - 1, kind, c);
                for (size_t i = 0; to && i < t->s->n_schedules; i++) {
                    to[i] += from[i];
                }
            }
            t->filled[v->depth][kind][c] = false;
        }
    }
    if (v->depth > 0) {
        t->node[v->parent].present |= v->present;
        t->node[v->parent].possible += v->possible;
    }
}

/* Days of old versions begin with 1 where they count from the replacement. */
static bool allowed(const struct policy_search *s, const struct schedule *x, int kind)
{
    return kind == 0 || x->days[0] > 0 || s->m->terms->lifecycle == LIFECYCLE_AZURE;
}

/* Best schedules of one, two and three transitions over summed savings; -1 = none saves. */
static void best_of(const struct policy_search *s, const double *sum, int kind,
                    int best[POLICY_STEPS], double gain[POLICY_STEPS])
{
    double top[POLICY_STEPS] = {0};
    for (int n = 0; n < POLICY_STEPS; n++) {
        best[n] = -1;
        gain[n] = 0;
    }
    for (size_t i = 0; i < s->n_schedules; i++) {
        int n = s->schedule[i].n - 1;
        if (sum[i] > top[n] && allowed(s, &s->schedule[i], kind)) {
            top[n] = sum[i];
        }
    }
    for (size_t i = 0; i < s->n_schedules; i++) { /* the first of those that save the same */
        int n = s->schedule[i].n - 1;
        if (best[n] < 0 && top[n] > 0 && sum[i] >= top[n] * (1 - EPS) &&
            allowed(s, &s->schedule[i], kind)) {
            best[n] = (int)i;
            gain[n] = sum[i];
        }
    }
}

static void put_option(struct node *v, struct option o)
{
    for (int i = 0; i < v->n_options; i++) {
        struct option *x = &v->option[i];
        if (x->mask == o.mask && x->weight == o.weight) {
            *x = o.gain > x->gain * (1 + EPS) ? o : *x;
            return;
        }
    }
    v->option[v->n_options++] = o;
}

/* Rules over the classes low to high: each kind of objects gets its best schedule or none. */
static void make_options(const struct tree *t, struct node *v, int low, int high, unsigned mask,
                         double *const sum[2])
{
    bool counted = t->s->m->terms->lifecycle == LIFECYCLE_GCS; /* one action a rule (R-LC-05) */
    int best[2][POLICY_STEPS];
    double gain[2][POLICY_STEPS];
    for (int kind = 0; kind < 2; kind++) {
        for (int n = 0; n < POLICY_STEPS; n++) {
            best[kind][n] = -1;
        }
        if (sum[kind]) {
            best_of(t->s, sum[kind], kind, best[kind], gain[kind]);
        }
    }
    for (int x = -1; x < POLICY_STEPS; x++) {
        for (int y = -1; y < POLICY_STEPS; y++) {
            if ((x < 0 && y < 0) || (x >= 0 && best[0][x] < 0) || (y >= 0 && best[1][y] < 0)) {
                continue;
            }
            double both = (x < 0 ? 0 : gain[0][x]) + (y < 0 ? 0 : gain[1][y]);
            struct option o = {.mask = mask,
                               .low = low,
                               .high = high,
                               .weight = counted ? x + y + 2 : 1,
                               .schedule = {x < 0 ? -1 : best[0][x], y < 0 ? -1 : best[1][y]},
                               .gain = both};
            put_option(v, o);
        }
    }
}

static bool may_stand(const struct tree *t, const struct node *v)
{
    enum lifecycle_kind kind = t->s->m->terms->lifecycle;
    bool odd = kind == LIFECYCLE_AZURE && v->len > 0 &&
               (v->prefix[0] == '/' || memchr(v->prefix, '*', v->len)); /* R-LC-04 */
    /* A lifecycle file is UTF-8: a name that is not cannot be written as a prefix. */
    return !odd && utf8_valid(v->prefix, v->len);
}

/* Of low .. high all classes: a rule above may cover one that is not here, but could be. */
static unsigned span_of(unsigned present)
{
    unsigned span = present;
    for (unsigned c = 1; c + 1 < POLICY_CLASSES; c++) {
        span |= (present >> (c + 1) && present & ((1u << c) - 1)) ? 1u << c : 0;
    }
    return span;
}

/* All intervals between classes that are there. */
static void all_options(struct tree *t, struct node *v, double *scratch)
{
    const size_t n = t->s->n_schedules;
    v->option = malloc(OPTIONS * sizeof *v->option);
    t->failed = t->failed || !v->option;
    for (int low = 0; low < POLICY_CLASSES && !t->failed; low++) {
        double *sum[2] = {NULL, NULL};
        unsigned mask = 0;
        for (int high = low; high < POLICY_CLASSES && v->present >> low & 1; high++) {
            for (int kind = 0; kind < 2; kind++) {
                if (!t->filled[v->depth][kind][high]) {
                    continue;
                }
                double *to = scratch + (size_t)kind * n;
                const double *from = t->sum[v->depth][kind][high];
                for (size_t i = 0; i < n; i++) {
                    to[i] = sum[kind] ? to[i] + from[i] : from[i];
                }
                sum[kind] = to;
            }
            mask |= 1u << high;
            if (v->present >> high & 1) {
                make_options(t, v, low, high, mask, sum);
            }
        }
    }
    if (v->n_options == 0) {
        free(v->option);
        v->option = NULL;
    }
}

/* The k largest steps, in a heap whose least is on top; ties: the node named first stays. */
static void keep_step(struct step *heap, size_t *n, size_t most, struct step x)
{
    size_t at;
    if (*n < most) {
        at = (*n)++;
        while (at > 0 && heap[(at - 1) / 2].v > x.v) {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
    } else {
        if (most == 0 || x.v <= heap[0].v) {
            return;
        }
        at = 0;
        for (size_t next = 1; next < *n; next = 2 * at + 1) {
            next += next + 1 < *n && heap[next + 1].v < heap[next].v;
            if (heap[next].v >= x.v) {
                break;
            }
            heap[at] = heap[next];
            at = next;
        }
    }
    heap[at] = x;
}

static int largest_first(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    int c = (x->v < y->v) - (x->v > y->v);
    return c ? c : (x->node > y->node) - (x->node < y->node);
}

static bool concave(const double *f, int n)
{
    for (int k = 2; k <= n; k++) {
        if (f[k] - f[k - 1] > (f[k - 1] - f[k - 2]) * (1 + EPS)) {
            return false;
        }
    }
    return true;
}

/* How k rules are shared among the children of v. */
struct share {
    double *g; /* [0 .. most] */
    int most;
    struct step *step;
    size_t n_steps;
    size_t *odd; /* children that are not concave, and what each takes: [odd][k] */
    size_t n_odd;
    uint16_t *take;
};

static void share_release(struct share *h)
{
    free(h->g);
    free(h->step);
    free(h->odd);
    free(h->take);
}

static bool share_children(struct tree *t, const struct node *v, unsigned covered, int most,
                           struct share *h)
{
    *h = (struct share){.most = most};
    h->g = calloc((size_t)most + 1, sizeof *h->g);
    h->step = malloc(((size_t)most + 1) * sizeof *h->step);
    size_t room = 0;
    for (size_t i = v->first; i; i = t->node[i].next) {
        const struct node *c = &t->node[i];
        if (!c->f || !(c->present & ~covered)) {
            continue;
        }
        const double *f = row_of(c, covered);
        if (concave(f, c->most)) {
            for (int k = 1; h->step && k <= c->most && f[k] > f[k - 1]; k++) {
                keep_step(h->step, &h->n_steps, (size_t)most, (struct step){f[k] - f[k - 1], i});
            }
            continue;
        }
        if (h->n_odd == room) {
            room = room ? room * 2 : 8;
            size_t *more = realloc(h->odd, room * sizeof *more);
            if (!more) {
                t->failed = true;
                return false;
            }
            h->odd = more;
        }
        h->odd[h->n_odd++] = i;
    }
    h->take = calloc(h->n_odd * ((size_t)most + 1) + 1, sizeof *h->take);
    if (!h->g || !h->step || !h->take) {
        t->failed = true;
        return false;
    }
    qsort(h->step, h->n_steps, sizeof *h->step, largest_first);
    for (int k = 1; k <= most; k++) {
        h->g[k] = h->g[k - 1] + ((size_t)k <= h->n_steps ? h->step[k - 1].v : 0);
    }
    for (size_t x = 0; x < h->n_odd; x++) {
        const struct node *c = &t->node[h->odd[x]];
        const double *f = row_of(c, covered);
        for (int k = most; k > 0; k--) {
            double best = h->g[k];
            for (int j = 1; j <= k && j <= c->most; j++) {
                if (h->g[k - j] + f[j] > best) {
                    best = h->g[k - j] + f[j];
                    h->take[x * ((size_t)most + 1) + (size_t)k] = (uint16_t)j;
                }
            }
            h->g[k] = best;
        }
    }
    return true;
}

/* f of one node from its children's and its own rules. */
static void solve(struct tree *t, struct node *v)
{
    int most = 0, heaviest = 0;
    for (size_t i = v->first; i; i = t->node[i].next) {
        most = most + t->node[i].most > t->rules ? t->rules : most + t->node[i].most;
    }
    for (int i = 0; i < v->n_options; i++) {
        heaviest = v->option[i].weight > heaviest ? v->option[i].weight : heaviest;
    }
    most += heaviest * __builtin_popcount(v->present);
    v->most = most > t->rules ? t->rules : most;
    if (v->most == 0) {
        return;
    }
    unsigned subsets = 1u << __builtin_popcount(v->span);
    v->f = calloc(subsets * ((size_t)v->most + 1), sizeof *v->f);
    t->failed = t->failed || !v->f;
    for (unsigned i = subsets; i-- > 0 && !t->failed;) {
        unsigned covered = unpack(i, v->span);
        struct share h;
        if (share_children(t, v, covered, v->most, &h)) {
            double *f = row_of(v, covered);
            for (int k = 1; k <= v->most; k++) {
                f[k] = h.g[k] > f[k - 1] ? h.g[k] : f[k - 1];
                for (int o = 0; o < v->n_options; o++) {
                    const struct option *x = &v->option[o];
                    if (!(x->mask & covered) && x->weight <= k) {
                        double sum = x->gain + row_of(v, covered | x->mask)[k - x->weight];
                        f[k] = sum > f[k] ? sum : f[k];
                    }
                }
            }
        }
        share_release(&h);
    }
}

static void take_back(struct tree *t, size_t at, unsigned covered, int k);

/* The children's parts of k rules. */
static void descend(struct tree *t, const struct share *h, unsigned covered, int k)
{
    for (size_t x = h->n_odd; x-- > 0;) {
        int j = h->take[x * ((size_t)h->most + 1) + (size_t)k];
        take_back(t, h->odd[x], covered, j);
        k -= j;
    }
    for (size_t i = 0; i < h->n_steps && i < (size_t)k; i++) {
        size_t node = h->step[i].node;
        int count = 0;
        bool seen = false;
        for (size_t x = 0; x < h->n_steps && x < (size_t)k; x++) {
            seen = seen || (x < i && h->step[x].node == node);
            count += h->step[x].node == node;
        }
        if (!seen) {
            take_back(t, node, covered, count);
        }
    }
}

/* The rules behind f(v, covered, k): the fewest, and those below where they do as well. */
static void take_back(struct tree *t, size_t at, unsigned covered, int k)
{
    const struct node *v = &t->node[at];
    if (!v->f || k == 0 || t->failed) {
        return;
    }
    const double *f = row_of(v, covered);
    k = k > v->most ? v->most : k;
    while (k > 0 && f[k - 1] >= f[k] * (1 - EPS)) {
        k--;
    }
    struct share h = {.g = NULL};
    if (k > 0 && share_children(t, v, covered, k, &h) && h.g[k] >= f[k] * (1 - EPS)) {
        descend(t, &h, covered, k);
        k = 0;
    }
    share_release(&h);
    for (int o = 0; o < v->n_options && k > 0 && !t->failed; o++) {
        const struct option *x = &v->option[o];
        if (!(x->mask & covered) && x->weight <= k &&
            x->gain + row_of(v, covered | x->mask)[k - x->weight] >= f[k] * (1 - EPS)) {
            t->chosen[t->n_chosen++] = (struct policy_choice){
                v->prefix, v->len, x->low, x->high, {x->schedule[0], x->schedule[1]}};
            take_back(t, at, covered | x->mask, k - x->weight);
            k = 0;
        }
    }
}

/* A rule whose sizes end with the largest there are says no end, unless another rule could then
 * meet it. */
static void widen(struct tree *t)
{
    int last = policy_classes(t->s->m) - 1;
    for (size_t i = 0; i < t->n_chosen; i++) {
        struct policy_choice *a = &t->chosen[i];
        bool free_above = true;
        for (size_t v = 0; v < t->n && a->high < last; v++) {
            const struct node *x = &t->node[v];
            bool same = x->len == a->len && memcmp(x->prefix, a->prefix, a->len) == 0;
            free_above = free_above && !(same && x->present >> (a->high + 1) != 0);
        }
        for (size_t k = 0; k < t->n_chosen && free_above; k++) {
            const struct policy_choice *b = &t->chosen[k];
            size_t len = a->len < b->len ? a->len : b->len;
            free_above = k == i || b->high <= a->high || memcmp(a->prefix, b->prefix, len) != 0;
        }
        a->high = free_above ? last : a->high;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct policy_choice *x = a, *y = b;
    int c = memcmp(x->prefix, y->prefix, x->len < y->len ? x->len : y->len);
    c = c ? c : (x->len > y->len) - (x->len < y->len);
    return c ? c : x->low - y->low;
}

static void search(struct tree *t)
{
    double *scratch = malloc((t->s->n_schedules + 1) * 2 * sizeof *scratch);
    t->failed = t->failed || !scratch;
    for (size_t i = t->n; i-- > 0 && !t->failed;) {
        struct node *v = &t->node[i];
        add_cells(t, v);
        v->span = span_of(v->present);
        if (!t->failed && v->possible > 0 && may_stand(t, v)) {
            all_options(t, v, scratch);
        }
        if (!t->failed) {
            solve(t, v);
            hand_up(t, v);
        }
    }
    free(scratch);
    if (!t->failed) {
        take_back(t, 0, 0, t->rules);
        widen(t);
        qsort(t->chosen, t->n_chosen, sizeof *t->chosen, by_place);
    }
}

static void release(struct tree *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->node[i].option);
        free(t->node[i].f);
    }
    for (int d = 0; d <= DEPTH; d++) {
        for (int c = 0; c < POLICY_CLASSES; c++) {
            free(t->sum[d][0][c]);
            free(t->sum[d][1][c]);
        }
    }
    policy_pricer_free(t->pricer);
    free(t->node);
    free(t);
}

int policy_find(const struct policy_search *s, int max_rules, struct policy_choice **list,
                size_t *n)
{
    struct tree *t = calloc(1, sizeof *t);
    *list = calloc((size_t)max_rules + 1, sizeof **list);
    *n = 0;
    if (!t || !*list) {
        free(t);
        return GT_ENOMEM;
    }
    t->s = s;
    t->rules = max_rules;
    t->chosen = *list;
    t->node = malloc((2 * s->n_cells + 1) * sizeof *t->node);
    t->pricer = policy_pricer_new(s);
    t->failed = !t->node || !t->pricer;
    if (!t->failed) {
        link_nodes(t, list_prefixes(s, t->node));
        search(t);
    }
    *n = t->n_chosen;
    int rc = t->failed ? GT_ENOMEM : 0;
    release(t);
    return rc;
}
