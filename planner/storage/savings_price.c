/* Monthly cost of what is listed by size alone: volumes, snapshots, parts of uploads. */
#include "gputier/savings_price.h"
#include "gputier/catalog.h"
#include "gputier/units.h"
#include <string.h>

/* Quantity in the brackets of one component; the first `included` cost nothing, whether a list
 * states that as a bracket or not. */
static int bracketed(const struct catalog_storage *s, size_t first, size_t n, gt_u128 quantity,
                     gt_u128 included, gt_u128 unit, money *sum)
{
    gt_u128 priced = included;
    for (size_t i = first; i < first + n; i++) {
        gt_u128 from = (gt_u128)(s->from_qty[i] / MONEY_SCALE) * unit;
        from = from < included ? included : from;
        gt_u128 to = s->to_qty[i] < 0 ? quantity : (gt_u128)(s->to_qty[i] / MONEY_SCALE) * unit;
        gt_u128 upto = quantity < to ? quantity : to;
        if (upto <= from) {
            continue;
        }
        money line;
        int rc = money_mul_ratio(s->rate[i], upto - from,
                                 unit * (s->unit_qty[i] ? s->unit_qty[i] : 1), &line);
        rc = rc < 0 ? rc : money_add(*sum, line, sum);
        if (rc < 0) {
            return rc;
        }
        priced += upto - from;
    }
    return priced == quantity ? 0 : GT_ENOTFOUND; /* nobody states the rate above a bound */
}

/* A disk is sold in steps: the one that holds so much. */
static int stepped(const struct catalog_storage *s, size_t first, size_t n, uint64_t bytes,
                   money *sum)
{
    for (size_t i = first; i < first + n; i++) {
        gt_u128 from = (gt_u128)(s->from_qty[i] / MONEY_SCALE) * GT_GIB;
        gt_u128 to = (gt_u128)(s->to_qty[i] / MONEY_SCALE) * GT_GIB;
        if (s->to_qty[i] >= 0 && bytes > from && bytes <= to) {
            return money_add(*sum, s->rate[i], sum);
        }
    }
    return GT_ENOTFOUND;
}

static int component(const struct catalog *c, const struct saving_item *it, const char *name,
                     uint64_t quantity, uint64_t included, money *sum, const char **currency)
{
    const struct catalog_storage *s = &c->storage;
    size_t first, n;
    uint32_t tier = catalog_id(c, it->tier);
    n = tier ? catalog_storage_rates(c, catalog_id(c, it->vendor), catalog_id(c, it->region), tier,
                                     name, &first)
             : 0;
    if (n == 0) {
        return GT_ENOTFOUND;
    }
    const char *in = catalog_text(c, s->currency[first]);
    if (*currency && strcmp(*currency, in) != 0) {
        return GT_EUNSUPPORTED;
    }
    *currency = in;
    switch ((enum storage_unit)s->unit[first]) {
    case SU_DISK_MONTH:
        return stepped(s, first, n, it->bytes, sum);
    case SU_GIB_MONTH:
        return bracketed(s, first, n, quantity, included, GT_GIB, sum);
    case SU_GB_MONTH:
        return bracketed(s, first, n, quantity, included, GT_GB, sum);
    case SU_IOPS_MONTH:
    case SU_MIBPS_MONTH:
        return bracketed(s, first, n, quantity, included, 1, sum);
    default:
        return GT_EUNSUPPORTED;
    }
}

int savings_price(const struct catalog *c, const struct saving_item *it, money *month,
                  const char **currency)
{
    money sum = 0;
    const char *in = *currency;
    *month = 0;
    if (!it->region || !it->region[0]) {
        return GT_ENOTFOUND;
    }
    bool gp3 = strcmp(it->tier, "ebs_gp3") == 0; /* 3,000 IOPS and 125 MiB/s included: R-EBS-03 */
    uint64_t iops = gp3 ? 3000 : 0, mibps = gp3 ? 125 : 0;
    int rc = component(c, it, it->component, it->bytes, 0, &sum, &in);
    if (rc == 0 && it->iops > iops) {
        rc = component(c, it, "provisioned_iops", it->iops, iops, &sum, &in);
    }
    if (rc == 0 && it->mibps > mibps) {
        rc = component(c, it, "throughput", it->mibps, mibps, &sum, &in);
    }
    if (rc == 0) {
        *month = sum;
        *currency = in;
    }
    return rc;
}
