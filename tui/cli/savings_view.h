/* `inventory savings`: what is found (savings_found.c) and how it is shown (savings_view.c). */
#ifndef GPUTIER_SAVINGS_VIEW_H
#define GPUTIER_SAVINGS_VIEW_H
#include "cli.h"
#include "gputier/leftovers.h"
#include "tier_args.h"

#define SAVINGS_NOTES 40
struct savings_answer {
    struct arena *arena;
    struct saving *item; /* what saves most first, without a price last */
    size_t n, cap;
    const char *currency; /* of all; NULL = nothing is priced */
    int horizon;
    uint64_t pack_bytes; /* of the packs proposed; 0 = no inventory was read */
    int64_t as_of;
    money month, horizon_saving; /* of those that save; packs that lose are not in it */
    bool at_most, at_least; /* some sizes are upper bounds or savings overlap; prices are missing */
    const char *note[SAVINGS_NOTES];
    size_t n_notes;
};
/* Reads all files: lists of leftovers, and inventories. In every case savings_release afterwards.
 */
int savings_find(struct app *app, const struct cli_args *args, const char *const *files, size_t n,
                 struct savings_answer *a, struct gt_error *err) GT_CHECK;
void savings_release(struct savings_answer *a);
int savings_text_out(struct app *app, const struct savings_answer *a, struct buf *out);
int savings_json(const struct savings_answer *a, struct buf *out);
int savings_csv(const struct savings_answer *a, struct buf *out);

#endif
