/* Rows of the EC2 price list that others took for a price and that are none, or of another machine
 * (docs/pricing-sources.md section 10, known faults of this kind): small lists in CSV, in any order
 * of rows and columns. */
#include "../../pricing/sources/gpu_names.h"
#include "aws_util.h"
#include <math.h>
#include <sys/resource.h>

#define PREAMBLE                                                                                   \
    "\"FormatVersion\",\"v1.0\"\nDisclaimer,All prices are subject to terms, taxes, and pages\n"   \
    "\"Publication Date\",\"2026-07-20T00:00:00Z\"\n\"Version\",\"20260720\"\n\"OfferCode\","      \
    "\"AmazonEC2\"\n"
/* The columns by a letter each, so that tests can turn them round. */
static const char *const column[] = {
    "SKU",
    "OfferTermCode",
    "RateCode",
    "TermType",
    "EffectiveDate",
    "Unit",
    "PricePerUnit",
    "Currency",
    "Location",
    "Region Code",
    "Instance Type",
    "vCPU",
    "Memory",
    "Tenancy",
    "Operating System",
    "License Model",
    "usageType",
    "operation",
    "CapacityStatus",
    "Pre Installed S/W",
    "MarketOption",
    "Product Family",
    "GPU",
    "LeaseContractLength",
    "PurchaseOption",
    "OfferingClass",
};
enum { COLUMNS = sizeof column / sizeof *column };
/* A Linux machine; set() changes a cell. */
struct row {
    const char *cell[COLUMNS];
};

static struct row linux_row(const char *sku, const char *type, const char *price)
{
    static char usage[8][64];
    static int next;
    char *u = usage[next++ % 8];
    snprintf(u, 64, "BoxUsage:%s", type);
    return (struct row){{sku,
                         "JRTCKXETXF",
                         sku,
                         "OnDemand",
                         "2026-07-01",
                         "Hrs",
                         price,
                         "USD",
                         "US East (N. Virginia)",
                         "us-east-1",
                         type,
                         "8",
                         "64 GiB",
                         "Shared",
                         "Linux",
                         "No License required",
                         u,
                         "RunInstances",
                         "Used",
                         "NA",
                         "OnDemand",
                         "Compute Instance",
                         "",
                         "",
                         "",
                         ""}};
}

static void set(struct row *r, const char *name, const char *value)
{
    for (int i = 0; i < COLUMNS; i++) {
        if (strcmp(column[i], name) == 0) {
            r->cell[i] = value;
            return;
        }
    }
    fail_msg("no column %s", name);
}

static char text[40000];

/* shift turns the columns behind the first; an extra one stands last. */
static void write_list(const char *head, const struct row *r, size_t n, int shift)
{
    size_t at = (size_t)snprintf(text, sizeof text, "%s", head);
    for (size_t i = 0; i <= n; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            int from = c == 0 ? 0 : 1 + (c - 1 + shift) % (COLUMNS - 1);
            at += (size_t)snprintf(text + at, sizeof text - at, "\"%s\",",
                                   i == 0 ? column[from] : r[i - 1].cell[from]);
        }
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", i == 0 ? "Added Later" : "x");
    }
}

static void read_rows(const struct row *r, size_t n)
{
    write_list(PREAMBLE, r, n, 0);
    int rc = parse("x.csv", text, strlen(text), 333);
    if (rc != 0) {
        fail_msg("%s: %s", err.where, err.text);
    }
}

