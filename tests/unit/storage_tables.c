/* The tables of storage rules hold together: every tier is found by its name and by nothing else,
 * what may be moved to exists, every tier says how long its first byte takes, and the speeds that
 * plans use are those of the research (storage-tiers.md section 3, storage-throughput.md). */
#include "gputier/tier.h"
#include "unit.h"
#include <math.h>
#include <string.h>

#define GIB 1073741824.0
#define MIB 1048576.0

static void every_tier_is_found(void **state)
{
    (void)state;
    int tiers = 0;
    for (int p = 0; p < PRODUCT_COUNT; p++) {
        const struct storage_terms *t = storage_terms((enum storage_product)p);
        assert_non_null(t->title);
        assert_non_null(t->vendor);
        assert_non_null(t->region);
        assert_int_equal(storage_product_find(t->name), p);
        const struct storage_rule *r;
        for (int i = 0; (r = storage_rule_at((enum storage_product)p, i)) != NULL; i++, tiers++) {
            assert_int_equal(r->product, p);
            assert_ptr_equal(storage_rule_find(r->tier), r);
            assert_ptr_equal(storage_rule_in((enum storage_product)p, r->class_name), r);
            assert_true(r->latency_s > 0 && r->latency_s <= 259200);
            assert_true(r->rule && r->rule[0]);
        }
    }
    assert_true(tiers > 80);
    assert_null(storage_rule_find("ebs_gp4"));
    assert_int_equal(storage_product_find("ebs_gp3"), -1);
}

static void moves_lead_to_tiers(void **state)
{
    (void)state;
    for (int p = 0; p < PRODUCT_COUNT; p++) {
        int n = 0;
        while (storage_rule_at((enum storage_product)p, n)) {
            n++;
        }
        assert_true(n > 0 && n <= 8); /* as many as the path search has room for */
        for (int i = 0; i < n; i++) {
            const struct storage_rule *r = storage_rule_at((enum storage_product)p, i);
            assert_true(r->down >> n == 0);
            assert_true(r->least_bytes == 0 || r->volume);
            assert_true(r->most_bytes == 0 || r->most_bytes > r->least_bytes);
            assert_true(r->iops == 0 || r->volume);
        }
    }
}

/* Archives alone ask for minutes and more; what is automatic or scratch is no archive. */
static void archives_wait(void **state)
{
    (void)state;
    for (int p = 0; p < PRODUCT_COUNT; p++) {
        const struct storage_rule *r;
        for (int i = 0; (r = storage_rule_at((enum storage_product)p, i)) != NULL; i++) {
            bool snapshot = strcmp(r->tier, "ebs_snapshot") == 0;
            assert_true((r->latency_s >= 60) == (r->archive || snapshot));
            assert_false(r->archive && (r->automatic || r->scratch || i == 0));
            assert_true(!r->restore_fee || r->archive);
        }
    }
}

static void speeds_are_those_of_the_guides(void **state)
{
    (void)state;
    static const struct {
        const char *tier;
        double gib, bytes_s;
    } want[] = {
        {"ebs_gp3", 1, 125 * MIB},
        {"ebs_gp3", 16384, 125 * MIB},
        {"ebs_gp2", 170, 128 * MIB},
        {"ebs_gp2", 171, 250 * MIB},
        {"ebs_st1", 2048, 80 * MIB},
        {"ebs_st1", 1, 125.0 / 1024 * 40 * MIB}, /* 125 GiB are bought at least */
        {"ebs_st1", 16384, 500 * MIB},
        {"ebs_sc1", 1024, 12 * MIB},
        {"ebs_sc1", 16384, 192 * MIB},
        {"fsx_lustre_persistent", 2400, 125e6 * 2400 / 1024},
        {"fsx_lustre_persistent", 2500, 125e6 * 4800 / 1024},
        {"fsx_lustre_scratch", 2401, 200e6 * 4800 / 1024},
        {"fsx_lustre_persistent", 1, 125e6 * 1200 / 1024}, /* 1,200 GiB are bought at least */
        {"gcp_filestore_zonal", 1, 260 * MIB},
        {"gcp_filestore_zonal", 10240, 2600 * MIB},
        {"gcp_pd_standard", 1000, 120 * MIB},
        {"oci_block", 500, 240e6},
        {"oci_block", 5000, 480e6},
        {"s3_standard", 1, 0},
        {"ebs_snapshot", 1, 0},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct storage_rule *r = storage_rule_find(want[i].tier);
        double got = storage_bps(r, want[i].gib * GIB);
        if (fabs(got - want[i].bytes_s) > 1e-6 * want[i].bytes_s) {
            fail_msg("%s, %g GiB: %g, expected %g", want[i].tier, want[i].gib, got,
                     want[i].bytes_s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tier_is_found),
        cmocka_unit_test(moves_lead_to_tiers),
        cmocka_unit_test(archives_wait),
        cmocka_unit_test(speeds_are_those_of_the_guides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
