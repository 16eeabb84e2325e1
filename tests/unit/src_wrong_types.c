/* Every JSON source takes a value of any type at any place: each value of each shared sample is
 * replaced in turn by each wrong type, and what comes is rows that are sound or a refusal that says
 * where and why; under AddressSanitizer also no leak. */
#include "../../pricing/sources/source.h"
#include "fake_staging.h"
#include "gputier/text.h"
#include "unit.h"
#include <dirent.h>

#define PATHS_MAX  150 /* values of one document that are replaced: one of each path */
#define NAMES_SEEN 4096
/* Readers take large pieces of memory at once, which AddressSanitizer makes a hundred times dearer:
 * there each place gets every third value, the next place the next ones. */
#ifdef __SANITIZE_ADDRESS__
#define VALUE_STEP 3
#else
#define VALUE_STEP 1
#endif

static struct staging st;
static const char *const wrong[] = {
    "null",
    "true",
    "7",
    "-7",
    "1e999",
    "0.0000000000000000001",
    "\"x\"",
    "\"\"",
    "[]",
    "{}",
    "[7]",
    "[{}]",
    "{\"a\":7}",
    "{\"a\":{}}",
    "[null]",
    "\"\\u0000\\u001b[2J\"",
    "\"99999999999999999999\"",
};

/* All are told: a fault often stands in several readers. */
static size_t faults;
__attribute__((format(printf, 1, 2))) static void fault(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (++faults <= 50) {
        vfprintf(stderr, fmt, ap);
        fputc('\n', stderr);
    }
    va_end(ap);
}

/* Rows that the store would not take, or that would break a terminal. */
static bool sound(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f) {
            return false;
        }
    }
    return utf8_valid(s ? s : "", n);
}

static void look(const char *what)
{
    for (size_t i = 0; i < st.n_offer; i++) {
        const struct offer_row *o = &st.offer[i];
        if (!sound(o->vendor) || !sound(o->region) || !sound(o->zone) || !sound(o->instance_type) ||
            !sound(o->gpu) || !sound(o->sku) || !sound(o->currency) || !*o->instance_type ||
            !*o->region || o->gpu_den < 1 || o->gpu_num < 0 || strlen(o->currency) != 3) {
            fault("%s: an offer of '%s' in '%s' is not sound", what, o->instance_type, o->region);
        }
        if (o->price_per_hour < 0 || o->upfront < 0 || o->price_month < 0 ||
            (o->price_state == PRICE_KNOWN && o->price_per_hour == 0 && o->upfront == 0 &&
             o->price_month == 0)) {
            fault("%s: an offer of '%s' at a price that is none", what, o->instance_type);
        }
    }
    for (size_t i = 0; i < st.n_storage; i++) {
        const struct storage_rate_row *s = &st.storage[i];
        if (!sound(s->region) || !sound(s->sku) || s->rate < 0 || strlen(s->currency) != 3 ||
            (s->to_qty >= 0 && s->to_qty <= s->from_qty)) {
            fault("%s: a rate of %s is not sound", what, s->tier);
        }
    }
    for (size_t i = 0; i < st.n_transfer; i++) {
        const struct transfer_rate_row *t = &st.transfer[i];
        if (!sound(t->from) || !sound(t->to) || t->rate < 0 || strlen(t->currency) != 3) {
            fault("%s: a transfer rate is not sound", what);
        }
    }
    for (size_t i = 0; i < st.n_spot; i++) {
        if (!sound(st.spot[i].region) || !sound(st.spot[i].zone) ||
            !sound(st.spot[i].instance_type) || !*st.spot[i].instance_type) {
            fault("%s: a spot price is not sound", what);
        }
    }
}

static int parse(const struct source_def *d, const char *text, size_t len, size_t step,
                 struct gt_error *err)
{
    struct parse_context ctx = {0};
    fake_clear(&st);
    memset(err, 0, sizeof *err);
    return fake_parse(d, &st, "list.json", text, len, step, &ctx, err);
}

