/* Line editor (prompt.h). */
#include "prompt.h"
#include "draw.h"
#include "gputier/text.h"
#include <curses.h>
#include <stdio.h>
#include <string.h>

void prompt_set(struct prompt *p, const char *text)
{
    snprintf(p->text, sizeof p->text, "%s", text);
    p->len = p->at = strlen(p->text);
    p->fresh = p->len > 0;
}

static size_t encode(int cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 63));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 63));
        out[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 63));
    out[2] = (char)(0x80 | (cp >> 6 & 63));
    out[3] = (char)(0x80 | (cp & 63));
    return 4;
}

static size_t left_of(const struct prompt *p, size_t at)
{
    while (at > 0 && ((unsigned char)p->text[--at] & 0xC0) == 0x80) {
    }
    return at;
}

static size_t right_of(const struct prompt *p, size_t at)
{
    if (at < p->len) {
        at++;
    }
    while (at < p->len && ((unsigned char)p->text[at] & 0xC0) == 0x80) {
        at++;
    }
    return at;
}

static void cut(struct prompt *p, size_t from, size_t to)
{
    memmove(p->text + from, p->text + to, p->len - to + 1);
    p->len -= to - from;
    p->at = from;
}

static enum prompt_result insert(struct prompt *p, int cp)
{
    char bytes[4];
    size_t n = encode(cp, bytes);
    if (p->fresh) {
        cut(p, 0, p->len);
    }
    p->fresh = false;
    if (p->len + n >= sizeof p->text) {
        return PROMPT_EDITING;
    }
    memmove(p->text + p->at + n, p->text + p->at, p->len - p->at + 1);
    memcpy(p->text + p->at, bytes, n);
    p->at += n;
    p->len += n;
    return PROMPT_CHANGED;
}

static enum prompt_result move_to(struct prompt *p, size_t at)
{
    p->at = at;
    p->fresh = false;
    return PROMPT_EDITING;
}

static enum prompt_result erase_range(struct prompt *p, size_t from, size_t to)
{
    p->fresh = false;
    cut(p, from, to);
    return PROMPT_CHANGED;
}

enum prompt_result prompt_key(struct prompt *p, int key, bool is_key)
{
    size_t word = p->at;
    if (!is_key && (key == '\r' || key == '\n')) {
        return PROMPT_DONE;
    }
    if (!is_key && (key == 27 || key == 3)) {
        return PROMPT_CANCELLED;
    }
    if ((is_key && key == KEY_LEFT) || (!is_key && key == 2)) {
        return move_to(p, left_of(p, p->at));
    }
    if ((is_key && key == KEY_RIGHT) || (!is_key && key == 6)) {
        return move_to(p, right_of(p, p->at));
    }
    if ((is_key && key == KEY_HOME) || (!is_key && key == 1)) {
        return move_to(p, 0);
    }
    if ((is_key && key == KEY_END) || (!is_key && key == 5)) {
        return move_to(p, p->len);
    }
    if ((is_key && key == KEY_BACKSPACE) || (!is_key && (key == 127 || key == 8))) {
        return erase_range(p, left_of(p, p->at), p->at);
    }
    if (is_key && key == KEY_DC) {
        return erase_range(p, p->at, right_of(p, p->at));
    }
    if (!is_key && key == 21) { /* Ctrl-U */
        return erase_range(p, 0, p->at);
    }
    if (!is_key && key == 11) { /* Ctrl-K */
        return erase_range(p, p->at, p->len);
    }
    if (!is_key && key == 23) { /* Ctrl-W */
        while (word > 0 && p->text[word - 1] == ' ') {
            word--;
        }
        while (word > 0 && p->text[word - 1] != ' ') {
            word--;
        }
        return erase_range(p, word, p->at);
    }
    return !is_key && key >= 32 && key <= 0x10FFFF && text_cp_width((unsigned)key) >= 0
               ? insert(p, key)
               : PROMPT_EDITING;
}

void prompt_draw(const struct prompt *p, int y, int x, int width, const char *label)
{
    int used = draw_text(y, x, width, 0, EL_TITLE, label);
    int room = width - used - 1;
    size_t start = 0;
    if (room < 1) {
        return;
    }
    while (text_width(p->text + start, p->at - start) > (size_t)room - 1) {
        start = right_of(p, start);
    }
    draw_text(y, x + used, room + 1, -1, p->fresh ? EL_SELECTED : EL_INPUT, p->text + start);
    move(y, x + used + (int)text_width(p->text + start, p->at - start));
    curs_set(1);
}
