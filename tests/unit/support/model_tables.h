/* GPU specs and model profiles for the tests of planner/model, read from the shared tables in
 * place (GPUTIER_SHARED or ../shared). Independent of the bundled snapshot and the store. */
#ifndef MODEL_TABLES_H
#define MODEL_TABLES_H
#include "gputier/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX  256
#define TABLE_COLS 32
struct table {
    char *text;
    char *cell[TABLE_MAX][TABLE_COLS]; /* row 0: header */
    size_t rows, cols;
};
struct tables {
    struct table gpu_table, model_table;
    struct gpu_spec gpus[TABLE_MAX];
    struct model_profile models[TABLE_MAX];
    size_t n_gpus, n_models;
};

static inline const char *shared_path(const char *rest, char *buf, size_t size)
{
    const char *base = getenv("GPUTIER_SHARED");
    snprintf(buf, size, "%s/%s", base != NULL ? base : "../shared", rest);
    return buf;
}

static inline char *read_whole(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text;
    long n;

    if (f == NULL) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    n = ftell(f);
    rewind(f);
    text = calloc((size_t)n + 1, 1);
    if (text != NULL && fread(text, 1, (size_t)n, f) != (size_t)n) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

/* RFC 4180, in place. */
static inline int table_read(struct table *t, const char *rest)
{
    char path[512];
    char *p, *out;

    t->text = read_whole(shared_path(rest, path, sizeof path));
    if (t->text == NULL) {
        return -1;
    }
    p = t->text;
    while (*p != '\0' && t->rows < TABLE_MAX) {
        size_t c = 0;
        for (;;) {
            bool quoted = *p == '"';
            char end;
            p += quoted;
            out = p;
            if (c < TABLE_COLS) {
                t->cell[t->rows][c] = p;
            }
            while (*p != '\0' && (quoted || (*p != ',' && *p != '\n' && *p != '\r'))) {
                if (quoted && *p == '"') {
                    if (p[1] != '"') {
                        p++;
                        break;
                    }
                    p++;
                }
                *out++ = *p++;
            }
            end = *p;
            *out = '\0';
            c++;
            if (end == '\r') {
                p++;
                end = *p;
            }
            if (end == '\0') {
                break;
            }
            p++;
            if (end == '\n') {
                break;
            }
        }
        t->cols = t->rows == 0 ? c : t->cols;
        t->rows++;
    }
    return 0;
}

static inline const char *table_get(const struct table *t, size_t row, const char *col)
{
    for (size_t c = 0; c < t->cols && c < TABLE_COLS; c++) {
        if (strcmp(t->cell[0][c], col) == 0) {
            return t->cell[row][c] != NULL ? t->cell[row][c] : "";
        }
    }
    return "";
}

static inline double table_num(const struct table *t, size_t row, const char *col)
{
    const char *s = table_get(t, row, col);
    char *end;
    double v = strtod(s, &end);
    return end == s ? (double)NAN : v;
}

static inline void gpu_row(const struct table *t, size_t r, struct gpu_spec *g)
{
    g->model = table_get(t, r, "model");
    g->maker = table_get(t, r, "vendor");
    g->arch = table_get(t, r, "arch");
    g->form = "";
    g->compute_capability = table_num(t, r, "compute_capability");
    g->fp64_tflops = table_num(t, r, "fp64_tflops");
    g->fp32_tflops = table_num(t, r, "fp32_tflops");
    g->tf32_tflops = table_num(t, r, "tf32_tensor_dense");
    g->fp16_tflops = table_num(t, r, "fp16_tensor_dense");
    g->bf16_tflops = table_num(t, r, "bf16_tensor_dense");
    g->fp8_tflops = table_num(t, r, "fp8_dense");
    g->int8_tops = table_num(t, r, "int8_tops_dense");
    g->mem_gb = table_num(t, r, "mem_gb");
    g->bandwidth_gbs = table_num(t, r, "bandwidth_gbs");
    g->l2_mb = table_num(t, r, "l2_mb");
    g->nvlink_gbs = table_num(t, r, "nvlink_gbs_total");
    g->tdp_w = table_num(t, r, "tdp_w");
    g->pcie = table_get(t, r, "pcie");
    g->note = "";
    g->source = "";
}

static inline void model_row(const struct table *t, size_t r, struct model_profile *m)
{
    const char *note = table_get(t, r, "activation_bytes_note");
    double millions;

    m->name = table_get(t, r, "name");
    m->family = table_get(t, r, "family");
    m->task = table_get(t, r, "task");
    m->parameters = table_num(t, r, "parameters");
    m->active_parameters = table_num(t, r, "active_parameters");
    if (strcmp(table_get(t, r, "parameters_basis"), "nominal") == 0 &&
        table_num(t, r, "params_from_dims") > 0) { /* a name is not a count */
        m->parameters = m->active_parameters = table_num(t, r, "params_from_dims");
    }
    m->layers = table_num(t, r, "layers");
    m->hidden = table_num(t, r, "hidden");
    m->heads = table_num(t, r, "heads");
    m->kv_heads = table_num(t, r, "kv_heads");
    m->ffn = table_num(t, r, "ffn");
    m->vocab = table_num(t, r, "vocab");
    m->seq_len = table_num(t, r, "seq_len_default");
    m->image_px = table_num(t, r, "image_px");
    m->head_dim = table_num(t, r, "head_dim");
    m->bytes_per_sample_in = table_num(t, r, "bytes_per_sample_in");
    m->flops_per_sample_fwd = table_num(t, r, "flops_per_sample_fwd");
    m->activation_elements = (double)NAN;
    if (strstr(note, "M forward activations") != NULL && sscanf(note, "%lf", &millions) == 1) {
        m->activation_elements = millions * 1e6;
    }
    m->tied_embeddings = strcmp(table_get(t, r, "tied_embeddings"), "y") == 0;
    m->source = "";
}

/* NULL with a message when the shared tables are not there: the test must skip. */
static inline struct tables *tables_load(void)
{
    struct tables *t = calloc(1, sizeof *t);

    if (t == NULL || table_read(&t->gpu_table, "docs/gpu-specs.csv") != 0 ||
        table_read(&t->model_table, "docs/models.csv") != 0) {
        printf("shared/docs/gpu-specs.csv or models.csv is missing: set GPUTIER_SHARED\n");
        free(t);
        return NULL;
    }
    for (size_t r = 1; r < t->gpu_table.rows; r++) {
        gpu_row(&t->gpu_table, r, &t->gpus[t->n_gpus++]);
    }
    for (size_t r = 1; r < t->model_table.rows; r++) {
        model_row(&t->model_table, r, &t->models[t->n_models++]);
    }
    return t;
}

static inline void tables_free(struct tables *t)
{
    if (t != NULL) {
        free(t->gpu_table.text);
        free(t->model_table.text);
        free(t);
    }
}

static inline const struct gpu_spec *tables_gpu(const struct tables *t, const char *name)
{
    for (size_t i = 0; i < t->n_gpus; i++) {
        if (strcmp(t->gpus[i].model, name) == 0) {
            return &t->gpus[i];
        }
    }
    return NULL;
}

/* A job with everything unknown or default but the model and the GPU. */
static inline struct model_job plain_job(const struct model_profile *m, const struct gpu_spec *g)
{
    struct model_job j;

    memset(&j, 0, sizeof j);
    j.model = m;
    j.gpu = g;
    j.gpus = 1;
    j.gpus_per_node = 8;
    j.nodes = 1;
    j.batch_per_gpu = 8;
    j.gradient_accumulation = 1;
    j.precision = PRECISION_AMP;
    j.optimizer = OPTIMIZER_ADAMW;
    j.stack = "tuned";
    j.vcpus_per_node = j.network_gbps = j.storage_bytes_per_s = (double)NAN;
    j.calibration = 1;
    return j;
}
#endif
