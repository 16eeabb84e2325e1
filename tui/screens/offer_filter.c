/* Filtering and sorting offers (offer_filter.h). A word is matched once per distinct string, then
 * rows compare ids: 10^6 rows filter in milliseconds. */
#include "offer_filter.h"
#include "gputier/arena.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 16
struct word {
    char key[16], value[128];
    double lo, hi; /* gpus, max */
    unsigned char purchases[PURCHASE_COUNT];
};

static double per_gpu(const struct catalog_offers *o, size_t i)
{
    double v = o->usd_per_hour[i];
    return o->gpu_num[i] ? v * o->gpu_den[i] / o->gpu_num[i] : v;
}

int offer_view_init(struct offer_view *v, const struct catalog *c)
{
    size_t n = c->offers.n ? c->offers.n : 1;
    memset(v, 0, sizeof *v);
    v->catalog = c;
    v->order = malloc(n * sizeof *v->order);
    v->row = malloc(n * sizeof *v->row);
    v->match = malloc(intern_count(c->strings) + 1U);
    if (!v->order || !v->row || !v->match || offer_texts_init(v)) {
        offer_view_release(v);
        return -1;
    }
    for (size_t i = 0; i < c->offers.n; i++) {
        v->order[i] = (uint32_t)i;
    }
    offer_view_sort(v, SORT_PER_GPU, false);
    return 0;
}

void offer_view_release(struct offer_view *v)
{
    free(v->order);
    free(v->row);
    free(v->match);
    free(v->text);
    free(v->rank);
    memset(v, 0, sizeof *v);
}

static void parse_word(struct word *w, const char *s, size_t len)
{
    const char *eq = memchr(s, '=', len);
    memset(w, 0, sizeof *w);
    w->lo = -INFINITY;
    w->hi = INFINITY;
    if (eq && (size_t)(eq - s) < sizeof w->key) {
        memcpy(w->key, s, (size_t)(eq - s));
        len -= (size_t)(eq - s) + 1;
        s = eq + 1;
    }
    len = len < sizeof w->value - 1 ? len : sizeof w->value - 1;
    memcpy(w->value, s, len);
    bool number = len > 0 && strspn(w->value, "0123456789.-") == len;
    if (!w->key[0] && number) {
        snprintf(w->key, sizeof w->key, "gpus");
    }
    if (strcmp(w->key, "gpus") == 0) {
        if (range_parse(w->value, &w->lo, &w->hi, NULL)) {
            w->hi = -INFINITY; /* half-typed: nothing passes yet */
        }
    } else if (strcmp(w->key, "max") == 0) {
        double max;
        w->hi = number_parse(w->value, &max, NULL) ? (double)INFINITY : max;
    }
    for (int p = 0; p < PURCHASE_COUNT; p++) {
        char name[32];
        snprintf(name, sizeof name, "%s", purchase_name((enum purchase)p));
        for (char *c = name; *c; c++) {
            *c = *c == '_' ? '-' : *c;
        }
        char plain[128];
        snprintf(plain, sizeof plain, "%s", w->value);
        for (char *c = plain; *c; c++) {
            *c = *c == '_' || *c == ' ' ? '-' : *c;
        }
        w->purchases[p] = strcasestr(name, plain) != NULL;
    }
}

static bool key_is(const struct word *w, const char *name)
{
    return strcmp(w->key, name) == 0;
}

