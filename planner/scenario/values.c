/* Readers of plain values: texts, words, numbers, sizes, durations. Each refuses what it does not
 * understand with the place, the key, what was found and what is allowed. */
#include "gputier/text.h"
#include "gputier/units.h"
#include "keys.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *found(const struct node *n, char buf[96])
{
    if (n->kind == NODE_MAP) {
        return "a map";
    }
    if (n->kind == NODE_LIST) {
        return n->n == 0 ? "an empty list" : "a list";
    }
    if (n->text[0] == '\0' ||
        (!n->quoted && (strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0))) {
        return "nothing";
    }
    snprintf(buf, 96, "\"%.60s\"%s", n->text, strlen(n->text) > 60 ? "…" : "");
    return buf;
}

int key_refuse(const struct reader *r, const struct node *n, const struct key_spec *k,
               const char *path)
{
    char where[160], buf[96], limit[32], most[48] = "";
    const char *allowed = key_doc(k)->allowed;
    double v = 0;
    snprintf(limit, sizeof limit, "%.15g", k->hi);
    if (n->kind == NODE_SCALAR && number_parse(n->text, &v, NULL) == 0 && k->hi > 0 && v > k->hi &&
        strstr(allowed, limit) == NULL) {
        snprintf(most, sizeof most, ", at most %s", limit);
    }
    if (n->kind == NODE_SCALAR && number_parse(n->text, &v, NULL) == 0 && v > 0 && v < k->lo) {
        snprintf(most, sizeof most, ", at least %.15g", k->lo);
    }
    return gt_fail(r->err, GT_EPARSE, tree_where(n, where), "%s: found %s, allowed: %s%s", path,
                   found(n, buf), allowed, most);
}

static bool is_text(const struct node *n)
{
    return n->kind == NODE_SCALAR && n->text[0] != '\0' &&
           (n->quoted || (strcmp(n->text, "~") != 0 && strcmp(n->text, "null") != 0));
}

static bool is_plain(const struct node *n)
{
    return is_text(n) && !n->quoted;
}

READER(schema)
{
    (void)field;
    return is_text(n) && strcmp(n->text, "gputier/scenario/1") == 0 ? 0 : key_refuse(r, n, k, path);
}