/* One document with text[from..to) replaced. */
static void replaced(const struct source_def *d, const char *text, size_t len, size_t from,
                     size_t to, const char *path, size_t first)
{
    char *changed = malloc(len + 64), what[300];
    for (size_t i = first % VALUE_STEP; i < sizeof wrong / sizeof *wrong; i += VALUE_STEP) {
        size_t k = strlen(wrong[i]);
        struct gt_error err;
        memcpy(changed, text, from);
        memcpy(changed + from, wrong[i], k);
        memcpy(changed + from + k, text + to, len - to);
        snprintf(what, sizeof what, "%s, %.200s = %s", d->id, path, wrong[i]);
        int rc = parse(d, changed, len - (to - from) + k, len, &err);
        if (rc == 0) {
            look(what);
        } else if (rc != GT_EPARSE && rc != GT_EHTTP && rc != GT_ERANGE && rc != GT_ELIMIT &&
                   rc != GT_EUNSUPPORTED) {
            fault("%s: %s", what, gt_strerror(rc));
        } else if (err.text[0] == '\0') {
            fault("%s: refused without a word", what);
        }
    }
    free(changed);
}

struct walk {
    const struct source_def *d;
    const char *text;
    size_t len, at;
    char path[400];
    uint64_t seen[NAMES_SEEN];
    size_t n, done;
};

static void value(struct walk *w);

static void space(struct walk *w)
{
    while (w->at < w->len && strchr(" \t\r\n,:", w->text[w->at])) {
        w->at++;
    }
}

static void string(struct walk *w)
{
    for (w->at++; w->at < w->len && w->text[w->at] != '"'; w->at++) {
        w->at += w->text[w->at] == '\\';
    }
    w->at++;
}

/* A path is taken once: the entries of a list are alike, and those under keys that are data (a SKU,
 * a region, an instance type: they hold digits) too. */
static bool is_new(struct walk *w)
{
    uint64_t h = 14695981039346656037u;
    for (const char *p = w->path; *p;) {
        size_t n = strcspn(p, ".");
        bool data = strcspn(p, "0123456789") < n;
        for (size_t i = 0; i < n && !data; i++) {
            h = (h ^ (unsigned char)p[i]) * 1099511628211u;
        }
        h = (h ^ '.') * 1099511628211u;
        p += n + (p[n] == '.');
    }
    for (size_t i = 0; i < w->n; i++) {
        if (w->seen[i] == h) {
            return false;
        }
    }
    if (w->n < NAMES_SEEN) {
        w->seen[w->n++] = h;
    }
    return true;
}

static void container(struct walk *w, char end)
{
    size_t path = strlen(w->path);
    for (w->at++, space(w); w->at < w->len && w->text[w->at] != end; space(w)) {
        if (end == '}') {
            size_t from = w->at;
            string(w);
            snprintf(w->path + path, sizeof w->path - path, ".%.*s", (int)(w->at - from - 2),
                     w->text + from + 1);
            space(w);
        } else {
            snprintf(w->path + path, sizeof w->path - path, "[]");
        }
        value(w);
    }
    w->at++;
    w->path[path] = '\0';
}

static void value(struct walk *w)
{
    size_t from = w->at;
    bool fresh = is_new(w);
    char c = w->text[w->at];
    if (c == '{' || c == '[') {
        container(w, c == '{' ? '}' : ']');
    } else if (c == '"') {
        string(w);
    } else {
        while (w->at < w->len && !strchr(" \t\r\n,]}", w->text[w->at])) {
            w->at++;
        }
    }
    if (fresh && w->done < PATHS_MAX) {
        w->done++;
        replaced(w->d, w->text, w->len, from, w->at, w->path, w->done);
    }
}

/* What stands before an answer that does not say of what it is; "@" names a sample. */
static const struct {
    const char *file, *question;
} questions[] = {
    {"describe-price.response.json", "{\"RegionId\":\"r-1\",\"InstanceType\":\"ecs.gn7i\"}\n"},
    {"list-on-demand-resource-ratings.response.json",
     "{\"product_infos\":[{\"id\":\"1\",\"resource_spec\":\"c6.large.2.linux\",\"region\":\"r\","
     "\"usage_value\":1,\"usage_measure_id\":4,\"subscription_num\":1}]}\n"},
    {"cetools-products.usd.trimmed.json", "@samples/oci/cloudestimator-shapes.excerpt.json"},
    {"instance-availability.json",
     "[{\"instance_type\":\"1A\",\"name\":\"A100 SXM4 80GB\",\"gpu\":{\"number_of_gpus\":1},"
     "\"currency\":\"usd\",\"price_per_hour\":\"1.50\"}]\n"},
};

