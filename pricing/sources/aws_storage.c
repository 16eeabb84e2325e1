/* EBS, S3, Glacier, EFS and FSx rates of the AWS price list (docs/pricing-sources.md sections 1.2
 * to 1.4; usage types: Amazon S3 and EFS User Guides, billing and usage reports). A product is told
 * by its service and the usage type behind the region prefix; what no line of the table names
 * (staging, tags, analytics, select, small objects) is left out. GB here is 2^30 bytes. */
#include "aws_offer.h"
#include "gputier/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { EC2 = 1, S3 = 2, GLACIER = 4, DEEP = 8, EFS = 16, FSX = 32 };
/* What the unit of the list must be: "GB-Mo" and "GB-month", "GB", "Requests", … */
enum unit_kind { GB_MONTH, GB, REQUESTS, OBJECTS, IOPS, MIBPS };

/* Where two lines give one component, a list's own words decide: the first of them that it has in
 * a region counts there. (Brackets of IOPS add up.) */
static const struct rate_rule {
    int service;
    const char *usage;  /* "type" or "type/operation" */
    const char *volume; /* volumeType / storageClass / accessType that must hold, NULL = any */
    const char *tier, *component;
    enum unit_kind unit;
} rules[] = {
    {EC2, "EBS:VolumeUsage.gp2", NULL, "ebs_gp2", "storage", GB_MONTH},
    {EC2, "EBS:VolumeUsage.gp3", NULL, "ebs_gp3", "storage", GB_MONTH},
    {EC2, "EBS:VolumeUsage.piops", NULL, "ebs_io1", "storage", GB_MONTH},
    {EC2, "EBS:VolumeUsage.io2", NULL, "ebs_io2", "storage", GB_MONTH},
    {EC2, "EBS:VolumeUsage.st1", NULL, "ebs_st1", "storage", GB_MONTH},
    {EC2, "EBS:VolumeUsage.sc1", NULL, "ebs_sc1", "storage", GB_MONTH},
    {EC2, "EBS:VolumeUsage", NULL, "ebs_standard", "storage", GB_MONTH},
    {EC2, "EBS:VolumeP-IOPS.piops", NULL, "ebs_io1", "provisioned_iops", IOPS},
    {EC2, "EBS:VolumeP-IOPS.io2", NULL, "ebs_io2", "provisioned_iops", IOPS},
    {EC2, "EBS:VolumeP-IOPS.io2.tier2", NULL, "ebs_io2", "provisioned_iops", IOPS},
    {EC2, "EBS:VolumeP-IOPS.io2.tier3", NULL, "ebs_io2", "provisioned_iops", IOPS},
    {EC2, "EBS:VolumeP-IOPS.gp3", NULL, "ebs_gp3", "provisioned_iops", IOPS},
    {EC2, "EBS:VolumeP-Throughput.gp3", NULL, "ebs_gp3", "throughput", MIBPS},
    {EC2, "EBS:SnapshotUsage", NULL, "ebs_*", "snapshot", GB_MONTH},
    {EC2, "EBS:SnapshotArchiveStorage", NULL, "ebs_snapshot_archive", "storage", GB_MONTH},
    {EC2, "EBS:SnapshotArchiveRetrieval", NULL, "ebs_snapshot_archive", "retrieval", GB},
    {EC2, "EBS:SnapshotArchiveEarlyDelete", NULL, "ebs_snapshot_archive", "early_delete", GB_MONTH},

    {S3, "TimedStorage-ByteHrs", "Standard", "s3_standard", "storage", GB_MONTH},
    {S3, "TimedStorage-SIA-ByteHrs", "Standard - Infrequent Access", "s3_standard_ia", "storage",
     GB_MONTH},
    {S3, "TimedStorage-ZIA-ByteHrs", "One Zone - Infrequent Access", "s3_onezone_ia", "storage",
     GB_MONTH},
    {S3, "TimedStorage-RRS-ByteHrs", "Reduced Redundancy", "s3_reduced_redundancy", "storage",
     GB_MONTH},
    {S3, "TimedStorage-GIR-ByteHrs", NULL, "s3_glacier_ir", "storage", GB_MONTH},
    {S3, "TimedStorage-GlacierByteHrs", NULL, "s3_glacier_flexible", "storage", GB_MONTH},
    {S3, "TimedStorage-XZ-ByteHrs", NULL, "s3_express", "storage", GB_MONTH},
    {S3, "TimedStorage-INT-FA-ByteHrs", NULL, "s3_intelligent_tiering", "storage_frequent",
     GB_MONTH},
    {S3, "TimedStorage-INT-IA-ByteHrs", NULL, "s3_intelligent_tiering", "storage_infrequent",
     GB_MONTH},
    {S3, "TimedStorage-INT-AIA-ByteHrs", NULL, "s3_intelligent_tiering", "storage_archive_instant",
     GB_MONTH},
    {S3, "TimedStorage-INT-AA-ByteHrs", NULL, "s3_intelligent_tiering", "storage_archive_access",
     GB_MONTH},
    {S3, "TimedStorage-INT-DAA-ByteHrs", NULL, "s3_intelligent_tiering",
     "storage_deep_archive_access", GB_MONTH},
    {S3, "Monitoring-Automation-INT", NULL, "s3_intelligent_tiering", "monitoring", OBJECTS},
    {S3, "Requests-Tier1", NULL, "s3_standard", "put", REQUESTS},
    {S3, "Requests-Tier1", NULL, "s3_standard", "list", REQUESTS},
    {S3, "Requests-Tier2", NULL, "s3_standard", "get", REQUESTS},
    {S3, "Requests-SIA-Tier1", NULL, "s3_standard_ia", "put", REQUESTS},
    {S3, "Requests-SIA-Tier2", NULL, "s3_standard_ia", "get", REQUESTS},
    {S3, "Requests-ZIA-Tier1", NULL, "s3_onezone_ia", "put", REQUESTS},
    {S3, "Requests-ZIA-Tier2", NULL, "s3_onezone_ia", "get", REQUESTS},
    {S3, "Requests-GIR-Tier1", NULL, "s3_glacier_ir", "put", REQUESTS},
    {S3, "Requests-GIR-Tier2", NULL, "s3_glacier_ir", "get", REQUESTS},
    {S3, "Requests-INT-Tier1", NULL, "s3_intelligent_tiering", "put", REQUESTS},
    {S3, "Requests-INT-Tier2", NULL, "s3_intelligent_tiering", "get", REQUESTS},
    {S3, "Requests-XZ-Tier1", NULL, "s3_express", "put", REQUESTS},
    {S3, "Requests-XZ-Tier2", NULL, "s3_express", "get", REQUESTS},
    {S3, "Requests-GLACIER-Tier1", NULL, "s3_glacier_flexible", "put", REQUESTS},
    {S3, "Requests-Tier3", NULL, "s3_glacier_flexible", "put", REQUESTS},
    {S3, "Requests-GLACIER-Tier2", NULL, "s3_glacier_flexible", "get", REQUESTS},
    {S3, "Requests-Tier3/S3-GlacierTransition", NULL, "s3_glacier_flexible", "transition",
     REQUESTS},
    {S3, "Requests-Tier3", NULL, "s3_glacier_flexible", "transition", REQUESTS},
    {S3 | DEEP, "Requests-Tier3/S3-GDATransition", NULL, "s3_deep_archive", "transition", REQUESTS},
    {S3, "Requests-Tier3", NULL, "s3_glacier_flexible", "retrieval_request", REQUESTS},
    {S3, "Requests-Tier4/S3-SIATransition", NULL, "s3_standard_ia", "transition", REQUESTS},
    {S3, "Requests-Tier4", NULL, "s3_standard_ia", "transition", REQUESTS},
    {S3, "Requests-Tier4/S3-ZIATransition", NULL, "s3_onezone_ia", "transition", REQUESTS},
    {S3, "Requests-Tier4", NULL, "s3_onezone_ia", "transition", REQUESTS},
    {S3, "Requests-Tier4/S3-INTTransition", NULL, "s3_intelligent_tiering", "transition", REQUESTS},
    {S3, "Requests-Tier4", NULL, "s3_intelligent_tiering", "transition", REQUESTS},
    {S3, "Requests-Tier4/S3-GIRTransition", NULL, "s3_glacier_ir", "transition", REQUESTS},
    {S3 | DEEP, "Requests-GDA-Tier1", NULL, "s3_deep_archive", "put", REQUESTS},
    {S3 | DEEP, "Requests-GDA-Tier2", NULL, "s3_deep_archive", "get", REQUESTS},
    {S3 | DEEP, "Requests-GDA-Tier3", NULL, "s3_deep_archive", "retrieval_request", REQUESTS},
    {S3 | DEEP, "Requests-GDA-Tier5", NULL, "s3_deep_archive", "retrieval_request_bulk", REQUESTS},
    {S3, "Requests-Tier5", NULL, "s3_glacier_flexible", "retrieval_request_bulk", REQUESTS},
    {S3, "Requests-Tier6", NULL, "s3_glacier_flexible", "retrieval_request_expedited", REQUESTS},
    {S3, "Retrieval-SIA", NULL, "s3_standard_ia", "retrieval", GB},
    {S3, "Retrieval-ZIA", NULL, "s3_onezone_ia", "retrieval", GB},
    {S3, "Retrieval-GIR", NULL, "s3_glacier_ir", "retrieval", GB},
    {S3, "Retrieval-XZ", NULL, "s3_express", "retrieval", GB},
    {S3, "Upload-XZ", NULL, "s3_express", "upload", GB},
    {S3 | GLACIER, "Standard-Retrieval-Bytes", NULL, "s3_glacier_flexible", "retrieval", GB},
    {S3 | GLACIER, "Bulk-Retrieval-Bytes", NULL, "s3_glacier_flexible", "retrieval_bulk", GB},
    {S3 | GLACIER, "Expedited-Retrieval-Bytes", NULL, "s3_glacier_flexible", "retrieval_expedited",
     GB},
    {S3, "EarlyDelete-SIA", NULL, "s3_standard_ia", "early_delete", GB_MONTH},
    {S3, "EarlyDelete-ZIA", NULL, "s3_onezone_ia", "early_delete", GB_MONTH},
    {S3, "EarlyDelete-GIR", NULL, "s3_glacier_ir", "early_delete", GB_MONTH},
    {S3 | GLACIER, "EarlyDelete-ByteHrs", NULL, "s3_glacier_flexible", "early_delete", GB_MONTH},

    {GLACIER, "TimedStorage-ByteHrs", NULL, "s3_glacier_flexible", "storage", GB_MONTH},
    {DEEP, "TimedStorage-GDA-ByteHrs", NULL, "s3_deep_archive", "storage", GB_MONTH},
    {DEEP, "Standard-Retrieval-Bytes", NULL, "s3_deep_archive", "retrieval", GB},
    {DEEP, "Bulk-Retrieval-Bytes", NULL, "s3_deep_archive", "retrieval_bulk", GB},
    {DEEP, "EarlyDelete-GDA", NULL, "s3_deep_archive", "early_delete", GB_MONTH},

    {EFS, "TimedStorage-ByteHrs", "General Purpose", "efs_standard", "storage", GB_MONTH},
    /* with elastic throughput, which Archive has always; else the list is an old one */
    {EFS, "IATimedStorage-ET-ByteHrs", NULL, "efs_ia", "storage", GB_MONTH},
    {EFS, "IATimedStorage-ByteHrs", "Infrequent Access", "efs_ia", "storage", GB_MONTH},
    {EFS, "ArchiveTimedStorage-ByteHrs", "Archive", "efs_archive", "storage", GB_MONTH},
    {EFS, "TimedStorage-Z-ByteHrs", NULL, "efs_onezone", "storage", GB_MONTH},
    {EFS, "IATimedStorage-Z-ByteHrs", NULL, "efs_onezone_ia", "storage", GB_MONTH},
    {EFS, "IADataAccess-Bytes", "Read", "efs_ia", "retrieval", GB},
    {EFS, "IADataAccess-Bytes", "Write", "efs_ia", "transition", GB},
    {EFS, "ArchiveDataAccess-Bytes", "Read", "efs_archive", "retrieval", GB},
    {EFS, "ArchiveDataAccess-Bytes", "Write", "efs_archive", "transition", GB},
    {EFS, "ETDataAccess-Bytes", "Read", "efs_standard", "read", GB},
    {EFS, "ETDataAccess-Bytes", "Write", "efs_standard", "write", GB},
    {EFS, "ProvisionedTP-MiBpsHrs", NULL, "efs_standard", "throughput", MIBPS},
    /* an old list gives the throughput the usage type of the storage */
    {EFS, "TimedStorage-ByteHrs", "Provisioned", "efs_standard", "throughput", MIBPS},
};
#define RULES (sizeof rules / sizeof *rules)

