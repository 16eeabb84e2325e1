/* What the kept parts of a search depend on, written out: two searches with equal text have equal
 * parts. A field that is not written must not be read by that part; tests/unit/search_again.c
 * changes every field that a scenario has and compares with a plan from nothing. */
#include "again.h"
#include <string.h>

/* Whoever adds a field to a scenario says here which part it belongs to. */
_Static_assert(sizeof(void *) != 8 || sizeof(struct scenario) == 640,
               "a scenario has other fields than again_key knows");

static void add(struct buf *b, const void *p, size_t n)
{
    if (n > 0) {
        (void)buf_add(b, p, n); /* a failed buffer stays failed: nothing is kept then */
    }
}

static void text(struct buf *b, const char *s)
{
    add(b, s, strlen(s) + 1);
}

#define FIELD(b, x) add(b, &(x), sizeof(x))

static void machines(struct buf *b, const struct scenario *s)
{
    FIELD(b, s->n_discounts);
    for (size_t i = 0; i < s->n_discounts; i++) {
        text(b, s->discounts[i].vendor);
        FIELD(b, s->discounts[i].purchase);
        FIELD(b, s->discounts[i].factor);
    }
    FIELD(b, s->spot_max_price_factor);
    FIELD(b, s->interruption_per_h);
    FIELD(b, s->spread_types);
    FIELD(b, s->spread_zones);
}

static void workload(struct buf *b, const struct scenario *s)
{
    FIELD(b, s->kind);
    text(b, s->gpu_hours_gpu);
    FIELD(b, s->gpu_hours);
    text(b, s->model);
    FIELD(b, s->flops_per_sample);
    FIELD(b, s->parameters);
    FIELD(b, s->bytes_per_sample);
    FIELD(b, s->activation_bytes);
    FIELD(b, s->epochs);
    FIELD(b, s->samples);
    FIELD(b, s->tokens);
    FIELD(b, s->seq_len);
    FIELD(b, s->batch_per_gpu);
    FIELD(b, s->gradient_accumulation);
    FIELD(b, s->precision);
    FIELD(b, s->optimizer);
    FIELD(b, s->method);
    FIELD(b, s->lora_params);
    FIELD(b, s->sharding);
    FIELD(b, s->recompute);
    text(b, s->stack);
    text(b, s->measured_gpu);
    FIELD(b, s->measured_gpus);
    FIELD(b, s->measured_samples_per_s);
    FIELD(b, s->decode_per_vcpu);
    FIELD(b, s->gpu_decode);
    FIELD(b, s->checkpoint_bytes);
    FIELD(b, s->checkpoint_every);
    FIELD(b, s->checkpoint_value);
    FIELD(b, s->setup_s);
    FIELD(b, s->gpus_min);
    FIELD(b, s->use_horizon_s);
    FIELD(b, s->use_share_lo);
    FIELD(b, s->use_share_hi);
    FIELD(b, s->use_owned);
    FIELD(b, s->start_wait_on_demand_s);
    text(b, s->spot_policy);
    FIELD(b, s->start_wait_spot_s);
    FIELD(b, s->wait_before_fallback_s);
}

static void data(struct buf *b, const struct scenario *s)
{
    FIELD(b, s->n_data);
    for (size_t i = 0; i < s->n_data; i++) {
        const struct scenario_data *d = &s->data[i];
        text(b, d->name);
        FIELD(b, d->role);
        FIELD(b, d->size_bytes);
        FIELD(b, d->files);
        text(b, d->vendor);
        text(b, d->region);
        text(b, d->tier);
        FIELD(b, d->keep_months);
        FIELD(b, d->growth_bytes_per_month);
        FIELD(b, d->reads_per_month);
    }
}

/* Not written, as the selection reads them: vendors, regions, gpu_models, gpus_max, purchase; as
 * only the pass and what follows it read them: deadline, confidence, budget, use_hourly, scores,
 * name, file, defaults; and all of serving, which plan refuses. */
void again_key(struct buf *b, const struct search *q, enum again_part part)
{
    FIELD(b, q->c);
    FIELD(b, q->c->generation);
    FIELD(b, q->c->as_of);
    FIELD(b, q->o->now);
    machines(b, q->s);
    if (part == AGAIN_OPENED) {
        FIELD(b, q->o->seed);
        FIELD(b, q->o->runs);
        workload(b, q->s);
        data(b, q->s);
    }
}
