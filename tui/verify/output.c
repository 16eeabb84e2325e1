/* What `verify` prints: JSON for scripts (product.md section 9), CSV rows, lines for people. */
#include "driver.h"
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "gputier/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A document that was read or computed, as it is; its depth has been checked. */
static void write_value(struct jsonw *w, const cJSON *v)
{
    const cJSON *item;
    if (cJSON_IsObject(v)) {
        jsonw_object(w);
        cJSON_ArrayForEach(item, v)
        {
            jsonw_key(w, item->string);
            write_value(w, item);
        }
        jsonw_end_object(w);
    } else if (cJSON_IsArray(v)) {
        jsonw_array(w);
        cJSON_ArrayForEach(item, v)
        {
            write_value(w, item);
        }
        jsonw_end_array(w);
    } else if (cJSON_IsString(v)) {
        jsonw_string(w, v->valuestring);
    } else if (cJSON_IsNumber(v)) {
        jsonw_double(w, v->valuedouble);
    } else if (cJSON_IsBool(v)) {
        jsonw_bool(w, cJSON_IsTrue(v));
    } else {
        jsonw_null(w);
    }
}

static void write_row(struct jsonw *w, const char *file, const char *list,
                      const struct verify_row *row)
{
    jsonw_object(w);
    jsonw_kstring(w, "id", row->id);
    jsonw_kstring(w, "file", file);
    jsonw_kstring(w, "list", list);
    jsonw_kstring(w, "kind", row->kind ? row->kind->name : NULL);
    jsonw_key(w, "computed");
    write_value(w, row->computed);
    jsonw_key(w, "expected");
    write_value(w, row->expected);
    jsonw_key(w, "ok");
    if (row->status == VERIFY_NO_EXPECTED) {
        jsonw_null(w);
    } else {
        jsonw_bool(w, row->status == VERIFY_OK);
    }
    jsonw_kbool(w, "scored", row->scored);
    jsonw_key(w, "reason");
    jsonw_string_or_null(w, row->reason);
    jsonw_end_object(w);
}

static void write_counts(struct jsonw *w, const struct verify_counts *c, bool statistics)
{
    jsonw_kint(w, "cases", (int64_t)c->cases);
    jsonw_kint(w, "ok", (int64_t)c->ok);
    jsonw_kint(w, "failed", (int64_t)c->failed);
    jsonw_kint(w, "not_computed", (int64_t)c->not_computed);
    jsonw_kint(w, "without_expected", (int64_t)c->without_expected);
    jsonw_kint(w, "not_scored", (int64_t)c->unscored);
    if (statistics) {
        jsonw_kint(w, "n", (int64_t)c->n);
        jsonw_kdouble(w, "median_error", c->median_error);
        jsonw_kdouble(w, "p90_error", c->p90_error);
        jsonw_kint(w, "n_calibrated", (int64_t)c->n_calibrated);
        jsonw_kdouble(w, "calibrated_median_error", c->calibrated_median);
        jsonw_kdouble(w, "calibrated_p90_error", c->calibrated_p90);
    }
}

static bool any_statistics(const struct verify_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            if (files[i].lists[j].statistics) {
                return true;
            }
        }
    }
    return false;
}

static void write_lists(struct jsonw *w, const struct verify_file *files, size_t n,
                        const struct verify_options *o)
{
    jsonw_key(w, "lists");
    jsonw_array(w);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            const struct verify_list *l = &files[i].lists[j];
            jsonw_object(w);
            jsonw_kstring(w, "file", files[i].path);
            jsonw_kstring(w, "list", l->name);
            jsonw_kbool(w, "passes", verify_list_passes(l, o));
            write_counts(w, &l->counts, l->statistics);
            jsonw_end_object(w);
        }
    }
    jsonw_end_array(w);
}

int verify_write_json(const struct verify_file *files, size_t n, const struct verify_options *o,
                      struct buf *out, struct gt_error *err)
{
    struct verify_counts total;
    struct jsonw w;
    int rc = verify_total(files, n, &total, err);
    if (rc) {
        return rc;
    }
    jsonw_init(&w, out, false);
    jsonw_object(&w);
    jsonw_kstring(&w, "schema", "gputier/verify/1");
    jsonw_key(&w, "cases");
    jsonw_array(&w);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            const struct verify_list *l = &files[i].lists[j];
            for (size_t k = 0; k < l->n; k++) {
                write_row(&w, files[i].path, l->name, &l->rows[k]);
            }
        }
    }
    jsonw_end_array(&w);
    jsonw_key(&w, "summary");
    jsonw_object(&w);
    write_counts(&w, &total, any_statistics(files, n));
    write_lists(&w, files, n, o);
    jsonw_end_object(&w);
    jsonw_end_object(&w);
    rc = jsonw_finish(&w);
    return rc ? gt_fail(err, rc, "", "%s", gt_strerror(rc)) : 0;
}