/* The number of paths that were replaced, 0 when no JSON source knows the file. */
static size_t one_file(const char *folder, const char *file, const char **id)
{
    char name[400];
    size_t len = 0, extra = 0;
    snprintf(name, sizeof name, "samples/%s/%s", folder, file);
    char *text = fake_shared(name, &len);
    assert_non_null(text);
    const struct source_def *d = NULL;
    for (size_t i = 0; source_at(i) && !d; i++) {
        bool known = source_recognises(source_at(i), text, len < 65536 ? len : 65536, name);
        d = known ? source_at(i) : NULL;
    }
    struct gt_error err;
    for (size_t i = 0; d && i < sizeof questions / sizeof *questions; i++) {
        if (strcmp(questions[i].file, file) == 0) {
            const char *q = questions[i].question;
            char *first = *q == '@' ? fake_shared(q + 1, &extra) : strdup(q);
            extra = *q == '@' ? extra : strlen(q);
            text = realloc(text, len + extra + 1);
            memmove(text + extra, text, len);
            memcpy(text, first, extra);
            len += extra;
            free(first);
        }
    }
    if (!d || (text[0] != '{' && text[0] != '[')) {
        free(text);
        return 0;
    }
    int rc = parse(d, text, len, 4096, &err);
    bool half = strstr(file, "ratings.request") || strstr(file, "shapes.excerpt"); /* no prices */
    if (rc != 0 && !half) {
        fault("%s: %s %s", name, err.where, err.text);
    }
    struct walk *w = calloc(1, sizeof *w);
    *w = (struct walk){.d = d, .text = text, .len = len};
    for (space(w); w->at < len; space(w)) {
        value(w);
    }
    size_t done = w->done;
    print_message("%s: %s, %zu values\n", name, d->id, done);
    *id = d->id;
    free(w);
    free(text);
    return done;
}

static void each_value_of_each_sample(void **s)
{
    (void)s;
    static const char *const folder[] = {
        "alibaba", "aws",     "azure",      "cudo",       "digitalocean", "fluidstack",
        "gcp",     "huawei",  "hyperstack", "jarvislabs", "lambda",       "oci",
        "runpod",  "tencent", "vast",       "verda",      "vultr"};
    static const char *const wanted[] = {"alibaba",
                                         "aws-offer",
                                         "aws-spot-advisor",
                                         "aws-spot-history",
                                         "azure-retail",
                                         "cudo",
                                         "digitalocean",
                                         "fluidstack",
                                         "gcp-skus",
                                         "huawei",
                                         "hyperstack",
                                         "jarvislabs",
                                         "lambda",
                                         "oci",
                                         "runpod",
                                         "tencent",
                                         "vast",
                                         "verda",
                                         "vultr"};
    bool found[sizeof wanted / sizeof *wanted] = {false};
    const char *base = getenv("GPUTIER_SHARED");
    for (size_t f = 0; f < sizeof folder / sizeof *folder; f++) {
        char path[512];
        snprintf(path, sizeof path, "%s/samples/%s", base ? base : "../shared", folder[f]);
        DIR *dir = opendir(path);
        if (!dir) {
            fprintf(stderr, "SKIPPED: %s is missing\n", path);
            skip();
        }
        for (struct dirent *e; (e = readdir(dir)) != NULL;) {
            const char *dot = strrchr(e->d_name, '.'), *id = NULL;
            if (dot && strcmp(dot, ".json") == 0 && one_file(folder[f], e->d_name, &id) > 0) {
                for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
                    found[i] |= strcmp(wanted[i], id) == 0;
                }
            }
        }
        closedir(dir);
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (!found[i]) {
            fault("no sample of %s was tried", wanted[i]);
        }
    }
    assert_int_equal(faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_value_of_each_sample)};
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