/* 450 MB of a region's list: what is not wanted leaves nothing behind, in either layout. */
static void trap_01_memory_stays_flat(void **s)
{
    (void)s;
    struct row r[2] = {linux_row("A", "g5.xlarge", "1.006"), linux_row("B", "g5.xlarge", "1.5")};
    set(&r[1], "Operating System", "Windows");
    struct rusage before, after;
    static char more[200000];
    for (int json = 0; json < 2; json++) {
        struct parser *p;
        struct parse_context c = {.staging = &st, .name = "x", .region = "", .now = 1, .as_of = 1};
        const struct source_def *d = source_find("aws-offer");
        size_t n = 0;
        fake_clear(&st);
        write_list(PREAMBLE, r, 2, 0);
        const char *line = strstr(text, "\"B\""),
                   *first = json ? "{\"offerCode\":\"AmazonEC2\",\"products\":{\"A\":{"
                                   "\"productFamily\":\"Compute Instance\","
                                   "\"attributes\":{\"operatingSystem\":\"Linux\",\"tenancy\":"
                                   "\"Shared\",\"instanceType\":"
                                   "\"g5.xlarge\",\"usagetype\":\"BoxUsage:g5.xlarge\","
                                   "\"regionCode\":\"us-east-1\","
                                   "\"capacitystatus\":\"Used\"}}"
                                 : text;
        assert_int_equal(source_open(d, &c, &p, &err), 0);
        assert_int_equal(d->parse_feed(p, first, strlen(first), &err), 0);
        while (n + 1000 < sizeof more) {
            n += (size_t)(json ? snprintf(more + n, sizeof more - n,
                                          ",\"W%zu\":{\"productFamily\":\"Compute Instance\","
                                          "\"attributes\":{\"operatingSystem\":\"Windows\","
                                          "\"tenancy\":\"Shared\"}}",
                                          n)
                               : snprintf(more + n, sizeof more - n, "%s", line));
        }
        getrusage(RUSAGE_SELF, &before);
        for (int i = 0; i < 250; i++) { /* 50 MB */
            assert_int_equal(d->parse_feed(p, more, n, &err), 0);
        }
        getrusage(RUSAGE_SELF, &after);
        assert_true(after.ru_maxrss - before.ru_maxrss < 2048); /* KiB */
        const char *last =
            "},\"terms\":{\"OnDemand\":{\"A\":{\"A.T\":{\"priceDimensions\":{\"A.T.R\":{"
            "\"unit\":\"Hrs\",\"pricePerUnit\":{\"USD\":\"1.006\"}}}}}}}}";
        assert_int_equal(json ? d->parse_feed(p, last, strlen(last), &err) : 0, 0);
        assert_int_equal(d->parse_close(p, &err), 0);
        assert_int_equal(st.n_offer, 1);
    }
}

/* Commas in the preamble, a BOM, sep=, junk lines and short rows. */
static void trap_02_03_preamble_and_junk(void **s)
{
    (void)s;
    struct row r = linux_row("A", "g5.xlarge", "1.006");
    static const char *const heads[] = {PREAMBLE, "sep=,\n" PREAMBLE, "\xef\xbb\xbf" PREAMBLE,
                                        "\xef\xbb\xbfsep=,\nanything\n\n" PREAMBLE};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        write_list(heads[i], &r, 1, 0);
        strcat(text, "one field\n\n\"SHORT\",\"a\",\"b\"\n");
        for (size_t step = 1; step < 500; step += 83) {
            assert_int_equal(parse("x.csv", text, strlen(text), step), 0);
            assert_int_equal(st.n_offer, 1);
            assert_int_equal(ctx.as_of, 1784505600);
            assert_int_equal(ctx.skipped, 2);
        }
        assert_true(source_recognises(source_find("aws-offer"), text, strlen(text), "x"));
    }
    if (!parse_sample("AmazonEC2.eu-west-1.awkward-rows.fixture.csv")) {
        skip();
    }
    size_t on_demand = 0, reserved = 0;
    for (size_t i = 0; i < st.n_offer; i++) {
        on_demand += st.offer[i].purchase == PURCHASE_ON_DEMAND;
        reserved += st.offer[i].purchase == PURCHASE_RESERVED_3Y;
    }
    assert_int_equal(on_demand, 75);
    assert_int_equal(reserved, 2);
}

