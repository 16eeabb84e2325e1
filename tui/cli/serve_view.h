/* serve: the answer for people and for programs. */
#ifndef GPUTIER_SERVE_VIEW_H
#define GPUTIER_SERVE_VIEW_H
#include "cli.h"
#include "gputier/serve.h"

int serve_json(const struct serve_answer *a, const struct scenario *s, struct buf *out) GT_CHECK;
int serve_csv(const struct serve_answer *a, struct buf *out) GT_CHECK;
int serve_text(const struct app *app, const struct serve_answer *a, const struct scenario *s,
               struct buf *out) GT_CHECK;

#endif
