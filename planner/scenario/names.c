/* Names of the scenario's enumerations: for reading, messages and reports. */
#include "keys.h"

const struct choice kind_choices[] = {
    {"training", WORKLOAD_TRAINING}, {"serving", WORKLOAD_SERVING}, {NULL, 0}};
const struct choice precision_choices[] = {{"fp32", PRECISION_FP32}, {"tf32", PRECISION_TF32},
                                           {"amp", PRECISION_AMP},   {"bf16", PRECISION_BF16},
                                           {"fp8", PRECISION_FP8},   {NULL, 0}};
const struct choice optimizer_choices[] = {{"sgd", OPTIMIZER_SGD},
                                           {"adam", OPTIMIZER_ADAM},
                                           {"adamw", OPTIMIZER_ADAMW},
                                           {"lamb", OPTIMIZER_LAMB},
                                           {"adamw_8bit", OPTIMIZER_ADAMW_8BIT},
                                           {"adafactor", OPTIMIZER_ADAFACTOR},
                                           {NULL, 0}};
const struct choice method_choices[] = {
    {"full", METHOD_FULL}, {"lora", METHOD_LORA}, {"qlora", METHOD_QLORA}, {NULL, 0}};
const struct choice sharding_choices[] = {{"none", SHARDING_NONE},
                                          {"zero1", SHARDING_ZERO1},
                                          {"zero2", SHARDING_ZERO2},
                                          {"zero3", SHARDING_ZERO3},
                                          {NULL, 0}};
const struct choice recompute_choices[] = {{"none", RECOMPUTE_NONE},
                                           {"selective", RECOMPUTE_SELECTIVE},
                                           {"full", RECOMPUTE_FULL},
                                           {NULL, 0}};
const struct choice role_choices[] = {{"training_data", ROLE_TRAINING_DATA},
                                      {"checkpoint", ROLE_CHECKPOINT},
                                      {"logs", ROLE_LOGS},
                                      {"other", ROLE_OTHER},
                                      {NULL, 0}};

static const char *name_of(const struct choice *c, int value)
{
    for (; c->name != NULL; c++) {
        if (c->value == value) {
            return c->name;
        }
    }
    return "unknown";
}

const char *precision_name(enum precision p)
{
    return name_of(precision_choices, (int)p);
}

const char *optimizer_name(enum optimizer o)
{
    return name_of(optimizer_choices, (int)o);
}

const char *method_name(enum method m)
{
    return name_of(method_choices, (int)m);
}

const char *sharding_name(enum sharding s)
{
    return name_of(sharding_choices, (int)s);
}

const char *recompute_name(enum recompute r)
{
    return name_of(recompute_choices, (int)r);
}

const char *data_role_name(enum data_role r)
{
    return name_of(role_choices, (int)r);
}
