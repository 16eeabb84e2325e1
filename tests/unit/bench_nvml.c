/* What NVML tells of a board, against the stand-in (tests/support/libnvml.c): every value, every
 * call that fails, hangs or is missing, and answers that cannot be true. */
#include "../../planner/bench/nvml.h"
#include "unit.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int (*misuses)(void), (*calls)(void);
static bool old;

static const char *session(const char *bus_id, struct bench_conditions *c)
{
    static struct arena *a;
    arena_free(a);
    a = arena_new(0);
    struct nvml *n = nvml_begin();
    nvml_watch(n, bus_id);
    const char *note = nvml_end(n, a, c);
    assert_int_equal(misuses(), 0);
    assert_int_equal(c->known, note == NULL);
    return note;
}

static void is(double got, double want)
{
    if (!(isnan(want) ? isnan(got) : fabs(got - want) < 1e-9)) {
        fail_msg("%g where %g is right", got, want);
    }
}

static void every_value_is_told(void **state)
{
    struct bench_conditions c;
    double unknown = (double)NAN;
    (void)state;
    setenv("STANDIN_NVML_SET", "reasons:36,ecc:1,busy:40", 1); /* power limit and heat */
    assert_null(session("0000:66:00.0", &c));
    assert_true(c.samples >= 1);
    is(c.sm_mhz, 1395); /* the middle of its bin of 10 MHz */
    is(c.memory_mhz, 1215);
    is(c.temperature_c, 61);
    is(c.power_w, 287.654);
    is(c.pcie_gen, 4);
    is(c.pcie_width, 16);
    is(c.others, 3);
    is(c.sm_max_mhz, old ? unknown : 1410);
    is(c.power_limit_w, old ? unknown : 400);
    is(c.power_default_w, old ? unknown : 400);
    is(c.pcie_gen_max, old ? unknown : 4);
    is(c.pcie_width_max, old ? unknown : 16);
    is(c.ecc, old ? unknown : 1);
    is(c.mig, old ? unknown : 0);
    is(c.busy_before, old ? unknown : 0.4);
    is(c.slowed_power_cap, old ? unknown : 1);
    is(c.slowed_thermal, old ? unknown : 1);
    is(c.slowed_hardware, old ? unknown : 0);
    assert_null(session("00000000:65:00.0", &c)); /* the longer form of the domain */
    is(c.others, 0);
    unsetenv("STANDIN_NVML_SET");
}

/* A value whose call fails is unknown, and only that one. */
static void a_failing_call_costs_its_own_value(void **state)
{
    static const struct {
        const char *call;
        size_t field;
    } values[] = {
#define F(call, name) {call, offsetof(struct bench_conditions, name)}
        F("nvmlDeviceGetClockInfo", sm_mhz),
        F("nvmlDeviceGetMaxClockInfo", sm_max_mhz),
        F("nvmlDeviceGetTemperature", temperature_c),
        F("nvmlDeviceGetPowerUsage", power_w),
        F("nvmlDeviceGetEnforcedPowerLimit", power_limit_w),
        F("nvmlDeviceGetPowerManagementDefaultLimit", power_default_w),
        F("nvmlDeviceGetCurrPcieLinkGeneration", pcie_gen),
        F("nvmlDeviceGetCurrPcieLinkWidth", pcie_width),
        F("nvmlDeviceGetMaxPcieLinkGeneration", pcie_gen_max),
        F("nvmlDeviceGetMaxPcieLinkWidth", pcie_width_max),
        F("nvmlDeviceGetEccMode", ecc),
        F("nvmlDeviceGetMigMode", mig),
        F("nvmlDeviceGetComputeRunningProcesses_v3", others),
        F("nvmlDeviceGetUtilizationRates", busy_before),
        F("nvmlDeviceGetCurrentClocksEventReasons", slowed_thermal),
        F("nvmlDeviceGetHandleByIndex_v2", others),
        F("nvmlDeviceGetCount_v2", busy_before),
#undef F
    };
    (void)state;
    for (size_t i = 0; !old && i < sizeof values / sizeof *values; i++) {
        struct bench_conditions c;
        char fail[80];
        double v;
        snprintf(fail, sizeof fail, "%s:%d", values[i].call, i % 2 ? 3 : 999);
        setenv("STANDIN_NVML_FAIL", fail, 1);
        assert_null(session("0000:65:00.0", &c));
        memcpy(&v, (char *)&c + values[i].field, sizeof v);
        if (!isnan(v)) {
            fail_msg("%s left %g", fail, v);
        }
        /* Nothing else is lost: of the others at least these. */
        assert_true(c.temperature_c > 0 || strstr(fail, "Temperature"));
        assert_true(c.pcie_width_max > 0 || strstr(fail, "MaxPcieLinkWidth"));
    }
    unsetenv("STANDIN_NVML_FAIL");
}

