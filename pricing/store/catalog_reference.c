/* Catalog parts that stand beside the prices: GPU sheets, model profiles, exchange rates, bench
 * results. */
#include "gputier/units.h"
#include "store_impl.h"
#include <math.h>

/* Copies a text column into the catalog's arena. */
static int text_of(const struct loader *l, sqlite3_stmt *st, int col, const char **out,
                   struct gt_error *err)
{
    struct text_cache none = {0};
    uint32_t id = 0;
    int rc = load_text(l, st, col, &none, &id, err);
    *out = rc == 0 ? intern_text(l->cat->strings, id) : "";
    return rc;
}

static int count_rows(const struct loader *l, const char *sql, size_t *n, struct gt_error *err)
{
    int64_t count = 0;
    int rc = db_int(l->db, sql, &count, err);
    *n = (size_t)count;
    return rc;
}

static int load_gpus(struct loader *l, struct gt_error *err)
{
    size_t n = 0;
    int rc = count_rows(l, "SELECT count(*) FROM gpu_model", &n, err);
    struct gpu_spec *gpus = rc == 0 ? arena_array(l->cat->arena, n + 1, sizeof(*gpus)) : NULL;
    sqlite3_stmt *st = NULL;
    if (rc == 0 && gpus == NULL) {
        rc = load_nomem(l, err);
    }
    if (rc == 0) {
        rc = db_prepare(l->db,
                        "SELECT model, maker, arch, form, pcie, note, source, compute_capability,"
                        " fp64_tflops, fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops,"
                        " fp8_tflops, int8_tops, mem_gb, bandwidth_gbs, l2_mb, nvlink_gbs, tdp_w,"
                        " coalesce(launch_year, 0), coalesce(mig_slices, 0)"
                        " FROM gpu_model ORDER BY model",
                        &st, err);
    }
    bool row = rc == 0;
    size_t i = 0;
    for (; rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row && i < n; i++) {
        struct gpu_spec *g = &gpus[i];
        const char **const text[] = {&g->model, &g->maker, &g->arch,  &g->form,
                                     &g->pcie,  &g->note,  &g->source};
        for (int c = 0; rc == 0 && c < 7; c++) {
            rc = text_of(l, st, c, text[c], err);
        }
        double *const real[] = {&g->compute_capability,
                                &g->fp64_tflops,
                                &g->fp32_tflops,
                                &g->tf32_tflops,
                                &g->fp16_tflops,
                                &g->bf16_tflops,
                                &g->fp8_tflops,
                                &g->int8_tops,
                                &g->mem_gb,
                                &g->bandwidth_gbs,
                                &g->l2_mb,
                                &g->nvlink_gbs,
                                &g->tdp_w};
        for (int c = 0; c < 13; c++) {
            *real[c] = column_real(st, 7 + c);
        }
        g->launch_year = sqlite3_column_int(st, 20);
        g->mig_slices = sqlite3_column_int(st, 21);
    }
    (void)sqlite3_finalize(st);
    l->cat->gpus = gpus;
    l->cat->n_gpus = i;
    return rc;
}

static int load_models(struct loader *l, struct gt_error *err)
{
    size_t n = 0;
    int rc = count_rows(l, "SELECT count(*) FROM model_profile", &n, err);
    struct model_profile *models =
        rc == 0 ? arena_array(l->cat->arena, n + 1, sizeof(*models)) : NULL;
    sqlite3_stmt *st = NULL;
    if (rc == 0 && models == NULL) {
        rc = load_nomem(l, err);
    }
    if (rc == 0) {
        rc = db_prepare(l->db,
                        "SELECT name, family, task, source, parameters, active_parameters, layers,"
                        " hidden, heads, kv_heads, ffn, vocab, seq_len, image_px, head_dim,"
                        " bytes_per_sample_in, flops_per_sample_fwd, activation_elements,"
                        " tied_embeddings FROM model_profile ORDER BY name",
                        &st, err);
    }
    bool row = rc == 0;
    size_t i = 0;
    for (; rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row && i < n; i++) {
        struct model_profile *m = &models[i];
        const char **const text[] = {&m->name, &m->family, &m->task, &m->source};
        for (int c = 0; rc == 0 && c < 4; c++) {
            rc = text_of(l, st, c, text[c], err);
        }
        double *const real[] = {&m->parameters,
                                &m->active_parameters,
                                &m->layers,
                                &m->hidden,
                                &m->heads,
                                &m->kv_heads,
                                &m->ffn,
                                &m->vocab,
                                &m->seq_len,
                                &m->image_px,
                                &m->head_dim,
                                &m->bytes_per_sample_in,
                                &m->flops_per_sample_fwd,
                                &m->activation_elements};
        for (int c = 0; c < 14; c++) {
            *real[c] = column_real(st, 4 + c);
        }
        m->tied_embeddings = sqlite3_column_int(st, 18) != 0;
    }
    (void)sqlite3_finalize(st);
    l->cat->models = models;
    l->cat->n_models = i;
    return rc;
}

/* The newest rate of each currency that was true at the catalog's instant. One that its source has
 * not quoted in the 30 days before its last day is no longer quoted (the rouble since 2022): such a
 * currency is not converted. */