/* Snapshots are priced once and serve every kind of volume. */
static const char *const volumes[] = {"ebs_gp2", "ebs_gp3", "ebs_io1",
                                      "ebs_io2", "ebs_st1", "ebs_sc1"};

static int service_of(const struct aws_offer *o)
{
    static const struct {
        const char *code;
        int service;
    } codes[] = {{"AmazonEC2", EC2},         {"AmazonS3", S3},
                 {"AmazonGlacier", GLACIER}, {"AmazonS3GlacierDeepArchive", DEEP},
                 {"AmazonEFS", EFS},         {"AmazonFSx", FSX}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        /* test files carry marks behind the code: AmazonEC2TEST */
        if (strncmp(o->code, codes[i].code, strlen(codes[i].code)) == 0 &&
            (o->code[strlen(codes[i].code)] == '\0' ||
             strcmp(o->code + strlen(codes[i].code), "TEST") == 0)) {
            return codes[i].service;
        }
    }
    return 0;
}

/* What tells two products of one usage type apart. */
static const char *variant(const struct aws_product *p, const struct rate_rule *r)
{
    if (r->service != EFS) {
        return p->v[A_VOLUME_TYPE];
    }
    if (strcmp(p->v[A_FAMILY], "Provisioned Throughput") == 0) {
        return "Provisioned";
    }
    return r->unit == GB ? p->v[A_ACCESS] : p->v[A_STORAGE_CLASS];
}