/* Columns were added and moved over the years: they count by name. */
static void trap_04_columns_move(void **s)
{
    (void)s;
    struct row r[2] = {linux_row("A", "g5.xlarge", "1.006"),
                       linux_row("B", "p5.48xlarge", "55.04")};
    for (int shift = 0; shift < COLUMNS - 1; shift++) {
        write_list(PREAMBLE, r, 2, shift);
        assert_int_equal(parse("x.csv", text, strlen(text), 4096), 0);
        assert_int_equal(st.n_offer, 2);
        check(st.offer[0].price_per_hour, "1.006");
        assert_string_equal(st.offer[1].instance_type, "p5.48xlarge");
        assert_true(fabs(st.offer[1].memory_gib - 64) < 1e-9);
    }
}

/* "NA" is a word of the list, not a missing value; both it and nothing mean no software. */
static void trap_05_no_software(void **s)
{
    (void)s;
    static const char *const none[] = {"NA", "", "NA "};
    for (size_t i = 0; i < 3; i++) {
        struct row r[2] = {linux_row("A", "g5.xlarge", "1.006"),
                           linux_row("B", "g5.xlarge", "2.5")};
        set(&r[0], "Pre Installed S/W", none[i]);
        set(&r[1], "Pre Installed S/W", "SQL Std");
        read_rows(r, 2);
        assert_int_equal(st.n_offer, 1);
        check(st.offer[0].price_per_hour, "1.006");
    }
}

/* A capacity block has the attributes of the machine and costs 0.00 by the hour. */
static void trap_06_capacity_block_is_no_price(void **s)
{
    (void)s;
    for (int first = 0; first < 2; first++) {
        struct row r[2];
        r[first] = linux_row("A", "p4d.24xlarge", "32.7726");
        r[1 - first] = linux_row("B", "p4d.24xlarge", "0.0000000000");
        set(&r[1 - first], "MarketOption", "CapacityBlock");
        set(&r[1 - first], "operation", "RunInstances:CB");
        read_rows(r, 2);
        assert_int_equal(st.n_offer, 2);
        check(offer("us-east-1", "p4d.24xlarge", PURCHASE_ON_DEMAND, PAYMENT_NULL)->price_per_hour,
              "32.7726");
        const struct offer_row *b =
            offer("us-east-1", "p4d.24xlarge", PURCHASE_CAPACITY_BLOCK, PAYMENT_NULL);
        assert_int_equal(b->price_state, PRICE_SOLD_OTHERWISE);
        check(b->price_per_hour, "0");
    }
}

/* A type of which the list has only a zero is neither free nor gone: sold another way. */
static void f109_capacity_zero(void **s)
{
    (void)s;
    struct row r[3] = {linux_row("A", "p5e.48xlarge", "0.0000000000"),
                       linux_row("B", "g5.xlarge", "0"), linux_row("C", "g5.xlarge", "1.006")};
    read_rows(r, 3);
    assert_int_equal(st.n_offer, 2);
    check(offer("us-east-1", "g5.xlarge", PURCHASE_ON_DEMAND, PAYMENT_NULL)->price_per_hour,
          "1.006");
    const struct offer_row *o =
        offer("us-east-1", "p5e.48xlarge", PURCHASE_CAPACITY_BLOCK, PAYMENT_NULL);
    assert_int_equal(o->price_state, PRICE_SOLD_OTHERWISE);
    assert_string_equal(o->gpu, "H200 SXM");
}

static void reserve(struct row *r, const char *code, const char *length, const char *option,
                    const char *class, const char *unit, const char *price)
{
    set(r, "TermType", "Reserved");
    set(r, "OfferTermCode", code);
    set(r, "LeaseContractLength", length);
    set(r, "PurchaseOption", option);
    set(r, "OfferingClass", class);
    set(r, "Unit", unit);
    set(r, "PricePerUnit", price);
}

