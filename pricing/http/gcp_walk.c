/* Google Cloud's catalogue: three services, each page by page. The key goes into a header line: an
 * address may end up in a log. */
#include "http.h"
#include "url.h"

static const char *const services[] = {"6F81-5844-456A" /* Compute Engine */,
                                       "95FF-2EF5-5EA1" /* Cloud Storage */,
                                       "D97E-AB26-5D95" /* Cloud Filestore */};

struct walk {
    const char *service;
    const char *header[2];
};

static int ask(struct fetch_list *l, struct walk *w, const char *token, struct gt_error *err);

static int after(struct fetch_list *l, void *ctx, const char *body, size_t len,
                 struct gt_error *err)
{
    (void)body;
    (void)len;
    const char *token = fetch_list_next(l);
    return *token == '\0' ? 0 : ask(l, ctx, token, err);
}

static int ask(struct fetch_list *l, struct walk *w, const char *token, struct gt_error *err)
{
    struct arena *a = fetch_arena(fetch_list_run(l));
    char *query = url_escape(a, token);
    char *url = query ? arena_printf(a, "/services/%s/skus?pageSize=5000&currencyCode=USD%s%s",
                                     w->service, *query ? "&pageToken=" : "", query)
                      : NULL;
    if (!url) {
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    struct fetch_request q = {.url = url, .header = w->header};
    return fetch_list_ask(l, &q, after, w, err);
}

int gcp_skus_fetch(struct fetch_run *run, struct gt_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof services / sizeof *services; i++) {
        struct fetch_list *l = NULL;
        struct walk *w = arena_alloc(fetch_arena(run), sizeof *w);
        if (!w) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        w->service = services[i];
        rc = key_line(run, "X-Goog-Api-Key: ", &w->header[0], err);
        rc = rc ? rc : fetch_list_begin(run, services[i], "gcp", &l, err);
        rc = rc ? rc : ask(l, w, "", err);
    }
    return rc;
}
