/* Worked cases (product.md section 9): finds the lists of a document, gives each case to the kind
 * that knows it, compares, counts. A new kind is one file and one line in the table below. */
#include "verify.h"
#include "driver.h"
#include "fields.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 24 /* of a document: what is echoed must fit the JSON writer */

/* In order of asking: the first that recognises a case computes it. */
static const struct verify_kind *const kinds[] = {
    &verify_spot,           &verify_checkpoint, &verify_capacity,   &verify_storage,
    &verify_input_pipeline, &verify_memory_fit, &verify_throughput,
};

static const struct verify_kind *kind_of(const cJSON *doc, const cJSON *kase)
{
    for (size_t i = 0; cJSON_IsObject(kase) && i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i]->matches(doc, kase)) {
            return kinds[i];
        }
    }
    return NULL;
}

static bool too_deep(const cJSON *item, int depth)
{
    for (; item; item = item->next) {
        if (depth > MAX_DEPTH || too_deep(item->child, depth + 1)) {
            return true;
        }
    }
    return false;
}

/* "cases", "checkpoint_cases", …, or a list of objects of which a kind knows the first. */
static bool is_list(const cJSON *doc, const cJSON *item)
{
    if (!cJSON_IsArray(item)) {
        return false;
    }
    const char *name = item->string ? item->string : "cases";
    size_t len = strlen(name);
    return strcmp(name, "cases") == 0 || (len > 6 && strcmp(name + len - 6, "_cases") == 0) ||
           kind_of(doc, item->child) != NULL;
}

