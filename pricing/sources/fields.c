/* Checked readers of vendors' fields (source.h). */
#include "gputier/text.h"
#include "source.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 200
#define PRICE_MAX      ((money)1000000000 * MONEY_SCALE)
#define GPU_COUNT_MAX  4096
#define GPU_DEN_MAX    16

bool src_name_ok(const char *s)
{
    size_t n = strnlen(s, NAME_MAX_BYTES + 1), plain = 0;
    while (s[plain] >= ' ' && s[plain] < 0x7f) { /* ends at the '\0' at the latest */
        plain++;
    }
    if (n == 0 || n > NAME_MAX_BYTES || (plain < n && !utf8_valid(s, n))) {
        return false;
    }
    for (size_t i = plain; i < n;) {
        uint32_t cp;
        size_t k = utf8_decode(s + i, n - i, &cp);
        if (k == 0 || text_cp_width(cp) < 0 || (cp >= 0x202a && cp <= 0x202e) ||
            (cp >= 0x2066 && cp <= 0x2069)) {
            return false;
        }
        i += k;
    }
    return true;
}

const char *src_vendor(const char *name, char buf[48])
{
    const char *known = vendor_canonical(name);
    if (known) {
        return known;
    }
    size_t n = strlen(name);
    if (n == 0 || n >= 40) {
        return NULL;
    }
    for (size_t i = 0; i <= n; i++) {
        char c = name[i];
        if (c != '\0' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') {
            return NULL;
        }
        buf[i] = c;
    }
    return buf;
}

int src_price(const char *text, money *out)
{
    int rc = money_parse_round(text, strlen(text), out, NULL);
    return rc ? rc : *out < 0 || *out > PRICE_MAX ? GT_ERANGE : 0;
}

double src_figure(const char *text)
{
    char plain[32];
    size_t n = 0;
    while (*text == ' ') {
        text++;
    }
    for (; n + 1 < sizeof plain && ((*text >= '0' && *text <= '9') || *text == '.' || *text == ',');
         text++) {
        if (*text != ',') {
            plain[n++] = *text;
        }
    }
    plain[n] = '\0';
    double v;
    if (n == 0 || number_parse(plain, &v, NULL) != 0 || v < 0 || v > 1e9) {
        return -1;
    }
    return v;
}

int src_gpu_count(const char *text, int32_t *num, int32_t *den)
{
    char *end;
    double v = src_figure(text);
    const char *slash = strchr(text, '/');
    if (slash) {
        long a = strtol(text, &end, 10), b = strtol(slash + 1, NULL, 10);
        if (end != slash || a <= 0 || b <= 0 || a > GPU_COUNT_MAX || b > GPU_COUNT_MAX) {
            return GT_EPARSE;
        }
        *num = (int32_t)a;
        *den = (int32_t)b;
        return 0;
    }
    if (v < 0 || text[strspn(text, "0123456789. ")] != '\0') {
        return GT_EPARSE;
    }
    if (v > GPU_COUNT_MAX) {
        return GT_ERANGE;
    }
    /* vendors print 1/6 as 0.167 and 1/3 as 0.333 */
    for (int d = 1; d <= GPU_DEN_MAX; d++) {
        double n = round(v * d);
        if (n >= 1 && fabs(v * d - n) <= 0.004) {
            *num = (int32_t)n;
            *den = d;
            return 0;
        }
    }
    return GT_ERANGE;
}

int src_bracket(const char *text, money *out)
{
    if (*text == '\0' || text_ieq(text, "inf")) {
        *out = -1;
        return 0;
    }
    int rc = money_parse_round(text, strlen(text), out, NULL);
    if (rc == 0 && *out >= (money)999999999 * MONEY_SCALE) {
        *out = -1;
        return 0;
    }
    return rc ? rc : *out < 0 ? GT_ERANGE : 0;
}

