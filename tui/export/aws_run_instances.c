/* aws-run-instances: input of `aws ec2 run-instances --cli-input-json file://FILE`: the plan's
 * machines with an encrypted gp3 volume, IMDSv2 only, and tags that say what they cost. The image
 * is AWS's own parameter of its GPU image, resolved at launch, so the file does not age. */
#include "export.h"
#include "gputier/jsonw.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROOT_GIB    125
#define GP3_MAX_GIB 16384
#define IMAGE(arch)                                                                                \
    "resolve:ssm:/aws/service/deeplearning/ami/" arch                                              \
    "/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"

/* The bill line that pays for the machines by the hour. */
static const struct bill_line *machine_line(const struct plan *p)
{
    for (size_t i = 0; i < p->n_lines; i++) {
        const struct bill_line *l = &p->line[i];
        if ((l->component == COMP_COMPUTE_ON_DEMAND || l->component == COMP_COMPUTE_SPOT) &&
            strcmp(l->unit, "hour") == 0) {
            return l;
        }
    }
    return NULL;
}

/* Today's on-demand price of one machine. */
static int on_demand_price(const struct export_input *in, money *out)
{
    const struct catalog_offers *o = &in->catalog->offers;
    const struct plan *p = in->plan;
    for (size_t i = 0; i < o->n; i++) {
        if (o->purchase[i] == PURCHASE_ON_DEMAND && o->price_state[i] == PRICE_KNOWN &&
            strcmp(catalog_text(in->catalog, o->vendor[i]), p->vendor) == 0 &&
            strcmp(catalog_text(in->catalog, o->region[i]), p->region) == 0 &&
            strcmp(catalog_text(in->catalog, o->instance_type[i]), p->instance_type) == 0) {
            *out = o->price_per_hour[i];
            return 0;
        }
    }
    return GT_ENOTFOUND;
}

/* Machines with Graviton or Grace processors. */
static bool is_arm(const char *instance_type)
{
    return strncmp(instance_type, "g5g.", 4) == 0 || strncmp(instance_type, "p6e-gb", 6) == 0;
}

/* us-east-1a is a zone's name; use1-az1 is an id, which Placement does not take. */
static bool is_zone_name(const char *zone, const char *region)
{
    size_t n = strlen(region);
    return strncmp(zone, region, n) == 0 && zone[n] >= 'a' && zone[n] <= 'z' && zone[n + 1] == '\0';
}

