/* Escapes in place (json_text.h). */
#include "json_text.h"
#include <stdint.h>

static int hex4(const char *p, unsigned *v)
{
    *v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 99;
        if (d == 99) {
            return -1;
        }
        *v = *v * 16 + d;
    }
    return 0;
}

static size_t put_utf8(char *o, unsigned cp)
{
    if (cp < 0x80) {
        o[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        o[0] = (char)(0xc0 | cp >> 6);
        o[1] = (char)(0x80 | (cp & 63));
        return 2;
    }
    if (cp < 0x10000) {
        o[0] = (char)(0xe0 | cp >> 12);
        o[1] = (char)(0x80 | (cp >> 6 & 63));
        o[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    o[0] = (char)(0xf0 | cp >> 18);
    o[1] = (char)(0x80 | (cp >> 12 & 63));
    o[2] = (char)(0x80 | (cp >> 6 & 63));
    o[3] = (char)(0x80 | (cp & 63));
    return 4;
}

size_t json_unescape(char *s, size_t n)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\\') {
            s[out++] = s[i];
            continue;
        }
        if (++i >= n) {
            return SIZE_MAX;
        }
        unsigned cp, low;
        if (s[i] == 'u') {
            if (i + 4 >= n || hex4(s + i + 1, &cp) != 0) {
                return SIZE_MAX;
            }
            i += 4;
            if (cp >= 0xd800 && cp < 0xdc00 && i + 6 < n && s[i + 1] == '\\' && s[i + 2] == 'u' &&
                hex4(s + i + 3, &low) == 0 && low >= 0xdc00 && low < 0xe000) {
                cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
                i += 6;
            }
            out += put_utf8(s + out, cp == 0 || (cp >= 0xd800 && cp < 0xe000) ? 0xfffd : cp);
            continue;
        }
        size_t k = 0;
        while (plain[k] != '\0' && plain[k] != s[i]) {
            k += 2;
        }
        if (plain[k] == '\0') {
            return SIZE_MAX;
        }
        s[out++] = plain[k + 1];
    }
    return out;
}
