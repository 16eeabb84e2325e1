/* Details of one offer (price_details.h). */
#include "price_details.h"
#include "../widgets/draw.h"
#include "gputier/units.h"
#include <stdio.h>
#include <string.h>

static const char *words(const char *name, char out[40])
{
    snprintf(out, 40, "%s", name);
    for (char *s = out; *s; s++) {
        *s = *s == '_' ? ' ' : *s;
    }
    return out;
}

static void number_or(char out[32], float v, const char *unit)
{
    if (v == v) {
        snprintf(out, 32, "%g%s", (double)v, unit);
    } else {
        snprintf(out, 32, "unknown");
    }
}

static void draw_price(const struct catalog *c, size_t r, int y, int width)
{
    const struct catalog_offers *o = &c->offers;
    char exact[MONEY_TEXT], upfront[MONEY_TEXT + 16] = "", per_gpu[64] = "";
    const char *currency = catalog_text(c, o->currency[r]);
    if (o->price_state[r] != PRICE_KNOWN) {
        draw_text(y, 1, width - 2, -1, EL_WARN,
                  o->price_state[r] == PRICE_SOLD_OTHERWISE
                      ? "sold on request only: no price is published; it never counts as 0"
                      : "nobody publishes this price; it never counts as 0");
        return;
    }
    if (o->upfront[r]) {
        snprintf(upfront, sizeof upfront, " + %.40s up front", money_format(o->upfront[r], exact));
    }
    if (o->gpu_num[r]) {
        snprintf(per_gpu, sizeof per_gpu, "   %.4f USD per GPU-hour",
                 o->usd_per_hour[r] * o->gpu_den[r] / o->gpu_num[r]);
    }
    bool monthly = o->purchase[r] == PURCHASE_MONTHLY;
    money_format(monthly ? o->price_month[r] : o->price_per_hour[r], exact);
    draw_format(y, 1, width - 2, -1, EL_BEST, "%s %s/%s%s%s", exact, currency,
                monthly ? "month" : "h", upfront, per_gpu);
}

static void draw_machine(const struct catalog *c, size_t r, int y, int width)
{
    const struct catalog_offers *o = &c->offers;
    char vcpus[32], memory[32], nvme[32], net[32], gpu_mem[32], count[32], gpus[200];
    number_or(vcpus, o->vcpus[r], "");
    number_or(memory, o->memory_gib[r], " GiB");
    number_or(nvme, o->local_nvme_gb[r], " GB");
    number_or(net, o->network_gbps[r], " Gbit/s");
    number_or(gpu_mem, o->gpu_memory_gib[r], " GiB");
    snprintf(count, sizeof count, o->gpu_den[r] > 1 ? "%u/%u" : "%u", o->gpu_num[r], o->gpu_den[r]);
    if (o->gpu_num[r]) {
        snprintf(gpus, sizeof gpus, "%s x %s, %s each", count, catalog_text(c, o->gpu[r]), gpu_mem);
    } else {
        snprintf(gpus, sizeof gpus, "no GPU");
    }
    draw_format(y, 1, width - 2, -1, EL_TEXT, "%s  %s vCPU  %s memory  NVMe %s  network %s", gpus,
                vcpus, memory, nvme, net);
}

/* The cheapest other offer of each purchase option for the same machine in the same region. */
static void draw_others(const struct catalog *c, size_t r, int y, int height, int width)
{
    const struct catalog_offers *o = &c->offers;
    size_t best[PURCHASE_COUNT];
    int used = 0;
    for (int p = 0; p < PURCHASE_COUNT; p++) {
        best[p] = SIZE_MAX;
    }
    for (size_t i = 0; i < o->n; i++) {
        if (o->instance_type[i] != o->instance_type[r] || o->vendor[i] != o->vendor[r] ||
            o->region[i] != o->region[r] || o->price_state[i] != PRICE_KNOWN) {
            continue;
        }
        size_t *b = &best[o->purchase[i]];
        if (*b == SIZE_MAX || o->usd_per_hour[i] < o->usd_per_hour[*b]) {
            *b = i;
        }
    }
    for (int p = 0; p < PURCHASE_COUNT && used < height; p++) {
        char buy[40], factor[32] = "";
        size_t i = best[p];
        if (p == (int)o->purchase[r] || i == SIZE_MAX) {
            continue;
        }
        if (o->price_state[r] == PRICE_KNOWN && o->usd_per_hour[r] > 0) {
            snprintf(factor, sizeof factor, "x %.2f", o->usd_per_hour[i] / o->usd_per_hour[r]);
        }
        draw_format(y + used++, 1, width - 2, -1, EL_TEXT, "here %-18s %12.4f USD/h  %s",
                    words(purchase_name((enum purchase)p), buy), o->usd_per_hour[i], factor);
    }
    if (!used && height > 0) {
        draw_text(y, 1, width - 2, -1, EL_DIM, "no other way of buying it is known here");
    }
}

/* Rows, most needed first: name, price, machine, source; with more room the stop rate, the note and
 * the other ways of buying. */
void price_details(const struct ui *ui, size_t r, int y, int height, int width)
{
    const struct catalog *c = ui->catalog;
    const struct catalog_offers *o = &c->offers;
    char date[16], age[32], buy[40];
    draw_format(y, 1, width - 2, -1, EL_TITLE, "%s  %s  %s%s%s  %s",
                catalog_text(c, o->instance_type[r]), catalog_text(c, o->vendor[r]),
                catalog_text(c, o->region[r]), o->zone[r] ? "/" : "", catalog_text(c, o->zone[r]),
                words(purchase_name((enum purchase)o->purchase[r]), buy));
    draw_price(c, r, y + 1, width);
    draw_machine(c, r, y + 2, width);
    draw_format(y + 3, 1, width - 2, -1, EL_DIM,
                "%s, as of %s (%s old), %s, SKU %s; Linux, before tax",
                catalog_text(c, o->source[r]), date_format(o->as_of[r], date),
                ui_age(ui, o->as_of[r], age), origin_name((enum origin)o->origin[r]),
                o->sku[r] ? catalog_text(c, o->sku[r]) : "not given");
    if (height < 8) {
        return;
    }
    bool low = catalog_under_floor(c, r);
    draw_format(y + 4, 1, width - 2, -1, low ? EL_WARN : EL_DIM, "%s%s",
                low ? "WARNING: too low for such a GPU, see prices check. " : "",
                catalog_text(c, o->note[r]));
    draw_others(c, r, y + 5, height - 5, width);
}
