/* The shipped snapshot: first open, an upgrade with other content, malformed files with file:line,
 * GPU names by alias, and the snapshot that the repository ships. */
#include "store_util.h"
#include <math.h>
#include <time.h>

#define SOURCES                                                                                    \
    "source,name,url,licence,as_of\n"                                                              \
    "cat,A catalogue,https://example.test/a,MIT,2025-11-01\n"                                      \
    "\"other\",\"Quoted, name\",,,2025-10-01\n"
#define OFFERS_HEAD                                                                                \
    "vendor,region,zone,instance_type,purchase,payment,offering_class,price_state,price_per_hour," \
    "upfront,price_month,currency,sku,as_of,valid_from,valid_to,source,note\n"
#define TYPES_HEAD                                                                                 \
    "vendor,instance_type,gpu,gpu_num,gpu_den,gpu_memory_gib,vcpus,memory_gib,local_nvme_gb,"      \
    "network_gbps,disk_mbps,nvlink,source\n"
#define GPUS_HEAD                                                                                  \
    "model,maker,arch,form,compute_capability,launch_year,fp64_tflops,fp32_tflops,tf32_tflops,"    \
    "fp16_tflops,bf16_tflops,fp8_tflops,int8_tops,mem_gb,bandwidth_gbs,l2_mb,nvlink_gbs,pcie,"     \
    "tdp_w,mig_slices,note,source\n"

static const char offers[] =
    OFFERS_HEAD "aws,us-east-1,,p4d.24xlarge,on_demand,,,known,32.7726,,,USD,,,,,cat,\n"
                "aws,us-east-1,us-east-1a,p4d.24xlarge,spot,,,known,12.5,,,USD,,2025-11-20,,,cat,"
                "\"two\nlines, quoted \"\"here\"\"\"\n"
                "alibaba,cn-beijing,,gn7,monthly,,,known,,,26462.4,CNY,,,,,other,\r\n"
                "aws,us-east-1,,p6,on_demand,,,none,,,,USD,,,,,cat,\n"
                "aws,us-east-1,,c5.large,on_demand,,,,0.085,,,USD,,,,,cat,cpu only\n";
static const char types[] =
    TYPES_HEAD "aws,p4d.24xlarge,A100 (HBM2),8,1,40,96,1152,8000,400,2375,y,cat\n"
               "aws,p6,B200,8,1,180,192,2048,,3200,,y,cat\n"
               "alibaba,gn7,A10,1,2,24,8,32,,,,n,cat\n";
static const char gpus[] =
    GPUS_HEAD "A100-40GB SXM4,NVIDIA,Ampere,SXM4,8,2020,9.7,19.5,156,312,312,,624,40,1555,40,600,"
              "4x16,400,7,,sheet\n"
              "A10,NVIDIA,Ampere,PCIe,8.6,2021,,31.2,62.5,125,125,,250,24,600,6,,4x16,150,0,,s\n";

static void write_snapshot(const struct box *b, const char *offers_csv)
{
    char dir[200];
    (void)snprintf(dir, sizeof(dir), "%s/snapshot", b->data);
    if (access(dir, F_OK) != 0) {
        assert_int_equal(mkdir(b->data, 0700), 0);
        assert_int_equal(mkdir(dir, 0700), 0);
    }
    write_file(dir, "sources.csv", SOURCES);
    write_file(dir, "offers.csv", offers_csv);
    write_file(dir, "instance_types.csv", types);
    write_file(dir, "gpu_models.csv", gpus);
    write_file(dir, "gpu_aliases.csv",
               "vendor,alias,model,memory_gib\n,A100 (HBM2),A100-40GB SXM4,39.6\n"
               ",A100 (HBM2),A10,\naws,A100,A100-40GB SXM4,\nalibaba,A100,A10,\n");
    write_file(dir, "fx.csv", "currency,per_usd,date,source\nCNY,7.1,2025-11-30,other\n");
    write_file(dir, "interruption.csv",
               "vendor,region,instance_type,band_lo_pct,band_hi_pct,savings_pct,as_of,source\n"
               "aws,us-east-1,p4d.24xlarge,20,,61,,cat\n");
    write_file(dir, "storage_rates.csv",
               "vendor,region,tier,component,unit,unit_qty,from_qty,to_qty,rate,currency,as_of,"
               "source,note\naws,us-east-1,s3_standard,storage,gib_month,1,0,,0.023,USD,,cat,\n"
               "aws,us-east-1,s3_standard,get,request,1000,,,0.0004,USD,,cat,\n");
    write_file(dir, "transfer_rates.csv",
               "vendor,from,to,gb_bytes,from_gb,to_gb,rate,currency,as_of,source,note\n"
               "aws,us-east-1,internet,1073741824,0,10240,0.09,USD,,cat,\n");
    write_file(dir, "models.csv",
               "name,family,task,parameters,active_parameters,layers,hidden,heads,kv_heads,ffn,"
               "vocab,seq_len,image_px,head_dim,bytes_per_sample_in,flops_per_sample_fwd,"
               "activation_elements,tied_embeddings,source\n"
               "resnet50,resnet,image,25557032,,50,,,,,,,224,,114660,4089000000,,0,x\n");
    write_file(dir, "allowances.csv",
               "vendor,product,rule,value,unit,valid_from,source,confidence\n"
               "aws,ebs-gp3,included IOPS,3000,IOPS,,x,high\n");
    write_file(dir, "traces.csv",
               "name,vendor,region,zone,instance_type,gap_s,nodes_probed,path\n"
               "v100-1a,aws,us-east-1,us-east-1a,p3.2xlarge,600,1,traces/a.csv\n");
}

