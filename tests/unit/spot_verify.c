/* The driver of worked cases: what counts as equal, which lists are found, what a case without a
 * kind is, verdicts and counts, documents that must be refused. */
#include "../../tui/verify/driver.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same(const char *file, const char *kase, const char *want, const char *got)
{
    cJSON *f = cJSON_Parse(file), *k = cJSON_Parse(kase), *w = cJSON_Parse(want),
          *g = cJSON_Parse(got);
    struct verify_context ctx = {.file = f};
    char reason[200] = "";
    assert_true(f && k && w && g);
    bool ok = verify_values_agree(&ctx, k, w, g, reason, sizeof reason);
    assert_true(ok || reason[0] != 0); /* a difference has a reason */
    cJSON_Delete(f);
    cJSON_Delete(k);
    cJSON_Delete(w);
    cJSON_Delete(g);
    return ok;
}

static void comparison(void **state)
{
    (void)state;
    static const struct {
        const char *file, *kase, *want, *got;
        bool ok;
    } t[] = {
        /* numbers and decimal strings are numbers */
        {"{}", "{}", "{\"a\":\"2.50\"}", "{\"a\":2.5}", true},
        {"{}", "{}", "{\"a\":2.5}", "{\"a\":\"2.6\"}", false},
        {"{}", "{}", "{\"a\":\"x1\"}", "{\"a\":\"x1\"}", true},
        {"{}", "{}", "{\"a\":\"x1\"}", "{\"a\":\"x2\"}", false},
        {"{}", "{}", "{\"a\":1}", "{\"a\":true}", false},
        {"{}", "{}", "{\"a\":true}", "{\"a\":true}", true},
        {"{}", "{}", "{\"a\":true}", "{\"a\":false}", false},
        /* null, absent, missing */
        {"{}", "{}", "{\"a\":null}", "{\"a\":null}", true},
        {"{}", "{}", "{\"a\":null}", "{}", true},
        {"{}", "{}", "{\"a\":null}", "{\"a\":3}", false},
        {"{}", "{}", "{\"a\":3}", "{\"a\":null}", false},
        {"{}", "{}", "{\"a\":0}", "{}", false},
        {"{}", "{}", "{}", "{\"b\":7}", true},
        /* tolerances: file number, file object, the case's own */
        {"{\"tolerance\":0.01}", "{}", "{\"a\":100}", "{\"a\":100.9}", true},
        {"{\"tolerance\":0.01}", "{}", "{\"a\":100}", "{\"a\":101.1}", false},
        {"{\"tolerance_rel\":\"0.01\"}", "{}", "{\"a\":100}", "{\"a\":100.9}", true},
        {"{\"tolerance_rel\":0.01}", "{\"tolerance_rel\":0.001}", "{\"a\":100}", "{\"a\":100.9}",
         false},
        {"{\"tolerance_rel\":0.001}", "{\"tolerance_rel\":0.01}", "{\"a\":100}", "{\"a\":100.9}",
         true},
        {"{\"tolerance\":{\"relative\":\"1e-9\",\"absolute\":\"0.5\"}}", "{}", "{\"a\":1}",
         "{\"a\":1.4}", true},
        {"{\"tolerance\":{\"relative\":\"1e-9\",\"absolute\":\"1e-9\"}}", "{}", "{\"a\":0}",
         "{\"a\":\"0.0000000009\"}", true},
        {"{\"tolerance\":{\"cost_rel\":0.01,\"seconds\":\"exact\"}}", "{}",
         "{\"cost\":100,\"spot_s\":500}", "{\"cost\":100.9,\"spot_s\":500}", true},
        {"{\"tolerance\":{\"cost_rel\":0.01,\"seconds\":\"exact\"}}", "{}",
         "{\"cost\":100,\"spot_s\":500}", "{\"cost\":100,\"spot_s\":501}", false},
        {"{}", "{}", "{\"a\":1}", "{\"a\":1.0000000001}", true},
        {"{}", "{}", "{\"a\":1}", "{\"a\":1.00000001}", false},
        /* notes, components */
        {"{}", "{}", "{\"note\":\"x\",\"a\":1}", "{\"a\":1}", true},
        {"{}", "{}", "{\"v\":{\"note\":\"x\"}}", "{\"v\":{\"note\":\"y\"}}", true},
        {"{}", "{}", "{\"components\":{\"get\":\"0\",\"put\":1}}", "{\"components\":{\"put\":1}}",
         true},
        {"{}", "{}", "{\"components\":{\"put\":1}}", "{\"components\":{\"put\":1,\"get\":\"0\"}}",
         true},
        {"{}", "{}", "{\"components\":{\"put\":1}}", "{\"components\":{\"put\":1,\"get\":2}}",
         false},
        {"{}", "{}", "{\"components\":{\"put\":1}}", "{\"components\":{}}", false},
        /* lists in order, rows in any, each row once */
        {"{}", "{}", "{\"l\":[1,2]}", "{\"l\":[1,2]}", true},
        {"{}", "{}", "{\"l\":[1,2]}", "{\"l\":[2,1]}", false},
        {"{}", "{}", "{\"l\":[1,2]}", "{\"l\":[1]}", false},
        {"{}", "{}", "{\"rows\":[{\"p\":\"a\"},{\"p\":\"b\"}]}",
         "{\"rows\":[{\"p\":\"b\"},{\"p\":\"a\"}]}", true},
        {"{}", "{}", "{\"rows\":[{\"p\":\"a\"},{\"p\":\"a\"}]}",
         "{\"rows\":[{\"p\":\"b\"},{\"p\":\"a\"}]}", false},
        /* lifecycle errors by their code */
        {"{}", "{}", "{\"errors\":[\"L13 overlapping\"]}", "{\"errors\":[\"L13: rules 1, 2\"]}",
         true},
        {"{}", "{}", "{\"errors\":[\"L13\"]}", "{\"errors\":[\"L12\"]}", false},
        {"{}", "{}", "{\"x\":[\"L13 a\"]}", "{\"x\":[\"L13 b\"]}", false},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        if (same(t[i].file, t[i].kase, t[i].want, t[i].got) != t[i].ok) {
            fail_msg("%zu: %s against %s", i, t[i].want, t[i].got);
        }
    }
}

