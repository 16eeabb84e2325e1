/* The parts of `changes`: cmd_changes.c collects, converts and orders, changes_out.c writes. */
#ifndef GPUTIER_CHANGES_CLI_H
#define GPUTIER_CHANGES_CLI_H
#include "cli.h"
#include "gputier/changes.h"

/* Exchange rates at both ends, units for 1 USD. */
struct change_rate {
    char currency[8];
    bool known[2];
    money per_usd[2];
    int64_t date[2];
    char source[2][64];
};
/* A change and, with --currency, its split: before + price_effect + fx_effect = after, exactly. */
struct change_row {
    struct price_change c;
    bool converted;
    money before, after, price_effect, fx_effect; /* in the currency asked for */
};
#define CHANGE_RATES 32
struct change_list {
    struct change_row *row;
    size_t n, cap;
    struct arena *arena;
    struct intern *strings;
    struct changes_result result;
    struct change_rate rate[CHANGE_RATES];
    size_t n_rates;
    const char *currency; /* NULL: none asked for */
    uint64_t count[CHANGE_EXPIRED + 1];
    double median_pct; /* of what rose or fell; NAN without any */
    size_t shown;      /* rows written: the first of them in order */
};
int changes_json(const struct change_list *l, int64_t now, struct buf *b) GT_CHECK;
int changes_csv(const struct change_list *l, struct buf *b) GT_CHECK;
int changes_table(const struct change_list *l, bool ascii, struct buf *b) GT_CHECK;
/* The summary in words: one line, and others for what it rests on. */
int changes_summary(const struct change_list *l, struct buf *b) GT_CHECK;

#endif
