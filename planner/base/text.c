/* Safe text: UTF-8 decoding, terminal-safe copies, widths, name matching
 * (text.h). */
#include "gputier/text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

size_t utf8_decode(const char *s, size_t len, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *)s;
    if (len == 0) {
        return 0;
    }
    if (p[0] < 0x80) {
        *cp = p[0];
        return 1;
    }
    size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || len < n) {
        return 0;
    }
    uint32_t v = p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
        v = v << 6 | (p[i] & 0x3F);
    }
    if ((n == 3 && v < 0x800) || (n == 4 && v < 0x10000) || v > 0x10FFFF ||
        (v >= 0xD800 && v <= 0xDFFF)) {
        return 0;
    }
    *cp = v;
    return n;
}

bool utf8_valid(const char *s, size_t len)
{
    while (len) {
        uint32_t cp;
        size_t n = (unsigned char)*s < 0x80 ? 1 : utf8_decode(s, len, &cp);
        if (!n) {
            return false;
        }
        s += n;
        len -= n;
    }
    return true;
}

int text_cp_width(uint32_t cp)
{
    if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) {
        return -1;
    }
    return cp < 0x300 ? 1 : utf8proc_charwidth((utf8proc_int32_t)cp);
}

/* Controls, and the format characters that reorder or hide text (bidi overrides
 * and isolates, zero-width spaces, byte-order mark, tags). */
static bool unsafe(uint32_t cp)
{
    return text_cp_width(cp) < 0 || (cp >= 0x200B && cp <= 0x200F) ||
           (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2060 && cp <= 0x206F) || cp == 0xFEFF ||
           (cp >= 0xFFF9 && cp <= 0xFFFB) || (cp >= 0xE0000 && cp <= 0xE0FFF) || cp == 0x061C;
}

size_t text_width(const char *s, size_t len)
{
    size_t w = 0;
    while (len) {
        uint32_t cp;
        size_t n = utf8_decode(s, len, &cp);
        if (!n) {
            w++;
            n = 1;
        } else {
            w += unsafe(cp) ? 1 : (size_t)text_cp_width(cp);
        }
        s += n;
        len -= n;
    }
    return w;
}

int text_safe(struct buf *out, const char *s, size_t len, bool ascii)
{
    int rc = 0;
    while (len && !rc) {
        uint32_t cp;
        size_t n = utf8_decode(s, len, &cp);
        bool bad = n == 0 || unsafe(cp) || (ascii && cp >= 0x80);
        if (n == 0) {
            n = 1;
        }
        if (bad) {
            rc = buf_adds(out, ascii ? "?" : "\xEF\xBF\xBD");
        } else {
            rc = buf_add(out, s, n);
        }
        s += n;
        len -= n;
    }
    return rc;
}

static int pad(struct buf *out, size_t n)
{
    int rc = 0;
    while (n-- && !rc) {
        rc = buf_addc(out, ' ');
    }
    return rc;
}

int text_fit(struct buf *out, const char *s, size_t cells, int align, bool ascii)
{
    size_t len = strlen(s), width = text_width(s, len);
    if (width <= cells) {
        int rc = align > 0 ? pad(out, cells - width) : 0;
        rc = rc ? rc : buf_add(out, s, len);
        return rc ? rc : align < 0 ? pad(out, cells - width) : 0;
    }
    if (cells == 0) {
        return 0;
    }
    size_t used = 0, i = 0;
    while (i < len) {
        uint32_t cp;
        size_t n = utf8_decode(s + i, len - i, &cp);
        size_t w = n == 0 ? 1 : (size_t)(text_cp_width(cp) < 0 ? 1 : text_cp_width(cp));
        if (used + w > cells - 1) {
            break;
        }
        used += w;
        i += n ? n : 1;
    }
    int rc = buf_add(out, s, i);
    rc = rc ? rc : buf_adds(out, ascii ? "~" : "\xE2\x80\xA6");
    return rc ? rc : align ? pad(out, cells - 1 - used) : 0;
}

bool text_ieq(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

static int fold(char c)
{
    return c == ' ' || c == '_' ? '-' : tolower((unsigned char)c);
}

bool text_leading_parts(const char *pattern, const char *name)
{
    while (*pattern && fold(*pattern) == fold(*name)) {
        pattern++;
        name++;
    }
    return !*pattern && (!*name || fold(*name) == '-');
}

size_t text_distance(const char *a, const char *b)
{
    size_t la = strnlen(a, 64), lb = strnlen(b, 64), row[65];
    for (size_t j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t diag = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = diag + (fold(a[i - 1]) != fold(b[j - 1]));
            diag = row[j];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        }
    }
    return row[lb];
}
