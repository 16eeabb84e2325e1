/* Fuzz: scenario files take any bytes; what is accepted keeps the promises of scenario.h. */
#include "gputier/scenario.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *s = NULL;
    struct gt_error err = {0};
    int rc =
        scenario_parse((const char *)data, size, "fuzz.yaml", NULL, 0, 1796178900, 3600, &s, &err);
    if (rc) {
        if (err.code != rc || !err.text[0]) {
            abort();
        }
        return 0;
    }
    if (!s->name || !isfinite(s->deadline_s) || !isfinite(s->epochs) || s->gpus_min > s->gpus_max ||
        !(s->confidence > 0 && s->confidence < 1)) {
        abort();
    }
    scenario_free(s);
    return 0;
}
