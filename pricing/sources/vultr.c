/* Vultr's plans and bare metal (docs/pricing-sources.md section 5), both in one list: slices of
 * GPUs by their share of memory, and machines whose GPUs stand only in their name
 * ("vbm-256c-2048gb-8-mi300x-gpu"). Preemptible prices are the spot prices. Memory is in MB of
 * 2^20. */
#include "../http/http.h"
#include "cloud.h"
#include "gpu_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* gpu_vram_gb is the plan's: a slice of one GPU, or several. The list's largest A100 plan of one
 * GPU has 80 GB. */
static int adjust_plan(struct records *r, const struct rec *e, struct cloud_machine *m,
                       struct gt_error *err)
{
    (void)r;
    (void)e;
    (void)err;
    double have = m->gpu_memory;
    if (*m->gpu == '\0' || have <= 0) {
        m->o.gpu_num = 0;
        return 0;
    }
    bool a100 = strcasestr(m->gpu, "A100") != NULL;
    m->gpu_memory = a100 ? 80 : -1;
    m->o.gpu_num = 1;
    cloud_set_gpu(m);
    double whole = a100 ? 80 : gpu_model_memory(m->o.gpu);
    if (whole <= 0) { /* not in the table: taken as one GPU with that memory */
        m->gpu_memory = have;
        return 0;
    }
    int32_t num = (int32_t)have, den = (int32_t)whole;
    for (int32_t d = den; d > 1; d--) {
        if (num % d == 0 && den % d == 0) {
            num /= d;
            den /= d;
        }
    }
    m->o.gpu_num = num;
    m->o.gpu_den = den;
    m->gpu_memory = whole;
    return 0;
}

static int adjust_metal(struct records *r, const struct rec *e, struct cloud_machine *m,
                        struct gt_error *err)
{
    (void)e;
    (void)err;
    char name[64];
    int count = 0, used = 0;
    const char *p = m->o.instance_type;
    for (; (p = strchr(p, '-')) != NULL; p++) {
        if (sscanf(p, "-%2d-%60[a-z0-9]-gpu%n", &count, name, &used) == 2 && used > 0 &&
            count > 0) {
            m->gpu = arena_strdup(r->arena, name);
            m->o.gpu_num = m->gpu ? count : 0;
            return m->gpu ? 0 : GT_ENOMEM;
        }
    }
    return 0;
}

static const struct cloud_map plans = {
    .vendor = "vultr",
    .type = "id",
    .gpu = "gpu_type",
    .gpu_memory = "gpu_vram_gb",
    .vcpus = "vcpu_count",
    .memory = "ram",
    .memory_per_gib = 1024,
    .price = "hourly_cost",
    .spot = "hourly_cost_preemptible",
    .regions = "locations",
    .adjust = adjust_plan,
};
static const struct cloud_map metal = {
    .vendor = "vultr",
    .type = "id",
    .vcpus = "cpu_threads",
    .memory = "ram",
    .memory_per_gib = 1024,
    .price = "hourly_cost",
    .spot = "hourly_cost_preemptible",
    .regions = "locations",
    .adjust = adjust_metal,
};

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    if (list == 1) {
        return cloud_entry(r, &metal, e, err);
    }
    struct cloud_machine m;
    int rc = cloud_read(r, &plans, e, &m, err);
    if (rc != 0) {
        return rc == GT_ENOTFOUND ? 0 : rc;
    }
    if (m.o.gpu_den > 1) { /* memory of the slice */
        m.o.gpu_memory_gib = m.gpu_memory * m.o.gpu_num / m.o.gpu_den;
    }
    return cloud_put_regions(r, &m, rec_get(e, plans.regions), err);
}

static int field(struct records *r, const char *path, const char *text, struct gt_error *err)
{
    if (strcmp(path, "meta.links.next") == 0) {
        if (strlen(text) >= sizeof r->ctx->next) {
            return json_fail(r->json, GT_ELIMIT, err, "a cursor of %zu bytes", strlen(text));
        }
        snprintf(r->ctx->next, sizeof r->ctx->next, "%s", text);
    }
    return 0;
}

/* "meta.links.none" only makes the way to the cursor. */
static const struct records_shape shape = {.list = {"plans", "plans_metal", "meta.links.none"},
                                           .pages = true,
                                           .entry = entry,
                                           .field = field,
                                           .regions_vary = true};

const struct source_def source_vultr = {
    .id = "vultr",
    .vendor = "vultr",
    .default_url = "https://api.vultr.com/v2",
    .default_on = true,
    .expected_bytes = 400000,
    .help = "Vultr's plans: slices of GPUs, whole ones, bare metal",
    .known_by = {{"\"hourly_cost\"", "\"monthly_cost\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = vultr_fetch,
};