static int add_trace(void *ctx, const struct store_trace *t)
{
    assert_string_equal(t->path, "traces/a.csv");
    assert_int_equal(t->gap_s, 600);
    ++*(int *)ctx;
    return 0;
}

static int add_allowance(void *ctx, const struct store_allowance *a)
{
    assert_string_equal(a->value, "3000");
    ++*(int *)ctx;
    return 0;
}

static void first_open_fills_the_database(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    write_snapshot(&b, offers);
    struct store *s = must_open(&b);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.n, 4); /* the machine without a GPU is left out */
    long row = find_offer(c, "us-east-1", "p4d.24xlarge");
    assert_string_equal(catalog_text(c, c->offers.gpu[row]), "A100-40GB SXM4");
    assert_true(c->offers.gpu_spec[row] >= 0);
    assert_true(c->gpus[c->offers.gpu_spec[row]].mem_gb == 40);
    assert_int_equal(c->offers.origin[row], ORIGIN_BUNDLED);
    assert_int_equal(c->offers.fetched_at[row], GT_TIME_NONE);
    assert_int_equal(c->offers.as_of[row], 1761955200); /* of its source */
    assert_string_equal(catalog_text(c, c->offers.note[row + 1]), "two\nlines, quoted \"here\"");
    row = find_offer(c, "cn-beijing", "gn7");
    assert_int_equal(c->offers.gpu_den[row], 2);
    assert_true(c->offers.price_month[row] == amount("26462.4"));
    assert_true(fabs(c->offers.usd_per_hour[row] - 26462.4 / 730 / 7.1) < 1e-9);
    row = find_offer(c, "us-east-1", "p6");
    assert_int_equal(c->offers.price_state[row], PRICE_NONE);
    assert_int_equal(c->offers.gpu_spec[row], -1); /* its sheet is not shipped here */
    assert_int_equal(c->storage.n, 2);
    assert_int_equal(c->transfer.n, 1);
    assert_int_equal(c->interruption.n, 1);
    assert_int_equal(c->n_models, 1);
    assert_true(isnan(c->models[catalog_model(c, "resnet50")].heads));
    catalog_free(c);
    struct load_options all = {.as_of = GT_TIME_NONE, .with_cpu_only = true};
    assert_int_equal(store_load_catalog(s, &all, &c, NULL), 0);
    assert_int_equal(c->offers.n, 5);
    catalog_free(c);
    c = must_load(s, 1761955200 - 1); /* the day before the source's date */
    assert_int_equal(c->offers.n, 1); /* other is a month older */
    catalog_free(c);
    int n = 0;
    assert_int_equal(store_traces(s, "aws", add_trace, &n, NULL), 0);
    assert_int_equal(store_allowances(s, NULL, add_allowance, &n, NULL), 0);
    assert_int_equal(n, 2);
    store_close(s);
    box_close(&b);
}

static int count_runs(void *ctx, const struct source_state *st)
{
    (void)st;
    ++*(int *)ctx;
    return 0;
}

