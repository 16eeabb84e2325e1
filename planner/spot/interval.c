/* Checkpoint intervals (spot-model.md section 3): Young 1974, Daly's first order and 2006 formula,
 * and the exact optimum of the exponential model, M (1 + W0(-exp(-1 - delta/M))). */
#include "gputier/spot.h"
#include <math.h>

/* -(x + log(1 - x)) = x^2/2 + x^3/3 + ...; the series where the closed form cancels. */
static double excess(double x)
{
    if (x > 0.2) {
        return -(x + log1p(-x));
    }
    double sum = 0, power = x * x;
    for (int k = 2; k < 40 && power > sum * 1e-18; k++) {
        sum += power / k;
        power *= x;
    }
    return sum;
}

/* x = 1 + W0(-exp(-1 - r)) in (0, 1): the root of excess(x) = r, r > 0. */
static double optimum(double r)
{
    if (r > 1) {
        double y = exp(-1 - r); /* 1 - x = exp(-1 - r + (1 - x)), a contraction */
        for (int i = 0; i < 60; i++) {
            y = exp(-1 - r + y);
        }
        return 1 - y;
    }
    double x = sqrt(2 * r) * (1 + sqrt(r / 2) / 3 + r / 18) - r; /* Daly */
    x = x > 0.95 ? 0.95 : x;
    double step = 1; /* Newton: what is left after a step of 1e-9 x is below a double's digits */
    for (int i = 0; i < 20 && fabs(step) > 1e-9 * x; i++) {
        step = (excess(x) - r) * (1 - x) / x;
        x -= step;
        x = x > 1 - 1e-12 ? 1 - 1e-12 : x;
    }
    return x;
}

int ckpt_interval(double delta_h, double mtbf_h, struct ckpt_interval *out, struct gt_error *err)
{
    if (!(delta_h >= 0) || !isfinite(delta_h)) {
        return gt_fail(err, GT_ERANGE, "delta_h", "%g is not a number of hours from 0", delta_h);
    }
    if (!(mtbf_h > 0) || !isfinite(mtbf_h)) {
        return gt_fail(err, GT_ERANGE, "mtbf_h", "%g is not a number of hours above 0", mtbf_h);
    }
    double r = delta_h / (2 * mtbf_h);
    out->young_h = sqrt(2 * delta_h * mtbf_h);
    out->daly_first_h = out->young_h - delta_h;
    out->daly_h =
        delta_h < 2 * mtbf_h ? out->young_h * (1 + sqrt(r) / 3 + r / 9) - delta_h : mtbf_h;
    out->exact_h = delta_h > 0 ? mtbf_h * optimum(delta_h / mtbf_h) : 0;
    return 0;
}