#define INTERVAL(rest)                                                                             \
    "{\"id\":\"i\",\"kind\":\"interval\",\"input\":{\"delta_h\":0.125,\"mtbf_h\":4}" rest "}"
#define MIX                                                                                        \
    "{\"id\":\"m\",\"kind\":\"mix\",\"input\":{\"demand\":[2,1],\"must_run\":[2,1],\"spot_cap\":"  \
    "[0,0],\"p_commit\":0.5,\"p_spot_eff\":1,\"p_od\":1},\"expect\":{\"cost\":2,\"reserved\":1}}"

static const struct verify_options limits = {.max_median = 0.1, .max_p90 = 0.3};

static int run(struct verify_file *f, const char *text, struct gt_error *err)
{
    int rc = verify_file_parse(f, "cases.json", text, strlen(text), err);
    return rc ? rc : verify_file_run(f, &limits, err);
}

static void lists_and_verdicts(void **state)
{
    (void)state;
    struct verify_file f;
    struct verify_counts c;
    const char *text =
        "{\"cases\":[" MIX
        "],\"checkpoint_cases\":[" INTERVAL(",\"expect\":{\"young_h\":1}") "," INTERVAL(
            ",\"expected\":{\"young_h\":1.1}") "," INTERVAL("") "," INTERVAL(",\"expect\":{\"young_"
                                                                             "h\":3},\"scored\":"
                                                                             "false") ","
                                                                                      "{\"kind\":"
                                                                                      "\"weather\"}"
                                                                                      ",7]}";
    assert_int_equal(run(&f, text, NULL), 0);
    assert_int_equal(f.n, 2);
    assert_string_equal(f.lists[1].name, "checkpoint_cases");
    assert_int_equal(f.lists[0].rows[0].status, VERIFY_OK);
    assert_true(verify_list_passes(&f.lists[0], &limits));
    assert_false(verify_list_passes(&f.lists[1], &limits));
    const struct verify_row *r = f.lists[1].rows;
    assert_int_equal(r[0].status, VERIFY_OK);
    assert_int_equal(r[1].status, VERIFY_FAILED);
    assert_non_null(strstr(r[1].reason, "young_h: expected 1.1, computed 1"));
    assert_int_equal(r[2].status, VERIFY_NO_EXPECTED);
    assert_non_null(cJSON_GetObjectItemCaseSensitive(r[2].computed, "exact_h"));
    assert_false(r[3].scored);
    assert_int_equal(r[4].status, VERIFY_NOT_COMPUTED);
    assert_null(r[4].computed);
    assert_string_equal(r[4].id, "[4]");
    assert_int_equal(r[5].status, VERIFY_NOT_COMPUTED);
    assert_int_equal(verify_total(&f, 1, &c, NULL), 0);
    assert_int_equal(c.cases, 7);
    assert_int_equal(c.ok, 2);
    assert_int_equal(c.failed, 3);
    assert_int_equal(c.not_computed, 2);
    assert_int_equal(c.without_expected, 1);
    assert_int_equal(c.unscored, 1);
    verify_file_release(&f);
}