static void an_upgrade_reloads_only_bundled_rows(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    write_snapshot(&b, offers);
    struct store *s = must_open(&b);
    struct offer_row mine = offer("us-east-1", "p4d.24xlarge", "30");
    mine.as_of = 1750000000; /* far older than the snapshot: not shown, and kept */
    assert_int_equal(publish(s, "aws-offer", NOW, &mine, 1, false, NULL, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    long row = find_offer(c, "us-east-1", "p4d.24xlarge");
    assert_true(c->offers.price_per_hour[row] == amount("32.7726"));
    assert_string_equal(catalog_text(c, c->offers.note[row]),
                        "aws-offer says 30 USD/h as of 2025-06-15");
    int64_t kept = c->offers.id[find_offer(c, "cn-beijing", "gn7")];
    uint64_t generation = c->generation;
    catalog_free(c);
    store_close(s);
    s = must_open(&b); /* nothing new: nothing loaded */
    c = must_load(s, GT_TIME_NONE);
    assert_true(c->generation == generation);
    catalog_free(c);
    store_close(s);
    write_snapshot(
        &b, OFFERS_HEAD
        "aws,us-east-1,,p4d.24xlarge,on_demand,,,known,21.9576,,,USD,,2025-12-01,,,cat,\n"
        "alibaba,cn-beijing,,gn7,monthly,,,known,,,26462.4,CNY,,,,,other,\n");
    s = must_open_at(&b, NOW + DAY);
    char text[MONEY_TEXT];
    assert_string_equal(price_at(s, GT_TIME_NONE, "us-east-1", "p4d.24xlarge", text), "21.9576");
    assert_string_equal(price_at(s, NOW - 2 * DAY, "us-east-1", "p4d.24xlarge", text), "32.7726");
    c = must_load(s, GT_TIME_NONE);
    assert_int_equal(c->offers.n, 2); /* spot and p6 left the snapshot */
    assert_int_equal(c->offers.id[find_offer(c, "cn-beijing", "gn7")], kept);
    catalog_free(c);
    c = must_load(s, NOW); /* the fetched row is still there */
    row = find_offer(c, "us-east-1", "p4d.24xlarge");
    assert_non_null(strstr(catalog_text(c, c->offers.note[row]), "aws-offer says 30"));
    catalog_free(c);
    int n = 0;
    assert_int_equal(store_sources(s, count_runs, &n, NULL), 0);
    assert_int_equal(n, 3);
    store_close(s);
    box_close(&b);
}

/* "A100" is one part at one vendor, another at the next, and open at a third. */
static void a_word_means_what_its_vendor_means(void **state)
{
    (void)state;
    static const struct {
        const char *vendor, *gpu;
        float gib;
    } want[] = {{"aws", "A100-40GB SXM4", 40}, {"alibaba", "A10", 24}, {"gcp", "A100", NAN}};
    struct box b;
    box_open(&b);
    write_snapshot(&b, offers);
    struct store *s = must_open(&b);
    for (size_t i = 0; i < 3; i++) {
        struct offer_row o = offer("somewhere", "new.type", "1");
        o.vendor = want[i].vendor;
        o.gpu = "A100";
        o.gpu_memory_gib = -1;
        struct publish_result res;
        assert_int_equal(publish(s, "prices-csv", NOW + (int64_t)i, &o, 1, true, &res, NULL), 0);
        struct catalog *c = must_load(s, GT_TIME_NONE);
        long row = find_offer(c, "somewhere", "new.type");
        assert_string_equal(catalog_text(c, c->offers.gpu[row]), want[i].gpu);
        assert_true((c->offers.gpu_spec[row] >= 0) == (i < 2));
        float gib = c->offers.gpu_memory_gib[row];
        assert_true(gib == want[i].gib || (isnan(gib) && i == 2));
        catalog_free(c);
    }
    store_close(s);
    box_close(&b);
}

static void own_facts_win_over_a_feeds(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    write_snapshot(&b, offers);
    struct store *s = must_open(&b);
    struct offer_row r = offer("us-east-1", "p4d.24xlarge", "30");
    r.gpu = "wrong";
    r.gpu_num = 1;
    r.vcpus = 2;
    assert_int_equal(publish(s, "aws-offer", NOW, &r, 1, false, NULL, NULL), 0);
    struct catalog *c = must_load(s, GT_TIME_NONE);
    long row = find_offer(c, "us-east-1", "p4d.24xlarge");
    assert_true(c->offers.price_per_hour[row] == amount("30"));
    assert_string_equal(catalog_text(c, c->offers.gpu[row]), "A100-40GB SXM4");
    assert_int_equal(c->offers.gpu_num[row], 8);
    assert_true(c->offers.vcpus[row] == 96);
    catalog_free(c);
    store_close(s);
    box_close(&b);
}

static void malformed_files_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *csv, *where, *says;
    } bad[] = {
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,1x,,,USD,,,,,cat,\n", "offers.csv:2",
         "price_per_hour"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,1,,,USD,,,,,cat,\naws,r,,t,rent,,,known,1,,,USD,,"
                     ",,,cat,\n",
         "offers.csv:3", "\"rent\" is no purchase option"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,1,,,USD,,,,,nobody,\n", "offers.csv:2",
         "not in sources.csv"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,1,,,USD\n", "offers.csv:2",
         "12 cells, the header has 18"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,0,,,USD,,,,,cat,\n", "offers.csv:2",
         "the price is 0"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,1,,,USD,,,,,cat,\"never ends\n", "offers.csv:2",
         "never ends"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,1,,,USD,,yesterday,,,cat,\n", "offers.csv:2",
         "as_of"},
        {OFFERS_HEAD "aws,r,,t,on_demand,,,known,0.0000000000001,,,USD,,,,,cat,\n", "offers.csv:2",
         "price_per_hour"},
        {"vendor,region\naws,r\n", "offers.csv:1", "column zone is missing"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct box b;
        box_open(&b);
        write_snapshot(&b, bad[i].csv);
        struct store_options o = {.path = b.db, .data_dir = b.data, .now = NOW};
        struct store *s = NULL;
        struct gt_error e = {0};
        assert_int_not_equal(store_open(&o, &s, &e), 0);
        if (strstr(e.where, bad[i].where) == NULL || strstr(e.text, bad[i].says) == NULL) {
            fail_msg("case %zu: %s: %s", i, e.where, e.text);
        }
        /* Once the file is right, the same database opens. */
        write_snapshot(&b, offers);
        store_close(must_open(&b));
        box_close(&b);
    }
}

