/* Random small catalogs and scenarios for the planner's tests: three GPUs, two regions, prices that
 * are missing, data here, there or anywhere. */
#ifndef GPUTIER_RANDOM_SEARCH_H
#define GPUTIER_RANDOM_SEARCH_H
#include "../unit.h"
#include "gputier/rng.h"
#include "gputier/scenario.h"
#include "tiny_tables.h"
#include <stdio.h>

static const char *pick(struct rng *r, const char *const *list, size_t n)
{
    return list[rng_u64(r) % n];
}

static double between(struct rng *r, double lo, double hi)
{
    return lo + (hi - lo) * rng_unit(r);
}

static const char *const vendors[] = {"aws", "gcp", "lambda"};
static const char *const regions[] = {"us-east-1", "eu-west-1"};

static struct catalog *random_catalog(struct rng *r)
{
    static char price[64][24], type[64][16];
    struct tiny_offer offer[64];
    struct catalog *c = tiny_new(gpus, 3, models, 1);
    size_t n = 4 + rng_u64(r) % 20;
    memset(offer, 0, sizeof offer);
    for (size_t i = 0; i < n; i++) {
        struct tiny_offer *o = &offer[i];
        snprintf(price[i], sizeof price[i], "%.4f", between(r, 0.2, 40));
        snprintf(type[i], sizeof type[i], "m%u", (unsigned)(rng_u64(r) % 6));
        o->vendor = pick(r, vendors, 3);
        o->region = pick(r, regions, 2);
        o->type = type[i];
        o->gpu = gpus[rng_u64(r) % 3].model;
        o->num = 1u << rng_u64(r) % 4;
        o->purchase = rng_u64(r) % 2 ? PURCHASE_SPOT : PURCHASE_ON_DEMAND;
        o->state = rng_u64(r) % 9 ? PRICE_KNOWN : PRICE_NONE;
        o->price = price[i];
        o->vcpus = rng_u64(r) % 5 ? 8.0 * o->num : 0;
        o->memory_gib = 64.0 * o->num;
        o->nvme_gb = rng_u64(r) % 2 ? 900 : 0;
        o->network_gbps = rng_u64(r) % 3 ? 25 : 0;
    }
    for (size_t i = 0, m = n; i < m; i++) { /* some spot machines have an on-demand twin */
        if (offer[i].purchase == PURCHASE_SPOT && rng_u64(r) % 2) {
            snprintf(price[n], sizeof price[n], "%.4f", between(r, 0.2, 60));
            offer[n] = offer[i];
            offer[n].purchase = PURCHASE_ON_DEMAND;
            offer[n].price = price[n];
            n++;
        }
    }
    for (size_t i = 0, m = n; i < m && n < 60; i++) { /* and some are sold in blocks */
        if (offer[i].purchase == PURCHASE_ON_DEMAND && rng_u64(r) % 3 == 0) {
            snprintf(price[n], sizeof price[n], "%.4f", between(r, 0.02, 10));
            offer[n] = offer[i];
            offer[n].purchase = PURCHASE_CAPACITY_BLOCK;
            offer[n].price = price[n];
            offer[n].valid_from = NOW + (int64_t)(rng_u64(r) % 100) * 3600;
            n++;
        }
    }
    tiny_offers(c, offer, n);
    struct tiny_rate rate[] = {
        {"aws", "us-east-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 0, 100, "0.023"},
        {"aws", "us-east-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 100, 0, "0.021"},
        {"aws", "us-east-1", "s3_standard", "get", SU_REQUEST, 1000, 0, 0, "0.0004"},
        {"aws", "us-east-1", "s3_standard", "put", SU_REQUEST, 1000, 0, 0, "0.005"},
        {"aws", "us-east-1", "efs_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.3"},
        {"aws", "us-east-1", "efs_standard", "read", SU_GIB, 1, 0, 0, "0.03"},
        {"aws", "us-east-1", "ebs_gp3", "storage", SU_GIB_MONTH, 1, 0, 0, "0.08"},
        {"aws", "us-east-1", "ebs_gp3", "throughput", SU_MIBPS_MONTH, 1, 0, 125, "0"},
        {"aws", "us-east-1", "ebs_gp3", "throughput", SU_MIBPS_MONTH, 1, 125, 0, "0.04"},
        {"aws", "eu-west-1", "s3_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.025"},
        {"aws", "eu-west-1", "s3_standard", "put", SU_REQUEST, 1000, 0, 0, "0.006"},
        {"gcp", "us-east-1", "gcs_standard", "storage", SU_GIB_MONTH, 1, 0, 0, "0.02"},
        {"gcp", "us-east-1", "gcs_standard", "get", SU_REQUEST, 1000, 0, 0, "0.0004"},
        {"gcp", "us-east-1", "gcs_standard", "put", SU_REQUEST, 1000, 0, 0, "0.005"},
        {"gcp", "us-east-1", "gcp_pd_balanced", "storage", SU_GIB_MONTH, 1, 0, 0, "0.1"},
    };
    tiny_storage(c, rate, sizeof rate / sizeof rate[0]);
    struct tiny_transfer move[] = {
        {"aws", "us-east-1", "internet", "0.09", 0, 100},
        {"aws", "us-east-1", "internet", "0.085", 100, 0},
        {"aws", "us-east-1", "eu-west-1", "0.02", 0, 0},
        {"gcp", "us-east-1", "internet", "0.12", 0, 0},
    };
    tiny_transfers(c, move, sizeof move / sizeof move[0]);
    return c;
}

/* Text of a scenario. */
static void random_scenario_text(struct rng *r, char *text, size_t size)
{
    static const char *const homes[] = {"", ", lives_in: aws/us-east-1",
                                        ", lives_in: aws/us-east-1, tier: s3_standard",
                                        ", lives_in: gcp/us-east-1"};
    static const char *const every[] = {"auto", "30min", "500 steps", "off"};
    int n = snprintf(text, size,
                     "workload: {model: resnet50, epochs: %d, samples: %d, batch_per_gpu: 64, "
                     "checkpoint: {size: %dMB, every: %s}, setup: %dmin}\n"
                     "constraints: {gpus: {count: 1-%d}",
                     1 + (int)(rng_u64(r) % 30), 20000 + (int)(rng_u64(r) % 500000),
                     50 + (int)(rng_u64(r) % 4000), pick(r, every, 4), 1 + (int)(rng_u64(r) % 40),
                     1 + (int)(rng_u64(r) % 16));
    if (rng_u64(r) % 2) {
        n += snprintf(text + n, size - (size_t)n, ", deadline: %.1fh, confidence: %.2f",
                      between(r, 0.5, rng_u64(r) % 2 ? 8 : 30), between(r, 0.5, 0.99));
    }
    if (rng_u64(r) % 2) {
        n += snprintf(text + n, size - (size_t)n, ", budget: %.2f USD", between(r, 5, 400));
    }
    n += snprintf(text + n, size - (size_t)n, "}\nspot: {interruption: %.3f}\n",
                  between(r, 0.001, rng_u64(r) % 2 ? 2 : 0.6));
    if (rng_u64(r) % 3 == 0) {
        n += snprintf(text + n, size - (size_t)n, "purchase: [on_demand, spot, capacity_block]\n");
    }
    if (rng_u64(r) % 3 == 0) {
        n += snprintf(text + n, size - (size_t)n,
                      "start_wait: {spot: %dmin}\nwait_before_fallback: %dmin\n",
                      1 + (int)(rng_u64(r) % 90), (int)(rng_u64(r) % 120));
    }
    if (rng_u64(r) % 4) {
        n += snprintf(
            text + n, size - (size_t)n,
            "data: [{name: d, role: training_data, size: %dGiB, files: %d, keep: 2mo%s}]\n",
            1 + (int)(rng_u64(r) % 300), 1 + (int)(rng_u64(r) % 2000000), pick(r, homes, 4));
    }
}

static inline struct scenario *random_scenario(struct rng *r)
{
    char text[1500];
    random_scenario_text(r, text, sizeof text);
    struct scenario *s = NULL;
    struct gt_error err = {0};
    if (scenario_parse(text, strlen(text), "random", NULL, 0, NOW, 0, &s, &err) != 0) {
        fail_msg("%s: %s\n%s", err.where, err.text, text);
    }
    return s;
}

#endif