READER(text)
{
    const char **out = field;
    size_t len = is_text(n) ? strlen(n->text) : 0;
    if (len == 0 || (double)len > k->hi * 4 || strchr(n->text, '\n') != NULL ||
        !utf8_valid(n->text, len) || (double)text_width(n->text, len) > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *out = n->text;
    return 0;
}

READER(choice)
{
    int *out = field; /* every enum of scenario.h has the size of int */
    for (const struct choice *c = k->choices; is_text(n) && c->name != NULL; c++) {
        if (strcmp(c->name, n->text) == 0) {
            *out = c->value;
            return 0;
        }
    }
    return key_refuse(r, n, k, path);
}

READER(number)
{
    double v = 0;
    if (!is_plain(n) || number_parse(n->text, &v, NULL) != 0 || v < k->lo || v > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *(double *)field = v;
    return 0;
}

READER(whole)
{
    double v = 0;
    if (is_plain(n) && number_parse(n->text, &v, NULL) == 0 && v != floor(v)) {
        return key_refuse(r, n, k, path);
    }
    return key_read_number(r, n, k, path, field);
}

READER(whole_or_auto)
{
    if (is_text(n) && strcmp(n->text, "auto") == 0) {
        *(double *)field = 0;
        return 0;
    }
    return key_read_whole(r, n, k, path, field);
}

READER(integer)
{
    double v = 0;
    if (!is_plain(n) || number_parse(n->text, &v, NULL) != 0 || v < k->lo || v > k->hi ||
        v != floor(v)) {
        return key_refuse(r, n, k, path);
    }
    *(int *)field = (int)v;
    return 0;
}

READER(count)
{
    uint64_t v = 0;
    if (!is_plain(n) || count_parse(n->text, &v, NULL) != 0 || (double)v < k->lo ||
        (double)v > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *(double *)field = (double)v;
    return 0;
}

READER(count_u64)
{
    uint64_t v = 0;
    if (!is_plain(n) || count_parse(n->text, &v, NULL) != 0 || (double)v < k->lo ||
        (double)v > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *(uint64_t *)field = v;
    return 0;
}

/* "150" is refused: a forgotten GiB would make 150 bytes of a data set and a cheap wrong answer. */
static bool has_unit(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && (text[len - 1] == 'B' || text[len - 1] == 'b');
}

READER(bytes)
{
    uint64_t v = 0;
    if (!is_text(n) || !has_unit(n->text) || size_parse(n->text, &v, NULL) != 0 ||
        (double)v < k->lo || (double)v > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *(uint64_t *)field = v;
    return 0;
}

READER(bytes_number) /* of one sample: a plain count of bytes is usual there */
{
    uint64_t v = 0;
    if (!is_text(n) || size_parse(n->text, &v, NULL) != 0 || (double)v < k->lo ||
        (double)v > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *(double *)field = (double)v;
    return 0;
}

READER(boolean)
{
    if (is_plain(n) && (strcmp(n->text, "true") == 0 || strcmp(n->text, "false") == 0)) {
        *(bool *)field = n->text[0] == 't';
        return 0;
    }
    return key_refuse(r, n, k, path);
}

static int read_seconds(struct reader *r, const struct node *n, const struct key_spec *k,
                        const char *path, bool long_only, double scale, double *out)
{
    double v = 0;
    struct gt_error detail = {0};
    if (!is_text(n)) {
        return key_refuse(r, n, k, path);
    }
    if (duration_parse(n->text, long_only, &v, &detail) != 0) {
        char where[160];
        return gt_fail(r->err, GT_EPARSE, tree_where(n, where), "%s: %.200s; allowed: %s", path,
                       detail.text, key_doc(k)->allowed);
    }
    if (v < k->lo * scale || v > k->hi * scale) {
        char where[160], buf[96];
        return gt_fail(r->err, GT_EPARSE, tree_where(n, where),
                       "%s: found %s, allowed: %s, from %.15g to %.15g %s", path, found(n, buf),
                       key_doc(k)->allowed, scale > 1 ? k->lo : k->lo / 3600,
                       scale > 1 ? k->hi : k->hi / 3600, scale > 1 ? "months" : "h");
    }
    *out = v / scale;
    return 0;
}

READER(duration)
{
    return read_seconds(r, n, k, path, false, 1, field);
}

READER(duration_or_auto)
{
    if (is_text(n) && strcmp(n->text, "auto") == 0) {
        *(double *)field = -1;
        return 0;
    }
    return read_seconds(r, n, k, path, false, 1, field);
}

READER(long_duration)
{
    return read_seconds(r, n, k, path, true, 1, field);
}

READER(months)
{
    return read_seconds(r, n, k, path, true, GT_HOURS_PER_MONTH * 3600.0, field);
}

READER(interruption)
{
    if (is_text(n) && strcmp(n->text, "auto") == 0) {
        *(double *)field = -1;
        return 0;
    }
    return key_read_number(r, n, k, path, field);
}

READER(growth)
{
    char size[40];
    const char *slash = is_text(n) ? strchr(n->text, '/') : NULL;
    uint64_t v = 0;
    if (slash == NULL || strcmp(slash, "/mo") != 0 || (size_t)(slash - n->text) >= sizeof size) {
        return key_refuse(r, n, k, path);
    }
    memcpy(size, n->text, (size_t)(slash - n->text));
    size[slash - n->text] = '\0';
    if (size_parse(size, &v, NULL) != 0 || (double)v > k->hi) {
        return key_refuse(r, n, k, path);
    }
    *(double *)field = (double)v;
    return 0;
}

READER(demand_shape)
{
    if (is_text(n) && (strcmp(n->text, "sine") == 0 || strcmp(n->text, "promotion") == 0)) {
        *(const char **)field = n->text;
        return 0;
    }
    return key_refuse(r, n, k, path);
}

READER(every)
{
    struct scenario *s = r->s;
    (void)field;
    double v = 0;
    char number[32];
    if (!is_text(n)) {
        return key_refuse(r, n, k, path);
    }
    if (strcmp(n->text, "auto") == 0 || strcmp(n->text, "off") == 0) {
        s->checkpoint_every = n->text[0] == 'a' ? CKPT_AUTO : CKPT_OFF;
        return 0;
    }
    size_t digits = strspn(n->text, "0123456789");
    const char *unit = n->text + digits + strspn(n->text + digits, " ");
    if (digits > 0 && digits < 12 && (strcmp(unit, "steps") == 0 || strcmp(unit, "step") == 0)) {
        snprintf(number, sizeof number, "%.*s", (int)digits, n->text);
        if (number_parse(number, &v, NULL) == 0 && v >= 1) {
            s->checkpoint_every = CKPT_STEPS;
            s->checkpoint_value = v;
            return 0;
        }
    } else if (duration_parse(n->text, false, &v, NULL) == 0 && v >= 1 && v <= 31536000) {
        s->checkpoint_every = CKPT_SECONDS;
        s->checkpoint_value = v;
        return 0;
    }
    return key_refuse(r, n, k, path);
}
