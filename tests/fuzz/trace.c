/* Fuzz: availability traces take any bytes; an accepted one replays without a fault. */
#include "gputier/spot.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new(64U << 20);
    struct spot_trace t = {0};
    double price = 1;
    if (a && spot_trace_parse((const char *)data, size, "fuzz.csv", a, &t, NULL) == 0 && t.n > 0 &&
        t.n < 100000) {
        struct spot_case c = {.policy = "up",
                              .traces = &t,
                              .n_traces = 1,
                              .work_s = 7200,
                              .deadline_s = 20000,
                              .restart_s = 300,
                              .ckpt_s = 600,
                              .nodes = 1,
                              .p_spot = &price,
                              .p_od = 3};
        struct spot_replay r;
        if (spot_replay(&c, &r, NULL) == 0 && r.finished && !(r.cost >= 0)) {
            abort();
        }
    }
    arena_free(a);
    return 0;
}
