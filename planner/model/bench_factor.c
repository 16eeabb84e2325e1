/* A stored bench of a GPU -> how that GPU compares with its sheet (throughput-model.md section 6):
 * its stream bandwidth against 0.9 of the sheet's, held between 0.5 and 1.05. A CPU's figures, and
 * a slice's, never stand for a GPU. */
#include "gputier/catalog.h"
#include "gputier/model.h"
#include <stdio.h>
#include <string.h>

#define STREAM_SHARE 0.9
#define LOWEST       0.5
#define HIGHEST      1.05

const struct gpu_spec *model_bench_spec(const struct catalog *c, const char *device)
{
    const struct gpu_spec *best = NULL;
    for (size_t i = 0; i < c->n_gpus; i++) {
        char words[128], *save = NULL;
        bool all = true;
        snprintf(words, sizeof words, "%s", c->gpus[i].model);
        for (char *w = strtok_r(words, " -", &save); w != NULL; w = strtok_r(NULL, " -", &save)) {
            all = all && strcasestr(device, w) != NULL;
        }
        if (all && (best == NULL || strlen(c->gpus[i].model) > strlen(best->model))) {
            best = &c->gpus[i];
        }
    }
    return best;
}

const struct gpu_spec *model_bench_factor(const struct catalog *c, double *factor)
{
    const struct catalog_bench *b = &c->bench;
    const struct gpu_spec *found = NULL;
    int64_t newest = INT64_MIN;
    *factor = 1;
    for (size_t i = 0; i < b->n; i++) {
        const char *device = catalog_text(c, b->device[i]);
        if (!b->is_gpu[i] || b->when[i] < newest || strstr(device, "MIG") != NULL ||
            strcmp(catalog_text(c, b->metric[i]), "triad") != 0) {
            continue;
        }
        const struct gpu_spec *g = model_bench_spec(c, device);
        if (g != NULL && g->bandwidth_gbs > 0) {
            double f = b->median[i] / (STREAM_SHARE * g->bandwidth_gbs);
            newest = b->when[i];
            found = g;
            *factor = f < LOWEST ? LOWEST : f > HIGHEST ? HIGHEST : f;
        }
    }
    return found;
}
