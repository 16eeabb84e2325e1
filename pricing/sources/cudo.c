/* Cudo (docs/pricing-sources.md section 5): machines are put together from vCPUs, memory and GPUs,
 * each at its price an hour. One machine a number of GPUs is offered here: 8 vCPUs and 32 GiB a
 * GPU, moved into the bounds that the vendor sets. */
#include "../http/http.h"
#include "cloud.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VCPUS_A_GPU 8
#define GIB_A_VCPU  4
#define GPUS_MOST   16

static double within(double v, double lo, double hi)
{
    v = hi > 0 && v > hi ? hi : v;
    return lo > 0 && v < lo ? lo : v;
}

static int times(const char *price, double n, money *sum)
{
    money rate, part;
    if (src_price(price, &rate) != 0 || n < 0 || n > 1e6) {
        return GT_EPARSE;
    }
    int rc = money_mul_ratio(rate, (gt_u128)n, 1, &part);
    return rc ? rc : money_add(*sum, part, sum);
}

static int put_count(struct records *r, const struct rec *e, int n, struct gt_error *err)
{
    char type[300], price[MONEY_TEXT];
    struct cloud_machine m = cloud_machine(r->ctx, "cudo");
    double vcpus = floor(within(VCPUS_A_GPU, ceil(src_figure(rec_text(e, "minVcpuPerGpu"))),
                                src_figure(rec_text(e, "maxVcpuPerGpu")))) *
                   n;
    double least = src_figure(rec_text(e, "maxVcpuPerMemoryGib")); /* vCPUs a GiB */
    double most = src_figure(rec_text(e, "minVcpuPerMemoryGib"));
    double memory = floor(within(vcpus * GIB_A_VCPU, least > 0 ? ceil(vcpus / least) : -1,
                                 most > 0 ? floor(vcpus / most) : -1));
    money sum = 0;
    if (times(rec_text(e, "gpuPriceHr.value"), n, &sum) != 0 || sum == 0 ||
        times(rec_text(e, "vcpuPriceHr.value"), vcpus, &sum) != 0 ||
        times(rec_text(e, "memoryGibPriceHr.value"), memory, &sum) != 0) {
        return records_bad(r, "price of", rec_text(e, "machineType"), err);
    }
    snprintf(type, sizeof type, "%.200s %dx%gvcpu-%ggib", rec_text(e, "machineType"), n, vcpus,
             memory);
    m.o.instance_type = type;
    m.gpu = rec_text(e, "gpuModel");
    m.o.gpu_num = n;
    m.o.vcpus = vcpus;
    m.o.memory_gib = memory;
    m.o.note = "added up from vCPU, memory and GPU prices; disk and address are charged apart";
    m.price = money_format(sum, price);
    cloud_set_gpu(&m);
    return cloud_put(r, &m, rec_text(e, "dataCenterId"), err);
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    double most = src_figure(rec_text(e, "maxGpuFree"));
    if (*rec_text(e, "gpuModel") == '\0') {
        src_skip(r->ctx, "no GPU", 1);
        return 0;
    }
    int rc = put_count(r, e, 1, err); /* a price even where none is free */
    for (int n = 2; rc == 0 && n <= most && n <= GPUS_MOST; n++) {
        rc = put_count(r, e, n, err);
    }
    return rc;
}

static const struct records_shape shape = {
    .list = {"machineTypes"}, .entry = entry, .regions_vary = true};

const struct source_def source_cudo = {
    .id = "cudo",
    .vendor = "cudo",
    .default_url = "https://rest.compute.cudo.org/v1/vms/machine-types",
    .needs_key = true,
    .default_on = true,
    .expected_bytes = 100000,
    .help = "Cudo's machines, added up from vCPU, memory and GPU prices",
    .known_by = {{"\"machineTypes\"", "\"gpuPriceHr\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = bearer_fetch,
};