/* Letters of a tag that every service takes; 256 at most. */
static const char *tag_value(const char *s, char out[257])
{
    size_t n = 0;
    for (; s[n] && n < 256; n++) {
        bool plain = (s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
                     strchr("0123456789 +-=._:/@", s[n]);
        out[n] = plain ? s[n] : '_';
    }
    out[n] = '\0';
    return out;
}

static void tag(struct jsonw *w, const char *key, const char *value)
{
    jsonw_object(w);
    jsonw_kstring(w, "Key", key);
    jsonw_kstring(w, "Value", value);
    jsonw_end_object(w);
}

static void tags(struct jsonw *w, const struct export_input *in, const char *resource,
                 const char *cost)
{
    char name[257];
    jsonw_object(w);
    jsonw_kstring(w, "ResourceType", resource);
    jsonw_key(w, "Tags");
    jsonw_array(w);
    tag(w, "Name", tag_value(in->ref->scenario ? in->ref->scenario->name : "gputier", name));
    tag(w, "gputier:plan", tag_value(in->plan->id, name));
    tag(w, "gputier:cost-per-hour-of-all", cost);
    jsonw_end_array(w);
    jsonw_end_object(w);
}

/* The root volume holds the system and whatever the plan keeps on block storage. */
static uint64_t volume_gib(const struct export_input *in)
{
    uint64_t gib = ROOT_GIB;
    const struct scenario *s = in->ref->scenario;
    for (size_t i = 0; s && i < s->n_data; i++) {
        bool block = false;
        for (size_t k = 0; k < in->plan->n_placement; k++) {
            const struct plan_placement *x = &in->plan->placement[k];
            block = block ||
                    (strcmp(x->data_set, s->data[i].name) == 0 && strncmp(x->tier, "ebs_", 4) == 0);
        }
        gib += block ? s->data[i].size_bytes / GT_GIB + (s->data[i].size_bytes % GT_GIB != 0) : 0;
    }
    return gib;
}

static void volume(struct jsonw *w, uint64_t gib)
{
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
        on_demand_price(in, &on_demand) == 0) {
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

static void placement(struct jsonw *w, const struct export_input *in)
{
    const struct plan *p = in->plan;
    if (p->n_zones == 1 && is_zone_name(p->zones[0], p->region)) {
        jsonw_key(w, "Placement");
        jsonw_object(w);
        jsonw_kstring(w, "AvailabilityZone", p->zones[0]);
        jsonw_end_object(w);
    } else if (p->n_zones > 0) {
        buf_addf(in->say,
                 "the price is that of zone %s, whose name differs from account to account: choose "
                 "a subnet there (SubnetId)\n",
                 p->zones[0]);
    }
}

static void metadata(struct jsonw *w)
{
    jsonw_key(w, "MetadataOptions");
    jsonw_object(w);
    jsonw_kstring(w, "HttpTokens", "required");
    jsonw_kstring(w, "HttpEndpoint", "enabled");
    jsonw_kint(w, "HttpPutResponseHopLimit", 1);
    jsonw_end_object(w);
}

/* What the file cannot carry. */
static void remarks(const struct export_input *in, const char *cost)
{
    const struct plan *p = in->plan;
    bool faster = false;
    for (size_t i = 0; i < p->n_lines; i++) {
        faster = faster || (strcmp(p->line[i].unit, "MiB/s-month") == 0 && p->line[i].rate > 0);
    }
    buf_addf(in->say,
             "launching it rents %d x %s in %s for %s an hour, before tax, until they are "
             "terminated\n",
             p->instances, p->instance_type, p->region, cost);
    if (faster) {
        buf_adds(in->say, "the plan pays for a faster volume than gp3 includes: set Throughput and "
                          "Iops of the volume\n");
    }
    buf_adds(in->say, "add SubnetId, SecurityGroupIds and IamInstanceProfile of your account\n");
}

/* Does run-instances carry this plan? */
static int applies(const struct plan *p, const struct bill_line *line, uint64_t gib,
                   struct gt_error *err)
{
    if (strcmp(p->vendor, "aws") != 0 && strcmp(p->vendor, "aws-cn") != 0) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "aws-run-instances: the plan rents from %s, not from AWS; nothing is "
                       "written",
                       p->vendor);
    }
    /* MarketType capacity-block goes with CapacityReservationTarget: the id of what was bought. */
    if (p->purchase == PURCHASE_CAPACITY_BLOCK) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "aws-run-instances: a capacity block is bought first (aws ec2 "
                       "purchase-capacity-block), which gives the reservation id that the launch "
                       "must name and the plan cannot know; nothing is written");
    }
    if ((p->purchase != PURCHASE_ON_DEMAND && p->purchase != PURCHASE_SPOT) || !line) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "aws-run-instances: it buys on demand or spot by the hour, the plan buys "
                       "%s; nothing is written",
                       purchase_name(p->purchase));
    }
    if (gib > GP3_MAX_GIB) {
        return gt_fail(err, GT_EINFEASIBLE, "",
                       "aws-run-instances: the plan keeps %llu GiB on one gp3 volume, which holds "
                       "at most %d; nothing is written",
                       (unsigned long long)gib, GP3_MAX_GIB);
    }
    return 0;
}

static int write_input(const struct export_input *in, struct buf *out, struct gt_error *err)
{
    const struct plan *p = in->plan;
    const struct bill_line *line = machine_line(p);
    uint64_t gib = volume_gib(in);
    struct jsonw w;
    char amount[MONEY_TEXT], cost[80];
    money all = 0;
    int rc = applies(p, line, gib, err);
    rc = rc ? rc : money_mul_ratio(line->rate, (gt_u128)p->instances, 1, &all);
    if (rc) {
        return rc == GT_ERANGE ? gt_fail(err, rc, "", "the price is out of range") : rc;
    }
    snprintf(cost, sizeof cost, "%s %.3s", money_format(all, amount), line->currency);
    jsonw_init(&w, out, true);
    jsonw_object(&w);
    jsonw_kstring(&w, "ImageId", is_arm(p->instance_type) ? IMAGE("arm64") : IMAGE("x86_64"));
    jsonw_kstring(&w, "InstanceType", p->instance_type);
    jsonw_kint(&w, "MinCount", p->instances);
    jsonw_kint(&w, "MaxCount", p->instances);
    volume(&w, gib);
    metadata(&w);
    placement(&w, in);
    rc = market(&w, in, err);
    if (rc) {
        return rc;
    }
    jsonw_key(&w, "TagSpecifications");
    jsonw_array(&w);
    tags(&w, in, "instance", cost);
    tags(&w, in, "volume", cost);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    remarks(in, cost);
    return jsonw_finish(&w) ? gt_fail(err, GT_ENOMEM, "", "out of memory") : 0;
}

const struct export_kind export_aws_run_instances = {
    "aws-run-instances",
    "input of aws ec2 run-instances --cli-input-json (launches machines that cost money)",
    write_input};