int64_t src_loose_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    for (const char *p = text; *p != '\0'; p++) {
        size_t n = 0;
        while (n < 10 && (form[n] == 'd' ? p[n] >= '0' && p[n] <= '9' : p[n] == form[n])) {
            n++;
        }
        char date[11] = "";
        int64_t when;
        if (n >= 7) {
            snprintf(date, sizeof date, "%.*s%s", n == 10 ? 10 : 7, p, n == 10 ? "" : "-01");
        }
        if (date[0] != '\0' && time_parse(date, 0, &when, NULL) == 0) {
            return when;
        }
    }
    return GT_TIME_NONE;
}

void src_skip(struct parse_context *ctx, const char *reason, uint64_t rows)
{
    struct left_out *l = ctx->left_out;
    size_t i = 0;
    while (i < LEFT_OUT_REASONS - 1 && l[i].reason && strcmp(l[i].reason, reason) != 0) {
        i++;
    }
    if (rows > 0) {
        l[i].reason = i < LEFT_OUT_REASONS - 1 ? reason : "others";
        l[i].rows += rows;
        ctx->skipped += rows;
    }
}

const char *left_out_text(const struct left_out *l, uint64_t skipped, char buf[1024])
{
    size_t n = (size_t)snprintf(buf, 1024, "%" PRIu64 " left out", skipped);
    for (size_t i = 0; i < LEFT_OUT_REASONS && l[i].reason && n < 1000; i++) {
        n += (size_t)snprintf(buf + n, 1024 - n, "%s%s %" PRIu64, i ? ", " : " (", l[i].reason,
                              l[i].rows);
    }
    if (l[0].reason) {
        snprintf(buf + (n < 1022 ? n : 1022), 2, ")");
    }
    return buf;
}

int src_bad_row(struct bad_rows *b, struct parse_context *ctx, uint64_t line, const char *what,
                const char *found, struct gt_error *err)
{
    b->n++;
    src_skip(ctx, "unreadable", 1);
    if (b->n <= 5) {
        log_line(ctx->log, LOG_WARNING, "import", "%s:%" PRIu64 ": left out, %s '%.60s'", ctx->name,
                 line, what, found);
    }
    if (b->n > 50 && b->n * 20 > b->seen) {
        char where[160];
        snprintf(where, sizeof where, "%.130s:%" PRIu64, ctx->name, line);
        return gt_fail(err, GT_EPARSE, where,
                       "%" PRIu64 " of %" PRIu64 " rows can not be read, the last for its %s "
                       "'%.60s': the layout is not the expected one",
                       b->n, b->seen, what, found);
    }
    return 0;
}

/* The first word of a path's part that is a vendor's name; NULL if none is. */
static const char *vendor_in(const char *part, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = strcspn(part + i, "/-_. ?=");
        char word[32];
        if (n > 0 && n < sizeof word) {
            memcpy(word, part + i, n);
            word[n] = '\0';
            const char *v = vendor_canonical(word);
            if (!v && strcmp(word, "lambdalabs") == 0) {
                v = "lambda";
            } else if (!v && strcmp(word, "do") == 0) {
                v = "digitalocean";
            }
            if (v) {
                return v;
            }
        }
        i += n + 1;
    }
    return NULL;
}

const char *src_vendor_of_path(const char *path)
{
    const char *v = NULL;
    for (size_t end = strlen(path); end > 0 && !v;) { /* the file's own name, then its folders */
        size_t start = end;
        while (start > 0 && path[start - 1] != '/') {
            start--;
        }
        v = vendor_in(path + start, end - start);
        end = start > 0 ? start - 1 : 0;
    }
    return v;
}

void src_copy(char *to, size_t size, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, n < size ? text : "", n < size ? n + 1 : 1);
}

struct offer_row src_offer(const struct parse_context *ctx)
{
    return (struct offer_row){
        .gpu_den = 1,
        .gpu_memory_gib = -1,
        .vcpus = -1,
        .memory_gib = -1,
        .local_nvme_gb = -1,
        .network_gbps = -1,
        .currency = "USD",
        .valid_from = GT_TIME_NONE,
        .valid_to = GT_TIME_NONE,
        .as_of = ctx->as_of,
    };
}
