/* Prices: every offer, filtered, sorted, searched; details of the selected one below. */
#include "../widgets/draw.h"
#include "../widgets/list.h"
#include "../widgets/term.h"
#include "gputier/csvw.h"
#include "gputier/text.h"
#include "gputier/units.h"
#include "offer_filter.h"
#include "price_details.h"
#include "screen.h"
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column { /* in the order of enum offer_sort */
              C_VENDOR,
              C_TYPE,
              C_GPU,
              C_COUNT,
              C_REGION,
              C_BUY,
              C_PER_GPU,
              C_PER_HOUR,
              C_AGE,
              C_VCPUS,
              C_MEMORY,
              C_END
};
static const struct column_def {
    const char *title;
    int width, min_screen; /* shown from this screen width on */
    bool right;
} columns[C_END] = {{"VENDOR", 7, 0, false},        {"INSTANCE TYPE", 20, 0, false},
                    {"GPU", 10, 50, false},         {"N", 3, 0, true},
                    {"REGION/ZONE", 14, 66, false}, {"BUY", 10, 60, false},
                    {"$/GPU-H", 9, 0, true},        {"$/H", 9, 92, true},
                    {"AGE", 5, 98, true},           {"VCPU", 5, 130, true},
                    {"MEM GiB", 8, 130, true}};
/* Purchase options in ten cells. */
static const char *const buy_short[PURCHASE_COUNT] = {
    [PURCHASE_ON_DEMAND] = "on demand",        [PURCHASE_SPOT] = "spot",
    [PURCHASE_LOW_PRIORITY] = "low prio",      [PURCHASE_MONTHLY] = "monthly",
    [PURCHASE_RESERVED_1Y] = "reserve 1y",     [PURCHASE_RESERVED_3Y] = "reserve 3y",
    [PURCHASE_SAVINGS_PLAN_1Y] = "savings 1y", [PURCHASE_SAVINGS_PLAN_3Y] = "savings 3y",
    [PURCHASE_COMMITTED_USE_1Y] = "commit 1y", [PURCHASE_COMMITTED_USE_3Y] = "commit 3y",
    [PURCHASE_CAPACITY_BLOCK] = "block",       [PURCHASE_DEV_TEST] = "dev/test",
};

static const struct screen_key keys[] = {
    {"Enter", "details", true, "details of the selected offer, on and off"},
    {"f", "filter", true, "filter: words, or vendor= gpu= gpus=4-8 region= zone= type= buy= max="},
    {"x", "clear", true, "clear the filter"},
    {"/", "find", true, "find in the rows shown"},
    {"n N", "next, previous match", false, NULL},
    {"s", "sort", true, "sort by the next column"},
    {"< >", "sort by the column to the left, right", false, NULL},
    {"r", "reverse the order", false, NULL},
    {"b", "price per GPU-hour, hour, month", false, NULL},
    {"y", "copy the row", false, NULL},
    {"w", "write CSV", true, "write the rows as shown to a CSV file"},
    {NULL, NULL, false, NULL}};

struct prices {
    struct offer_view view; /* rows that pass the filter, in order */
    struct list list;
    char find[PROMPT_MAX], filter_before[PROMPT_MAX];
    size_t find_from;
    bool details;
    int widths[C_END]; /* as drawn last; 0 = hidden */
    int basis;         /* 0 GPU-hour, 1 hour, 2 month */
};

