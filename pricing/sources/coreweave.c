/* CoreWeave publishes no price list that a program may read (docs/pricing-sources.md section 5):
 * the name is known, so that people are told what to do instead of being told that it is unknown.
 */
#include "source.h"

static int no_list(struct gt_error *err)
{
    return gt_fail(err, GT_EUNSUPPORTED, "coreweave",
                   "CoreWeave publishes no price list that a program may read; write its prices "
                   "into a table and give it to `gputier import prices-csv FILE`");
}

static bool recognise(const char *head, size_t len, const char *name)
{
    (void)head;
    (void)len;
    (void)name;
    return false;
}

static int open_list(struct parse_context *ctx, struct parser **out, struct gt_error *err)
{
    (void)ctx;
    *out = NULL;
    return no_list(err);
}

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    (void)run;
    return no_list(err);
}

const struct source_def source_coreweave = {
    .id = "coreweave",
    .vendor = "coreweave",
    .default_url = "https://www.coreweave.com/pricing", /* for people */
    .help = "none: CoreWeave publishes no price list; prices-csv takes your own",
    .recognise = recognise,
    .parse_open = open_list,
    .fetch = fetch,
};