static bool usage_is(const struct aws_product *p, const char *usage, const char *rule)
{
    const char *operation = p->v[A_OPERATION];
    while (*rule != '\0' && *rule == *usage) {
        rule++;
        usage++;
    }
    if (*usage != '\0' || (*rule != '\0' && *rule != '/')) {
        return false;
    }
    /* a transition into one class is no price of requests at large */
    return *rule == '/' ? strcmp(operation, rule + 1) == 0 : !strstr(operation, "Transition");
}

static bool holds(const struct aws_product *p, const struct rate_rule *r, int service,
                  const char *usage)
{
    if (!(r->service & service) || !usage_is(p, usage, r->usage)) {
        return false;
    }
    return !r->volume || strcmp(variant(p, r), r->volume) == 0;
}

/* FSx for Lustre is sold by the throughput that a TiB brings; "storage" is the smallest of what is
 * sold today, the others say theirs. Hard disks and other file systems are left out. */
static bool lustre_rule(const struct aws_product *p, struct rate_rule *r)
{
    static const struct {
        double mbps;
        const char *component;
    } levels[] = {{50, "storage_50"},    {100, "storage_100"}, {125, "storage"},
                  {200, "storage_200"},  {250, "storage_250"}, {500, "storage_500"},
                  {1000, "storage_1000"}};
    const char *how = p->v[A_DEPLOYMENT];
    if (strcmp(p->v[A_FAMILY], "Storage") != 0 || strcmp(p->v[A_FILE_SYSTEM], "Lustre") != 0) {
        return false;
    }
    *r = (struct rate_rule){FSX, "", NULL, "fsx_lustre_persistent", "snapshot", GB_MONTH};
    if (strcmp(aws_usage(p->v[A_USAGE]), "BackupUsage") == 0) {
        return true;
    }
    if (strcmp(p->v[A_MEDIA], "SSD") != 0) {
        return false;
    }
    if (strncasecmp(how, "Scratch", 7) == 0) {
        r->tier = "fsx_lustre_scratch";
        r->component = "storage";
        return true;
    }
    double level = src_figure(p->v[A_THROUGHPUT]);
    for (size_t i = 0; strncasecmp(how, "Persistent", 10) == 0 && i < 7; i++) {
        if (fabs(levels[i].mbps - level) < 0.5) {
            r->component = levels[i].component;
            return true;
        }
    }
    return false;
}

