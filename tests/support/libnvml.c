/* A stand-in for NVIDIA's management library, strict: calls before nvmlInit or after nvmlShutdown,
 * unknown boards and missing places for answers are counted as misuse. Built twice: with -DOLD it
 * has only the names of a driver of ten years ago. Environment, read at each call:
 *   STANDIN_NVML_FAIL=CALL:CODE  every call of CALL answers CODE; STANDIN_NVML_HANG=CALL
 *   STANDIN_NVML_SET=name:value,…  what boards answer (sm, max, memory, hot, power, limit, default,
 *   gen, width, maxgen, maxwidth, ecc, mig, processes, busy, reasons), STANDIN_NVML_BOARDS (2). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK, UNINITIALIZED, INVALID, NOT_FOUND = 6, TOO_SMALL = 7 };
static bool up;
static int misuses, calls;
static char boards[64];

static int misuse(const char *what)
{
    misuses++;
    fprintf(stderr, "stand-in NVML: %s\n", what);
    return INVALID;
}
int standin_nvml_misuses(void);
int standin_nvml_calls(void);
int standin_nvml_misuses(void)
{
    return misuses + (up ? 1 : 0);
}
int standin_nvml_calls(void)
{
    return calls;
}

static int enter(const char *call)
{
    const char *fail = getenv("STANDIN_NVML_FAIL"), *hang = getenv("STANDIN_NVML_HANG");
    size_t n = strlen(call);
    calls++;
    while (hang && strcmp(hang, call) == 0) {
        sleep(1);
    }
    if (!up && strncmp(call, "nvmlInit", 8) != 0) {
        misuse("a call outside of nvmlInit and nvmlShutdown");
        return UNINITIALIZED;
    }
    return fail && strncmp(fail, call, n) == 0 && fail[n] == ':' ? atoi(fail + n + 1) : OK;
}
#define ENTER()                                                                                    \
    do {                                                                                           \
        int code_ = enter(__func__);                                                               \
        if (code_ != OK) {                                                                         \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)

static unsigned board_count(void)
{
    const char *v = getenv("STANDIN_NVML_BOARDS");
    return v ? (unsigned)strtoul(v, NULL, 10) : 2;
}

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *v = getenv("STANDIN_NVML_SET");
    size_t n = strlen(name);
    for (; v; v = strchr(v, ',') ? strchr(v, ',') + 1 : NULL) {
        if (strncmp(v, name, n) == 0 && v[n] == ':') {
            return (unsigned)strtoul(v + n + 1, NULL, 10);
        }
    }
    return otherwise;
}

static bool bad(void *board, const void *out)
{
    unsigned n = board_count();
    bool known = false;
    for (unsigned i = 0; i < n && i < sizeof boards; i++) {
        known = known || board == &boards[i];
    }
    if (!known || !out) {
        misuse("an unknown board, or no place for the answer");
    }
    return !known || !out;
}

int nvmlShutdown(void)
{
    ENTER();
    up = false;
    return OK;
}

static int initialise(const char *call)
{
    int code = enter(call);
    if (up) {
        return misuse("initialised twice");
    }
    up = code == OK;
    return code;
}
static int count(const char *call, unsigned *n)
{
    int code = enter(call);
    *n = board_count();
    return code;
}
static int by_index(const char *call, unsigned i, void **board)
{
    int code = enter(call);
    if (code == OK && i >= board_count()) {
        return misuse("a board past the count");
    }
    *board = &boards[i % sizeof boards];
    return code;
}
static int by_bus_id(const char *call, const char *id, void **board)
{
    int code = enter(call);
    unsigned domain, bus, slot, function;
    if (code != OK) {
        return code;
    }
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
        return INVALID;
    }
    if (domain || slot || function || bus < 0x65 || bus >= 0x65 + board_count()) {
        return NOT_FOUND;
    }
    *board = &boards[bus - 0x65];
    return OK;
}
/* Neighbours on the second board only; records as wide as the layout of the name. */
static int processes(const char *call, void *board, unsigned *n, void *records, size_t width)
{
    int code = enter(call);
    unsigned there = setting("processes", board == &boards[1] ? 3 : 0), room = n ? *n : 0;
    if (code != OK || bad(board, n)) {
        return code != OK ? code : INVALID;
    }
    *n = there;
    if (there > room && there < 1000) {
        return TOO_SMALL;
    }
    if (records && there <= room) {
        memset(records, 0x5A, there * width);
    }
    return OK;
}
#define PROCESSES(name, width)                                                                     \
    int name(void *board, unsigned *n, void *records)                                              \
    {                                                                                              \
        return processes(#name, board, n, records, width);                                         \
    }
#ifdef OLD
#define NAME(name, version) name
PROCESSES(nvmlDeviceGetComputeRunningProcesses, 16)
#else
#define NAME(name, version) name##_##version
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, 24)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, 24)
#endif
int NAME(nvmlInit, v2)(void)
{
    return initialise(__func__);
}
int NAME(nvmlDeviceGetCount, v2)(unsigned *n)
{
    return count(__func__, n);
}
int NAME(nvmlDeviceGetHandleByIndex, v2)(unsigned i, void **board)
{
    return by_index(__func__, i, board);
}
int NAME(nvmlDeviceGetHandleByPciBusId, v2)(const char *id, void **board)
{
    return by_bus_id(__func__, id, board);
}