static int open_screen(struct ui *ui, void **state, struct gt_error *err)
{
    struct prices *p = calloc(1, sizeof *p);
    if (!p || offer_view_init(&p->view, ui->catalog)) {
        free(p);
        return gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    p->details = true;
    offer_view_filter(&p->view, "");
    *state = p;
    return 0;
}

static void close_screen(struct ui *ui, void *state)
{
    struct prices *p = state;
    (void)ui;
    offer_view_release(&p->view);
    free(p);
}

static const char *basis_title(const struct prices *p)
{
    static const char *const titles[] = {"$/GPU-H", "$/H", "$/MONTH"};
    return titles[p->basis];
}

static void price_text(const struct prices *p, const struct catalog *c, size_t row, int basis,
                       char out[40])
{
    double v = c->offers.usd_per_hour[row];
    (void)p;
    if (c->offers.price_state[row] != PRICE_KNOWN || !(v == v)) {
        snprintf(out, 40, "%s",
                 c->offers.price_state[row] == PRICE_SOLD_OTHERWISE ? "by request" : "no price");
        return;
    }
    if (basis == 0 && c->offers.gpu_num[row]) {
        v = v * c->offers.gpu_den[row] / c->offers.gpu_num[row];
    } else if (basis == 2) {
        v *= GT_HOURS_PER_MONTH;
    }
    snprintf(out, 40, "%.*f", v >= 10000 ? 0 : 3, v);
}

static void number_or_dash(char out[160], float v)
{
    if (v == v) {
        snprintf(out, 160, "%g", (double)v);
    } else {
        snprintf(out, 160, "-");
    }
}

static void cell(const struct ui *ui, const struct prices *p, size_t row, enum column col,
                 char out[160])
{
    const struct catalog *c = ui->catalog;
    const struct catalog_offers *o = &c->offers;
    char age[32];
    switch (col) {
    case C_VENDOR:
        snprintf(out, 160, "%s", catalog_text(c, o->vendor[row]));
        break;
    case C_TYPE:
        snprintf(out, 160, "%s", catalog_text(c, o->instance_type[row]));
        break;
    case C_GPU:
        snprintf(out, 160, "%s", o->gpu[row] ? catalog_text(c, o->gpu[row]) : "none");
        break;
    case C_COUNT:
        if (o->gpu_num[row] == 0 && o->gpu[row]) { /* nobody states how many */
            snprintf(out, 160, "?");
            break;
        }
        snprintf(out, 160, o->gpu_den[row] > 1 ? "%u/%u" : "%u", o->gpu_num[row], o->gpu_den[row]);
        break;
    case C_REGION:
        snprintf(out, 160, "%s%s%s", catalog_text(c, o->region[row]), o->zone[row] ? "/" : "",
                 catalog_text(c, o->zone[row]));
        break;
    case C_BUY:
        snprintf(out, 160, "%s", buy_short[o->purchase[row]]);
        break;
    case C_VCPUS:
        number_or_dash(out, o->vcpus[row]);
        break;
    case C_MEMORY:
        number_or_dash(out, o->memory_gib[row]);
        break;
    case C_PER_GPU:
        price_text(p, c, row, p->basis, out);
        break;
    case C_PER_HOUR:
        price_text(p, c, row, 1, out);
        break;
    default:
        snprintf(out, 160, "%s", ui_age(ui, o->as_of[row], age));
        break;
    }
}

/* Widths for this screen: columns drop from the least needed; what is left over goes to the type
 * and the region. */
static void layout(int width, int widths[C_END])
{
    int used = 2;
    for (int i = 0; i < C_END; i++) {
        widths[i] = width >= columns[i].min_screen ? columns[i].width : 0;
        used += widths[i] ? widths[i] + 1 : 0;
    }
    int spare = width - used + 1;
    if (spare < 0) {
        widths[C_TYPE] = widths[C_TYPE] + spare < 8 ? 8 : widths[C_TYPE] + spare;
        return;
    }
    int more = spare < 8 ? spare : 8;
    widths[C_TYPE] += more;
    spare -= more;
    more = widths[C_REGION] ? (spare < 12 ? spare : 12) : 0;
    widths[C_REGION] += more;
    spare -= more;
    widths[C_GPU] += widths[C_GPU] ? (spare < 8 ? spare : 8) : 0;
}

static void draw_table(struct ui *ui, struct prices *p, int y, int height, int width)
{
    int *widths = p->widths, x = 2;
    layout(width, widths);
    for (int i = 0; i < C_END; i++) {
        if (!widths[i]) {
            continue;
        }
        const char *mark = (int)p->view.sort != i ? ""
                           : p->view.reverse      ? glyph("▼", "v")
                                                  : glyph("▲", "^");
        draw_format(y, x, widths[i], columns[i].right ? 1 : -1, EL_HEADER, "%s%s",
                    i == C_PER_GPU ? basis_title(p) : columns[i].title, mark);
        x += widths[i] + 1;
    }
    for (int r = 0; r < height - 1; r++) {
        size_t at = p->list.top + (size_t)r;
        if (at >= p->view.n) {
            break;
        }
        bool selected = at == p->list.at;
        size_t row = p->view.row[at];
        enum element e = selected ? EL_SELECTED : EL_TEXT;
        if (selected) {
            draw_fill(y + 1 + r, 0, width, e);
            draw_text(y + 1 + r, 0, 1, 0, e, glyph("▶", ">"));
        }
        x = 2;
        for (int i = 0; i < C_END; i++) {
            char text[160];
            if (!widths[i]) {
                continue;
            }
            cell(ui, p, row, (enum column)i, text);
            draw_text(y + 1 + r, x, widths[i], columns[i].right ? 1 : -1, e, text);
            x += widths[i] + 1;
        }
    }
}

static void draw(struct ui *ui, void *state, int y, int height, int width)
{
    struct prices *p = state;
    int details = !p->details || height < 16 ? 0 : height >= 32 ? 10 : 5;
    int rows = height - 2 - details;
    if (p->view.filter[0]) {
        draw_format(y, 1, width - 2, -1, EL_TITLE, "%zu of %zu offers for  %s  [x clears]",
                    p->view.n, ui->catalog->offers.n, p->view.filter);
    } else {
        draw_format(y, 1, width - 2, -1, EL_TITLE,
                    "%zu offers; f filters: h100 8 spot, vendor=aws gpus=4-8 max=3", p->view.n);
    }
    draw_rule(y + 1, 0, width);
    list_resize(&p->list, p->view.n, rows > 1 ? (size_t)rows - 1 : 1);
    draw_table(ui, p, y + 2, rows, width);
    if (p->view.n == 0) {
        draw_format(y + 4, 2, width - 4, 0, EL_WARN, "no offer passes: %s",
                    p->view.problem[0] ? p->view.problem : "there are no offers");
    } else if (details) {
        draw_rule(y + height - details, 0, width);
        price_details(ui, p->view.row[p->list.at], y + height - details + 1, details - 1, width);
    }
}

static void filter_changed(struct ui *ui, void *state, const char *text, bool final)
{
    struct prices *p = state;
    (void)ui;
    (void) final;
    offer_view_filter(&p->view, text ? text : p->filter_before);
    p->list.at = p->list.top = 0;
}

static bool row_matches(const struct ui *ui, const struct prices *p, size_t at)
{
    for (int i = 0; i <= C_BUY; i++) {
        char text[160];
        cell(ui, p, p->view.row[at], (enum column)i, text);
        if (strcasestr(text, p->find)) {
            return true;
        }
    }
    return false;
}

static void find_next(struct ui *ui, struct prices *p, size_t from, bool forward)
{
    for (size_t k = 0; p->find[0] && k < p->view.n; k++) {
        size_t at = forward ? (from + k) % p->view.n : (from + p->view.n - k) % p->view.n;
        if (row_matches(ui, p, at)) {
            p->list.at = at;
            list_resize(&p->list, p->view.n, p->list.page);
            return;
        }
    }
    ui_message(ui, "'%.60s' is in no row", p->find);
}

static void find_changed(struct ui *ui, void *state, const char *text, bool final)
{
    struct prices *p = state;
    (void) final;
    ui_message(ui, "%s", "");
    if (!text) {
        p->list.at = p->find_from;
        return;
    }
    snprintf(p->find, sizeof p->find, "%s", text);
    find_next(ui, p, p->find_from, true);
}

static void write_view(struct ui *ui, void *state, const char *path, bool final)
{
    struct prices *p = state;
    struct buf b;
    struct csvw w;
    struct gt_error err = {0};
    if (!final || !path || !path[0]) {
        return;
    }
    buf_init(&b, 256U << 20);
    csvw_init(&w, &b);
    offer_view_csv(&p->view, &w);
    if (csvw_finish(&w) || app_write_file(path, b.data, b.len, &err)) {
        ui_error(ui, &err);
    } else {
        ui_message(ui, "wrote %zu rows to %s", p->view.n, path);
    }
    buf_release(&b);
}

/* To $GPUTIER_CLIP when that names a file, else to the terminal's clipboard. What is pasted later
 * must not hold control characters of a price list. */
static void copy_row(struct ui *ui, struct prices *p)
{
    struct buf b;
    struct gt_error err = {0};
    char text[160];
    const char *clip = getenv("GPUTIER_CLIP");
    if (!p->view.n) {
        return;
    }
    buf_init(&b, 1 << 16);
    for (int i = 0; i < C_END; i++) {
        cell(ui, p, p->view.row[p->list.at], (enum column)i, text);
        buf_adds(&b, i ? "\t" : "");
        text_safe(&b, text, strlen(text), false);
    }
    if (b.failed || !b.data) {
        ui_message(ui, "out of memory");
    } else if (clip && *clip) {
        if (app_write_file(clip, b.data, b.len, &err)) {
            ui_error(ui, &err);
        } else {
            ui_message(ui, "copied to %s: %s", clip, b.data);
        }
    } else {
        ui_message(ui,
                   term_copy(b.data) ? "copied (if your terminal allows OSC 52): %s"
                                     : "too long to copy: %s",
                   b.data);
    }
    buf_release(&b);
}

/* The next shown column to the right (1) or left (-1). */
static void sort_by(struct prices *p, int step)
{
    int column = (int)p->view.sort;
    do {
        column = (column + step + C_END) % C_END;
    } while (!p->widths[column] && column != (int)p->view.sort);
    offer_view_sort(&p->view, (enum offer_sort)column, p->view.reverse);
    p->list.at = p->list.top = 0;
}

static bool key(struct ui *ui, void *state, int k, bool is_key)
{
    struct prices *p = state;
    if (list_key(&p->list, k, is_key)) {
        return true;
    }
    if (is_key) {
        return false;
    }
    switch (k) {
    case 'f':
        snprintf(p->filter_before, sizeof p->filter_before, "%s", p->view.filter);
        ui_ask(ui, "filter: ", p->view.filter, true, filter_changed, p);
        return true;
    case 'x':
        filter_changed(ui, p, "", true);
        return true;
    case '/':
        p->find_from = p->list.at;
        ui_ask(ui, "find: ", "", true, find_changed, p);
        return true;
    case 'n':
        find_next(ui, p, p->list.at + 1, true);
        return true;
    case 'N':
        find_next(ui, p, p->list.at + p->view.n - 1, false);
        return true;
    case 's':
    case '>':
        sort_by(p, 1);
        return true;
    case '<':
        sort_by(p, -1);
        return true;
    case 'r':
        offer_view_sort(&p->view, p->view.sort, !p->view.reverse);
        return true;
    case 'b':
        p->basis = (p->basis + 1) % 3;
        return true;
    case '\r':
    case '\n':
        p->details = !p->details;
        return true;
    case 'y':
        copy_row(ui, p);
        return true;
    case 'w':
        ui_ask_path(ui, "write CSV to: ", "prices.csv", write_view, p);
        return true;
    default:
        return false;
    }
}

const struct screen_ops screen_prices = {.digit = '1',
                                         .name = "Prices",
                                         .keys = keys,
                                         .open = open_screen,
                                         .draw = draw,
                                         .key = key,
                                         .close = close_screen};
