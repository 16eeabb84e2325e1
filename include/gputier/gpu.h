/* Facts about GPUs and models (data/gpu_models.csv, data/models.csv): sheet figures, never
 * measured ones. NAN = the sheet does not say. Dense rates; sparse peaks are never used. */
#ifndef GPUTIER_GPU_H
#define GPUTIER_GPU_H
#include <stdbool.h>
#include <stdint.h>

struct gpu_spec {
    const char *model; /* product name, e.g. "A100-80GB SXM4" */
    const char *maker, *arch;
    const char *form; /* PCIe, SXM2, SXM4, SXM, NVL or "" */
    double compute_capability;
    double fp64_tflops, fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops, fp8_tflops, int8_tops;
    double mem_gb, bandwidth_gbs, l2_mb, nvlink_gbs, tdp_w;
    int launch_year, mig_slices;
    const char *pcie, *note, *source;
};
struct model_profile {
    const char *name, *family, *task;
    double parameters, active_parameters;
    double layers, hidden, heads, kv_heads, ffn, vocab, seq_len, image_px, head_dim;
    double bytes_per_sample_in, flops_per_sample_fwd; /* flops as models.csv states them */
    double activation_elements; /* forward activations per sample, NAN = derive from dimensions */
    bool tied_embeddings;
    const char *source;
};
#endif
