/* Drawing of tier answers (tiers_view.h). */
#include "tiers_view.h"
#include "../cli/tier_letters.h"
#include "../widgets/draw.h"
#include "gputier/units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LETTERS 24 /* cells of a path in the table */

static int tier_index(const struct tiers_result *r, const char *tier)
{
    const struct tier_series *s = &r->answer.series;
    for (size_t k = 0; k < s->n_tiers; k++) {
        if (strcmp(s->tier[k], tier) == 0) {
            return (int)k;
        }
    }
    return -1;
}

static int months_per_letter(int horizon)
{
    return (horizon + MAX_LETTERS - 1) / MAX_LETTERS;
}

/* "HHCCCCDDDD": the tier at the first month that each letter stands for; '.' after deletion. */
static void path_letters(const struct tiers_result *r, const struct tier_path *p,
                         char out[MAX_LETTERS + 1])
{
    int horizon = r->answer.horizon, per = months_per_letter(horizon), n = 0;
    for (int m = 0; m < horizon && n < MAX_LETTERS; m += per) {
        char c = '.';
        for (size_t k = 0; k < p->n_steps; k++) {
            if (m >= p->step[k].from_month && m < p->step[k].to_month) {
                int at = tier_index(r, p->step[k].tier);
                c = at < 0 ? '?' : r->letter[at];
            }
        }
        out[n++] = c;
    }
    out[n] = '\0';
}

static void count_text(uint64_t n, char out[32])
{
    if (n >= 10000000) {
        snprintf(out, 32, "%.1f M", (double)n / 1e6);
    } else {
        snprintf(out, 32, "%llu", (unsigned long long)n);
    }
}

/* Columns from the right: saving, from which month on, path, reads and objects where there is room,
 * size. */
struct table_layout {
    int saves, pays, path, path_width, reads, objects, size, name; /* -1 = no room */
};

static struct table_layout layout(int horizon, int width)
{
    int per = months_per_letter(horizon);
    struct table_layout t = {
        .path_width = (horizon + per - 1) / per, .pays = -1, .reads = -1, .objects = -1};
    int at = width - 11;
    if (width < 52) { /* fewer letters' worth of room: the path's start is the sooner decision */
        t.path_width = t.path_width < 10 ? t.path_width : 10;
    }
    t.saves = at;
    t.path_width = width >= 64 && t.path_width < 17 ? 17 : t.path_width; /* its title */
    if (width >= 84) {
        t.pays = at -= 6;
    }
    t.path = at -= t.path_width + 1;
    if (width >= 110) {
        t.reads = at -= 9;
    }
    if (width >= 96) {
        t.objects = at -= 10;
    }
    t.name = at - 3;
    t.size = -1;
    if (width >= 64) {
        t.size = at - 10;
        t.name -= 10;
    }
    return t;
}

static void draw_header(const struct table_layout *t, int horizon, int y)
{
    draw_text(y, 2, t->name, -1, EL_HEADER, "DATA");
    if (t->size >= 0) {
        draw_text(y, t->size, 9, 1, EL_HEADER, "SIZE");
    }
    if (t->objects >= 0) {
        draw_text(y, t->objects, 9, 1, EL_HEADER, "OBJECTS");
    }
    if (t->reads >= 0) {
        draw_text(y, t->reads, 8, 1, EL_HEADER, "READS/MO");
    }
    draw_format(y, t->path, t->path_width, -1, EL_HEADER, "PATH, %d MO EACH",
                months_per_letter(horizon));
    if (t->pays >= 0) {
        draw_text(y, t->pays, 5, 1, EL_HEADER, "PAYS");
    }
    draw_text(y, t->saves, 10, 1, EL_HEADER, "SAVES");
}

void tiers_view_table(const struct tiers_result *r, const struct list *l, int y, int rows,
                      int width)
{
    struct table_layout t = layout(r->answer.horizon, width);
    draw_header(&t, r->answer.horizon, y);
    for (int i = 0; i < rows - 1 && l->top + (size_t)i < r->n; i++) {
        size_t at = l->top + (size_t)i;
        int line = y + 1 + i;
        const struct tier_path *p = r->row[at].path;
        enum element e = at == l->at ? EL_SELECTED : EL_TEXT;
        char size[32], objects[32], path[MAX_LETTERS + 1], saves[MONEY_TEXT];
        count_text(p->group->objects, objects);
        path_letters(r, p, path);
        draw_fill(line, 0, width, e);
        draw_text(line, 0, 1, 0, e, at == l->at ? glyph("▶", ">") : " ");
        draw_text(line, 2, t.name, -1, e, r->row[at].label);
        if (t.size >= 0) {
            draw_text(line, t.size, 9, 1, e, size_format(p->group->bytes, size));
        }
        if (t.objects >= 0) {
            draw_text(line, t.objects, 9, 1, e, objects);
        }
        if (t.reads >= 0) {
            draw_format(line, t.reads, 8, 1, e, "%.2f", p->group->reads_per_month);
        }
        draw_text(line, t.path, t.path_width, -1, e, path);
        if (t.pays >= 0 && p->saving > 0 && p->break_even_month >= 0) {
            draw_format(line, t.pays, 5, 1, e, "%d mo", p->break_even_month + 1);
        }
        draw_text(line, t.saves, 10, 1, e, money_format_fixed(p->saving, 2, true, saves));
    }
}