static void a_bad_upgrade_leaves_the_old_snapshot(void **state)
{
    (void)state;
    struct box b;
    box_open(&b);
    write_snapshot(&b, offers);
    store_close(must_open(&b));
    char dir[200], text[MONEY_TEXT];
    (void)snprintf(dir, sizeof(dir), "%s/snapshot", b.data);
    write_file(dir, "gpu_aliases.csv", "vendor,alias,model,memory_gib\n,X,no such model,\n");
    struct store_options o = {.path = b.db, .data_dir = b.data, .now = NOW};
    struct store *s = NULL;
    struct gt_error e = {0};
    assert_int_not_equal(store_open(&o, &s, &e), 0);
    assert_non_null(strstr(e.where, "gpu_aliases.csv:2"));
    o.data_dir = NULL;
    assert_int_equal(store_open(&o, &s, NULL), 0);
    assert_string_equal(price_at(s, GT_TIME_NONE, "us-east-1", "p4d.24xlarge", text), "32.7726");
    store_close(s);
    box_close(&b);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void the_shipped_snapshot_is_sound(void **state)
{
    (void)state;
    if (access("data/snapshot/offers.csv", R_OK) != 0) {
        print_message("skip: run from the repository root, where data/snapshot lies\n");
        skip();
    }
    struct box b;
    box_open(&b);
    struct store_options o = {.path = b.db, .data_dir = "data", .now = NOW + 3650 * (int64_t)DAY};
    struct store *s = NULL;
    struct gt_error e = {0};
    double begun = seconds();
    if (store_open(&o, &s, &e) != 0) {
        fail_msg("%s: %s", e.where, e.text);
    }
    print_message("first open %.3f s\n", seconds() - begun);
    begun = seconds();
    struct catalog *c = must_load(s, GT_TIME_NONE);
    print_message("%zu offers loaded in %.4f s\n", c->offers.n, seconds() - begun);
    assert_true(c->offers.n >= 3000);
    assert_true(c->n_gpus >= 30);
    for (size_t i = 0; i < c->offers.n; i++) {
        assert_true(c->offers.source[i] != 0);
        if (c->offers.price_state[i] == PRICE_KNOWN && !(c->offers.usd_per_hour[i] > 0)) {
            fail_msg("%s %s: no price in USD", catalog_text(c, c->offers.region[i]),
                     catalog_text(c, c->offers.instance_type[i]));
        }
    }
    catalog_free(c);
    struct buf report;
    buf_init(&report, 100000);
    if (store_check(s, &report, &e) != 0) {
        fail_msg("%s\n%s", e.text, report.data);
    }
    buf_release(&report);
    store_close(s);
    box_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_open_fills_the_database),
        cmocka_unit_test(an_upgrade_reloads_only_bundled_rows),
        cmocka_unit_test(own_facts_win_over_a_feeds),
        cmocka_unit_test(a_word_means_what_its_vendor_means),
        cmocka_unit_test(malformed_files_are_named_with_their_line),
        cmocka_unit_test(a_bad_upgrade_leaves_the_old_snapshot),
        cmocka_unit_test(the_shipped_snapshot_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
