/* Fetches of one answer that a key opens: sent in the header line that the vendor reads, never in
 * an address. Without a key (where a source may do without) no such line is sent. */
#include "http.h"
#include <string.h>

int key_line(struct fetch_run *run, const char *line, const char **out, struct gt_error *err)
{
    const char *key = fetch_key(run);
    *out = NULL;
    if (!key || !*key) {
        return 0;
    }
    *out = arena_printf(fetch_arena(run), "%s%s", line, key);
    return *out ? 0 : gt_fail(err, GT_ENOMEM, "", "out of memory");
}

int key_fetch(struct fetch_run *run, const char *line, const char *post, struct gt_error *err)
{
    const char *header[4] = {"Accept: application/json"}, *key;
    size_t n = 1;
    int rc = key_line(run, line, &key, err);
    if (rc != 0) {
        return rc;
    }
    if (post) {
        header[n++] = "Content-Type: application/json";
    }
    header[n++] = key;
    struct fetch_request q = {.url = fetch_base(run), .scope = "", .post = post, .header = header};
    return fetch_rows(run, &q, err);
}

int bearer_fetch(struct fetch_run *run, struct gt_error *err)
{
    return key_fetch(run, "Authorization: Bearer ", NULL, err);
}