static const char *verdict(const struct verify_row *row)
{
    static const char *const text[] = {[VERIFY_OK] = "ok",
                                       [VERIFY_FAILED] = "failed",
                                       [VERIFY_NOT_COMPUTED] = "not computed",
                                       [VERIFY_NO_EXPECTED] = "no expected value"};
    return text[row->status];
}

int verify_write_csv(const struct verify_file *files, size_t n, struct buf *out,
                     struct gt_error *err)
{
    static const char *const header[] = {"file",   "list",   "id",    "kind",
                                         "result", "scored", "error", "reason"};
    struct csvw w;
    csvw_init(&w, out);
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        csvw_text(&w, header[i]);
    }
    csvw_end_row(&w);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            const struct verify_list *l = &files[i].lists[j];
            for (size_t k = 0; k < l->n; k++) {
                const struct verify_row *row = &l->rows[k];
                csvw_text(&w, files[i].path);
                csvw_text(&w, l->name);
                csvw_text(&w, row->id);
                csvw_text(&w, row->kind ? row->kind->name : NULL);
                csvw_text(&w, verdict(row));
                csvw_text(&w, row->scored ? "yes" : "no");
                csvw_double(&w, row->error);
                csvw_text(&w, row->reason);
                csvw_end_row(&w);
            }
        }
    }
    return out->failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}

static void add_safe(struct buf *out, const char *s, bool ascii)
{
    (void)text_safe(out, s, strlen(s), ascii);
}

static void text_row(struct buf *out, const struct verify_row *row, bool ascii)
{
    buf_adds(out, "  ");
    add_safe(out, row->id, ascii);
    buf_addf(out, "  %s%s", verdict(row), row->scored ? "" : " (not scored)");
    /* the reason of a case that was not computed begins with just that */
    const char *reason =
        row->status == VERIFY_NOT_COMPUTED && strlen(row->reason) > 12 ? row->reason + 12 : NULL;
    buf_adds(out, reason ? "" : ": ");
    add_safe(out, reason ? reason : row->reason, ascii);
    buf_addc(out, '\n');
}

static void text_list(struct buf *out, const char *path, const struct verify_list *l,
                      const struct verify_options *o, bool ascii)
{
    const struct verify_counts *c = &l->counts;
    for (size_t k = 0; k < l->n; k++) {
        if (l->rows[k].status == VERIFY_FAILED || l->rows[k].status == VERIFY_NOT_COMPUTED) {
            text_row(out, &l->rows[k], ascii);
        }
    }
    add_safe(out, path, ascii);
    buf_addc(out, ' ');
    add_safe(out, l->name, ascii);
    buf_addf(out, ": %zu ok, %zu failed", c->ok, c->failed - c->not_computed);
    buf_addf(out, ", %zu not computed", c->not_computed);
    if (c->without_expected) {
        buf_addf(out, ", %zu without expected values", c->without_expected);
    }
    if (c->unscored) {
        buf_addf(out, ", %zu not scored", c->unscored);
    }
    if (l->statistics && c->n) {
        buf_addf(out, "; %s error of %zu: median %.1f %%, p90 %.1f %%",
                 l->memory ? "peak" : "throughput", c->n, 100 * c->median_error,
                 100 * c->p90_error);
    }
    if (c->n_calibrated) {
        buf_addf(out, "; of the %zu predicted from a measured case: median %.1f %%, p90 %.1f %%",
                 c->n_calibrated, 100 * c->calibrated_median, 100 * c->calibrated_p90);
    }
    if (l->statistics) {
        buf_addf(out, " (%s limits", verify_list_passes(l, o) ? "within" : "outside");
        if (!l->memory) {
            buf_addf(out, " of %.3g %% and %.3g %%", 100 * o->max_median, 100 * o->max_p90);
        }
        buf_addc(out, ')');
    }
    buf_addc(out, '\n');
}

int verify_write_text(const struct verify_file *files, size_t n, const struct verify_options *o,
                      bool ascii, struct buf *out, struct gt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < files[i].n; j++) {
            text_list(out, files[i].path, &files[i].lists[j], o, ascii);
        }
    }
    return out->failed ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}
