/* The user's config.yaml: sources.ID.url, regions; read once, when first asked. */
#ifndef GPUTIER_CONFIG_H
#define GPUTIER_CONFIG_H
#include "cli.h"

/* Value of section.name.key, NULL when the file does not say. Borrowed until config_release. An
 * unreadable or malformed file is reported once through the log and counts as empty. */
const char *config_get(struct app *app, const char *section, const char *name, const char *key);
void config_release(struct app *app);

#endif
