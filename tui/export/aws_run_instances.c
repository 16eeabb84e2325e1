/* aws-run-instances: input of `aws ec2 run-instances --cli-input-json file://FILE`: the plan's
 * machines with an encrypted gp3 volume, IMDSv2 only, and tags that say what they cost. The image
 * is AWS's own parameter of its GPU image, resolved at launch, so the file does not age. */
#include "export.h"
#include "gputier/jsonw.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOT_GIB 125
#define GPU_IMAGE                                                                                  \
    "resolve:ssm:/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04"     \
    "/latest/ami-id"

/* Price per hour of all machines: the sum the launch costs while it runs. */
static int hourly(const struct export_input *in, enum purchase purchase, money *out)
{
    const struct catalog_offers *o = &in->catalog->offers;
    const struct plan *p = in->plan;
    for (size_t i = 0; i < o->n; i++) {
        if (o->purchase[i] == purchase && o->price_state[i] == PRICE_KNOWN &&
            strcmp(catalog_text(in->catalog, o->vendor[i]), p->vendor) == 0 &&
            strcmp(catalog_text(in->catalog, o->region[i]), p->region) == 0 &&
            strcmp(catalog_text(in->catalog, o->instance_type[i]), p->instance_type) == 0 &&
            (p->n_zones == 0 || !o->zone[i] ||
             strcmp(catalog_text(in->catalog, o->zone[i]), p->zones[0]) == 0)) {
            *out = o->price_per_hour[i];
            return 0;
        }
    }
    return GT_ENOTFOUND;
}

static void tag(struct jsonw *w, const char *key, const char *value)
{
    jsonw_object(w);
    jsonw_kstring(w, "Key", key);
    jsonw_kstring(w, "Value", value);
    jsonw_end_object(w);
}

static void tags(struct jsonw *w, const struct export_input *in, const char *resource,
                 money per_hour)
{
    char cost[MONEY_TEXT], text[128];
    snprintf(text, sizeof text, "%.60s %.3s", money_format(per_hour * in->plan->instances, cost),
             in->plan->currency);
    jsonw_object(w);
    jsonw_kstring(w, "ResourceType", resource);
    jsonw_key(w, "Tags");
    jsonw_array(w);
    tag(w, "Name", in->ref->scenario ? in->ref->scenario->name : "gputier");
    tag(w, "gputier:plan", in->plan->id);
    tag(w, "gputier:cost-per-hour-of-all", text);
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static void volume(struct jsonw *w, const struct export_input *in)
{
    uint64_t gib = ROOT_GIB;
    const struct scenario *s = in->ref->scenario;
    for (size_t i = 0; s && i < s->n_data;
         i++) { /* checkpoints on block storage live on this volume */
        bool block = false;
        for (size_t k = 0; k < in->plan->n_placement; k++) {
            const struct plan_placement *x = &in->plan->placement[k];
            block = block ||
                    (strcmp(x->data_set, s->data[i].name) == 0 && strncmp(x->tier, "ebs_", 4) == 0);
        }
        gib += block ? (s->data[i].size_bytes + (1ULL << 30) - 1) >> 30 : 0;
    }
    jsonw_key(w, "BlockDeviceMappings");
    jsonw_array(w);
    jsonw_object(w);
    jsonw_kstring(w, "DeviceName", "/dev/sda1");
    jsonw_key(w, "Ebs");
    jsonw_object(w);
    jsonw_kstring(w, "VolumeType", "gp3");
    jsonw_key(w, "VolumeSize");
    jsonw_uint(w, gib);
    jsonw_kbool(w, "Encrypted", true);
    jsonw_kbool(w, "DeleteOnTermination", true);
    jsonw_end_object(w);
    jsonw_end_object(w);
    jsonw_end_array(w);
}

/* Today's rule: without MaxPrice a spot request is capped at the on-demand price and is never
 * outbid by people; a higher maximum does not make it safer. It is written only when the scenario
 * asks for less than on demand. */
static int market(struct jsonw *w, const struct export_input *in, struct gt_error *err)
{
    const struct scenario *s = in->ref->scenario;
    money on_demand, limit;
    if (in->plan->purchase != PURCHASE_SPOT) {
        return 0;
    }
    jsonw_key(w, "InstanceMarketOptions");
    jsonw_object(w);
    jsonw_kstring(w, "MarketType", "spot");
    jsonw_key(w, "SpotOptions");
    jsonw_object(w);
    jsonw_kstring(w, "SpotInstanceType", "one-time");
    jsonw_kstring(w, "InstanceInterruptionBehavior", "terminate");
    if (s && s->spot_max_price_factor > 0 && s->spot_max_price_factor < 1 &&
        hourly(in, PURCHASE_ON_DEMAND, &on_demand) == 0) {
        gt_u128 factor = (gt_u128)llround(s->spot_max_price_factor * 1e6);
        char text[MONEY_TEXT];
        if (money_mul_ratio(on_demand, factor, 1000000, &limit)) {
            return gt_fail(err, GT_ERANGE, "", "the maximum price is out of range");
        }
        jsonw_kstring(w, "MaxPrice", money_format_fixed(limit, 6, false, text));
    }
    jsonw_end_object(w);
    jsonw_end_object(w);
    return 0;
}

static int write_input(const struct export_input *in, struct buf *out, struct gt_error *err)
{
    const struct plan *p = in->plan;
    struct jsonw w;
    money per_hour = 0;
    if (strcmp(p->vendor, "aws") != 0 && strcmp(p->vendor, "aws-cn") != 0) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "the plan rents from %s, not from AWS; nothing is written", p->vendor);
    }
    if (p->purchase != PURCHASE_ON_DEMAND && p->purchase != PURCHASE_SPOT) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "run-instances buys on demand or spot; the plan buys %s",
                       purchase_name(p->purchase));
    }
    int rc = hourly(in, p->purchase, &per_hour);
    if (rc) {
        return gt_fail(err, rc, "", "the price of %s in %s is no longer known", p->instance_type,
                       p->region);
    }
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "ImageId", GPU_IMAGE);
    jsonw_kstring(&w, "InstanceType", p->instance_type);
    jsonw_kint(&w, "MinCount", p->instances);
    jsonw_kint(&w, "MaxCount", p->instances);
    volume(&w, in);
    jsonw_key(&w, "MetadataOptions");
    jsonw_object(&w);
    jsonw_kstring(&w, "HttpTokens", "required");
    jsonw_kstring(&w, "HttpEndpoint", "enabled");
    jsonw_kint(&w, "HttpPutResponseHopLimit", 1);
    jsonw_end_object(&w);
    rc = market(&w, in, err);
    if (rc) {
        return rc;
    }
    jsonw_key(&w, "TagSpecifications");
    jsonw_array(&w);
    tags(&w, in, "instance", per_hour);
    tags(&w, in, "volume", per_hour);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    return jsonw_finish(&w) ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}

const struct export_kind export_aws_run_instances = {
    "aws-run-instances",
    "input of aws ec2 run-instances --cli-input-json (launches machines that cost money)",
    write_input};