static void no_board_is_one_sentence(void **state)
{
    struct bench_conditions c;
    (void)state;
    setenv("STANDIN_NVML_FAIL", old ? "nvmlInit:18" : "nvmlInit_v2:18", 1);
    assert_non_null(strstr(session("0000:65:00.0", &c), "restart the machine (18)"));
    setenv("STANDIN_NVML_FAIL",
           old ? "nvmlDeviceGetHandleByPciBusId:15" : "nvmlDeviceGetHandleByPciBusId_v2:15", 1);
    assert_non_null(strstr(session("0000:65:00.0", &c), "off the bus (15)"));
    unsetenv("STANDIN_NVML_FAIL");
    assert_non_null(strstr(session("0000:99:00.0", &c), "no such board (6)"));
    assert_non_null(strstr(session(NULL, &c), "where the board is"));
    char endless[200];
    memset(endless, '0', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    assert_non_null(strstr(session(endless, &c), "invalid argument (2)"));
}

static void what_cannot_be_true_is_unknown(void **state)
{
    struct bench_conditions c;
    (void)state;
    setenv("STANDIN_NVML_SET",
           "sm:4294967295,hot:4000000000,power:4294967295,limit:0,gen:77,width:0,ecc:9,mig:2,busy:"
           "70000,processes:4294967295",
           1);
    setenv("STANDIN_NVML_BOARDS", "4000000000", 1);
    assert_null(session("0000:65:00.0", &c));
    is(c.sm_mhz, (double)NAN);
    is(c.temperature_c, (double)NAN);
    is(c.power_w, (double)NAN);
    is(c.power_limit_w, (double)NAN);
    is(c.pcie_gen, (double)NAN);
    is(c.pcie_width, (double)NAN);
    is(c.ecc, (double)NAN);
    is(c.mig, (double)NAN);
    is(c.busy_before, (double)NAN);
    is(c.others, (double)NAN);
    unsetenv("STANDIN_NVML_SET");
    unsetenv("STANDIN_NVML_BOARDS");
}

/* Last: what hangs stays. */
static void a_hanging_call_costs_a_note(void **state)
{
    struct bench_conditions c;
    (void)state;
    setenv("STANDIN_NVML_HANG", "nvmlDeviceGetPowerUsage", 1);
    struct nvml *n = nvml_begin();
    nvml_watch(n, "0000:65:00.0");
    assert_non_null(strstr(nvml_end(n, NULL, &c), "does not answer"));
    assert_false(c.known);
}

/* The loader reads LD_LIBRARY_PATH once: the test starts itself again, for each stand-in. */
int main(int argc, char **argv)
{
    char folder[600], command[700];
    if (argc < 2) {
        snprintf(folder, sizeof folder, "%s", argv[0]);
        char *slash = strrchr(folder, '/');
        snprintf(slash ? slash : folder, 40, "/../support/old");
        setenv("LD_LIBRARY_PATH", folder, 1);
        snprintf(command, sizeof command, "'%s' old", argv[0]);
        if (system(command) != 0) {
            return 1;
        }
        *strrchr(folder, '/') = '\0';
        setenv("LD_LIBRARY_PATH", folder, 1);
        execl("/proc/self/exe", argv[0], "new", (char *)NULL);
        return 1;
    }
    old = strcmp(argv[1], "old") == 0;
    void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    *(void **)&misuses = lib ? dlsym(lib, "standin_nvml_misuses") : NULL;
    *(void **)&calls = lib ? dlsym(lib, "standin_nvml_calls") : NULL;
    if (!misuses || !calls) {
        fprintf(stderr, "not the stand-in NVML\n");
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_told),
        cmocka_unit_test(a_failing_call_costs_its_own_value),
        cmocka_unit_test(no_board_is_one_sentence),
        cmocka_unit_test(what_cannot_be_true_is_unknown),
        cmocka_unit_test(a_hanging_call_costs_a_note),
    };
    return cmocka_run_group_tests_name("bench_nvml", tests, NULL, NULL);
}
