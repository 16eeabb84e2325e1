/* Computed against expected values of a worked case: numbers (or decimal strings) as numbers
 * within the tolerance of case or file, everything else exactly (product.md section 9). */
#include "fields.h"
#include "verify.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 24

struct tolerance {
    double rel, abs;
    double cost_rel; /* NAN: no rule of its own for `cost` */
};
struct compare {
    struct tolerance tol;
    char *reason;
    size_t reason_size;
    char path[160];
};

static void read_tolerance(const cJSON *holder, struct tolerance *t)
{
    const cJSON *rel = cJSON_GetObjectItemCaseSensitive(holder, "tolerance_rel");
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(holder, "tolerance");
    double v;
    if (field_number(all, &v)) {
        *t = (struct tolerance){v, 1e-12, (double)NAN};
    } else if (cJSON_IsObject(all)) {
        /* {"cost_rel": 1e-6, "seconds": "exact"}: all but the cost is exact to the last digit */
        *t = (struct tolerance){1e-12, 1e-12, (double)NAN};
        if (field_number(cJSON_GetObjectItemCaseSensitive(all, "relative"), &v)) {
            t->rel = v;
        }
        if (field_number(cJSON_GetObjectItemCaseSensitive(all, "absolute"), &v)) {
            t->abs = v;
        }
        if (field_number(cJSON_GetObjectItemCaseSensitive(all, "cost_rel"), &v)) {
            t->cost_rel = v;
        }
    }
    if (field_number(rel, &v)) {
        *t = (struct tolerance){v, 1e-12, (double)NAN};
    }
}

