/* The key table of scenario files (keys.def) with the reader of each key. */
#ifndef GPUTIER_SCENARIO_KEYS_H
#define GPUTIER_SCENARIO_KEYS_H
#include "gputier/scenario.h"
#include "tree.h"
#include <stddef.h>

struct choice {
    const char *name;
    int value;
};
extern const struct choice kind_choices[], precision_choices[], optimizer_choices[],
    method_choices[], sharding_choices[], recompute_choices[], role_choices[];

enum key_shape { SHAPE_VALUE, SHAPE_MAP, SHAPE_ITEMS, SHAPE_VALUE_OR_MAP };
#define KEY_NOWHERE SIZE_MAX

struct reader {
    struct arena *arena;
    struct scenario *s;
    int64_t now;
    int32_t local_offset_s;
    struct gt_error *err;
};
struct key_spec {
    enum key_shape shape;
    /* Reads node n into field (the key's place in its struct, or the struct itself). path is the
     * concrete path for messages. */
    int (*read)(struct reader *r, const struct node *n, const struct key_spec *k, const char *path,
                void *field);
    size_t offset; /* KEY_NOWHERE = the struct itself */
    double lo, hi;
    const struct choice *choices;
};
extern const struct key_spec key_specs[];
extern const size_t n_key_specs;
const struct scenario_key *key_doc(const struct key_spec *k); /* same index in scenario_keys() */
/* Fails with "path: found …, allowed: …" at n. */
int key_refuse(const struct reader *r, const struct node *n, const struct key_spec *k,
               const char *path);

#define READER(name)                                                                               \
    int key_read_##name(struct reader *r, const struct node *n, const struct key_spec *k,          \
                        const char *path, void *field)
READER(schema);
READER(text);
READER(choice);
READER(number);
READER(whole);
READER(whole_or_auto);
READER(integer);
READER(count);
READER(count_u64);
READER(bytes);
READER(bytes_number);
READER(boolean);
READER(duration);
READER(duration_or_auto);
READER(long_duration);
READER(months);
READER(every);
READER(deadline);
READER(budget);
READER(vendors);
READER(vendor);
READER(regions);
READER(gpu_models);
READER(gpu_count);
READER(purchase);
READER(discount_purchase);
READER(share);
READER(interruption);
READER(hourly);
READER(scores);
READER(spread);
READER(lives_in);
READER(tier);
READER(growth);
READER(demand_shape);

#endif
