/* Builds the two tables of keys.def: the public documentation and the readers. */
#include "keys.h"

#define NOWHERE       KEY_NOWHERE
#define S(f)          offsetof(struct scenario, f)
#define D(f)          offsetof(struct scenario_data, f)
#define C(f)          offsetof(struct scenario_discount, f)
#define key_read_NULL NULL

#define K(path, shape, reader, offset, lo, hi, choices, type, allowed, fallback, help)             \
    {path, type, allowed, fallback, help},
static const struct scenario_key docs[] = {
#include "keys.def"
    {NULL, NULL, NULL, NULL, NULL}};
#undef K

#define K(path, shape, reader, offset, lo, hi, choices, type, allowed, fallback, help)             \
    {SHAPE_##shape, key_read_##reader, offset, lo, hi, choices},
const struct key_spec key_specs[] = {
#include "keys.def"
};
#undef K
const size_t n_key_specs = sizeof key_specs / sizeof key_specs[0];

const struct scenario_key *scenario_keys(void)
{
    return docs;
}

const struct scenario_key *key_doc(const struct key_spec *k)
{
    return &docs[k - key_specs];
}
