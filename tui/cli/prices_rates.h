/* The parts of `prices storage | transfer | interruption`: prices_rates.c chooses rows and adds up
 * what an amount costs, prices_rates_out.c writes them. */
#ifndef GPUTIER_PRICES_RATES_H
#define GPUTIER_PRICES_RATES_H
#include "gputier/csvw.h"
#include "gputier/jsonw.h"
#include "table.h"

struct rate_query {
    const struct catalog *c;
    const struct cli_args *args;
    const char *currency; /* NULL: each rate in its own */
    bool has_amount;
    money amount;   /* in the unit of the rate: GiB or GB as the vendor bills */
    bool as_vendor; /* amount given without a suffix: in the vendor's own GB */
    uint64_t bytes;
    double reads; /* of the whole amount a month */
    uint64_t limit;
};

/* Exactly one of the three is set. */
struct rate_out {
    const struct rate_query *q;
    struct jsonw *json;
    struct csvw *csv;
    struct text_table *table;
};

/* Columns of people and of machines; put writes row i of the catalog's table. */
struct rate_shape {
    const char *titles[10], *columns[16];
    int (*put)(struct rate_out *o, size_t i);
};
extern const struct rate_shape rate_storage, rate_transfer, rate_interruption;

/* The rate as it is shown; *currency is the rate's own before and the shown one after. */
int rate_shown(const struct rate_query *q, money rate, const char **currency, money *out) GT_CHECK;

#endif