/* m5.large of the vendor's test data: the two parts of a term, and what an hour of it costs. */
static const struct term {
    const char *code, *length, *option, *hourly, *upfront, *hour_of_term;
} terms[] = {
    {"T1", "1yr", "All Upfront", "0.0000000000", "494", "0.056392694064"},
    {"T2", "1 yr", "Partial Upfront", "0.0290000000", "252", "0.057767123288"},
    {"T3", "1yr", "NoUpfront", "0.0600000000", NULL, "0.06"},
    {"T4", "3yr", "AllUpfront", "0.0000000000", "949", "0.036111111111"},
    {"T5", "3 yr", "PartialUpfront", "0.0190000000", "505", "0.038216133942"},
};

static size_t reserved_rows(struct row *r, bool upfront_first, const char *class)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        const struct term *t = &terms[i];
        for (int part = 0; part < 2; part++) {
            bool upfront = (part == 0) == upfront_first;
            if (!upfront || t->upfront) {
                r[n] = linux_row("M5", "m5.large", "");
                reserve(&r[n++], t->code, t->length, t->option, class, upfront ? "Quantity" : "Hrs",
                        upfront ? t->upfront : t->hourly);
            }
        }
    }
    return n;
}

/* The upfront fee is a row of its own, without a range and with the unit Quantity; both make one
 * offer whose hour is exact over 8,760 hours a year (known fault F185). */
static void trap_07_f185_upfront_fee(void **s)
{
    (void)s;
    static const enum purchase years[] = {PURCHASE_RESERVED_1Y, PURCHASE_RESERVED_1Y,
                                          PURCHASE_RESERVED_1Y, PURCHASE_RESERVED_3Y,
                                          PURCHASE_RESERVED_3Y};
    static const enum payment pays[] = {PAYMENT_ALL, PAYMENT_PARTIAL, PAYMENT_NONE, PAYMENT_ALL,
                                        PAYMENT_PARTIAL};
    for (int k = 0; k < 4; k++) {
        struct row r[12];
        size_t n = reserved_rows(r, k % 2 == 0, k < 2 ? "standard" : "convertible");
        r[n++] = linux_row("M5", "m5.large", "0.096");
        read_rows(r, n);
        assert_int_equal(st.n_offer, 6);
        for (size_t i = 0; i < 5; i++) {
            const struct offer_row *o = offer("us-east-1", "m5.large", years[i], pays[i]);
            money part, want;
            assert_int_equal(
                money_mul_ratio(o->upfront, 1, (gt_u128)purchase_term_hours(years[i]), &part), 0);
            assert_int_equal(
                money_parse(terms[i].hour_of_term, strlen(terms[i].hour_of_term), &want, NULL), 0);
            assert_true(o->price_per_hour + part == want);
            assert_int_equal(o->offering_class, k < 2 ? OFFERING_STANDARD : OFFERING_CONVERTIBLE);
        }
    }
    /* an upfront part alone is a whole only when all is paid up front */
    struct row alone[3] = {linux_row("A", "m5.large", "0.096"), linux_row("A", "m5.large", ""),
                           linux_row("A", "m5.large", "")};
    reserve(&alone[1], "T1", "1yr", "All Upfront", "standard", "Quantity", "494");
    reserve(&alone[2], "T2", "1yr", "Partial Upfront", "standard", "Quantity", "252");
    read_rows(alone, 3);
    assert_int_equal(st.n_offer, 2);
}

/* Zero by the hour is a part of an upfront term, or what a reserved hour costs on demand: never a
 * price. */
static void f017_zero_hourly_is_no_price(void **s)
{
    (void)s;
    struct row r[4] = {linux_row("A", "m5.large", "0.0000000000"), linux_row("A", "m5.large", ""),
                       linux_row("A", "m5.large", ""), linux_row("B", "m5.large", "0.096")};
    reserve(&r[1], "T1", "1yr", "All Upfront", "standard", "Hrs", "0.0000000000");
    reserve(&r[2], "T1", "1yr", "All Upfront", "standard", "Quantity", "494");
    read_rows(r, 4);
    assert_int_equal(st.n_offer, 2);
    check(offer("us-east-1", "m5.large", PURCHASE_ON_DEMAND, PAYMENT_NULL)->price_per_hour,
          "0.096");
    check(offer("us-east-1", "m5.large", PURCHASE_RESERVED_1Y, PAYMENT_ALL)->upfront, "494");
}

