/* The parts of `prices`: cmd_prices.c chooses and orders offers, prices_out.c writes them,
 * prices_check.c lets the table check itself. */
#ifndef GPUTIER_PRICES_H
#define GPUTIER_PRICES_H
#include "cli.h"

enum price_per { PER_HOUR, PER_GPU_HOUR, PER_MONTH };

/* One offer's prices, exact, in the currency shown. */
struct shown_price {
    bool known;
    money hour;     /* what an hour costs: recurring + upfront / term hours, package / 730 */
    bool per_gpu;   /* has GPUs */
    money gpu_hour; /* hour x den / num, to 12 decimals */
    const char *currency;
};
/* currency NULL or without a rate: the offer's own. */
struct shown_price price_shown(const struct catalog *c, size_t row, const char *currency);
/* "SXM4" of "A100-40GB SXM4", NULL when the name states none. */
const char *gpu_form(const char *model);
/* "8" or "1/6"; "" without GPUs. */
const char *gpu_count_text(const struct catalog *c, size_t row, char buf[24]);

/* How offers are shown. currency NULL: each in its own. */
struct price_view {
    enum out_format format;
    bool plain;
    enum price_per per;
    unsigned month_h; /* hours that PER_MONTH stands for */
    const char *currency;
};
int prices_write(const struct price_view *v, const struct catalog *c, const uint32_t *row, size_t n,
                 struct buf *b);
struct jsonw;
void prices_json_row(struct jsonw *w, const struct catalog *c, size_t row, const char *currency);
struct price_filter; /* prices_filter.h */
/* `prices check`: findings whose offending row passes the filter, at most its limit of each kind;
 * GT_EINFEASIBLE (exit 3) when there are errors. */
int prices_check(const struct price_view *v, const struct catalog *c,
                 const struct price_filter *filter, struct gt_error *err) GT_CHECK;

/* `prices storage|transfer|interruption` (prices_rates.c). */
bool prices_rates_kind(const char *name);
/* Refuses options that say nothing to what is asked (name: "", check or a kind of rate): silence
 * would look like an answer. */
int prices_options_fit(const char *name, const struct cli_option *own, const struct cli_args *args,
                       struct gt_error *err) GT_CHECK;
/* What a list does not show: that nothing passes, or how much more than its limit. */
void prices_say_found(uint64_t found, uint64_t limit, const char *what);
int prices_rates(const struct app *app, const char *kind, const struct catalog *c,
                 const struct cli_args *args, struct gt_error *err) GT_CHECK;

#endif