/* A bare list, a single case, a list under another name. */
static void shapes(void **state)
{
    (void)state;
    static const char *const texts[] = {"[" MIX "]", MIX, "{\"my bills\":[" MIX "]}",
                                        "{\"format\":\"spot-policies/1\",\"cases\":[" MIX "]}",
                                        "{\"format\":\"checkpoint-model/1\",\"cases\":[" MIX "]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct verify_file f;
        assert_int_equal(run(&f, texts[i], NULL), 0);
        assert_int_equal(f.n, 1);
        if (f.lists[0].rows[0].status != VERIFY_OK) {
            fail_msg("%zu: %s", i, f.lists[0].rows[0].reason);
        }
        verify_file_release(&f);
    }
}

static void refused_documents(void **state)
{
    (void)state;
    char deep[400] = "{\"cases\":[";
    for (int i = 0; i < 60; i++) {
        strncat(deep, "[", 2);
    }
    for (int i = 0; i < 60; i++) {
        strncat(deep, "]", 2);
    }
    strncat(deep, "]}", 3);
    const struct {
        const char *text, *where;
    } t[] = {
        {"", "cases.json:1:1"},
        /* the parser stands one character behind the stray brace */
        {"{\"cases\":[\n  {\"id\":1,}]}", "cases.json:2:12"},
        {"{\"cases\":[]} x", "cases.json:1:14"},
        {"{\"answers\":[{\"id\":\"C01\"}]}", "cases.json"},
        {"{}", "cases.json"},
        {"3", "cases.json"},
        {deep, "cases.json"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct verify_file f;
        struct gt_error e = {0};
        int rc = run(&f, t[i].text, &e);
        if (rc != GT_EPARSE || strncmp(e.where, t[i].where, strlen("cases.json"))) {
            fail_msg("%zu: rc %d %s %s", i, rc, e.where, e.text);
        }
        assert_true(e.text[0] != '\0');
        if (strchr(t[i].where, ':')) {
            assert_string_equal(e.where, t[i].where);
        }
    }
    static const char nul[] = "{\"cases\":[]}\0{";
    struct verify_file f;
    assert_int_equal(verify_file_parse(&f, "x", nul, sizeof nul - 1, NULL), GT_EPARSE);
}

/* Inputs that are wrong inside a case: reported as not computed, with the field; never a crash. */
static void wrong_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } t[] = {
        {"[{\"kind\":\"interval\"}]", "input"},
        {"[{\"kind\":\"interval\",\"input\":{\"delta_h\":\"x\",\"mtbf_h\":1}}]", "delta_h"},
        {"[{\"kind\":\"interval\",\"input\":{\"delta_h\":1e999,\"mtbf_h\":1}}]", "delta_h"},
        {"[{\"kind\":\"interval\",\"input\":{\"delta_h\":1}}]", "mtbf_h"},
        {"[{\"kind\":\"makespan_B\",\"input\":{\"work_h\":1,\"tau_h\":0,\"lambda_per_h\":1}}]",
         "tau_h"},
        {"[{\"kind\":\"makespan_B\",\"input\":{\"work_h\":1,\"tau_h\":1,\"lambda_per_h\":1,"
         "\"cold_start\":2}}]",
         "cold_start"},
        {"[{\"kind\":\"mix\",\"input\":{\"demand\":[1.5]}}]", "demand"},
        {"[{\"kind\":\"mix\",\"input\":{\"demand\":[1],\"must_run\":[1,1],\"spot_cap\":[1],"
         "\"p_commit\":1,\"p_spot_eff\":1,\"p_od\":1}}]",
         "equal"},
        {"[{\"kind\":\"autoscale\",\"input\":{\"load\":7}}]", "load"},
        {"[{\"policy\":\"nothing\",\"traces\":[\"a\"]}]", "policy"},
        {"[{\"policy\":\"up\",\"traces\":[\"../../etc/passwd\"],\"work_s\":1,\"deadline_s\":1,"
         "\"restart_s\":1,\"p_od\":1,\"p_spot\":[1]}]",
         "below the traces folder"},
        {"[{\"policy\":\"up\",\"traces\":[\"no such.csv\"],\"work_s\":1,\"deadline_s\":1,"
         "\"restart_s\":1,\"p_od\":1,\"p_spot\":[1]}]",
         "no such.csv"},
        {"[{\"policy\":\"up\",\"traces\":[],\"work_s\":1,\"deadline_s\":1,\"restart_s\":1,"
         "\"p_od\":1,\"p_spot\":[]}]",
         "traces"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct verify_file f;
        assert_int_equal(run(&f, t[i].text, NULL), 0);
        const struct verify_row *r = &f.lists[0].rows[0];
        if (r->status != VERIFY_NOT_COMPUTED || !strstr(r->reason, t[i].says)) {
            fail_msg("%zu: status %d, %s", i, (int)r->status, r->reason);
        }
        verify_file_release(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparison),   cmocka_unit_test(lists_and_verdicts),
        cmocka_unit_test(shapes),       cmocka_unit_test(refused_documents),
        cmocka_unit_test(wrong_inputs),
    };
    return cmocka_run_group_tests_name("spot_verify", tests, NULL, NULL);
}
