/* Vast.ai: offers of single hosts, each with a price of its own (docs/pricing-sources.md section 5
 * and 5.1). The price is the machine's without disk (dph_base): dph_total holds a disk of 5 or
 * 8 GB that the vendor's own tools add. The lowest bid that is served now is the spot price. GPU
 * memory is what the driver leaves, of one GPU; CPU and memory are shares of a host.
 *
 * A single host tells nothing over time. The series are of pools, "8x RTX 4090" in a country: how
 * many hosts are free, and the lowest bid among them. */
#include "vast.h"
#include "../http/http.h"
#include "cloud.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT  4000                /* rows asked for; an answer of so many is a random sample */
#define ID_END ((uint64_t)1 << 40) /* past every offer */

const char *vast_region(const char *place, char out[64])
{
    const char *comma = strrchr(place, ',');
    const char *p = comma ? comma + 1 : place;
    size_t n = 0;
    p += strspn(p, " ");
    while (*p != '\0' && n < 60) {
        out[n++] = (char)tolower((unsigned char)*p++);
    }
    while (n > 0 && out[n - 1] == ' ') {
        n--;
    }
    out[n] = '\0';
    return n > 0 ? out : CLOUD_ANY_REGION;
}

/* Seconds since 1970 as the vendor prints them, with a fraction or without. */
static int64_t seconds(const char *text)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    return end == text || (*end != '\0' && *end != '.') || v <= 0 || v > 253402300799LL
               ? GT_TIME_NONE
               : (int64_t)v;
}

#define POOLS 8192
struct pools {
    struct intern *names; /* "8x RTX 4090\x1fus" */
    struct intern *hosts; /* counted: a range that was cut is answered again in its parts */
    size_t n;
    struct pool {
        int32_t free;
        money bid; /* -1: none states one */
    } pool[POOLS];
};

static int count_host(struct records *r, const struct cloud_machine *m, const char *region)
{
    struct pools *all = r->state;
    char name[320];
    money bid = -1;
    if (!all) {
        r->state = all = arena_alloc(r->arena, sizeof *all);
        if (!all || !(all->names = intern_new(r->arena)) || !(all->hosts = intern_new(r->arena))) {
            return GT_ENOMEM;
        }
    }
    uint32_t seen = intern_count(all->hosts);
    if (intern_add(all->hosts, m->o.instance_type, strlen(m->o.instance_type)) == UINT32_MAX) {
        return GT_ENOMEM;
    }
    if (intern_count(all->hosts) == seen) {
        return 0;
    }
    if (m->o.gpu_num < 1 || !m->o.gpu || !src_name_ok(m->o.gpu) || !src_name_ok(region)) {
        return 0;
    }
    snprintf(name, sizeof name, "%dx %.200s\x1f%.60s", m->o.gpu_num, m->o.gpu, region);
    uint32_t id = intern_add(all->names, name, strlen(name));
    if (id == UINT32_MAX) {
        return GT_ENOMEM;
    }
    if (id >= POOLS) { /* ids count from 1 */
        return 0;
    }
    struct pool *p = &all->pool[id];
    if (src_price(m->spot, &bid) != 0 || bid == 0) {
        bid = -1;
    }
    p->bid = p->free == 0 || (bid >= 0 && (p->bid < 0 || bid < p->bid)) ? bid : p->bid;
    p->free++;
    all->n = id > all->n ? id : all->n;
    return 0;
}

static int end(struct records *r, struct gt_error *err)
{
    const struct pools *all = r->state;
    int rc = 0;
    staging_series_complete(r->ctx->staging);
    for (uint32_t id = 1; all && rc == 0 && id <= all->n; id++) {
        char type[320];
        struct cloud_machine m = cloud_machine(r->ctx, "vast");
        snprintf(type, sizeof type, "%s", intern_text(all->names, id));
        char *region = strchr(type, '\x1f');
        *region++ = '\0';
        m.o.instance_type = type;
        rc = cloud_put_capacity(r, &m, region, all->pool[id].bid, all->pool[id].free, err);
    }
    return rc;
}

