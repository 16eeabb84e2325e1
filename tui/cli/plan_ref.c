/* The PLAN argument of product.md section 2: NAME, NAME#RANK, a plan document, a scenario file, or
 * nothing for the plan that was saved last. */
#include "gputier/planner.h"
#include "plan_ask.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DOCUMENT_BYTES (64UL << 20)

static bool is_file(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISDIR(st.st_mode));
}

/* Splits NAME#RANK; rank 1 when none is given. */
static int split(const char *ref, char *name, size_t size, size_t *rank, struct gt_error *err)
{
    const char *mark = strrchr(ref, '#');
    *rank = 1;
    if (mark != NULL) {
        char *end = NULL;
        unsigned long v = strtoul(mark + 1, &end, 10);
        if (!isdigit((unsigned char)mark[1]) || *end != '\0' || v < 1 || v > 100000) {
            return gt_fail(err, GT_EUSAGE, "", "plan '%.60s': found no rank after #", ref);
        }
        *rank = v;
    }
    snprintf(name, size, "%.*s", mark != NULL ? (int)(mark - ref) : (int)strlen(ref), ref);
    return 0;
}

static int keep_document(const struct plan_ask *ask, struct plan_ref *out, struct gt_error *err)
{
    struct buf b;
    buf_init(&b, DOCUMENT_BYTES);
    int rc = plan_json_write(out->set, ask->scenario, &ask->origin, &b);
    out->json = rc == 0 ? buf_take(&b, NULL) : NULL;
    buf_release(&b);
    return out->json != NULL ? 0 : gt_fail(err, GT_ENOMEM, "", "the plan document is too large");
}

static int from_scenario(struct app *app, const char *file, struct plan_ref *out,
                         struct gt_error *err)
{
    struct plan_ask ask;
    int rc = plan_ask(app, file, NULL, &ask, err);
    rc = rc != 0 ? rc : plan_ask_search(app, &ask, NULL, &out->set, err);
    rc = rc != 0 ? rc : keep_document(&ask, out, err);
    if (rc == 0) {
        out->scenario = ask.scenario;
        ask.scenario = NULL;
    }
    plan_ask_release(&ask);
    return rc;
}

/* A plan document begins with a brace and says its schema; a scenario may be JSON too. */
static bool is_document(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && isspace((unsigned char)text[i])) {
        i++;
    }
    return i < len && text[i] == '{' && memmem(text, len, "\"gputier/plan/1\"", 16) != NULL;
}

static int from_file(struct app *app, const char *path, struct plan_ref *out, struct gt_error *err)
{
    char *text = NULL;
    size_t len = 0;
    int rc = app_read_file(path, DOCUMENT_BYTES, &text, &len, err);
    if (rc != 0) {
        return rc == GT_ENOMEM || rc == GT_ECANCELLED ? rc : GT_EPARSE;
    }
    if (!is_document(text, len)) {
        free(text);
        return from_scenario(app, path, out, err);
    }
    out->json = text;
    return plan_json_read(text, len, path, &out->set, &out->scenario, err);
}

static int from_store(struct app *app, const char *name, struct plan_ref *out, struct gt_error *err)
{
    struct store *store = NULL;
    char *json = NULL, *scenario = NULL;
    int rc = app_store(app, &store, err);
    rc = rc != 0 ? rc : store_load_plan(store, name, &json, &scenario, err);
    if (rc == 0) {
        rc = plan_json_read(json, strlen(json), name != NULL ? name : "saved plan", &out->set,
                            &out->scenario, err);
    }
    out->json = json;
    free(scenario);
    return rc;
}

int app_plan(struct app *app, const char *ref, struct plan_ref *out, struct gt_error *err)
{
    char name[512] = "";
    size_t rank = 1;
    memset(out, 0, sizeof *out);
    int rc = 0;
    if (ref != NULL && is_file(ref)) {
        rc = from_file(app, ref, out, err);
    } else if (ref == NULL) {
        rc = from_store(app, NULL, out, err);
    } else {
        rc = split(ref, name, sizeof name, &rank, err);
        rc = rc != 0         ? rc
             : is_file(name) ? from_file(app, name, out, err)
                             : from_store(app, name[0] != '\0' ? name : NULL, out, err);
    }
    if (rc == 0 && rank > out->set->n) {
        rc = gt_fail(err, GT_ENOTFOUND, "", "rank %zu: found %zu plans", rank, out->set->n);
    }
    if (rc != 0) {
        plan_ref_release(out);
        return rc;
    }
    out->index = rank - 1;
    return 0;
}

void plan_ref_release(struct plan_ref *r)
{
    plan_set_free(r->set);
    scenario_free(r->scenario);
    free(r->json);
    memset(r, 0, sizeof *r);
}
