/* One line of text being edited: UTF-8, cursor in cells, usual editing keys. */
#ifndef GPUTIER_PROMPT_H
#define GPUTIER_PROMPT_H
#include <stdbool.h>
#include <stddef.h>

#define PROMPT_MAX 512
struct prompt {
    char text[PROMPT_MAX];
    size_t len, at; /* bytes */
    bool fresh;     /* nothing typed yet: the first character replaces the text */
};
enum prompt_result { PROMPT_EDITING, PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCELLED };
void prompt_set(struct prompt *p, const char *text);
enum prompt_result prompt_key(struct prompt *p, int key, bool is_key);
/* Draws label and text on line y and puts the terminal's cursor there. */
void prompt_draw(const struct prompt *p, int y, int x, int width, const char *label);

#endif