#define FX_HEAD(until)                                                                             \
    "SELECT o.currency, o.per_usd, o.date, s.name FROM fx o JOIN feed f ON f.id = o.feed"          \
    " JOIN source s ON s.id = f.source JOIN (SELECT feed, max(date) AS last FROM fx" until         \
    " GROUP BY feed) m ON m.feed = o.feed"
#define FX_TAIL " AND o.date >= m.last - 30 * 86400 ORDER BY 1, 3 DESC, f.bundled, o.id DESC"
static int load_fx(struct loader *l, struct gt_error *err)
{
    size_t n = 0;
    int rc = count_rows(l, "SELECT count(DISTINCT currency) FROM fx", &n, err);
    struct arena *a = l->cat->arena;
    uint32_t *currency = rc == 0 ? arena_array(a, n + 1, sizeof(*currency)) : NULL;
    uint32_t *source = rc == 0 ? arena_array(a, n + 1, sizeof(*source)) : NULL;
    money *per_usd = rc == 0 ? arena_array(a, n + 1, sizeof(*per_usd)) : NULL;
    int64_t *date = rc == 0 ? arena_array(a, n + 1, sizeof(*date)) : NULL;
    sqlite3_stmt *st = NULL;
    if (rc == 0 && (currency == NULL || source == NULL || per_usd == NULL || date == NULL)) {
        rc = load_nomem(l, err);
    }
    if (rc == 0) { /* not bundled first on equal dates; rows of one currency stand together */
        rc = load_prepare(l, l->at ? FX_HEAD(" WHERE date <= ?1") : FX_HEAD(""), LOAD_ALL,
                          l->at ? "AND o.date <= ?1" FX_TAIL : FX_TAIL, &st, err);
    }
    struct text_cache cache[2] = {{0}};
    bool row = rc == 0;
    size_t i = 0;
    while (rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row) {
        uint32_t id = 0;
        rc = load_text(l, st, 0, &cache[0], &id, err);
        if (rc != 0 || (i > 0 && currency[i - 1] == id) || i == n) {
            continue;
        }
        currency[i] = id;
        rc = column_money(l->db, st, 1, &per_usd[i], err);
        date[i] = sqlite3_column_int64(st, 2);
        if (rc == 0) {
            rc = load_text(l, st, 3, &cache[1], &source[i], err);
        }
        i++;
    }
    (void)sqlite3_finalize(st);
    l->cat->fx = (struct catalog_fx){i, currency, source, per_usd, date};
    return rc;
}

/* Results of the last run of each device and backend; of runs measured here, where there are any: a
 * colleague's board of the same name is another board. */
static int load_bench(struct loader *l, struct gt_error *err)
{
    size_t n = 0;
    int rc = count_rows(l, "SELECT count(*) FROM bench_result", &n, err);
    struct arena *a = l->cat->arena;
    uint32_t *text[4] = {NULL};
    for (int i = 0; rc == 0 && i < 4; i++) {
        text[i] = arena_array(a, n + 1, sizeof(*text[i]));
    }
    uint8_t *is_gpu = rc == 0 ? arena_array(a, n + 1, sizeof(*is_gpu)) : NULL;
    double *median = rc == 0 ? arena_array(a, n + 1, sizeof(*median)) : NULL;
    int64_t *when = rc == 0 ? arena_array(a, n + 1, sizeof(*when)) : NULL;
    sqlite3_stmt *st = NULL;
    if (rc == 0 && (text[0] == NULL || text[1] == NULL || text[2] == NULL || text[3] == NULL ||
                    is_gpu == NULL || median == NULL || when == NULL)) {
        rc = load_nomem(l, err);
    }
    if (rc == 0) {
        rc = db_prepare(l->db,
                        "SELECT r.device, b.metric, b.unit, r.backend, r.is_gpu, b.median, r.time"
                        " FROM bench_run r JOIN bench_result b ON b.run = r.id WHERE r.id IN"
                        " (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY device,"
                        " backend ORDER BY CASE WHEN json_valid(document) THEN"
                        " json_extract(document, '$.origin') IS NOT NULL END, id DESC) AS place"
                        " FROM bench_run) WHERE place = 1)"
                        " ORDER BY r.id, b.metric",
                        &st, err);
    }
    struct text_cache cache[4] = {{0}};
    bool row = rc == 0;
    size_t i = 0;
    for (; rc == 0 && row && (rc = db_step(l->db, st, &row, err)) == 0 && row && i < n; i++) {
        for (int c = 0; rc == 0 && c < 4; c++) {
            rc = load_text(l, st, c, &cache[c], &text[c][i], err);
        }
        is_gpu[i] = (uint8_t)sqlite3_column_int(st, 4);
        median[i] = column_real(st, 5);
        when[i] = sqlite3_column_int64(st, 6);
    }
    (void)sqlite3_finalize(st);
    l->cat->bench =
        (struct catalog_bench){i, text[0], text[1], text[2], text[3], is_gpu, median, when};
    return rc;
}

int load_reference(struct loader *l, struct gt_error *err)
{
    int rc = load_gpus(l, err);
    if (rc == 0) {
        rc = load_models(l, err);
    }
    if (rc == 0) {
        rc = load_fx(l, err);
    }
    return rc == 0 ? load_bench(l, err) : rc;
}
