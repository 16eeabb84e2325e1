/* Google Cloud's storage and egress SKUs with their brackets: disks of Compute Engine, the
 * classes, operations and retrieval of Cloud Storage, Filestore, internet egress. A bracket ends
 * where the next begins. */
#include "gcp_rates.h"
#include "gputier/text.h"
#include <stdio.h>
#include <string.h>

/* By the description before " in PLACE", which must match whole. */
static const struct {
    const char *head, *tier[3], *component;
} disks[] = {
    {"Storage PD Capacity", {"gcp_pd_standard"}, "storage"},
    {"SSD backed PD Capacity", {"gcp_pd_ssd"}, "storage"},
    {"Balanced PD Capacity", {"gcp_pd_balanced"}, "storage"},
    {"Hyperdisk Balanced Capacity", {"gcp_hyperdisk_balanced"}, "storage"},
    {"Hyperdisk Extreme Capacity", {"gcp_hyperdisk_extreme"}, "storage"},
    {"Hyperdisk Throughput Capacity", {"gcp_hyperdisk_throughput"}, "storage"},
    {"Hyperdisk ML Capacity", {"gcp_hyperdisk_ml"}, "storage"},
    {"SSD backed Local Storage", {"local_nvme"}, "storage"},
    {"Storage PD Snapshot", {"gcp_pd_standard", "gcp_pd_ssd", "gcp_pd_balanced"}, "snapshot"},
};
/* Filestore, by the beginning of the description; the place follows without "in". */
static const struct {
    const char *head, *tier;
} shares[] = {
    {"Filestore Capacity Basic HDD", "gcp_filestore_basic_hdd"},
    {"Filestore Capacity Basic SSD", "gcp_filestore_basic_ssd"},
    {"Filestore Capacity Zonal", "gcp_filestore_zonal"},
    {"Filestore Capacity Regional", "gcp_filestore_regional"},
    {"Filestore Capacity Enterprise", "gcp_filestore_enterprise"},
};
/* Cloud Storage, by resource group. */
static const struct {
    const char *group, *tier;
} classes[] = {
    {"RegionalStorage", "gcs_standard"},  {"MultiRegionalStorage", "gcs_standard"},
    {"NearlineStorage", "gcs_nearline"},  {"ColdlineStorage", "gcs_coldline"},
    {"ArchiveStorage", "gcs_archive"},    {"RegionalOps", "gcs_standard"},
    {"MultiRegionalOps", "gcs_standard"}, {"NearlineOps", "gcs_nearline"},
    {"ColdlineOps", "gcs_coldline"},      {"ArchiveOps", "gcs_archive"},
};

const struct rec *gcp_pricing(const struct rec *sku)
{
    const struct rec *list = rec_get(sku, "pricingInfo"), *p = list ? list->child : NULL;
    while (p && p->next) {
        p = p->next;
    }
    return p;
}

struct bracket {
    money from, to, rate;
    const char *currency;
};