/* Each row differs from the wanted one in one attribute and would take its place. */
static void trap_08_look_alikes(void **s)
{
    (void)s;
    static const struct {
        const char *column, *value;
    } odd[] = {
        {"Operating System", "Windows"},
        {"Operating System", "RHEL"},
        {"Operating System", "SUSE"},
        {"Operating System", "Ubuntu Pro"},
        {"Tenancy", "Dedicated"},
        {"Tenancy", "Host"},
        {"Tenancy", "Reserved"},
        {"License Model", "Bring your own license"},
        {"CapacityStatus", "UnusedCapacityReservation"},
        {"CapacityStatus", "AllocatedCapacityReservation"},
        {"CapacityStatus", "N/A"},
        {"Pre Installed S/W", "SQL Ent"},
        {"operation", "RunInstances:0002"},
        {"operation", "RunInstances:000g"},
        {"usageType", "UnusedBox:g5.xlarge"},
        {"usageType", "Reservation:g5.xlarge"},
        {"usageType", "DedicatedUsage:g5.xlarge"},
        {"usageType", "HostBoxUsage:g5.xlarge"},
        {"Product Family", "Dedicated Host"},
        {"TermType", "FlatRate"},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (int first = 0; first < 2; first++) {
            struct row r[2];
            r[first] = linux_row("A", "g5.xlarge", "1.006");
            r[1 - first] = linux_row("B", "g5.xlarge", "0.5");
            set(&r[1 - first], odd[i].column, odd[i].value);
            read_rows(r, 2);
            if (st.n_offer != 1) {
                fail_msg("%s %s was taken", odd[i].column, odd[i].value);
            }
            check(st.offer[0].price_per_hour, "1.006");
        }
    }
}

/* Several Windows rows of one type: whichever comes last, the Linux price stays. */
static void f009_last_write_wins(void **s)
{
    (void)s;
    for (int order = 0; order < 6; order++) {
        struct row all[3] = {linux_row("A", "g5.xlarge", "1.006"),
                             linux_row("B", "g5.xlarge", "1.19"),
                             linux_row("C", "g5.xlarge", "1.008")};
        set(&all[1], "Operating System", "Windows");
        set(&all[2], "Operating System", "Windows");
        set(&all[2], "License Model", "Bring your own license");
        int a = order / 2, b = (a + 1 + order % 2) % 3;
        struct row r[3] = {all[a], all[b], all[3 - a - b]};
        read_rows(r, 3);
        assert_int_equal(st.n_offer, 1);
        assert_string_equal(st.offer[0].sku, "A");
    }
}

/* Bare metal has a family of its own, and is Dedicated in some lists, Shared in others, both in
 * one: then the dedicated one is the dearer option. */
static void trap_09_bare_metal(void **s)
{
    (void)s;
    for (int which = 1; which < 4; which++) {
        for (int turned = 0; turned < 2; turned++) {
            struct row r[2];
            size_t n = 0;
            for (int k = 0; k < 2; k++) {
                bool shared = k == turned;
                if (which & (shared ? 1 : 2)) {
                    r[n] = linux_row("M", "g4dn.metal", shared ? "7.824" : "8.2");
                    set(&r[n], "Product Family", "Compute Instance (bare metal)");
                    set(&r[n], "Tenancy", shared ? "Shared" : "Dedicated");
                    if (!shared) {
                        set(&r[n], "usageType", "DedicatedUsage:g4dn.metal");
                    }
                    n++;
                }
            }
            read_rows(r, n);
            assert_int_equal(st.n_offer, 1);
            check(st.offer[0].price_per_hour, which == 2 ? "8.2" : "7.824");
        }
    }
}

