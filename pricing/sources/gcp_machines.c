/* Google Cloud's GPU machines out of their parts (docs/pricing-sources.md section 3): cores +
 * memory + GPUs + the local disks that come with the type, each by the SKU of the machine family,
 * for each way to buy. A machine of which a part has no price is left out. Shapes:
 * docs/gpu-instances.csv; N1 machines with attached GPUs are named as skypilot_gcp.c names them. */
#include "gcp_skus.h"
#include "gpu_names.h"
#include <string.h>

#define HOURS_PER_MONTH 730

/* What is priced but not sold to everybody on demand (dstackai/gpuhunt's filter). */
enum sold { PLAIN, BY_REQUEST };
static const struct machine {
    const char *type;
    const char *family; /* of core and memory SKUs; "" = the GPU's price is the machine's */
    const char *gpu[3]; /* of GPU SKUs: names that stand for the same part */
    int gpus, vcpus, memory_qgib; /* memory in quarters of a GiB */
    int ssd_gib;                  /* bundled, charged apart */
    enum sold sold;
} machines[] = {
    {"a2-highgpu-1g", "a2", {"teslaa100"}, 1, 12, 340, 0, PLAIN},
    {"a2-highgpu-2g", "a2", {"teslaa100"}, 2, 24, 680, 0, PLAIN},
    {"a2-highgpu-4g", "a2", {"teslaa100"}, 4, 48, 1360, 0, PLAIN},
    {"a2-highgpu-8g", "a2", {"teslaa100"}, 8, 96, 2720, 0, PLAIN},
    {"a2-megagpu-16g", "a2", {"teslaa100"}, 16, 96, 5440, 0, PLAIN},
    {"a2-ultragpu-1g", "a2", {"teslaa10080gb"}, 1, 12, 680, 375, PLAIN},
    {"a2-ultragpu-2g", "a2", {"teslaa10080gb"}, 2, 24, 1360, 750, PLAIN},
    {"a2-ultragpu-4g", "a2", {"teslaa10080gb"}, 4, 48, 2720, 1500, PLAIN},
    {"a2-ultragpu-8g", "a2", {"teslaa10080gb"}, 8, 96, 5440, 3000, PLAIN},
    {"a3-highgpu-1g", "a3", {"h10080gb"}, 1, 26, 936, 750, BY_REQUEST},
    {"a3-highgpu-2g", "a3", {"h10080gb"}, 2, 52, 1872, 1500, BY_REQUEST},
    {"a3-highgpu-4g", "a3", {"h10080gb"}, 4, 104, 3744, 3000, BY_REQUEST},
    {"a3-highgpu-8g", "a3", {"h10080gb"}, 8, 208, 7488, 6000, PLAIN},
    {"a3-megagpu-8g",
     "a3plus",
     {"h10080gbplus", "h10080gbmega", "h100mega80gb"},
     8,
     208,
     7488,
     6000,
     PLAIN},
    {"a3-ultragpu-8g", "a3ultra", {"h200141gb"}, 8, 224, 11808, 12000, BY_REQUEST},
    {"a4-highgpu-8g", "", {"b2001gpuslice", "b200"}, 8, 224, 15872, 0, BY_REQUEST},
    {"g2-standard-4", "g2", {"l4"}, 1, 4, 64, 0, PLAIN},
    {"g2-standard-8", "g2", {"l4"}, 1, 8, 128, 0, PLAIN},
    {"g2-standard-12", "g2", {"l4"}, 1, 12, 192, 0, PLAIN},
    {"g2-standard-16", "g2", {"l4"}, 1, 16, 256, 0, PLAIN},
    {"g2-standard-24", "g2", {"l4"}, 2, 24, 384, 0, PLAIN},
    {"g2-standard-32", "g2", {"l4"}, 1, 32, 512, 0, PLAIN},
    {"g2-standard-48", "g2", {"l4"}, 4, 48, 768, 0, PLAIN},
    {"g2-standard-96", "g2", {"l4"}, 8, 96, 1536, 0, PLAIN},
    {"n1-standard-8+1xT4", "n1predefined", {"teslat4"}, 1, 8, 120, 0, PLAIN},
    {"n1-standard-16+2xT4", "n1predefined", {"teslat4"}, 2, 16, 240, 0, PLAIN},
    {"n1-standard-32+4xT4", "n1predefined", {"teslat4"}, 4, 32, 480, 0, PLAIN},
    {"n1-standard-8+1xP4", "n1predefined", {"teslap4"}, 1, 8, 120, 0, PLAIN},
    {"n1-standard-16+2xP4", "n1predefined", {"teslap4"}, 2, 16, 240, 0, PLAIN},
    {"n1-standard-32+4xP4", "n1predefined", {"teslap4"}, 4, 32, 480, 0, PLAIN},
    {"n1-standard-8+1xV100", "n1predefined", {"teslav100"}, 1, 8, 120, 0, PLAIN},
    {"n1-standard-16+2xV100", "n1predefined", {"teslav100"}, 2, 16, 240, 0, PLAIN},
    {"n1-standard-32+4xV100", "n1predefined", {"teslav100"}, 4, 32, 480, 0, PLAIN},
    {"n1-standard-64+8xV100", "n1predefined", {"teslav100"}, 8, 64, 960, 0, PLAIN},
    {"n1-standard-8+1xP100", "n1predefined", {"teslap100"}, 1, 8, 120, 0, PLAIN},
    {"n1-standard-16+2xP100", "n1predefined", {"teslap100"}, 2, 16, 240, 0, PLAIN},
    {"n1-standard-32+4xP100", "n1predefined", {"teslap100"}, 4, 32, 480, 0, PLAIN},
};
static const enum purchase purchase_of[GCP_OPTIONS] = {
    [GCP_ON_DEMAND] = PURCHASE_ON_DEMAND,
    [GCP_SPOT] = PURCHASE_SPOT,
    [GCP_COMMIT_1Y] = PURCHASE_COMMITTED_USE_1Y,
    [GCP_COMMIT_3Y] = PURCHASE_COMMITTED_USE_3Y,
};

