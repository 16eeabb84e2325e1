/* What the throughput model says beside the rate: how far more GPUs help and what would have to
 * change, and how far software moves the rate. */
#include "notes.h"
#include <math.h>
#include <string.h>

/* "4 GPUs give 1.5 times one": against one GPU that is always fed. */
static void scaling_note(struct notes *o, const struct candidate *c, const struct plan *p)
{
    struct search *q = o->q;
    const struct model_rate *r = &p->rate;
    struct model_rate one = {0};
    double gpus = c->n * c->machine->gpus;
    if (gpus <= 1 || search_rate_as(q, c->kind, 1, q->s->stack, &one) != 0 ||
        !(one.samples_per_s > 0)) {
        return;
    }
    double now = r->samples_per_s / one.samples_per_s,
           next = r->next_samples_per_s / one.samples_per_s;
    if (r->bound == BOUND_INPUT_CPU && c->kind->vcpus > 0) {
        double vcpu = r->limit[BOUND_INPUT_CPU] / (c->kind->vcpus * c->n);
        note_add(o,
                 arena_printf(
                     q->arena,
                     "%g GPUs give %.1f times one: the input pipeline limits (%.0f samples/s "
                     "from each of %.0f vCPUs); %.0f vCPUs a machine, or decoding on the GPU, "
                     "would give %.1f times, then bound by %s",
                     gpus, now, vcpu, c->kind->vcpus * c->n,
                     ceil(r->next_samples_per_s / vcpu / c->n), next, bound_name(r->next_bound)));
    } else if (r->bound == BOUND_INPUT_STORAGE) {
        note_add(o, arena_printf(q->arena,
                                 "%g GPUs give %.1f times one: storage limits (%.0f MB/s); %.0f "
                                 "MB/s would give %.1f times, then bound by %s",
                                 gpus, now, c->read_bps / 1e6,
                                 r->next_samples_per_s * q->bytes_per_sample / 1e6, next,
                                 bound_name(r->next_bound)));
    } else {
        note_add(o, arena_printf(q->arena, "%g GPUs give %.1f times one", gpus, now));
    }
}

/* One GPU and one model are published with rates 2.2 times apart: software does that. */
static void software_note(struct notes *o, const struct candidate *c)
{
    static const char *const stack[] = {"stock", "tuned", "compiled"};
    struct search *q = o->q;
    double rate[3];
    for (size_t i = 0; i < 3; i++) {
        struct model_rate r = {0};
        if (search_rate_as(q, c->kind, c->n * c->machine->gpus, stack[i], &r) != 0) {
            return;
        }
        rate[i] = r.samples_per_s;
    }
    if (q->s->measured_gpu[0] == '\0') {
        note_add(o, arena_printf(q->arena,
                                 "software: %.0f samples/s with stock, %.0f with tuned, %.0f with "
                                 "compiled code on these GPUs; published rates of one model on one "
                                 "GPU lie up to 2.2 times apart (workload.stack, "
                                 "workload.measured)",
                                 rate[0], rate[1], rate[2]));
    }
}

void model_notes(struct notes *o, const struct candidate *c, const struct plan *p)
{
    if (o->q->model != NULL && o->q->s->gpu_hours <= 0) {
        scaling_note(o, c, p);
        software_note(o, c);
    }
}