/* Reads tier t; its end is the start of the next. */
static int read_bracket(const struct rec *t, struct bracket *b)
{
    const struct rec *price = rec_get(t, "unitPrice");
    const char *from = rec_text(t, "startUsageAmount");
    b->currency = rec_text(price, "currencyCode");
    b->to = -1;
    if (!price || gcp_money(price, &b->rate) != 0 || strlen(b->currency) != 3 ||
        strspn(b->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3 ||
        src_price(*from ? from : "0", &b->from) != 0) {
        return GT_EPARSE;
    }
    if (t->next) {
        const char *to = rec_text(t->next, "startUsageAmount");
        if (src_price(to, &b->to) != 0 || b->to <= b->from) {
            return GT_EPARSE;
        }
    }
    return 0;
}

struct rate_of { /* one storage component, or egress when tier is NULL */
    const char *tier, *component, *to;
    enum storage_unit unit;
};

static int put_one(struct records *r, const struct rec *e, const struct rate_of *k,
                   const char *region, const struct bracket *b, struct gt_error *err)
{
    const char *sku = rec_text(e, "skuId");
    int rc;
    if (!src_name_ok(region) || !src_name_ok(sku)) {
        return records_bad(r, "region or SKU", region, err);
    }
    if (k->tier) {
        struct storage_rate_row s = {.vendor = "gcp",
                                     .region = region,
                                     .tier = k->tier,
                                     .component = k->component,
                                     .unit = k->unit,
                                     .unit_qty = 1,
                                     .from_qty = b->from,
                                     .to_qty = b->to,
                                     .rate = b->rate,
                                     .currency = b->currency,
                                     .sku = sku,
                                     .valid_from = GT_TIME_NONE,
                                     .valid_to = GT_TIME_NONE,
                                     .as_of = r->ctx->as_of};
        rc = staging_put_storage(r->ctx->staging, &s, err);
    } else {
        struct transfer_rate_row t = {.vendor = "gcp",
                                      .from = region,
                                      .to = k->to,
                                      .from_gb = b->from,
                                      .to_gb = b->to,
                                      .gb_bytes = (uint64_t)1 << 30,
                                      .rate = b->rate,
                                      .currency = b->currency,
                                      .sku = sku,
                                      .valid_from = GT_TIME_NONE,
                                      .valid_to = GT_TIME_NONE,
                                      .as_of = r->ctx->as_of};
        rc = staging_put_transfer(r->ctx->staging, &t, err);
    }
    r->ctx->rows += rc == 0;
    return rc;
}

static int put_all(struct records *r, const struct rec *e, const struct rec *expression,
                   const struct rate_of *k, struct gt_error *err)
{
    const struct rec *tiers = rec_get(expression, "tieredRates");
    const struct rec *regions = rec_get(e, "serviceRegions");
    int rc = 0;
    for (const struct rec *t = tiers ? tiers->child : NULL; t && rc == 0; t = t->next) {
        struct bracket b;
        if (read_bracket(t, &b) != 0) {
            return records_bad(r, "price of SKU", rec_text(e, "description"), err);
        }
        if (b.from == 0 && !t->next && b.rate == 0) {
            src_skip(r->ctx, "price 0", 1); /* zero throughout is no price */
            return 0;
        }
        for (const struct rec *q = regions ? regions->child : NULL; q && rc == 0; q = q->next) {
            rc = put_one(r, e, k, q->text, &b, err);
        }
    }
    return rc;
}

/* "Network Internet Egress from Americas to China": where it goes. Egress within one's own place
 * is what most people mean by "internet"; the others keep the vendor's name of the place. */
static bool egress_to(const char *text, const char *group, char out[100])
{
    const char *from = strstr(text, " from "), *to = from ? strstr(from, " to ") : NULL;
    bool vpn = strncmp(group, "VPNInternet", 11) == 0;
    if (!to || (!vpn && strcmp(group, "PremiumInternetEgress") != 0)) {
        return false;
    }
    size_t n = (size_t)(to - from) - 6;
    to += 4;
    if (!vpn && strlen(to) == n && strncmp(from + 6, to, n) == 0) {
        snprintf(out, 100, "internet");
    } else {
        snprintf(out, 100, "%s to %.80s", vpn ? "vpn" : "internet", to);
    }
    return src_name_ok(out);
}

static bool storage_class(const char *group, const char *text, const char *unit, struct rate_of *k)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(classes[i].group, group) != 0) {
            continue;
        }
        k->tier = classes[i].tier;
        if (strstr(text, "Early Delete") || strstr(text, "Autoclass")) {
            return false;
        }
        if (strcmp(unit, "GiBy.mo") == 0) {
            k->component = "storage";
            k->unit = SU_GIB_MONTH;
            return true;
        }
        if (strcmp(unit, "GiBy") == 0 && strstr(text, "Retrieval")) {
            k->component = "retrieval";
            k->unit = SU_GIB;
            return true;
        }
        k->unit = SU_REQUEST;
        k->component = strstr(text, "Class A") ? "put" : strstr(text, "Class B") ? "get" : NULL;
        return strcmp(unit, "count") == 0 && k->component;
    }
    return false;
}

int gcp_put_rates(struct records *r, const struct rec *e, const struct rec *expression,
                  const char *why, struct gt_error *err)
{
    const char *text = rec_text(e, "description"), *unit = rec_text(expression, "usageUnit");
    const char *group = rec_text(e, "category.resourceGroup"), *in = strstr(text, " in ");
    size_t n = in ? (size_t)(in - text) : strlen(text);
    struct rate_of k = {.unit = SU_GIB_MONTH};
    char to[100];
    int rc = 0;
    for (size_t i = 0; i < sizeof disks / sizeof *disks; i++) {
        if (strlen(disks[i].head) == n && strncmp(disks[i].head, text, n) == 0) {
            if (strcmp(unit, "GiBy.mo") != 0) {
                return records_bad(r, "unit of SKU", unit, err);
            }
            for (size_t t = 0; t < 3 && disks[i].tier[t] && rc == 0; t++) {
                k.tier = disks[i].tier[t];
                k.component = disks[i].component;
                rc = put_all(r, e, expression, &k, err);
            }
            return rc;
        }
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t h = strlen(shares[i].head);
        if (strncmp(shares[i].head, text, h) == 0 && text[h] == ' ' &&
            strcmp(unit, "GiBy.mo") == 0) {
            k.tier = shares[i].tier;
            k.component = "storage";
            return put_all(r, e, expression, &k, err);
        }
    }
    if (storage_class(group, text, unit, &k)) {
        rc = put_all(r, e, expression, &k, err);
        if (rc == 0 && strcmp(k.component, "put") == 0) {
            k.component = "list"; /* Class A too */
            rc = put_all(r, e, expression, &k, err);
        }
        return rc;
    }
    if (strcmp(unit, "GiBy") == 0 && egress_to(text, group, to)) {
        return put_all(r, e, expression, &(struct rate_of){.to = to}, err);
    }
    src_skip(r->ctx, why ? why : "parts of nothing that is planned with", 1);
    return 0;
}