/* The GPU table's name of what a SKU calls plain; otherwise when no machine carries it. */
static const char *model_of(const char *plain, const char *otherwise)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        for (size_t k = 0; k < 3 && machines[i].gpu[k]; k++) {
            if (strcmp(machines[i].gpu[k], plain) == 0) {
                const char *attached = strrchr(machines[i].type, 'x'); /* "+1xT4" */
                return gpu_canonical(attached ? attached + 1 : plain, -1, "gcp", machines[i].type)
                    .model;
            }
        }
    }
    return otherwise;
}

struct place { /* where and how a sum is made */
    const struct gcp *g;
    const char *currency, *region;
    enum gcp_option option;
};

static int add(money *sum, const struct gcp_rate *rate, unsigned num, unsigned den)
{
    money part;
    int rc = money_mul_ratio(rate->rate, num, den, &part);
    return rc ? rc : money_add(*sum, part, sum);
}

static struct gcp_rate *gpu_rate(const struct place *p, const struct machine *m)
{
    struct gcp_rate *found = NULL;
    for (size_t i = 0; i < 3 && m->gpu[i] && !found; i++) {
        found = gcp_find(p->g, p->currency, p->region, 'g', m->gpu[i], p->option);
    }
    return found;
}

/* GT_ENOTFOUND: a part has no price here. */
static int add_up(const struct place *p, const struct machine *m, money *sum, const char **sku,
                  bool *full_ssd)
{
    const struct gcp *g = p->g;
    struct gcp_rate *gpu = gpu_rate(p, m);
    *sum = 0;
    *full_ssd = false;
    if (!gpu) {
        return GT_ENOTFOUND;
    }
    *sku = gpu->sku;
    int rc = add(sum, gpu, (unsigned)m->gpus, 1);
    if (*m->family != '\0') {
        const struct gcp_rate *core =
            gcp_find(g, p->currency, p->region, 'c', m->family, p->option);
        const struct gcp_rate *memory =
            gcp_find(g, p->currency, p->region, 'm', m->family, p->option);
        if (!core || !memory) {
            return GT_ENOTFOUND;
        }
        rc = rc ? rc : add(sum, core, (unsigned)m->vcpus, 1);
        rc = rc ? rc : add(sum, memory, (unsigned)m->memory_qgib, 4);
    }
    if (m->ssd_gib > 0) {
        const struct gcp_rate *ssd = gcp_find(g, p->currency, p->region, 's', "", p->option);
        if (!ssd) { /* no price of its own for this way to buy */
            ssd = gcp_find(g, p->currency, p->region, 's', "", GCP_ON_DEMAND);
            *full_ssd = true;
        }
        rc = !ssd ? GT_ENOTFOUND : rc ? rc : add(sum, ssd, (unsigned)m->ssd_gib, HOURS_PER_MONTH);
    }
    gpu->used |= rc == 0;
    return rc;
}