/* Storage rate of a tier among the rows that the plan rests on. */
static bool rate_of(const struct tiers_result *r, const char *tier, char out[MONEY_TEXT])
{
    const struct catalog_storage *s = &r->answer.catalog->storage;
    for (size_t b = 0; b < r->in.n_batches; b++) {
        const struct tier_plan *p = r->answer.plan[b];
        for (size_t i = 0; p && i < p->n_rate_rows; i++) {
            size_t row = p->rate_row[i];
            const char *component = catalog_text(r->answer.catalog, s->component[row]);
            if (strncmp(component, "storage", 7) == 0 &&
                strcmp(catalog_text(r->answer.catalog, s->tier[row]), tier) == 0) {
                money_format(s->rate[row], out);
                return true;
            }
        }
    }
    return false;
}

void tiers_view_legend(const struct tiers_result *r, int y, int rows, int width)
{
    const struct tier_series *s = &r->answer.series;
    int x = 2, row = 0;
    for (size_t k = 0; k < s->n_tiers && row < rows; k++) {
        char rate[MONEY_TEXT], text[128];
        snprintf(text, sizeof text, "%c %s %s", r->letter[k], tier_short_name(s->tier[k]),
                 rate_of(r, s->tier[k], rate) ? rate : "");
        int need = (int)strlen(text);
        if (x > 2 && x + need > width - 1) {
            x = 2;
            row++;
        }
        if (row < rows) {
            x += draw_text(y + row, x, width - x - 1, 0, EL_DIM, text) + 3;
        }
    }
    if (row < rows && x + 14 < width) {
        draw_format(y + row, x, width - x - 1, 0, EL_DIM, "%s/GB-month", r->answer.currency);
    }
}

static void wait_text(double s, char out[32])
{
    if (s < 1) {
        snprintf(out, 32, "ms");
    } else {
        duration_format(s, out);
    }
}

/* One step: months, tier, what binds there. */
static void step_line(const struct tier_step *s, int y, int x, int width)
{
    const struct storage_rule *rule = storage_rule_find(s->tier);
    char wait[32] = "", months[32], kept[32] = "";
    if (rule) {
        wait_text(rule->latency_s, wait);
    }
    if (rule && rule->min_days) {
        snprintf(kept, sizeof kept, ", %s %d d", glyph("≥", ">="), rule->min_days);
    }
    snprintf(months, sizeof months, s->to_month - s->from_month == 1 ? "month %d" : "months %d-%d",
             s->from_month + 1, s->to_month);
    draw_format(y, x, width, -1, EL_TEXT, " %-12s %s, %s%s", months, tier_short_name(s->tier), wait,
                kept);
}

static void draw_path(const struct tiers_row *row, int y, int x, int height, int width)
{
    int end = y + height;
    y += draw_wrapped(y, x, 2, width, EL_TITLE, row->label);
    for (size_t k = 0; k < row->path->n_steps && y < end; k++) {
        step_line(&row->path->step[k], y++, x, width);
    }
    if (y < end) {
        if (row->path->saving <= 0) {
            draw_text(y++, x, width, -1, EL_DIM, " moving it saves nothing: it stays");
        } else if (row->path->break_even_month >= 0) {
            draw_format(y++, x, width, -1, EL_TEXT, " pays off in month %d",
                        row->path->break_even_month + 1);
        }
    }
    draw_wrapped(y, x, end - y < 2 ? end - y : 2, width, EL_DIM,
                 " behind the tier: wait for the first byte, days billed at least");
}

static void bar_line(const char *name, money value, money most, int y, int x, int width)
{
    char amount[MONEY_TEXT], bar[512] = "";
    int room = width - 32, cells = 0;
    size_t len = 0;
    if (room > 0 && most > 0) {
        cells = (int)lround(money_to_double(value) / money_to_double(most) * room);
    }
    for (int i = 0; i < cells && len + 4 < sizeof bar; i++) {
        len += (size_t)snprintf(bar + len, sizeof bar - len, "%s", glyph("█", "#"));
    }
    draw_format(y, x, width, -1, EL_TEXT, "%-17s %12s %s", name,
                money_format_fixed(value, 2, true, amount), bar);
}