/* One pass per word; match[] says for every string whether the word fits it. */
static size_t pass(struct offer_view *v, const struct word *w, size_t n)
{
    const struct catalog_offers *o = &v->catalog->offers;
    size_t kept = 0;
    bool gpus = key_is(w, "gpus"), max = key_is(w, "max"), buy = key_is(w, "buy"),
         bare = !w->key[0];
    for (size_t k = 0; !gpus && !max && k < v->n_texts; k++) {
        uint32_t i = v->text[k];
        const char *text = catalog_text(v->catalog, i);
        v->match[i] = key_is(w, "gpu")
                          ? text_leading_parts(w->value, text) || strcasestr(text, w->value) == text
                          : strcasestr(text, w->value) != NULL;
    }
    for (size_t k = 0; k < n; k++) {
        uint32_t i = v->row[k];
        bool ok;
        if (gpus) {
            double count = (double)o->gpu_num[i] / (o->gpu_den[i] ? o->gpu_den[i] : 1);
            ok = count >= w->lo && count <= w->hi;
        } else if (max) {
            ok = o->price_state[i] == PRICE_KNOWN && o->gpu_num[i] && per_gpu(o, i) <= w->hi;
        } else if (buy) {
            ok = w->purchases[o->purchase[i]];
        } else if (bare) {
            ok = v->match[o->vendor[i]] || v->match[o->instance_type[i]] || v->match[o->gpu[i]] ||
                 v->match[o->region[i]] || v->match[o->zone[i]] || w->purchases[o->purchase[i]];
        } else {
            const uint32_t *column = key_is(w, "vendor")   ? o->vendor
                                     : key_is(w, "gpu")    ? o->gpu
                                     : key_is(w, "region") ? o->region
                                     : key_is(w, "zone")   ? o->zone
                                     : key_is(w, "type")   ? o->instance_type
                                                           : NULL;
            ok = column && v->match[column[i]];
        }
        if (ok) {
            v->row[kept++] = i;
        }
    }
    return kept;
}

/* Which word left nothing, and why as far as it is known. */
static void explain(struct offer_view *v, const struct word *w, size_t before, int len,
                    const char *text)
{
    static const char *const known[] = {"vendor", "gpu",  "gpus", "region",
                                        "zone",   "type", "buy",  "max"};
    bool ok = !w->key[0];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ok = ok || key_is(w, known[i]);
    }
    if (ok) {
        snprintf(v->problem, sizeof v->problem, "'%.*s' fits none of the %zu left; x clears",
                 len < 60 ? len : 60, text, before);
    } else {
        snprintf(v->problem, sizeof v->problem,
                 "no key '%s'; vendor gpu gpus region zone type buy max are there", w->key);
    }
}

void offer_view_filter(struct offer_view *v, const char *filter)
{
    size_t n = v->catalog->offers.n;
    int words = 0;
    if (filter != v->filter) {
        snprintf(v->filter, sizeof v->filter, "%s", filter);
    }
    v->problem[0] = '\0';
    memcpy(v->row, v->order, n * sizeof *v->row);
    for (const char *s = v->filter; *s && words < MAX_WORDS;) {
        while (isspace((unsigned char)*s)) {
            s++;
        }
        size_t len = strcspn(s, " \t");
        if (len) {
            struct word w;
            parse_word(&w, s, len);
            size_t before = n;
            n = pass(v, &w, n);
            words++;
            if (before && !n) {
                explain(v, &w, before, (int)len, s);
            }
        }
        s += len;
    }
    v->n = n;
}

void offer_view_csv(const struct offer_view *v, struct csvw *w)
{
    static const char *const titles[] = {"vendor",   "region",    "zone",     "instance_type",
                                         "gpu",      "gpu_count", "purchase", "price_per_hour",
                                         "currency", "source_id", "sku",      "as_of"};
    const struct catalog *c = v->catalog;
    const struct catalog_offers *o = &c->offers;
    csvw_titles(w, titles, sizeof titles / sizeof *titles);
    for (size_t k = 0; k < v->n; k++) {
        size_t i = v->row[k];
        char count[32], date[16];
        snprintf(count, sizeof count, o->gpu_den[i] > 1 ? "%u/%u" : "%u", o->gpu_num[i],
                 o->gpu_den[i]);
        csvw_text(w, catalog_text(c, o->vendor[i]));
        csvw_text(w, catalog_text(c, o->region[i]));
        csvw_text(w, catalog_text(c, o->zone[i]));
        csvw_text(w, catalog_text(c, o->instance_type[i]));
        csvw_text(w, catalog_text(c, o->gpu[i]));
        csvw_text(w, count);
        csvw_text(w, purchase_name((enum purchase)o->purchase[i]));
        if (o->price_state[i] == PRICE_KNOWN) {
            csvw_money(w, o->price_per_hour[i]);
        } else {
            csvw_empty(w);
        }
        csvw_text(w, catalog_text(c, o->currency[i]));
        csvw_text(w, catalog_text(c, o->source[i]));
        csvw_text(w, catalog_text(c, o->sku[i]));
        csvw_text(w, date_format(o->as_of[i], date));
        csvw_end_row(w);
    }
}