static int put_machine(struct records *r, const struct place *p, const struct machine *m,
                       struct gt_error *err)
{
    money sum;
    const char *sku = NULL;
    bool full_ssd;
    int rc = add_up(p, m, &sum, &sku, &full_ssd);
    if (rc == GT_ENOTFOUND) {
        return 0;
    }
    if (rc != 0) {
        return records_bad(r, "sum of the parts of", m->type, err);
    }
    struct offer_row o = src_offer(r->ctx);
    o.vendor = "gcp";
    o.region = p->region;
    o.instance_type = m->type;
    o.currency = p->currency;
    o.vcpus = m->vcpus;
    o.memory_gib = m->memory_qgib / 4.0;
    o.gpu = model_of(m->gpu[0], m->gpu[0]);
    o.gpu_num = m->gpus;
    o.gpu_memory_gib = gpu_model_memory(o.gpu);
    o.local_nvme_gb = m->ssd_gib > 0 ? m->ssd_gib * 1.073741824 : -1;
    o.purchase = purchase_of[p->option];
    o.price_state =
        m->sold == BY_REQUEST && p->option == GCP_ON_DEMAND ? PRICE_SOLD_OTHERWISE : PRICE_KNOWN;
    o.price_per_hour = sum;
    o.sku = sku;
    o.note = full_ssd          ? "added up from the parts' SKUs; local disks at the on-demand rate"
             : *m->family == 0 ? "added up from the GPU's SKU, which is the whole machine's"
                               : "added up from core, memory, GPU and local disk SKUs";
    rc = staging_put_offer(r->ctx->staging, &o, err);
    r->ctx->rows += rc == 0;
    return rc;
}

/* GPUs of which no machine could be put together are kept: priced, but not sold alone. */
static int put_gpu(struct records *r, const struct gcp *g, const struct gcp_gpu *gpu,
                   struct gt_error *err)
{
    int rc = 0;
    for (int i = 0; i < GCP_OPTIONS && rc == 0; i++) {
        struct gcp_rate *rate =
            gcp_find(g, gpu->currency, gpu->region, 'g', gpu->plain, (enum gcp_option)i);
        if (!rate || rate->used) {
            continue;
        }
        struct offer_row o = src_offer(r->ctx);
        o.vendor = "gcp";
        o.region = gpu->region;
        o.instance_type = gpu->name;
        o.gpu = model_of(gpu->plain, gpu->name);
        o.gpu_num = 1;
        o.gpu_memory_gib = gpu_model_memory(o.gpu);
        o.currency = gpu->currency;
        o.purchase = purchase_of[i];
        o.price_state = PRICE_SOLD_OTHERWISE;
        o.price_per_hour = rate->rate;
        o.sku = rate->sku;
        o.note = "one GPU without a machine: the list lacks its other parts";
        rc = staging_put_offer(r->ctx->staging, &o, err);
        r->ctx->rows += rc == 0;
    }
    return rc;
}

int gcp_put_machines(struct records *r, const struct gcp *g, struct gt_error *err)
{
    int rc = 0;
    for (size_t c = 0; c < g->n_currencies; c++) {
        for (size_t i = 0; i < g->n_regions; i++) {
            for (int o = 0; o < GCP_OPTIONS; o++) {
                struct place p = {g, g->currency[c], g->region[i], (enum gcp_option)o};
                for (size_t m = 0; rc == 0 && m < sizeof machines / sizeof *machines; m++) {
                    rc = put_machine(r, &p, &machines[m], err);
                }
            }
        }
    }
    for (const struct gcp_gpu *gpu = g->gpu; gpu && rc == 0; gpu = gpu->next) {
        rc = put_gpu(r, g, gpu, err);
    }
    return rc;
}
