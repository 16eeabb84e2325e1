/* Fuzz: a plan document of any bytes is read or refused; what is read adds up. */
#include "../../tui/cli/plan_json.h"
#include "gputier/planner.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan_set *set = NULL;
    struct scenario *s = NULL;
    if (plan_json_read((const char *)data, size, "fuzz", &set, &s, NULL) == 0) {
        for (size_t i = 0; i < set->n; i++) {
            money sum = 0;
            for (int c = 0; c < COMP_COUNT; c++) {
                sum += set->plan[i].component[c];
            }
            if (sum != set->plan[i].total) {
                abort();
            }
        }
        plan_set_free(set);
        scenario_free(s);
    }
    return 0;
}