bool aws_is_storage(const struct aws_offer *o, const struct aws_product *p)
{
    int service = service_of(o);
    const char *usage = aws_usage(p->v[A_USAGE]);
    struct rate_rule lustre;
    for (size_t i = 0; service != 0 && i < RULES; i++) {
        if (holds(p, &rules[i], service, usage)) {
            return true;
        }
    }
    return service == FSX && lustre_rule(p, &lustre);
}

/* Takes over the list's unit; GT_EPARSE when it is not what the component is sold by. */
static int take_unit(struct storage_rate_row *s, enum unit_kind kind, const char *unit)
{
    money per_unit = s->rate;
    s->unit_qty = 1;
    switch (kind) {
    case GB_MONTH:
        s->unit = SU_GIB_MONTH;
        return text_ieq(unit, "GB-Mo") || text_ieq(unit, "GB-month") ? 0 : GT_EPARSE;
    case GB:
        s->unit = SU_GIB;
        return text_ieq(unit, "GB") || text_ieq(unit, "GigaBytes") ? 0 : GT_EPARSE;
    case REQUESTS:
    case OBJECTS: /* shown by the thousand, as the vendor's pages do */
        s->unit = kind == REQUESTS ? SU_REQUEST : SU_OBJECT_MONTH;
        s->unit_qty = 1000;
        if (money_mul_ratio(per_unit, 1000, 1, &s->rate) != 0) {
            return GT_ERANGE;
        }
        return strcasestr(unit, kind == REQUESTS ? "requests" : "objects") ? 0 : GT_EPARSE;
    case IOPS:
        s->unit = SU_IOPS_MONTH;
        return text_ieq(unit, "IOPS-Mo") ? 0 : GT_EPARSE;
    case MIBPS:
        s->unit = SU_MIBPS_MONTH;
        if (text_ieq(unit, "GiBps-mo")) { /* 45.056 per GiBps is 0.044 per MiBps */
            s->unit_qty = per_unit % 1024 == 0 ? 1 : 1024;
            s->rate = s->unit_qty == 1 ? per_unit / 1024 : per_unit;
            return 0;
        }
        return text_ieq(unit, "MiBps-Mo") ? 0 : GT_EPARSE;
    }
    return GT_EPARSE;
}