static bool differ(struct compare *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool differ(struct compare *c, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(c->reason, c->reason_size, "%s: %s", c->path[0] ? c->path : "value", text);
    return false;
}

static const char *shown(const cJSON *v, char buf[64])
{
    if (cJSON_IsString(v)) {
        snprintf(buf, 64, "\"%.50s\"", v->valuestring);
    } else if (cJSON_IsNumber(v)) {
        snprintf(buf, 64, "%.12g", v->valuedouble);
    } else {
        snprintf(buf, 64, "%s",
                 !v || cJSON_IsInvalid(v) ? "nothing"
                 : cJSON_IsNull(v)        ? "null"
                 : cJSON_IsTrue(v)        ? "true"
                 : cJSON_IsFalse(v)       ? "false"
                 : cJSON_IsArray(v)       ? "a list"
                                          : "an object");
    }
    return buf;
}

static bool agree(struct compare *c, const char *key, const cJSON *want, const cJSON *got,
                  int depth);

static bool numbers_agree(struct compare *c, const char *key, double want, double got)
{
    bool cost = !isnan(c->tol.cost_rel) && strcmp(key, "cost") == 0;
    double rel = cost ? c->tol.cost_rel : c->tol.rel;
    return fabs(got - want) <= fmax(c->tol.abs, rel * fabs(want));
}

/* Descends into a member or element, the path extended for the reason. */
static bool agree_at(struct compare *c, const char *step, const char *key, const cJSON *want,
                     const cJSON *got, int depth)
{
    size_t at = strlen(c->path);
    snprintf(c->path + at, sizeof c->path - at, "%s%s", at && step[0] != '[' ? "." : "", step);
    bool same = agree(c, key, want, got, depth + 1);
    c->path[at] = '\0';
    return same;
}

static bool zero(const cJSON *v)
{
    double n;
    return field_number(v, &n) && n == 0;
}

static bool objects_agree(struct compare *c, const char *key, const cJSON *want, const cJSON *got,
                          int depth)
{
    const cJSON *w, *g;
    bool components = strcmp(key, "components") == 0;
    cJSON_ArrayForEach(w, want)
    {
        if (strcmp(w->string, "note") == 0) {
            continue;
        }
        g = cJSON_GetObjectItemCaseSensitive(got, w->string);
        if (!g && (cJSON_IsNull(w) || (components && zero(w)))) {
            continue;
        }
        if (!agree_at(c, w->string, w->string, w, g, depth)) {
            return false;
        }
    }
    if (components) { /* a charge that the expected bill does not know */
        cJSON_ArrayForEach(g, got)
        {
            if (!cJSON_GetObjectItemCaseSensitive(want, g->string) && !zero(g)) {
                return agree_at(c, g->string, g->string, NULL, g, depth);
            }
        }
    }
    return true;
}

/* Each expected row has a computed row of its own. Rows that differ in a tolerance only are so
 * far apart (counts, bytes) that taking the first match is taking the only one. */
static bool unordered_agree(struct compare *c, const cJSON *want, const cJSON *got, int depth)
{
    size_t n = (size_t)cJSON_GetArraySize(got), i = 0;
    bool *taken = calloc(n ? n : 1, sizeof *taken);
    if (!taken) {
        return differ(c, "out of memory");
    }
    const cJSON *w;
    bool same = true;
    cJSON_ArrayForEach(w, want)
    {
        size_t j = 0;
        const cJSON *g;
        same = false;
        cJSON_ArrayForEach(g, got)
        {
            if (!taken[j] && agree(c, "", w, g, depth + 1)) {
                same = taken[j] = true;
                break;
            }
            j++;
        }
        if (!same) {
            differ(c, "no computed row equals expected row %zu", i);
            break;
        }
        i++;
    }
    free(taken);
    return same;
}

static bool lists_agree(struct compare *c, const char *key, const cJSON *want, const cJSON *got,
                        int depth)
{
    int n = cJSON_GetArraySize(want), m = cJSON_GetArraySize(got), i = 0;
    if (n != m) {
        return differ(c, "%d elements expected, %d computed", n, m);
    }
    if (strcmp(key, "rows") == 0) {
        return unordered_agree(c, want, got, depth);
    }
    const cJSON *w, *g = got->child;
    cJSON_ArrayForEach(w, want)
    {
        char step[24];
        snprintf(step, sizeof step, "[%d]", i++);
        /* an element of `errors` is a code with words after it that are a remark */
        if (!agree_at(c, step, strcmp(key, "errors") == 0 ? "error" : "", w, g, depth)) {
            return false;
        }
        g = g->next;
    }
    return true;
}

static bool lifecycle_code(const char *s)
{
    return s[0] == 'L' && s[1] >= '0' && s[1] <= '9' && s[2] >= '0' && s[2] <= '9';
}

static bool scalars_agree(struct compare *c, const char *key, const cJSON *want, const cJSON *got)
{
    double w, g;
    char a[64], b[64];
    bool same;
    if (field_number(want, &w) && field_number(got, &g)) {
        same = numbers_agree(c, key, w, g);
    } else if (cJSON_IsString(want) && cJSON_IsString(got)) {
        const char *x = want->valuestring, *y = got->valuestring;
        same = strcmp(key, "error") == 0 && lifecycle_code(x) && lifecycle_code(y)
                   ? strncmp(x, y, 3) == 0
                   : strcmp(x, y) == 0;
    } else {
        same = want && got && (want->type & 0xff) == (got->type & 0xff) &&
               (cJSON_IsBool(want) || cJSON_IsNull(want));
    }
    return same || differ(c, "expected %s, computed %s", shown(want, a), shown(got, b));
}

static bool agree(struct compare *c, const char *key, const cJSON *want, const cJSON *got,
                  int depth)
{
    if (depth > MAX_DEPTH) {
        return differ(c, "nested too deeply");
    }
    if (cJSON_IsObject(want) && cJSON_IsObject(got)) {
        return objects_agree(c, key, want, got, depth);
    }
    if (cJSON_IsArray(want) && cJSON_IsArray(got)) {
        return lists_agree(c, key, want, got, depth);
    }
    return scalars_agree(c, key, want, got);
}

bool verify_values_agree(const struct verify_context *ctx, const cJSON *kase, const cJSON *expected,
                         const cJSON *computed, char *reason, size_t reason_size)
{
    struct compare c = {
        .tol = {1e-9, 1e-12, (double)NAN}, .reason = reason, .reason_size = reason_size};
    if (cJSON_IsObject(ctx->file)) {
        read_tolerance(ctx->file, &c.tol);
    }
    read_tolerance(kase, &c.tol);
    return agree(&c, "", expected, computed, 0);
}
