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

int key_split(struct fetch_run *run, const char *form, size_t n, const char **part,
              struct gt_error *err)
{
    const char *rest = fetch_key(run) ? fetch_key(run) : "";
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        size_t k = i + 1 < n ? strcspn(rest, ":") : strlen(rest);
        part[i] = arena_strndup(fetch_arena(run), rest, k);
        if (!part[i]) {
            return gt_fail(err, GT_ENOMEM, "", "out of memory");
        }
        ok = k > 0 && (i + 1 == n || rest[k] == ':');
        rest += k + (ok && i + 1 < n);
    }
    return ok ? 0 : gt_fail(err, GT_EUSAGE, fetch_source(run)->id, "the key is to be %s", form);
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

int regions_fetch(struct fetch_run *run, const char *form, size_t n, const char *const *all,
                  int (*ask)(struct fetch_run *run, const char *region, struct gt_error *err),
                  struct gt_error *err)
{
    const char *part[3], *region;
    int rc = key_split(run, form, n, part, err);
    for (size_t i = 0; rc == 0 && fetch_all_regions(run) && all[i]; i++) {
        rc = ask(run, all[i], err);
    }
    for (size_t i = 0; rc == 0 && !fetch_all_regions(run) && (region = fetch_region(run, i)); i++) {
        rc = ask(run, region, err);
    }
    return rc;
}

bool regions_have(const char *const *all, const char *code)
{
    while (*all && strcmp(*all, code) != 0) {
        all++;
    }
    return *all != NULL;
}
