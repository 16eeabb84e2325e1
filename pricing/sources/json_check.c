/* JSON byte by byte (RFC 8259): the blocks that scan_kernel.h leaves. Refused are, with the place:
 * any departure from the grammar, depth over JSON_DEPTH, bad escapes, control characters in strings
 * and text that is not UTF-8, in values that nobody reads as well as in those that are read. */
#include "scan_masks.h"

enum { NO_ESCAPE, ESCAPE, HEX1, HEX2, HEX3, HEX4 };
enum { MINUS, ZERO, INTEGER, POINT, FRACTION, EXPONENT, SIGN, POWER };

static bool fail(struct json_scan *s, unsigned i, const char *expected)
{
    s->expected = expected;
    s->error = JSON_ERROR_BYTE;
    s->error_at = s->offset + i;
    return false;
}

/* A word that is no value, up to its byte i. */
static bool fail_word(struct json_scan *s, unsigned i)
{
    s->expected = "a value";
    s->error = JSON_ERROR_WORD;
    s->error_at = s->word_at;
    s->error_to = s->offset + i + 1;
    return false;
}

static bool in_list(const struct json_scan *s)
{
    return s->depth > 0 && (s->lists >> (s->depth - 1) & 1) != 0;
}

static void after_value(struct json_scan *s)
{
    s->state = s->depth == 0 ? JSON_AT_END : JSON_AT_COMMA;
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(unsigned char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Leading byte of a character of several: what the next one may be (Unicode, table 3-7). */
static bool begin_utf8(struct json_scan *s, unsigned char c)
{
    s->utf8_low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    s->utf8_high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    s->utf8_more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    return c >= 0xc2 && c <= 0xf4;
}

/* One byte of a string that has more than plain text to it. */
static bool string_byte(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    if (s->utf8_more > 0) {
        if (c < s->utf8_low || c > s->utf8_high) {
            return fail(s, i, "text in UTF-8");
        }
        s->utf8_more--;
        s->utf8_low = 0x80;
        s->utf8_high = 0xbf;
    } else if (s->escape > ESCAPE) {
        if (!is_hex(c)) {
            return fail(s, i, "four hexadecimal digits behind \\u");
        }
        s->escape = s->escape == HEX4 ? NO_ESCAPE : s->escape + 1;
    } else if (s->escape == ESCAPE) {
        if (c == '\0' || !strchr("\"\\/bfnrtu", c)) {
            return fail(s, i, "an escape of JSON behind '\\'");
        }
        s->escape = c == 'u' ? HEX1 : NO_ESCAPE;
    } else if (c == '"') {
        out->tokens |= (uint64_t)1 << i;
        if (s->state == JSON_IN_KEY) {
            s->state = JSON_AT_COLON;
        } else {
            after_value(s);
        }
    } else if (c == '\\') {
        s->escape = ESCAPE;
        out->back = true;
    } else if (c < 0x20) {
        return fail(s, i, "no control character inside a string");
    } else if (c >= 0x80 && !begin_utf8(s, c)) {
        return fail(s, i, "text in UTF-8");
    }
    return true;
}

static bool begin_word(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    s->literal = c == 't' ? &"true"[1] : c == 'f' ? &"false"[1] : c == 'n' ? &"null"[1] : NULL;
    s->number = c == '-' ? MINUS : c == '0' ? ZERO : INTEGER;
    s->word_at = s->offset + i;
    if (!s->literal && c != '-' && !is_digit(c)) {
        return is_space(c) || (unsigned char)((c | 0x20) - 'a') >= 26 ? fail(s, i, "a value")
                                                                      : fail_word(s, i);
    }
    s->state = JSON_IN_WORD;
    out->tokens |= (uint64_t)1 << i;
    return true;
}

/* 1: c belongs to the number, 0: c is behind its end, -1: c cannot be there. */
static int number_byte(struct json_scan *s, unsigned char c)
{
    bool digit = is_digit(c), e = (c | 0x20) == 'e';
    unsigned char n = s->number;
    switch (n) {
    case MINUS:
        s->number = c == '0' ? ZERO : INTEGER;
        return digit ? 1 : -1;
    case ZERO:
    case INTEGER:
        s->number = c == '.' ? POINT : e ? EXPONENT : n;
        return s->number != n || (digit && n == INTEGER);
    case POINT:
        s->number = FRACTION;
        return digit ? 1 : -1;
    case FRACTION:
        s->number = e ? EXPONENT : FRACTION;
        return e || digit;
    case EXPONENT:
        s->number = c == '+' || c == '-' ? SIGN : POWER;
        return s->number == SIGN || digit ? 1 : -1;
    case SIGN:
        s->number = POWER;
        return digit ? 1 : -1;
    default:
        return digit;
    }
}

/* 1: c belongs to the word, 0: it is behind its end, -1: an error. */
static int word_byte(struct json_scan *s, unsigned char c, unsigned i)
{
    int rc;
    if (s->literal) {
        bool same = *s->literal != '\0' && (unsigned char)*s->literal == c;
        rc = same ? 1 : *s->literal == '\0' ? 0 : -1;
        s->literal += same;
    } else {
        rc = number_byte(s, c);
    }
    if (rc == 0) { /* "01", "truex", "1.2.3" */
        bool joined = is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 26 ||
                      (c != '\0' && strchr("+-.", c));
        rc = joined ? -1 : 0;
    }
    if (rc < 0) {
        (void)fail_word(s, i);
    }
    return rc;
}

static bool open_byte(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    if (s->depth >= JSON_DEPTH) {
        (void)fail(s, i, "");
        s->error = JSON_ERROR_DEPTH;
        return false;
    }
    uint64_t bit = (uint64_t)1 << s->depth++;
    s->lists = c == '[' ? s->lists | bit : s->lists & ~bit;
    s->state = c == '[' ? JSON_AT_VALUE_OR_END : JSON_AT_KEY_OR_END;
    out->open |= (uint64_t)1 << i;
    out->tokens |= (uint64_t)1 << i;
    return true;
}

static bool close_byte(struct json_scan *s, unsigned i, struct json_block *out)
{
    s->depth--;
    s->lists &= ~((uint64_t)1 << s->depth);
    after_value(s);
    out->low = s->depth < out->low ? (int8_t)s->depth : out->low;
    out->close |= (uint64_t)1 << i;
    out->tokens |= (uint64_t)1 << i;
    return true;
}

static bool value_byte(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    if (c == '{' || c == '[') {
        return open_byte(s, c, i, out);
    }
    if (c == ']' && s->state == JSON_AT_VALUE_OR_END) {
        return close_byte(s, i, out);
    }
    if (c == '"') {
        s->state = JSON_IN_VALUE;
        out->tokens |= (uint64_t)1 << i;
        return true;
    }
    return begin_word(s, c, i, out);
}

static bool key_byte(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    if (c != '"') {
        return fail(s, i, "a key in quotes");
    }
    s->state = JSON_IN_KEY;
    out->tokens |= (uint64_t)1 << i;
    return true;
}

static bool comma_byte(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    bool list = in_list(s);
    if (c == (list ? ']' : '}')) {
        return close_byte(s, i, out);
    }
    if (c != ',') {
        return fail(s, i, list ? "',' or ']'" : "',' or '}'");
    }
    s->state = list ? JSON_AT_VALUE : JSON_AT_KEY;
    return true;
}

/* A byte outside strings that is no white space. */
static bool plain_byte(struct json_scan *s, unsigned char c, unsigned i, struct json_block *out)
{
    switch (s->state) {
    case JSON_AT_KEY_OR_END:
        return c == '}' ? close_byte(s, i, out) : key_byte(s, c, i, out);
    case JSON_AT_KEY:
        return key_byte(s, c, i, out);
    case JSON_AT_COLON:
        s->state = JSON_AT_VALUE;
        return c == ':' || fail(s, i, "':'");
    case JSON_AT_COMMA:
        return comma_byte(s, c, i, out);
    case JSON_AT_END:
        if (!s->many) {
            return fail(s, i, "nothing behind the document");
        }
        break;
    default:
        break;
    }
    return value_byte(s, c, i, out);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

bool json_check_block(struct json_scan *s, const char *p, struct json_block *out)
{
    *out = (struct json_block){.depth = (int8_t)s->depth, .low = (int8_t)s->depth};
    for (unsigned i = 0; i < SCAN_BLOCK; i++) {
        unsigned char c = (unsigned char)p[i];
        out->newlines = (uint8_t)(out->newlines + (c == '\n'));
        if (s->state == JSON_IN_KEY || s->state == JSON_IN_VALUE) {
            bool plain = is_plain(c) && s->escape == NO_ESCAPE && s->utf8_more == 0;
            if (!plain && !string_byte(s, c, i, out)) {
                return false;
            }
            continue;
        }
        int in_word = s->state == JSON_IN_WORD ? word_byte(s, c, i) : 0;
        if (in_word < 0) {
            return false;
        }
        if (in_word == 0 && s->state == JSON_IN_WORD) {
            after_value(s);
        }
        if (in_word == 0 && !is_space(c) && !plain_byte(s, c, i, out)) {
            return false;
        }
    }
    return true;
}
