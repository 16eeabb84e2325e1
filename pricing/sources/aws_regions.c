/* AWS region codes by the names that price lists use for places: old lists have no code. */
#include "aws_offer.h"
#include "aws_zone.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *location, *code;
} locations[] = {
    {"US East (N. Virginia)", "us-east-1"},
    {"US East (Ohio)", "us-east-2"},
    {"US West (N. California)", "us-west-1"},
    {"US West (Oregon)", "us-west-2"},
    {"AWS GovCloud (US)", "us-gov-west-1"},
    {"AWS GovCloud (US-West)", "us-gov-west-1"},
    {"AWS GovCloud (US-East)", "us-gov-east-1"},
    {"Africa (Cape Town)", "af-south-1"},
    {"Asia Pacific (Hong Kong)", "ap-east-1"},
    {"Asia Pacific (Taipei)", "ap-east-2"},
    {"Asia Pacific (Hyderabad)", "ap-south-2"},
    {"Asia Pacific (Jakarta)", "ap-southeast-3"},
    {"Asia Pacific (Malaysia)", "ap-southeast-5"},
    {"Asia Pacific (Melbourne)", "ap-southeast-4"},
    {"Asia Pacific (Mumbai)", "ap-south-1"},
    {"Asia Pacific (Osaka)", "ap-northeast-3"},
    {"Asia Pacific (Osaka-Local)", "ap-northeast-3"},
    {"Asia Pacific (Seoul)", "ap-northeast-2"},
    {"Asia Pacific (Singapore)", "ap-southeast-1"},
    {"Asia Pacific (Sydney)", "ap-southeast-2"},
    {"Asia Pacific (Thailand)", "ap-southeast-7"},
    {"Asia Pacific (New Zealand)", "ap-southeast-6"},
    {"Asia Pacific (Tokyo)", "ap-northeast-1"},
    {"Canada (Central)", "ca-central-1"},
    {"Canada West (Calgary)", "ca-west-1"},
    {"China (Beijing)", "cn-north-1"},
    {"China (Ningxia)", "cn-northwest-1"},
    {"EU (Frankfurt)", "eu-central-1"},
    {"EU (Ireland)", "eu-west-1"},
    {"EU (London)", "eu-west-2"},
    {"EU (Milan)", "eu-south-1"},
    {"EU (Paris)", "eu-west-3"},
    {"EU (Stockholm)", "eu-north-1"},
    {"Europe (Frankfurt)", "eu-central-1"},
    {"Europe (Ireland)", "eu-west-1"},
    {"Europe (London)", "eu-west-2"},
    {"Europe (Milan)", "eu-south-1"},
    {"Europe (Paris)", "eu-west-3"},
    {"Europe (Spain)", "eu-south-2"},
    {"Europe (Stockholm)", "eu-north-1"},
    {"Europe (Zurich)", "eu-central-2"},
    {"Israel (Tel Aviv)", "il-central-1"},
    {"Mexico (Central)", "mx-central-1"},
    {"Middle East (Bahrain)", "me-south-1"},
    {"Middle East (UAE)", "me-central-1"},
    {"South America (Sao Paulo)", "sa-east-1"},
};

const char *aws_region(const char *code, const char *location)
{
    if (*code != '\0') {
        return src_name_ok(code) && strlen(code) < 64 ? code : NULL;
    }
    for (size_t i = 0; i < sizeof locations / sizeof *locations; i++) {
        if (strcmp(locations[i].location, location) == 0) {
            return locations[i].code;
        }
    }
    return NULL;
}

const char *aws_vendor(const char *region)
{
    return strncmp(region, "cn-", 3) == 0 ? "aws-cn" : "aws";
}

const char *aws_usage(const char *usage)
{
    for (;;) {
        size_t n = strspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        if (n == 0 || usage[n] != '-') {
            return usage;
        }
        usage += n + 1;
    }
}

/* What usage types begin with, by region (Amazon S3 User Guide, "Understanding your AWS billing and
 * usage reports"; APE2 and EUW1: lists of savings plans). No prefix: us-east-1. */
static const struct {
    char prefix[6];
    const char *code;
} usage_prefixes[] = {
    {"APE1-", "ap-east-1"},      {"APE2-", "ap-east-2"},      {"APN1-", "ap-northeast-1"},
    {"APN2-", "ap-northeast-2"}, {"APN3-", "ap-northeast-3"}, {"APS1-", "ap-southeast-1"},
    {"APS2-", "ap-southeast-2"}, {"APS3-", "ap-south-1"},     {"APS4-", "ap-southeast-3"},
    {"APS5-", "ap-south-2"},     {"APS6-", "ap-southeast-4"}, {"CAN1-", "ca-central-1"},
    {"CNN1-", "cn-north-1"},     {"CNW1-", "cn-northwest-1"}, {"CPT-", "af-south-1"},
    {"EU-", "eu-west-1"},        {"EUC1-", "eu-central-1"},   {"EUC2-", "eu-central-2"},
    {"EUN1-", "eu-north-1"},     {"EUS1-", "eu-south-1"},     {"EUS2-", "eu-south-2"},
    {"EUW1-", "eu-west-1"},      {"EUW2-", "eu-west-2"},      {"EUW3-", "eu-west-3"},
    {"ILC1-", "il-central-1"},   {"MEC1-", "me-central-1"},   {"MES1-", "me-south-1"},
    {"SAE1-", "sa-east-1"},      {"UGE1-", "us-gov-east-1"},  {"UGW1-", "us-gov-west-1"},
    {"USE1-", "us-east-1"},      {"USE2-", "us-east-2"},      {"USW1-", "us-west-1"},
    {"USW2-", "us-west-2"},
};

const char *aws_region_of_usage(const char *usage)
{
    size_t n = (size_t)(aws_usage(usage) - usage);
    for (size_t i = 0; i < sizeof usage_prefixes / sizeof *usage_prefixes; i++) {
        if (strlen(usage_prefixes[i].prefix) == n &&
            memcmp(usage_prefixes[i].prefix, usage, n) == 0) {
            return usage_prefixes[i].code;
        }
    }
    return n == 0 ? "us-east-1" : NULL;
}

void aws_saw_region(struct aws_offer *o, const char *region)
{
    if (o->many_regions || strcmp(o->region, region) == 0) {
        return;
    }
    if (o->region[0] == '\0') {
        snprintf(o->region, sizeof o->region, "%s", region);
        return;
    }
    size_t a = aws_parent_length(o->region), b = aws_parent_length(region);
    if (a != b || memcmp(o->region, region, a) != 0) {
        o->many_regions = true;
    }
    o->region[a] = '\0';
}

int64_t aws_time(const char *text)
{
    int64_t when;
    return *text != '\0' && time_parse(text, 0, &when, NULL) == 0 ? when : GT_TIME_NONE;
}