/* io2's IOPS are sold in three brackets. Some lists print them, others have one usage type per
 * bracket, each "0 to Inf". */
static bool take_io2_bracket(struct aws_offer *o, const char *usage, struct storage_rate_row *s)
{
    static const money k = 1000 * MONEY_SCALE;
    if (!strstr(usage, "io2") || s->from_qty != 0 || s->to_qty >= 0) {
        return true;
    }
    if (strstr(usage, ".tier2")) {
        s->from_qty = 32 * k;
        s->to_qty = 64 * k;
    } else if (strstr(usage, ".tier3")) {
        s->from_qty = 64 * k;
    } else {
        return false; /* ends at 32,000 if the list has the other brackets: seen at the end */
    }
    o->io2_tiers = true;
    return true;
}

/* A rate that the end of the list judges. rank 0: the first bracket of io2; else so many lines of
 * the table come before it, and seen regions have one of those. */
struct aws_held_rate {
    struct aws_held_rate *next;
    struct storage_rate_row row;
    int rank;
};

static int hold(struct aws_offer *o, const struct storage_rate_row *s, int rank,
                struct aws_held_rate **list, struct gt_error *err)
{
    struct aws_held_rate *h = arena_alloc(o->arena, sizeof *h);
    if (h) {
        h->rank = rank;
        h->row = *s;
        h->row.region = arena_strdup(o->arena, s->region);
        h->row.currency = arena_strdup(o->arena, s->currency);
        h->row.sku = arena_strdup(o->arena, s->sku);
        h->next = *list;
    }
    if (!h || !h->row.region || !h->row.currency || !h->row.sku) {
        return gt_fail(err, GT_ENOMEM, o->ctx->name, "out of memory");
    }
    *list = h;
    return 0;
}

static int put_row(struct aws_offer *o, const struct storage_rate_row *s, struct gt_error *err)
{
    int rc = staging_put_storage(o->ctx->staging, s, err);
    o->ctx->rows += rc == 0;
    return rc;
}

/* Whether a line before the held rate's has given its component in that region. */
static bool is_seen(const struct aws_offer *o, const struct storage_rate_row *s)
{
    for (const struct aws_held_rate *h = o->seen_rates; h; h = h->next) {
        if (strcmp(h->row.tier, s->tier) == 0 && strcmp(h->row.component, s->component) == 0 &&
            strcmp(h->row.region, s->region) == 0) {
            return true;
        }
    }
    return false;
}

