/* The board's clocks, heat, power, link and neighbours by NVML, loaded at run time and asked from a
 * thread of its own ten times a second: a call that hangs costs a note, not the measurement. */
#ifndef GPUTIER_NVML_H
#define GPUTIER_NVML_H
#include "gputier/bench.h"

struct nvml;
/* Starts, and waits until the boards' state before the measurement is known (5 s at most). */
struct nvml *nvml_begin(void);
/* The board that is measured from now on. */
void nvml_watch(struct nvml *n, const char *bus_id);
/* Ends. What is known stands in *c; otherwise a note (in arena a) says why not. NULL n is allowed.
 */
const char *nvml_end(struct nvml *n, struct arena *a, struct bench_conditions *c);

#endif
