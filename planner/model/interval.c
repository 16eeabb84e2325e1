/* The 90 % interval around a predicted rate: 5 and 95 % quantiles of published / predicted, by
 * class of work, with the model left out of the fit (tests/fit/fit_throughput.py quantiles).
 * Calibrated from another measurement of the same code: quantiles of verify --calibrate on
 * throughput.json (0.82-1.10 the same GPU, 0.84-1.25 another). A stack that nobody has published
 * is wider by what stacks differ. On the rows seen, 94 % (throughput.json) and 84 %
 * (throughput-2.json) lie inside. */
#include "model_internal.h"

struct band {
    double lo, hi;
};

static struct band band_of(const struct model_job *j, const struct work *w)
{
    if (w->estimated) {
        return (struct band){0.40, 1.50}; /* five rows only: wider than their quantiles */
    }
    if (w->tokens && j->method != METHOD_FULL) {
        return (struct band){0.54, 1.20};
    }
    if (w->tokens) {
        return (struct band){0.81, 1.23};
    }
    return w->depthwise ? (struct band){0.45, 1.60} : (struct band){0.80, 1.22};
}

void model_interval(const struct model_job *j, const struct work *w, struct model_rate *out)
{
    struct band b = band_of(j, w);

    if (known_or(j->calibration, 0) > 0 && j->calibration != 1) {
        b = j->calibrated_same_gpu ? (struct band){0.80, 1.15} : (struct band){0.78, 1.30};
    } else if (!model_stack_known(j->stack)) {
        b.lo *= 0.7;
        b.hi *= 1.4;
    }
    out->lo = out->samples_per_s * b.lo;
    out->hi = out->samples_per_s * b.hi;
    /* an input limit is given, not predicted: nothing above it */
    if (out->bound == BOUND_INPUT_CPU || out->bound == BOUND_INPUT_STORAGE) {
        out->hi = out->limit[out->bound] * (b.hi > 1.2 ? 1.2 : b.hi);
    }
}
