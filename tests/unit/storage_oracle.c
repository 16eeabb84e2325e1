/* The worked storage cases of shared/oracles/storage-examples.json, each through the calculation of
 * its family, compared here by a comparison of its own: numbers to 1e-9, zero components may be
 * absent, rows in any order, lifecycle errors by code, a path only where it is the one optimum. */
#include "../../tui/verify/verify.h"
#include "unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *load(void)
{
    const char *root = getenv("GPUTIER_SHARED");
    char path[512];
    snprintf(path, sizeof path, "%s/oracles/storage-examples.json", root ? root : "../shared");
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    return cJSON_ParseWithLength(text, n);
}

static bool number(const cJSON *x, double *v)
{
    char *end;
    if (cJSON_IsNumber(x)) {
        *v = x->valuedouble;
        return true;
    }
    if (!cJSON_IsString(x) || x->valuestring[0] == '\0') {
        return false;
    }
    *v = strtod(x->valuestring, &end);
    return *end == '\0';
}

static bool equal(const cJSON *want, const cJSON *got);

static bool in_any_order(const cJSON *want, const cJSON *got)
{
    const cJSON *w, *g;
    if (cJSON_GetArraySize(want) != cJSON_GetArraySize(got)) {
        return false;
    }
    cJSON_ArrayForEach(w, want)
    {
        bool found = false;
        cJSON_ArrayForEach(g, got)
        {
            found = found || equal(w, g);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool equal(const cJSON *want, const cJSON *got)
{
    double a, b;
    const cJSON *w;
    if (number(want, &a)) {
        return got ? number(got, &b) && fabs(a - b) <= fmax(1e-9, 1e-9 * fabs(a)) : fabs(a) < 1e-12;
    }
    if (cJSON_IsArray(want)) {
        return cJSON_IsArray(got) && in_any_order(want, got);
    }
    if (cJSON_IsObject(want)) {
        cJSON_ArrayForEach(w, want)
        {
            if (strcmp(w->string, "unique") != 0 &&
                !equal(w, cJSON_GetObjectItemCaseSensitive(got, w->string))) {
                return false;
            }
        }
        return true;
    }
    if (cJSON_IsString(want) && want->valuestring[0] == 'L' && want->valuestring[1] < 'A') {
        return cJSON_IsString(got) && strncmp(want->valuestring, got->valuestring, 3) == 0;
    }
    return got && cJSON_Compare(want, got, true);
}

static void every_case_agrees(void **state)
{
    (void)state;
    cJSON *file = load();
    if (!file) {
        print_message("SKIP: ../shared/oracles/storage-examples.json is not there\n");
        skip();
    }
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(file, "cases"), *kase;
    int n = 0, failed = 0;
    cJSON_ArrayForEach(kase, list)
    {
        struct gt_error err = {0};
        cJSON *computed = cJSON_CreateObject(), *owned = NULL;
        const cJSON *want = verify_storage.expected(kase, &owned);
        assert_true(verify_storage.matches(file, kase));
        int rc = verify_storage.compute(NULL, kase, computed, &err);
        n++;
        if (rc < 0 || !equal(want, computed)) {
            char *text = cJSON_PrintUnformatted(computed);
            print_message("%s: %s %s %s\n", cJSON_GetObjectItem(kase, "id")->valuestring, err.where,
                          err.text, text);
            cJSON_free(text);
            failed++;
        }
        cJSON_Delete(computed);
    }
    cJSON_Delete(file);
    assert_int_equal(failed, 0);
    assert_true(n >= 117);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
