/* NVML, declared here as far as it is used (nvml.h): no vendor header at build time. Names, numbers
 * and which of them old drivers lack: gpu-bench.md 2.8 and NVIDIA's NVML API reference. Only
 * nvmlInit, nvmlShutdown and the handles are needed; any other call may be missing or fail, which
 * leaves its own value unknown. */
#include "nvml.h"
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_MS  100
#define READY_S      5
#define END_S        2
#define BOARDS       64
#define PROCESSES    64
#define PROCESS_MOST 64 /* bytes of one record; 16 and 24 in the layouts so far */
#define BINS         1024
#define BIN_MHZ      10

typedef struct nvml_object *nvml_board;
struct utilization {
    unsigned gpu, memory; /* per cent */
};
struct api {
    int (*Init)(void);
    int (*Shutdown)(void);
    int (*Count)(unsigned *);
    int (*ByIndex)(unsigned, nvml_board *);
    int (*ByBusId)(const char *, nvml_board *);
    int (*Clock)(nvml_board, int, unsigned *);
    int (*MaxClock)(nvml_board, int, unsigned *);
    int (*Reasons)(nvml_board, unsigned long long *);
    int (*Power)(nvml_board, unsigned *);
    int (*PowerLimit)(nvml_board, unsigned *);
    int (*PowerDefault)(nvml_board, unsigned *);
    int (*Temperature)(nvml_board, int, unsigned *);
    int (*Generation)(nvml_board, unsigned *);
    int (*Width)(nvml_board, unsigned *);
    int (*MaxGeneration)(nvml_board, unsigned *);
    int (*MaxWidth)(nvml_board, unsigned *);
    int (*Ecc)(nvml_board, unsigned *, unsigned *);
    int (*Mig)(nvml_board, unsigned *, unsigned *);
    int (*Processes)(nvml_board, unsigned *, void *);
    int (*Utilization)(nvml_board, struct utilization *);
};
/* Newest name first. */
static const struct {
    size_t offset;
    bool needed;
    const char *name[3];
} symbols[] = {
#define S(field, needed, ...)                                                                      \
    {                                                                                              \
        offsetof(struct api, field), needed,                                                       \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
    S(Init, true, "nvmlInit_v2", "nvmlInit"),
    S(Shutdown, true, "nvmlShutdown"),
    S(ByBusId, true, "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"),
    S(Count, false, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
    S(ByIndex, false, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"),
    S(Clock, false, "nvmlDeviceGetClockInfo"),
    S(MaxClock, false, "nvmlDeviceGetMaxClockInfo"),
    S(Reasons, false, "nvmlDeviceGetCurrentClocksEventReasons",
      "nvmlDeviceGetCurrentClocksThrottleReasons"),
    S(Power, false, "nvmlDeviceGetPowerUsage"),
    S(PowerLimit, false, "nvmlDeviceGetEnforcedPowerLimit"),
    S(PowerDefault, false, "nvmlDeviceGetPowerManagementDefaultLimit"),
    S(Temperature, false, "nvmlDeviceGetTemperature"),
    S(Generation, false, "nvmlDeviceGetCurrPcieLinkGeneration"),
    S(Width, false, "nvmlDeviceGetCurrPcieLinkWidth"),
    S(MaxGeneration, false, "nvmlDeviceGetMaxPcieLinkGeneration"),
    S(MaxWidth, false, "nvmlDeviceGetMaxPcieLinkWidth"),
    S(Ecc, false, "nvmlDeviceGetEccMode"),
    S(Mig, false, "nvmlDeviceGetMigMode"),
    S(Processes, false, "nvmlDeviceGetComputeRunningProcesses_v3",
      "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"),
    S(Utilization, false, "nvmlDeviceGetUtilizationRates"),
#undef S
};

struct before {
    nvml_board board;
    double others, busy;
};
enum { SM_CLOCK = 1, MEMORY_CLOCK = 2, GPU_SENSOR = 0 };
enum { APP_CLOCKS, POWER_CAP, THERMAL, POWER_BRAKE, HARDWARE, REASONS };
static const unsigned long long reason_bits[REASONS] = {[APP_CLOCKS] = 0x2,
                                                        [POWER_CAP] = 0x4,
                                                        [THERMAL] = 0x20 | 0x40,
                                                        [POWER_BRAKE] = 0x80,
                                                        [HARDWARE] = 0x8};
/* Values seen, in bins: the median of any length of time in one size. */
struct seen {
    unsigned bin[BINS], n;
};
struct nvml {
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t change;
    bool ready, watch, end;
    char bus_id[32];
    const char *trouble; /* static text, NULL: none */
    int code;            /* of trouble, 0: not a call's */
    struct bench_conditions c;
    /* Of the thread alone. */
    struct api api;
    struct before before[BOARDS];
    unsigned n_before;
    nvml_board board;
    struct seen sm, memory;
    unsigned samples, reason_samples, slowed[REASONS];
};

static int load(struct api *api, const char **trouble)
{
    static const char *const files[] = {"libnvidia-ml.so.1", "libnvidia-ml.so"};
    void *lib = NULL;
    for (int i = 0; i < 2 && !lib; i++) {
        lib = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!lib) {
        *trouble = "libnvidia-ml.so.1 is not here";
        return -1;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *p = NULL;
        for (int k = 0; k < 3 && symbols[i].name[k] && !p; k++) {
            p = dlsym(lib, symbols[i].name[k]);
        }
        if (!p && symbols[i].needed) {
            *trouble = "libnvidia-ml.so.1 lacks calls that every driver has";
            return -1;
        }
        memcpy((char *)api + symbols[i].offset, &p, sizeof p);
    }
    return 0; /* it stays loaded, as the driver does */
}

#define ASK(n, what, ...) ((n)->api.what ? (n)->api.what(__VA_ARGS__) : -1)

static double in_range(double v, double least, double most)
{
    return v >= least && v <= most ? v : (double)NAN;
}

static double one_number(int (*call)(nvml_board, unsigned *), nvml_board board, double factor)
{
    unsigned v = 0;
    return call && call(board, &v) == 0 ? factor * v : (double)NAN;
}

static double mode(int (*call)(nvml_board, unsigned *, unsigned *), nvml_board board)
{
    unsigned now = 0, pending = 0;
    return call && call(board, &now, &pending) == 0 ? now : (double)NAN;
}

static double most(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

/* Who is on the boards already: this process is not, before it opens one. */
static void look_before(struct nvml *n)
{
    unsigned boards = 0;
    if (ASK(n, Count, &boards) != 0) {
        return;
    }
    boards = boards < BOARDS ? boards : BOARDS;
    for (unsigned i = 0; i < boards; i++) {
        static const struct before unknown = {NULL, (double)NAN, (double)NAN};
        struct before *b = &n->before[n->n_before];
        struct utilization u = {0, 0};
        unsigned count = PROCESSES;
        /* Records differ between drivers; only their number is used. */
        uint64_t records[PROCESSES * PROCESS_MOST / sizeof(uint64_t)];
        *b = unknown;
        if (ASK(n, ByIndex, i, &b->board) != 0) {
            continue;
        }
        if (ASK(n, Processes, b->board, &count, records) == 0) {
            b->others = in_range(count, 0, PROCESSES);
        }
        if (ASK(n, Utilization, b->board, &u) == 0) {
            b->busy = in_range(u.gpu / 100.0, 0, 1);
        }
        n->n_before++;
    }
}

static void see(struct seen *s, double mhz)
{
    if (mhz > 0 && mhz < BINS * BIN_MHZ) {
        s->bin[(int)mhz / BIN_MHZ]++;
        s->n++;
    }
}

static double median_mhz(const struct seen *s)
{
    unsigned sum = 0;
    for (int i = 0; i < BINS && s->n; i++) {
        sum += s->bin[i];
        if (2 * sum >= s->n) {
            return (i + 0.5) * BIN_MHZ;
        }
    }
    return (double)NAN;
}

static double clock_mhz(struct nvml *n, int which)
{
    unsigned v = 0;
    return ASK(n, Clock, n->board, which, &v) == 0 ? v : (double)NAN;
}

/* What changes while it works. The link is narrow and slow at rest, so that the most counts. */
static void look_now(struct nvml *n)
{
    struct bench_conditions now;
    unsigned long long bits = 0;
    unsigned celsius = 0;
    bench_conditions_init(&now);
    see(&n->sm, clock_mhz(n, SM_CLOCK));
    see(&n->memory, clock_mhz(n, MEMORY_CLOCK));
    if (ASK(n, Temperature, n->board, GPU_SENSOR, &celsius) == 0) {
        now.temperature_c = celsius;
    }
    now.power_w = one_number(n->api.Power, n->board, 1e-3);
    now.pcie_gen = one_number(n->api.Generation, n->board, 1);
    now.pcie_width = one_number(n->api.Width, n->board, 1);
    n->samples++;
    if (ASK(n, Reasons, n->board, &bits) == 0) {
        n->reason_samples++;
        for (int i = 0; i < REASONS; i++) {
            n->slowed[i] += (bits & reason_bits[i]) != 0;
        }
    }
    pthread_mutex_lock(&n->lock);
    n->c.temperature_c = most(n->c.temperature_c, now.temperature_c);
    n->c.power_w = most(n->c.power_w, now.power_w);
    n->c.pcie_gen = most(n->c.pcie_gen, now.pcie_gen);
    n->c.pcie_width = most(n->c.pcie_width, now.pcie_width);
    pthread_mutex_unlock(&n->lock);
}

static void look_once(struct nvml *n)
{
    unsigned v = 0;
    struct bench_conditions c = n->c;
    if (ASK(n, MaxClock, n->board, SM_CLOCK, &v) == 0) {
        c.sm_max_mhz = v;
    }
    c.power_limit_w = one_number(n->api.PowerLimit, n->board, 1e-3);
    c.power_default_w = one_number(n->api.PowerDefault, n->board, 1e-3);
    c.pcie_gen_max = one_number(n->api.MaxGeneration, n->board, 1);
    c.pcie_width_max = one_number(n->api.MaxWidth, n->board, 1);
    c.ecc = mode(n->api.Ecc, n->board);
    c.mig = mode(n->api.Mig, n->board);
    for (unsigned i = 0; i < n->n_before; i++) {
        if (n->before[i].board == n->board) {
            c.others = n->before[i].others;
            c.busy_before = n->before[i].busy;
        }
    }
    pthread_mutex_lock(&n->lock);
    n->c = c;
    pthread_mutex_unlock(&n->lock);
}

/* Averages and shares, and what cannot be true left out. */
static void finish(struct nvml *n)
{
    double share[REASONS];
    for (int i = 0; i < REASONS; i++) {
        share[i] = n->reason_samples ? (double)n->slowed[i] / n->reason_samples : (double)NAN;
    }
    pthread_mutex_lock(&n->lock);
    struct bench_conditions *c = &n->c;
    c->samples = n->samples;
    c->sm_mhz = median_mhz(&n->sm);
    c->memory_mhz = median_mhz(&n->memory);
    c->slowed_app_clocks = share[APP_CLOCKS];
    c->slowed_power_cap = share[POWER_CAP];
    c->slowed_thermal = share[THERMAL];
    c->slowed_power_brake = share[POWER_BRAKE];
    c->slowed_hardware = share[HARDWARE];
#define X(name, what, least, most) c->name = in_range(c->name, least, most);
    BENCH_CONDITIONS(X)
#undef X
    c->known = true;
    pthread_mutex_unlock(&n->lock);
}

static void set_trouble(struct nvml *n, const char *text, int code)
{
    pthread_mutex_lock(&n->lock);
    n->trouble = text;
    n->code = code;
    pthread_mutex_unlock(&n->lock);
}

static void deadline(struct timespec *t, long ms)
{
    clock_gettime(CLOCK_REALTIME, t);
    t->tv_nsec += ms % 1000 * 1000000;
    t->tv_sec += ms / 1000 + t->tv_nsec / 1000000000;
    t->tv_nsec %= 1000000000;
}

/* Waits for the board's name or the end; true: there is a board. */
static bool wait_for_board(struct nvml *n)
{
    pthread_mutex_lock(&n->lock);
    n->ready = true;
    pthread_cond_broadcast(&n->change);
    while (!n->watch && !n->end) {
        pthread_cond_wait(&n->change, &n->lock);
    }
    bool there = n->watch;
    pthread_mutex_unlock(&n->lock);
    return there;
}

static bool ended_within(struct nvml *n, long ms)
{
    struct timespec t;
    deadline(&t, ms);
    pthread_mutex_lock(&n->lock);
    while (!n->end && pthread_cond_timedwait(&n->change, &n->lock, &t) != ETIMEDOUT) {
    }
    bool end = n->end;
    pthread_mutex_unlock(&n->lock);
    return end;
}

static void *watcher(void *arg)
{
    struct nvml *n = arg;
    const char *trouble = NULL;
    int code = load(&n->api, &trouble);
    if (!code) {
        code = n->api.Init();
        trouble = code ? "nvmlInit" : NULL;
    }
    if (trouble) {
        set_trouble(n, trouble, code > 0 ? code : 0);
        (void)wait_for_board(n);
        return NULL;
    }
    look_before(n);
    if (wait_for_board(n)) {
        code = n->api.ByBusId(n->bus_id, &n->board);
        if (code) {
            set_trouble(n, "nvmlDeviceGetHandleByPciBusId", code);
        } else {
            look_once(n);
            do {
                look_now(n);
            } while (!ended_within(n, INTERVAL_MS));
            finish(n);
        }
    }
    n->api.Shutdown();
    return NULL;
}

struct nvml *nvml_begin(void)
{
    struct nvml *n = calloc(1, sizeof *n);
    struct timespec t;
    if (!n) {
        return NULL;
    }
    bench_conditions_init(&n->c);
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->change, NULL);
    if (pthread_create(&n->thread, NULL, watcher, n)) {
        free(n);
        return NULL;
    }
    deadline(&t, READY_S * 1000L);
    pthread_mutex_lock(&n->lock);
    while (!n->ready && pthread_cond_timedwait(&n->change, &n->lock, &t) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&n->lock);
    return n;
}

void nvml_watch(struct nvml *n, const char *bus_id)
{
    if (!n || !bus_id) {
        return;
    }
    pthread_mutex_lock(&n->lock);
    size_t len = strnlen(bus_id, sizeof n->bus_id - 1);
    memcpy(n->bus_id, bus_id, len);
    n->watch = true;
    pthread_cond_broadcast(&n->change);
    pthread_mutex_unlock(&n->lock);
}

static const char *meaning(int code)
{
    static const struct {
        int code;
        const char *text;
    } known[] = {{2, "invalid argument"},
                 {3, "not supported"},
                 {4, "no permission"},
                 {6, "no such board"},
                 {9, "the driver is not loaded"},
                 {12, "a library that it needs is missing"},
                 {15, "the GPU has fallen off the bus"},
                 {18, "library and driver differ; restart the machine"},
                 {999, "it does not say why"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].code == code) {
            return known[i].text;
        }
    }
    return "an error";
}

const char *nvml_end(struct nvml *n, struct arena *a, struct bench_conditions *c)
{
#define UNKNOWN "clocks, heat, power and other users of the GPU are not known: "
    struct timespec t;
    const char *note = NULL;
    bench_conditions_init(c);
    if (!n) {
        return UNKNOWN "no memory or thread to ask NVML";
    }
    pthread_mutex_lock(&n->lock);
    n->end = true;
    pthread_cond_broadcast(&n->change);
    pthread_mutex_unlock(&n->lock);
    deadline(&t, END_S * 1000L);
    if (pthread_timedjoin_np(n->thread, NULL, &t) != 0) {
        return UNKNOWN "NVML does not answer"; /* its thread and n stay until the process ends */
    }
    if (n->trouble) {
        note = n->code
                   ? arena_printf(a, UNKNOWN "%s: %s (%d)", n->trouble, meaning(n->code), n->code)
                   : arena_printf(a, UNKNOWN "%s", n->trouble);
    } else if (n->c.known) {
        *c = n->c;
    } else {
        note = UNKNOWN "the driver does not tell where the board is";
    }
    pthread_mutex_destroy(&n->lock);
    pthread_cond_destroy(&n->change);
    free(n);
    return note;
#undef UNKNOWN
}