/* How many lines of the table for the same component come before (later = false) or after one. */
static int rivals(const struct rate_rule *r, bool later)
{
    int n = 0;
    for (const struct rate_rule *x = later ? r + 1 : rules; x < (later ? rules + RULES : r); x++) {
        n += (x->service & r->service) && strcmp(x->tier, r->tier) == 0 &&
             strcmp(x->component, r->component) == 0 && x->unit == r->unit;
    }
    return n;
}

static int put_rate(struct aws_offer *o, const struct rate_rule *rule, const char *usage,
                    struct storage_rate_row *s, struct gt_error *err)
{
    if (rule->unit == IOPS) {
        return take_io2_bracket(o, usage, s) ? put_row(o, s, err)
                                             : hold(o, s, 0, &o->held_rates, err);
    }
    if (rule->service != FSX && rivals(rule, false) > 0) {
        return hold(o, s, rivals(rule, false), &o->held_rates, err);
    }
    if (rule->service != FSX && rivals(rule, true) > 0 && !is_seen(o, s)) {
        int rc = hold(o, s, 0, &o->seen_rates, err);
        return rc ? rc : put_row(o, s, err);
    }
    if (strcmp(rule->tier, "ebs_*") != 0) {
        return put_row(o, s, err);
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof volumes / sizeof *volumes; i++) {
        s->tier = volumes[i];
        rc = put_row(o, s, err);
    }
    return rc;
}

static int put_price(struct aws_offer *o, const struct rate_rule *rule, const char *usage,
                     const struct aws_price *price, struct storage_rate_row *s,
                     struct gt_error *err)
{
    s->tier = rule->tier;
    s->component = rule->component;
    s->currency = price->currency;
    if (src_price(price->price, &s->rate) != 0) {
        return aws_bad(o, "price", price->price, err);
    }
    if (strlen(s->currency) != 3 || !src_name_ok(s->currency)) {
        return aws_bad(o, "currency", s->currency, err);
    }
    if (*price->begin == '\0') {
        s->from_qty = 0;
    } else if (src_bracket(price->begin, &s->from_qty) != 0 || s->from_qty < 0) {
        return aws_bad(o, "start of a bracket", price->begin, err);
    }
    if (src_bracket(price->end, &s->to_qty) != 0 || (s->to_qty >= 0 && s->to_qty <= s->from_qty)) {
        return aws_bad(o, "end of a bracket", price->end, err);
    }
    if (take_unit(s, rule->unit, price->unit) != 0) {
        return aws_bad(o, "unit", price->unit, err);
    }
    return put_rate(o, rule, usage, s, err);
}

int aws_put_storage(struct aws_offer *o, const struct aws_product *p, const struct aws_term *t,
                    struct gt_error *err)
{
    const char *usage = aws_usage(p->v[A_USAGE]);
    int service = service_of(o), rc = 0;
    struct storage_rate_row s = {
        .region = aws_region(p->v[A_REGION], p->v[A_LOCATION]),
        .sku = p->sku,
        .valid_from = aws_time(t->effective),
        .valid_to = GT_TIME_NONE,
        .as_of = o->ctx->as_of,
    };
    if (*t->lease != '\0') {
        o->out[OUT_TERM]++;
        return 0;
    }
    if (!s.region || !src_name_ok(p->sku)) {
        return aws_bad(o, "location", p->v[A_LOCATION], err);
    }
    s.vendor = aws_vendor(s.region);
    aws_saw_region(o, s.region);
    struct rate_rule lustre;
    bool is_lustre = service == FSX && lustre_rule(p, &lustre);
    for (size_t k = 0; is_lustre && rc == 0 && k < t->n; k++) {
        rc = put_price(o, &lustre, usage, &t->price[k], &s, err);
    }
    for (size_t i = 0; rc == 0 && i < RULES; i++) {
        for (size_t k = 0; rc == 0 && k < t->n && holds(p, &rules[i], service, usage); k++) {
            rc = put_price(o, &rules[i], usage, &t->price[k], &s, err);
        }
    }
    return rc;
}

int aws_finish_storage(struct aws_offer *o, struct gt_error *err)
{
    int rc = 0;
    for (struct aws_held_rate *h = o->held_rates; rc == 0 && h; h = h->next) {
        if (h->rank == 0) {
            h->row.to_qty = o->io2_tiers ? 32000 * MONEY_SCALE : -1;
        } else if (is_seen(o, &h->row)) {
            src_skip(o->ctx, "told by another word too", 1);
            continue;
        }
        rc = put_row(o, &h->row, err);
    }
    return rc;
}