static int malformed(const char *path, const char *text, const char *at, struct gt_error *err)
{
    char where[160];
    long line = 1, column = 1;
    for (const char *p = text; p < at; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    snprintf(where, sizeof where, "%.100s:%ld:%ld", path, line, column);
    return gt_fail(err, GT_EPARSE, where, "not JSON from here on; a JSON document is needed");
}

static int add_list(struct verify_file *f, const char *name, const cJSON *items,
                    struct gt_error *err)
{
    struct verify_list *lists = realloc(f->lists, (f->n + 1) * sizeof *lists);
    if (!lists) {
        return gt_fail(err, GT_ENOMEM, f->path, "out of memory");
    }
    f->lists = lists;
    struct verify_list *l = &lists[f->n++];
    memset(l, 0, sizeof *l);
    snprintf(l->name, sizeof l->name, "%s", name);
    l->items = items;
    l->n = cJSON_IsArray(items) ? (size_t)cJSON_GetArraySize(items) : 1;
    l->rows = calloc(l->n ? l->n : 1, sizeof *l->rows);
    return l->rows ? 0 : gt_fail(err, GT_ENOMEM, f->path, "out of memory for %zu cases", l->n);
}

static int find_lists(struct verify_file *f, struct gt_error *err)
{
    int rc = 0;
    if (is_list(f->doc, f->doc)) {
        rc = add_list(f, "cases", f->doc, err);
    } else if (cJSON_IsObject(f->doc)) {
        const cJSON *item;
        cJSON_ArrayForEach(item, f->doc)
        {
            if (!rc && is_list(f->doc, item)) {
                rc = add_list(f, item->string, item, err);
            }
        }
        if (!rc && !f->n && kind_of(f->doc, f->doc)) {
            rc = add_list(f, "case", f->doc, err);
        }
    }
    if (!rc && !f->n) {
        rc = gt_fail(err, GT_EPARSE, f->path,
                     "no worked cases here: a list \"cases\" or \"…_cases\" of objects is needed");
    }
    return rc;
}

int verify_file_parse(struct verify_file *f, const char *path, const char *text, size_t len,
                      struct gt_error *err)
{
    const char *end = text;
    memset(f, 0, sizeof *f);
    f->path = path;
    if (strnlen(text, len) != len) {
        return malformed(path, text, text + strnlen(text, len), err);
    }
    f->doc = cJSON_ParseWithLengthOpts(text, len + 1, &end, true);
    if (!f->doc) {
        return malformed(path, text, end, err);
    }
    int rc = too_deep(f->doc, 0)
                 ? gt_fail(err, GT_EPARSE, path, "nested more than %d levels deep", MAX_DEPTH)
                 : find_lists(f, err);
    if (rc) {
        verify_file_release(f);
    }
    return rc;
}

void verify_file_release(struct verify_file *f)
{
    for (size_t i = 0; i < f->n; i++) {
        for (size_t j = 0; f->lists[i].rows && j < f->lists[i].n; j++) {
            cJSON_Delete(f->lists[i].rows[j].computed);
            cJSON_Delete(f->lists[i].rows[j].owned);
        }
        free(f->lists[i].rows);
    }
    free(f->lists);
    cJSON_Delete(f->doc);
    memset(f, 0, sizeof *f);
}

static const cJSON *expected_of(const struct verify_kind *kind, const cJSON *kase, cJSON **owned)
{
    if (kind && kind->expected) {
        return kind->expected(kase, owned);
    }
    const cJSON *e = cJSON_GetObjectItemCaseSensitive(kase, "expected");
    e = e ? e : cJSON_GetObjectItemCaseSensitive(kase, "expect");
    return cJSON_IsNull(e) ? NULL : e;
}

/* Relative error of the predicted rate or memory peak, NAN without a published one. */
static double error_of(const cJSON *expected, const cJSON *computed)
{
    static const char *const keys[][2] = {{"throughput", "throughput"},
                                          {"reported_peak_gb_per_gpu", "peak_gb_per_gpu"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double want, got;
        if (field_number(cJSON_GetObjectItemCaseSensitive(expected, keys[i][0]), &want) &&
            field_number(cJSON_GetObjectItemCaseSensitive(computed, keys[i][1]), &got) &&
            want > 0) {
            return fabs(got / want - 1);
        }
    }
    return (double)NAN;
}

static void name_row(struct verify_row *row, const cJSON *kase, size_t i)
{
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(kase, "id");
    if (cJSON_IsString(id) && id->valuestring[0]) {
        snprintf(row->id, sizeof row->id, "%s", id->valuestring);
    } else if (cJSON_IsNumber(id)) {
        snprintf(row->id, sizeof row->id, "%.15g", id->valuedouble);
    } else {
        snprintf(row->id, sizeof row->id, "[%zu]", i);
    }
}

/* Appends to what the row's reason says already. */
static void add_reason(struct verify_row *row, const char *text)
{
    size_t at = strlen(row->reason);
    snprintf(row->reason + at, sizeof row->reason - at, "%s%s", at && *text ? "; " : "", text);
}

static int not_computed(struct verify_row *row, int rc, const struct gt_error *e,
                        struct gt_error *err)
{
    char text[600];
    if (rc == GT_ENOMEM || rc == GT_ECANCELLED) {
        return gt_fail(err, rc, e->where, "%s", e->text[0] ? e->text : gt_strerror(rc));
    }
    snprintf(text, sizeof text, "not computed: %s%s%s", e->where, e->where[0] ? ": " : "",
             e->text[0] ? e->text : gt_strerror(rc));
    cJSON_Delete(row->computed);
    row->computed = NULL;
    row->status = VERIFY_NOT_COMPUTED;
    add_reason(row, text);
    return 0;
}

static void judge(const struct verify_context *ctx, const cJSON *kase, struct verify_row *row,
                  const char *remark)
{
    char reason[400] = "";
    if (!row->expected) {
        row->status = VERIFY_NO_EXPECTED;
    } else {
        bool ok = row->kind->agrees ? row->kind->agrees(ctx, kase, row->expected, row->computed,
                                                        reason, sizeof reason)
                                    : verify_values_agree(ctx, kase, row->expected, row->computed,
                                                          reason, sizeof reason);
        row->status = ok ? VERIFY_OK : VERIFY_FAILED;
        row->error = error_of(row->expected, row->computed);
    }
    if (row->status == VERIFY_FAILED) {
        add_reason(row, reason[0] ? reason : "computed and expected differ");
    }
    add_reason(row, remark);
}

static int run_row(struct verify_context *ctx, const struct verify_options *o, const cJSON *kase,
                   struct verify_row *row, struct gt_error *err)
{
    struct gt_error e = {.code = GT_OK};
    row->kind = kind_of(ctx->file, kase);
    row->error = (double)NAN;
    row->scored = !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(kase, "scored"));
    row->expected = expected_of(row->kind, kase, &row->owned);
    row->computed = cJSON_CreateObject();
    if (!row->computed) {
        return gt_fail(err, GT_ENOMEM, row->id, "out of memory");
    }
    if (!row->kind) {
        int rc = gt_fail(&e, GT_EUNSUPPORTED, "", "%s",
                         cJSON_IsObject(kase) ? "no calculation knows a case of this form"
                                              : "a case is an object");
        return not_computed(row, rc, &e, err);
    }
    if (row->kind->needs_catalog && !ctx->catalog && o->catalog) {
        int rc = o->catalog(o->catalog_ctx, &ctx->catalog, err);
        if (rc) {
            return rc;
        }
    }
    if (row->kind->needs_catalog && !ctx->catalog) {
        int rc = gt_fail(&e, GT_EUNSUPPORTED, "", "no GPU specs and model profiles are loaded");
        return not_computed(row, rc, &e, err);
    }
    int rc = row->kind->compute(ctx, kase, row->computed, &e);
    if (rc) {
        return not_computed(row, rc, &e, err);
    }
    judge(ctx, kase, row, e.text);
    return 0;
}

/* Folder of a path, "." without one; caller frees. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return strdup(".");
    }
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int run_list(struct verify_context *ctx, const struct verify_options *o,
                    struct verify_list *l, struct gt_error *err)
{
    const cJSON *kase = cJSON_IsArray(l->items) ? l->items->child : l->items;
    ctx->list = l->items;
    for (size_t i = 0; i < l->n; i++, kase = kase->next) {
        if (o->cancel && *o->cancel) {
            return gt_fail(err, GT_ECANCELLED, l->name, "interrupted");
        }
        name_row(&l->rows[i], kase, i);
        int rc = run_row(ctx, o, kase, &l->rows[i], err);
        if (rc) {
            return rc;
        }
        l->statistics = l->statistics || (l->rows[i].kind && l->rows[i].kind->statistics);
        l->memory = l->memory || l->rows[i].kind == &verify_memory_fit;
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile with linear interpolation between ranks of a sorted list. */
static double quantile(const double *v, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[i];
}

/* errors: of all from the start on, of those predicted from a measured case down from `end`. */
static void count_row(struct verify_counts *c, const struct verify_row *row, double *errors,
                      double *end)
{
    c->cases++;
    if (!row->scored) {
        c->unscored++;
        return;
    }
    c->ok += row->status == VERIFY_OK;
    c->failed += row->status == VERIFY_FAILED || row->status == VERIFY_NOT_COMPUTED;
    c->not_computed += row->status == VERIFY_NOT_COMPUTED;
    c->without_expected += row->status == VERIFY_NO_EXPECTED;
    if (!isnan(row->error)) {
        errors[c->n++] = row->error;
        if (cJSON_HasObjectItem(row->computed, "calibrated_from")) {
            *(end - ++c->n_calibrated) = row->error;
        }
    }
}

static void median_and_p90(double *errors, size_t n, double *median, double *p90)
{
    *median = *p90 = (double)NAN;
    if (n > 0) {
        qsort(errors, n, sizeof *errors, by_value);
        *median = quantile(errors, n, 0.5);
        *p90 = quantile(errors, n, 0.9);
    }
}

/* The errors that a total speaks of: of throughputs, else of memory peaks. */
static bool counts_errors(const struct verify_file *files, size_t n, const struct verify_list *l)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            if (files[i].lists[j].statistics && !files[i].lists[j].memory) {
                return !l->memory;
            }
        }
    }
    return true;
}