static int entry(struct records *r, int list, const struct rec *e, struct gt_error *err)
{
    (void)list;
    char region[64];
    struct cloud_machine m = cloud_machine(r->ctx, "vast");
    m.o.instance_type = m.o.sku = rec_text(e, "id");
    m.gpu = rec_text(e, "gpu_name");
    double mib = src_figure(rec_text(e, "gpu_ram"));
    m.gpu_memory = mib > 0 ? mib / 1024 : -1;
    if (src_gpu_count(rec_text(e, "num_gpus"), &m.o.gpu_num, &m.o.gpu_den) != 0) {
        return records_bad(r, "num_gpus", rec_text(e, "num_gpus"), err);
    }
    double cores = src_figure(rec_text(e, "cpu_cores"));
    double share = src_figure(rec_text(e, "cpu_cores_effective"));
    double ram = src_figure(rec_text(e, "cpu_ram"));
    m.o.vcpus = share > 0 ? share : -1;
    m.o.memory_gib = share > 0 && cores > 0 && ram > 0 ? ram / 1024 * share / cores : -1;
    m.price = rec_text(e, "dph_base");
    m.spot = rec_text(e, "min_bid");
    m.o.valid_from = seconds(rec_text(e, "start_date"));
    m.o.valid_to = seconds(rec_text(e, "end_date"));
    if (m.o.valid_from != GT_TIME_NONE && m.o.valid_to != GT_TIME_NONE &&
        m.o.valid_to <= m.o.valid_from) {
        return records_bad(r, "end_date", rec_text(e, "end_date"), err);
    }
    m.o.note = "without disk, which the host charges by the GB";
    if (rec_true(e, "rented") ||
        (rec_get(e, "rentable") && !rec_true(e, "rentable"))) { /* somebody has it */
        src_skip(r->ctx, "rented by others", 1);
        return 0;
    }
    cloud_set_gpu(&m);
    if (count_host(r, &m, vast_region(rec_text(e, "geolocation"), region)) != 0) {
        return gt_fail(err, GT_ENOMEM, r->ctx->name, "out of memory");
    }
    return cloud_put(r, &m, vast_region(rec_text(e, "geolocation"), region), err);
}

static const struct records_shape shape = {
    .list = {"offers", ""}, .entry = entry, .end = end, .regions_vary = true, .pages = true};

struct range {
    uint64_t from, to; /* ids, half open */
};
static int ask(struct fetch_list *l, uint64_t from, uint64_t to, struct gt_error *err);

/* A full answer is a sample of its range: the range is cut in the middle of the ids that came and
 * both parts are asked for as well (offers that come twice have one key and count once). */
static int after(struct fetch_list *l, void *ctx, const char *body, size_t len,
                 struct gt_error *err)
{
    static const char word[] = "\"ask_contract_id\":";
    const struct range *g = ctx;
    uint64_t low = UINT64_MAX, high = 0;
    size_t n = 0;
    const char *end = body + len;
    for (const char *p = body; (p = memmem(p, (size_t)(end - p), word, sizeof word - 1)) != NULL;
         n++) {
        p += sizeof word - 1;
        uint64_t id = strtoull(p, NULL, 10);
        low = id < low ? id : low;
        high = id > high ? id : high;
    }
    if (n < LIMIT) {
        return 0;
    }
    uint64_t middle = low + (high - low) / 2 + 1;
    if (low < g->from || high >= g->to || low == high) {
        return gt_fail(err, GT_EHTTP, fetch_base(fetch_list_run(l)),
                       "a sample of the offers came where all were asked for");
    }
    int rc = ask(l, g->from, middle, err);
    return rc ? rc : ask(l, middle, g->to, err);
}

static int ask(struct fetch_list *l, uint64_t from, uint64_t to, struct gt_error *err)
{
    struct fetch_run *run = fetch_list_run(l);
    struct arena *a = fetch_arena(run);
    struct range *g = arena_alloc(a, sizeof *g);
    const char *header[3] = {"Content-Type: application/json"};
    char *post = arena_printf(
        a,
        "{\"limit\":%d,\"type\":\"on-demand\",\"rentable\":{\"eq\":true},"
        "\"ask_contract_id\":{\"gte\":%llu,\"lt\":%llu},\"order\":[[\"ask_contract_id\",\"asc\"]]}",
        LIMIT, (unsigned long long)from, (unsigned long long)to);
    int rc = key_line(run, "Authorization: Bearer ", &header[1], err);
    if (rc != 0 || !g || !post) {
        return rc ? rc : gt_fail(err, GT_ENOMEM, "", "out of memory");
    }
    *g = (struct range){from, to};
    struct fetch_request q = {.url = fetch_base(run), .post = post, .header = header};
    return fetch_list_ask(l, &q, after, g, err);
}

static int fetch(struct fetch_run *run, struct gt_error *err)
{
    struct fetch_list *l = NULL;
    int rc = fetch_list_begin(run, "", NULL, &l, err);
    return rc ? rc : ask(l, 0, ID_END, err);
}

const struct source_def source_vast = {
    .id = "vast",
    .vendor = "vast",
    .default_url = "https://console.vast.ai/api/v0/bundles/",
    .default_on = true,
    .expected_bytes = 12000000,
    .help = "Vast.ai's offers: each host at its own price, and the bid that is served now",
    .known_by = {{"\"dph_base\"", "\"gpu_name\""}},
    .records = &shape,
    .parse_feed = records_feed,
    .parse_next = records_next,
    .parse_close = records_close,
    .parse_abort = records_abort,
    .fetch = fetch,
};
