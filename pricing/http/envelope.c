/* Vendors whose API answers errors in an envelope of its own, whatever the HTTP status is: the code
 * and the message are found, told to the user, and decide whether the request is sent again. */
#include "engine.h"
#include "gputier/text.h"
#include "retry.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* The text at a path ("Response.Error.Code"), NULL when there is none. */
static const char *text_at(const cJSON *at, const char *path)
{
    while (at && *path != '\0') {
        char key[40];
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        at = cJSON_GetObjectItemCaseSensitive(at, key);
        path += n + (path[n] == '.');
    }
    return cJSON_GetStringValue(at);
}

static bool begins_with_one(const char *code, const char *const *list)
{
    for (; list && *list; list++) {
        if (strncmp(code, *list, strlen(*list)) == 0) {
            return true;
        }
    }
    return false;
}

/* "CODE: MESSAGE", fit to be shown. */
static void quote(const char *code, const char *message, char out[300])
{
    struct buf b;
    buf_init(&b, 4096);
    if (buf_addf(&b, " ") == 0 && text_safe(&b, code, strnlen(code, 80), true) == 0 &&
        buf_addf(&b, ": ") == 0 && text_safe(&b, message, strnlen(message, 200), true) == 0) {
        snprintf(out, 300, "%s", b.data);
    }
    buf_release(&b);
}

int envelope_judge(struct transfer *t, const char *body, size_t len, struct gt_error *err)
{
    const struct fetch_api *api = t->api;
    long status = t->answer.status;
    cJSON *doc = cJSON_ParseWithLength(body, len);
    const char *code = text_at(doc, api->code), *message = text_at(doc, api->message);
    t->busy = status >= 400 && retry_status(status, false);
    if (!code && status < 400) {
        cJSON_Delete(doc);
        return 0;
    }
    t->busy |= code && begins_with_one(code, api->busy);
    bool absent = code && !t->busy && status != 401 && status != 403 && api->account &&
                  !begins_with_one(code, api->account);
    char said[300] = "";
    quote(code ? code : "", message ? message : "no reason is given", said);
    gt_error_set(err, absent ? GT_ENOTFOUND : GT_EHTTP, "", "the vendor answers%s (HTTP %ld)", said,
                 status);
    cJSON_Delete(doc);
    if (absent) {
        log_line(&t->run->log, LOG_INFO, t->run->def->id, "%s: left out: %s",
                 t->question ? t->question : t->scope, err ? err->text : "");
    }
    return absent ? GT_ENOTFOUND : GT_EHTTP;
}
