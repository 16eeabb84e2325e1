/* The loops of scan_masks.h, included by scan_masks.c once per instruction set with
 *   NAME(x)  the name of a function for it; eq, parity, control, odd and hard are there
 *   TARGET   its attribute
 * No include guard, on purpose. */

/* Bits of the first byte behind each bit of m that is not in `over`. *carry: bit 0 of this block is
 * reached so / of the next one is. */
TARGET static inline uint64_t NAME(follow)(uint64_t m, uint64_t over, uint64_t *carry)
{
    uint64_t next = m << 1 | *carry, sum;
    /* the bit runs to the end of what it follows as a carry does in an addition */
    *carry = (uint64_t)__builtin_add_overflow(next & over, over, &sum) | m >> 63;
    return (next | sum) & ~over;
}

/* What stands before a block. fresh: '{', ',' or ':' and white space; opener: the last of the
 * characters {}[],: was '{' or ',', brace: it was '{'; inside: all ones, the block begins within a
 * string. */
struct NAME(behind) {
    uint64_t fresh, opener, inside;
    bool brace;
};

TARGET static inline struct NAME(behind) NAME(enter)(enum json_state s)
{
    bool key = s == JSON_AT_KEY_OR_END || s == JSON_AT_KEY;
    return (struct NAME(behind)){
        .fresh = key || s == JSON_AT_VALUE,
        .opener = key || s == JSON_IN_KEY || s == JSON_AT_COLON,
        .inside = s == JSON_IN_KEY || s == JSON_IN_VALUE ? ~(uint64_t)0 : 0,
        .brace = s == JSON_AT_KEY_OR_END,
    };
}

TARGET static inline enum json_state NAME(leave)(const struct NAME(behind) * b)
{
    return b->inside   ? b->opener ? JSON_IN_KEY : JSON_IN_VALUE
           : !b->fresh ? b->opener ? JSON_AT_COLON : JSON_AT_COMMA
           : b->opener ? b->brace ? JSON_AT_KEY_OR_END : JSON_AT_KEY
                       : JSON_AT_VALUE;
}

/* Judges a block; not 0: it holds what this loop does not know, or an error. Two rules are all of
 * the grammar within objects:
 *  - behind '{', ',' and ':' stands a string or an opening bracket, and only there;
 *  - the next of the characters {}[],: behind '{' and ',' is ':', and only there.
 * Left out are "{ }" and "[ ]", looked at apart. Strings are without escapes here, so that the
 * parity of quotes tells inside from outside. */
TARGET static inline uint64_t NAME(judge)(const char *p, struct NAME(behind) * b,
                                          struct json_block *out)
{
    uint64_t quote = NAME(eq)(p, '"'), newline = NAME(eq)(p, '\n'), bad = 0, none = 0;
    uint64_t inside = NAME(parity)(quote) ^ b->inside, outside = ~inside;
    uint64_t space = NAME(eq)(p, ' ') | newline, list = 0, list_end = 0;
    uint64_t brace = NAME(eq)(p, '{') & outside, brace_end = NAME(eq)(p, '}') & outside;
    if (NAME(odd)(p)) { /* lists, other white space */
        space |= NAME(eq)(p, '\r') | NAME(eq)(p, '\t');
        list = NAME(eq)(p, '[') & outside;
        list_end = NAME(eq)(p, ']') & outside;
        bad = NAME(hard)(p) | (NAME(control)(p) & inside) |
              (NAME(follow)(list, space & outside, &none) ^ list_end) | none;
    }
    space &= outside;
    uint64_t open = brace | list, close = brace_end | list_end;
    uint64_t colon = NAME(eq)(p, ':') & outside, comma = NAME(eq)(p, ',') & outside;
    uint64_t opener = brace | comma, marks = open | close | colon | comma;
    uint64_t was_brace = b->brace && b->fresh && b->opener;
    uint64_t fresh = NAME(follow)(opener | colon, space, &b->fresh);
    uint64_t after = NAME(follow)(opener, ~marks, &b->opener);
    if (fresh & brace_end) {
        uint64_t empty = NAME(follow)(brace, space, &was_brace) & brace_end;
        fresh ^= empty;
        after ^= empty;
    }
    b->brace = opener ? brace > comma : b->brace;
    b->inside = (uint64_t)0 - (inside >> 63);
    out->tokens = quote | open | close;
    out->open = open;
    out->close = close;
    out->back = false;
    out->newlines = (uint8_t)scan_count(newline);
    return bad | (fresh ^ ((quote & inside) | open)) | (after ^ colon) | (newline & inside) |
           (outside & ~(quote | marks | space));
}

TARGET static size_t NAME(json)(struct json_scan *s, const char *p, size_t n,
                                struct json_block *out)
{
    struct NAME(behind) now = NAME(enter)(s->state);
    uint64_t lists = s->lists;
    int depth = s->depth;
    size_t i = 0;
    for (; i < n; i++, p += SCAN_BLOCK, out++) {
        struct NAME(behind) next = now;
        uint64_t bad = NAME(judge)(p, &next, out);
        int opens = (int)scan_count(out->open), low = depth - (int)scan_count(out->close);
        out->depth = (int8_t)depth;
        out->low = (int8_t)low;
        if (bad || low < 1 || depth + opens > JSON_DEPTH || lists >> (low - 1) != 0) {
            break;
        }
        depth = low + opens;
        now = next;
    }
    s->state = NAME(leave)(&now);
    s->depth = depth;
    return i;
}

TARGET static void NAME(csv)(struct csv_scan *s, const char *p, size_t n, struct csv_block *out)
{
    uint64_t carry = s->inside, after_bound = s->after_bound, after_close = s->after_close;
    for (size_t i = 0; i < n; i++, p += SCAN_BLOCK, out++) {
        uint64_t quotes = NAME(eq)(p, '"'), newlines = NAME(eq)(p, '\n');
        uint64_t inside = NAME(parity)(quotes) ^ carry, outside = ~inside;
        uint64_t bounds = (NAME(eq)(p, s->separator) | newlines) & outside;
        uint64_t begin = quotes & inside, end = quotes & outside;
        uint64_t behind_end = end << 1 | after_close;
        out->bounds = bounds;
        out->ends = newlines & outside;
        out->newlines = newlines;
        out->n_bounds = (uint8_t)scan_count(bounds);
        out->n_newlines = (uint8_t)scan_count(newlines);
        /* an opening quote begins a field, a closing one ends a field or line */
        uint64_t ended = bounds | (NAME(eq)(p, '\r') & newlines >> 1);
        out->care = (begin & ~(bounds << 1 | after_bound)) | (behind_end & ~ended);
        carry = (uint64_t)0 - (inside >> 63);
        after_bound = bounds >> 63;
        after_close = end >> 63;
    }
    s->inside = carry;
    s->after_bound = after_bound;
    s->after_close = after_close;
}