/* The list states wrong or no counts for some types: the table of types wins and says so. */
static void trap_10_gpu_counts(void **s)
{
    (void)s;
    struct row r[4] = {linux_row("A", "p4de.24xlarge", "27.447"),
                       linux_row("B", "p5en.48xlarge", "63.296"),
                       linux_row("C", "g6f.large", "0.202"), linux_row("D", "p5.4xlarge", "6.88")};
    set(&r[0], "GPU", "4");
    set(&r[2], "GPU", "NA");
    set(&r[3], "GPU", "1");
    read_rows(r, 4);
    static const struct {
        const char *type, *gpu;
        int num, den;
    } want[] = {{"p4de.24xlarge", "A100-80GB SXM4", 8, 1},
                {"p5en.48xlarge", "H200 SXM", 8, 1},
                {"g6f.large", "L4", 1, 8},
                {"p5.4xlarge", "H100 SXM", 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        const struct offer_row *o =
            offer("us-east-1", want[i].type, PURCHASE_ON_DEMAND, PAYMENT_NULL);
        assert_string_equal(o->gpu, want[i].gpu);
        assert_int_equal(o->gpu_num, want[i].num);
        assert_int_equal(o->gpu_den, want[i].den);
        assert_true((strstr(o->note, "another number of GPUs") != NULL) == (i == 0));
    }
}

/* Memory as the APIs print it is a little below the label: the model is found by name. */
static void trap_11_memory_below_the_label(void **s)
{
    (void)s;
    static const struct {
        const char *name, *model;
        double mib;
    } c[] = {{"L4", "L4", 22888}, {"L40S", "L40S", 45776}, {"RTX 4090", "RTX 4090", 24564}};
    for (size_t i = 0; i < 3; i++) {
        struct gpu_name g = gpu_canonical(c[i].name, c[i].mib / 1024, "aws", "");
        assert_true(g.known);
        assert_string_equal(g.model, c[i].model);
        double sheet = gpu_model_memory(g.model);
        assert_true(fabs(sheet - c[i].mib / 1024) < 0.08 * sheet);
    }
}

/* Gaudi is listed among GPUs; it keeps its own name. */
static void trap_12_gaudi(void **s)
{
    (void)s;
    struct row r = linux_row("A", "dl1.24xlarge", "13.10904");
    set(&r, "GPU", "8");
    read_rows(&r, 1);
    assert_string_equal(st.offer[0].gpu, "Gaudi");
    assert_int_equal(st.offer[0].gpu_num, 8);
}

/* China: yuan, other codes of terms and rates, a vendor of its own; GovCloud is the global one. */
static void trap_13_partitions(void **s)
{
    (void)s;
    struct row r[2] = {linux_row("A", "g5.xlarge", "9.87"), linux_row("B", "g5.xlarge", "1.268")};
    set(&r[0], "OfferTermCode", "99YE2YK9UR");
    set(&r[0], "Currency", "CNY");
    set(&r[0], "Region Code", "cn-north-1");
    set(&r[0], "usageType", "CNN1-BoxUsage:g5.xlarge");
    set(&r[1], "Region Code", "us-gov-west-1");
    set(&r[1], "usageType", "UGW1-BoxUsage:g5.xlarge");
    read_rows(r, 2);
    assert_string_equal(st.offer[0].vendor, "aws-cn");
    assert_string_equal(st.offer[0].currency, "CNY");
    check(st.offer[0].price_per_hour, "9.87");
    assert_string_equal(st.offer[1].vendor, "aws");
    assert_string_equal(st.offer[1].currency, "USD");
    if (!parse_sample("ec2-offer-cn-northwest-1.cny.json")) {
        skip();
    }
    assert_int_equal(st.n_storage, 1);
    assert_string_equal(st.storage[0].currency, "CNY");
}

/* The word behind the region's prefix is BoxUsage, not one that ends with it. */
static void trap_70_host_box_usage(void **s)
{
    (void)s;
    static const char *const usage[] = {"HostBoxUsage:g5.xlarge", "EU-HostBoxUsage:g5.xlarge",
                                        "BoxUsageX:g5.xlarge", "SpotBoxUsage:g5.xlarge"};
    static const char *const good[] = {"BoxUsage:g5.xlarge", "EU-BoxUsage:g5.xlarge",
                                       "USW2-LAX1-BoxUsage:g5.xlarge", "EU-BoxUsage"};
    for (size_t i = 0; i < 4; i++) {
        struct row r[2] = {linux_row("A", "g5.2xlarge", "1.2"), linux_row("B", "g5.xlarge", "0.1")};
        set(&r[1], "usageType", usage[i]);
        read_rows(r, 2);
        assert_int_equal(st.n_offer, 1);
        set(&r[1], "usageType", good[i]);
        read_rows(r, 2);
        assert_int_equal(st.n_offer, 2);
    }
}

/* No region is the measure of the others. */
static void f011_type_of_one_region(void **s)
{
    (void)s;
    struct row r[2] = {linux_row("A", "g5.xlarge", "1.006"), linux_row("B", "p5.48xlarge", "55")};
    set(&r[1], "Region Code", "us-east-2");
    read_rows(r, 2);
    assert_string_equal(offer("us-east-2", "p5.48xlarge", PURCHASE_ON_DEMAND, PAYMENT_NULL)->region,
                        "us-east-2");
    assert_int_equal(st.n_offer, 2);
}

/* Places whose names look alike; one that is not known is left out and counted, never the next. */
static void f013_places_by_name(void **s)
{
    (void)s;
    static const struct {
        const char *location, *code;
    } place[] = {{"EU (Milan)", "eu-south-1"},
                 {"Europe (Spain)", "eu-south-2"},
                 {"Europe (Milan)", "eu-south-1"},
                 {"Asia Pacific (Osaka-Local)", "ap-northeast-3"},
                 {"AWS GovCloud (US)", "us-gov-west-1"},
                 {"Europe (Madrid)", NULL},
                 {"EU (Milano)", NULL},
                 {"AWS Region", NULL}};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        struct row r[2] = {linux_row("A", "g5.xlarge", "1.006"),
                           linux_row("B", "g5.2xlarge", "1.3")};
        set(&r[1], "Region Code", "");
        set(&r[1], "Location", place[i].location);
        read_rows(r, 2);
        assert_int_equal(st.n_offer, place[i].code ? 2 : 1);
        if (place[i].code) {
            assert_string_equal(st.offer[1].region, place[i].code);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_01_memory_stays_flat),
        cmocka_unit_test(trap_02_03_preamble_and_junk),
        cmocka_unit_test(trap_04_columns_move),
        cmocka_unit_test(trap_05_no_software),
        cmocka_unit_test(trap_06_capacity_block_is_no_price),
        cmocka_unit_test(f109_capacity_zero),
        cmocka_unit_test(trap_07_f185_upfront_fee),
        cmocka_unit_test(f017_zero_hourly_is_no_price),
        cmocka_unit_test(trap_08_look_alikes),
        cmocka_unit_test(f009_last_write_wins),
        cmocka_unit_test(trap_09_bare_metal),
        cmocka_unit_test(trap_10_gpu_counts),
        cmocka_unit_test(trap_11_memory_below_the_label),
        cmocka_unit_test(trap_12_gaudi),
        cmocka_unit_test(trap_13_partitions),
        cmocka_unit_test(trap_70_host_box_usage),
        cmocka_unit_test(f011_type_of_one_region),
        cmocka_unit_test(f013_places_by_name),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    fake_clear(&st);
    return rc;
}