/* What the answer is compared with: the group as it is, everything as it is, the plain policy. */
static void draw_costs(const struct tiers_result *r, const struct tiers_row *row, int y, int x,
                       int height, int width)
{
    const struct tier_answer *a = &r->answer;
    int end = y + height;
    struct {
        const char *name;
        money value, most;
        bool shown;
    } line[] = {
        {"this, as it is", row->path->baseline_cost, row->path->baseline_cost, true},
        {"this, best path", row->path->cost, row->path->baseline_cost, true},
        {"all, as it is", a->baseline, a->baseline, r->n > 1},
        {"all, lifecycle", a->policy_cost, a->baseline, a->has_policy && r->in.n_batches == 1},
        {"all, best paths", a->total, a->baseline, r->n > 1},
    };
    draw_format(y++, x, width, -1, EL_TITLE, "Cost over the time kept (%s)", a->currency);
    for (size_t i = 0; i < sizeof line / sizeof *line && y < end; i++) {
        if (line[i].shown) {
            bar_line(line[i].name, line[i].value, line[i].most, y++, x, width);
        }
    }
}

void tiers_view_group(const struct tiers_result *r, size_t at, int y, int height, int width)
{
    const struct tiers_row *row = &r->row[at];
    int left = width < 100 ? width / 2 : width * 45 / 100;
    draw_path(row, y, 1, height, left - 2);
    draw_vertical(y, left, height);
    draw_costs(r, row, y, left + 2, height, width - left - 3);
}

struct lines { /* counts all lines, draws those in view */
    size_t at, top;
    int y, end, width;
};

/* A paragraph, wrapped. */
static void put(struct lines *l, enum element e, const char *indent, const char *text)
{
    int room = l->width - (int)strlen(indent);
    char line[1024];
    while (*text && room > 0) {
        size_t n = draw_line_bytes(text, (size_t)room);
        if (l->at++ >= l->top && l->y < l->end) {
            snprintf(line, sizeof line, "%s%.*s", indent, (int)n, text);
            draw_text(l->y++, 1, l->width, -1, e, line);
        }
        text += n;
    }
}

static void put_rules(struct lines *l, const struct tier_plan *p)
{
    struct buf text;
    buf_init(&text, 1 << 16);
    for (size_t i = 0; i < p->n_rules; i++) {
        buf_clear(&text);
        tier_rule_text(&p->rule[i], &text);
        put(l, EL_TEXT, "  ", text.data ? text.data : "");
    }
    buf_release(&text);
}

size_t tiers_view_texts(const struct tiers_result *r, size_t top, int y, int height, int width)
{
    struct lines l = {.top = top, .y = y, .end = y + height, .width = width - 2};
    const struct tier_answer *a = &r->answer;
    char text[200], cost[MONEY_TEXT], gap[MONEY_TEXT];
    put(&l, EL_TITLE, "", "First steps");
    for (size_t b = 0; b < r->in.n_batches; b++) {
        for (size_t i = 0; a->plan[b] && i < a->plan[b]->n_first_steps; i++) {
            put(&l, EL_TEXT, "  ", a->plan[b]->first_step[i]);
        }
    }
    if (a->has_policy) {
        snprintf(text, sizeof text,
                 "Best plain lifecycle policy: %s %s, %s more than the best paths (L writes it)",
                 money_format_fixed(a->policy_cost, 2, true, cost), a->currency,
                 money_format_fixed(a->policy_gap, 2, true, gap));
        put(&l, EL_TITLE, "", text);
    }
    for (size_t b = 0; b < r->in.n_batches; b++) {
        if (a->plan[b]) {
            put_rules(&l, a->plan[b]);
        }
    }
    put(&l, EL_TITLE, "", "Assumed");
    for (size_t i = 0; i < r->in.n_notes; i++) {
        put(&l, EL_TEXT, "  ", r->in.note[i]);
    }
    bool told = false; /* the planner's assumptions are the same for every batch */
    for (size_t b = 0; b < r->in.n_batches; b++) {
        for (size_t i = 0; !told && a->plan[b] && i < a->plan[b]->n_notes; i++) {
            put(&l, EL_TEXT, "  ", a->plan[b]->note[i]);
        }
        told = told || a->plan[b];
        if (a->why[b]) {
            put(&l, EL_WARN, "  ", a->why[b]);
        }
    }
    return l.at;
}
