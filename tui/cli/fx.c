/* Exchange rates that the user gives: --fx CODE=RATE@DATE stands in place of every rate that the
 * database knows of that currency, so that a figure can be rebuilt with the rate of a contract or
 * an audit. */
#include "cli.h"
#include "gputier/units.h"
#include <stdio.h>
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static int read_one(const char *text, struct app_fx *out)
{
    const char *at = strchr(text, '@');
    if (strspn(text, LETTERS) != 3 || text[3] != '=' || at == NULL) {
        return GT_EUSAGE;
    }
    memcpy(out->code, text, 3);
    out->code[3] = '\0';
    if (money_parse(text + 4, (size_t)(at - text) - 4, &out->rate, NULL) != 0 || out->rate <= 0 ||
        time_parse(at + 1, 0, &out->date, NULL) != 0) {
        return GT_EUSAGE;
    }
    return 0;
}

int app_read_fx(struct app *app, const struct cli_args *args, struct gt_error *err)
{
    const char *text;
    app->n_fx = 0;
    for (size_t i = 0; (text = cli_list(args, "fx", i)) != NULL; i++) {
        struct app_fx *f = &app->fx[app->n_fx];
        if (app->n_fx == APP_FX_MAX) {
            return gt_fail(err, GT_EUSAGE, "", "--fx: found more than %d rates", APP_FX_MAX);
        }
        if (read_one(text, f) != 0) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--fx: found '%.60s', expected CODE=RATE@DATE, units of CODE for 1 USD, "
                           "such as CNY=7.12@2026-12-01",
                           text);
        }
        if (strcmp(f->code, "USD") == 0) {
            return gt_fail(err, GT_EUSAGE, "",
                           "--fx: found '%.60s', rates are for 1 USD: name "
                           "another currency",
                           text);
        }
        for (size_t k = 0; k < app->n_fx; k++) {
            if (strcmp(app->fx[k].code, f->code) == 0) {
                return gt_fail(err, GT_EUSAGE, "", "--fx: found two rates of %s", f->code);
            }
        }
        app->n_fx++;
    }
    return 0;
}

int app_apply_fx(const struct app *app, struct catalog *c, struct gt_error *err)
{
    for (size_t i = 0; i < app->n_fx; i++) {
        const struct app_fx *f = &app->fx[i];
        int rc = catalog_set_fx(c, f->code, "--fx", f->rate, f->date);
        if (rc != 0) {
            return gt_fail(err, rc, "--fx", "cannot use the rate of %s", f->code);
        }
    }
    if (catalog_fx_rate(c, app->currency, NULL) <= 0) {
        return gt_fail(err, GT_EUSAGE, "",
                       "--currency: found '%s', of which no exchange rate is known; "
                       "--fx %s=RATE@DATE gives one",
                       app->currency, app->currency);
    }
    return 0;
}