int verify_total(const struct verify_file *files, size_t n, struct verify_counts *out,
                 struct gt_error *err)
{
    size_t rows = 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            rows += files[i].lists[j].n;
        }
    }
    double *errors = malloc(2 * rows * sizeof *errors), *end = errors + 2 * rows;
    if (!errors) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory for %zu cases", rows);
    }
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            const struct verify_list *l = &files[i].lists[j];
            bool with_errors = counts_errors(files, n, l);
            for (size_t k = 0; k < l->n; k++) {
                size_t before = out->n;
                count_row(out, &l->rows[k], errors, end);
                out->n = with_errors ? out->n : before;
            }
        }
    }
    median_and_p90(errors, out->n, &out->median_error, &out->p90_error);
    median_and_p90(end - out->n_calibrated, out->n_calibrated, &out->calibrated_median,
                   &out->calibrated_p90);
    free(errors);
    return 0;
}

int verify_file_run(struct verify_file *f, const struct verify_options *o, struct gt_error *err)
{
    char *folder = folder_of(f->path);
    if (!folder) {
        return gt_fail(err, GT_ENOMEM, f->path, "out of memory");
    }
    struct verify_context ctx = {.cases_dir = folder,
                                 .traces_dir = o->traces_dir,
                                 .file = f->doc,
                                 .calibrate = o->calibrate};
    int rc = 0;
    for (size_t i = 0; i < f->n && !rc; i++) {
        struct verify_list *l = &f->lists[i];
        rc = run_list(&ctx, o, l, err);
        if (!rc) {
            struct verify_file alone = {.lists = l, .n = 1};
            rc = verify_total(&alone, 1, &l->counts, err);
        }
    }
    free(folder);
    return rc;
}

bool verify_list_passes(const struct verify_list *l, const struct verify_options *o)
{
    const struct verify_counts *c = &l->counts;
    if (!l->statistics) {
        return c->failed == 0;
    }
    if (c->not_computed) {
        return false;
    }
    if (l->memory) {
        return (double)c->ok >= 0.9 * (double)(c->ok + c->failed);
    }
    if (c->n_calibrated > 0) { /* the others were predicted blind: not what was asked */
        return c->calibrated_median <= o->max_median && c->calibrated_p90 <= o->max_p90;
    }
    return c->n == 0 || (c->median_error <= o->max_median && c->p90_error <= o->max_p90);
}
