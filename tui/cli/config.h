/* The user's config.yaml: sources.ID.url, regions; read once, when first asked. */
#ifndef GPUTIER_CONFIG_H
#define GPUTIER_CONFIG_H
#include "cli.h"

/* Reads the file. A malformed or unreadable one is refused (GT_EPARSE): running on half of it would
 * fetch from where the user did not mean to. No file is fine unless `needed` (--config named it).
 */
int config_open(struct app *app, bool needed, struct gt_error *err) GT_CHECK;
/* Value of section.name.key, NULL when the file does not say. Borrowed until config_release. */
const char *config_get(struct app *app, const char *section, const char *name, const char *key);
void config_release(struct app *app);

#endif
