/* Which GPU a vendor means: vendors' names and instance types to the models of the GPU table. */
#ifndef GPUTIER_GPU_NAMES_H
#define GPUTIER_GPU_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_instance {
    const char *vendor, *instance_type, *model;
    int16_t num, den;
    float memory_gib; /* of one GPU, of the slice when a fraction; -1 = not stated */
};
/* What is known of an instance type by itself; NULL if nothing. It wins over price lists, which
 * state wrong or no counts for some types. */
const struct gpu_instance *gpu_of_instance(const char *vendor, const char *instance_type);
/* The i-th type of a vendor, NULL past the last. */
const struct gpu_instance *gpu_instance_at(const char *vendor, size_t i);
/* The model of an AWS family ("p5en.") for a size that is not in the table; NULL if unknown. */
const char *gpu_of_aws_family(const char *instance_type);

struct gpu_name {
    const char *model; /* of the table; a word that is open; else the vendor's own name */
    bool known;        /* by the words alone */
    bool open; /* several parts answer to it; gpu_aliases.csv may say which one the vendor means */
};
/* memory_gib of one GPU: < 0 = not stated. instance_type: "" = none. */
struct gpu_name gpu_canonical(const char *name, double memory_gib, const char *vendor,
                              const char *instance_type);
/* Memory of a model's GPU in the sheet, -1 if unknown. */
double gpu_model_memory(const char *model);
/* The sheet's figure where a vendor states what the driver leaves of it (24,564 MiB of 24 GB) or
 * nothing; else gib. -1 if neither is known. */
double gpu_nominal_memory(const char *model, double gib);

#endif
