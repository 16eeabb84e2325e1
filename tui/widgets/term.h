/* The terminal: entered and left in one place, restored after every kind of exit. The only global
 * state of the program beside const tables: signals have no other way to reach it. */
#ifndef GPUTIER_TERM_H
#define GPUTIER_TERM_H
#include "gputier/error.h"
#include <stdbool.h>

struct term_options {
    bool color; /* false: no colour bytes, bold and reverse only */
};
int term_open(const struct term_options *o, struct gt_error *err) GT_CHECK;
void term_close(void);
bool term_utf8(void);  /* the locale shows UTF-8: line drawing and braille may be used */
int term_colors(void); /* 0 = monochrome */
/* Marks around pasted text, given as keys beyond ncurses' own. */
#define TERM_PASTE_BEGIN 0x7001
#define TERM_PASTE_END   0x7002
/* Next key: a KEY_* code or a Unicode code point; *is_key tells which. Waits at most timeout_ms
 * (-1 = for ever). Returns 1 key, 0 time out, -1 the terminal is gone or a signal asks to end. */
int term_key(int timeout_ms, int *key, bool *is_key);
/* More input waits: several keys collapse into one frame. */
bool term_pending(void);
int term_signal(void); /* the signal that asked to end, 0 = none */
/* Wakes term_key from another thread (returns 0 there). */
void term_wake(void);
void term_suspend(void); /* Ctrl-Z */
/* OSC 52 copy; false when the text is too long for it. */
bool term_copy(const char *text);

#endif