static int clocks(int which, unsigned *mhz, unsigned sm, unsigned memory)
{
    if (which < 0 || which > 2) {
        return misuse("no such clock");
    }
    *mhz = which == 2 ? memory : sm;
    return OK;
}
int nvmlDeviceGetClockInfo(void *b, int which, unsigned *v)
{
    ENTER();
    return bad(b, v) ? INVALID : clocks(which, v, setting("sm", 1395), setting("memory", 1215));
}
int nvmlDeviceGetTemperature(void *b, int sensor, unsigned *v)
{
    ENTER();
    if (bad(b, v) || sensor != 0) {
        return misuse("no such sensor");
    }
    *v = setting("hot", 61);
    return OK;
}
#define ONE(name, key, value)                                                                      \
    int name(void *b, unsigned *v)                                                                 \
    {                                                                                              \
        ENTER();                                                                                   \
        if (bad(b, v)) {                                                                           \
            return INVALID;                                                                        \
        }                                                                                          \
        *v = setting(key, value);                                                                  \
        return OK;                                                                                 \
    }
ONE(nvmlDeviceGetPowerUsage, "power", 287654)
ONE(nvmlDeviceGetCurrPcieLinkGeneration, "gen", 4)
ONE(nvmlDeviceGetCurrPcieLinkWidth, "width", 16)
#ifndef OLD
ONE(nvmlDeviceGetEnforcedPowerLimit, "limit", 400000)
ONE(nvmlDeviceGetPowerManagementDefaultLimit, "default", 400000)
ONE(nvmlDeviceGetMaxPcieLinkGeneration, "maxgen", 4)
ONE(nvmlDeviceGetMaxPcieLinkWidth, "maxwidth", 16)
int nvmlDeviceGetMaxClockInfo(void *b, int which, unsigned *v)
{
    ENTER();
    return bad(b, v) ? INVALID : clocks(which, v, setting("max", 1410), setting("memory", 1215));
}
int nvmlDeviceGetCurrentClocksEventReasons(void *b, unsigned long long *v)
{
    ENTER();
    if (bad(b, v)) {
        return INVALID;
    }
    *v = setting("reasons", 0);
    return OK;
}
#define MODE(name, key)                                                                            \
    int name(void *b, unsigned *now, unsigned *pending)                                            \
    {                                                                                              \
        ENTER();                                                                                   \
        if (bad(b, now) || !pending) {                                                             \
            return INVALID;                                                                        \
        }                                                                                          \
        *now = *pending = setting(key, 0);                                                         \
        return OK;                                                                                 \
    }
MODE(nvmlDeviceGetEccMode, "ecc")
MODE(nvmlDeviceGetMigMode, "mig")
int nvmlDeviceGetUtilizationRates(void *b, unsigned v[2])
{
    ENTER();
    if (bad(b, v)) {
        return INVALID;
    }
    v[0] = setting("busy", 0);
    v[1] = 0;
    return OK;
}
#endif
