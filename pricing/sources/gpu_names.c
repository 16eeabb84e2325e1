/* GPU names as vendors and catalogues write them, to the models of the GPU table
 * (docs/gpu-specs.csv). A name without a form is settled by the instance type where that tells,
 * else PCIe is taken and said so: it is the slower of the two. */
#include "gpu_names.h"
#include <ctype.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *model;
    float memory_gb;
} models[] = {
    {"K80", 12},
    {"M60", 8},
    {"P4", 8},
    {"P40", 24},
    {"P100-16GB PCIe", 16},
    {"P100-16GB SXM2", 16},
    {"V100-16GB PCIe", 16},
    {"V100-16GB SXM2", 16},
    {"V100-32GB SXM2", 32},
    {"V100-32GB PCIe", 32},
    {"T4", 16},
    {"T4G", 16},
    {"RTX 2080 Ti", 11},
    {"Quadro RTX 6000", 24},
    {"Quadro RTX 8000", 48},
    {"RTX 3090", 24},
    {"RTX 4090", 24},
    {"RTX 5090", 32},
    {"A2", 16},
    {"A10", 24},
    {"A10G", 24},
    {"A16", 16},
    {"A30", 24},
    {"A40", 48},
    {"A100-40GB PCIe", 40},
    {"A100-80GB PCIe", 80},
    {"A100-40GB SXM4", 40},
    {"A100-80GB SXM4", 80},
    {"RTX A4000", 16},
    {"RTX A5000", 24},
    {"RTX A6000", 48},
    {"L4", 24},
    {"L40", 48},
    {"L40S", 48},
    {"RTX 6000 Ada", 48},
    {"H100 PCIe", 80},
    {"H100 SXM", 80},
    {"H100 NVL", 94},
    {"H200 SXM", 141},
    {"GH200", 96},
    {"B200", 180},
    {"GB200", 186},
    {"B300", 288},
    {"RTX PRO 6000 BSE", 96},
    {"RTX PRO 4500 BSE", 32},
    {"Radeon Pro V520", 8},
    {"MI25", 16},
    {"MI100", 32},
    {"MI210", 64},
    {"MI250X", 128},
    {"MI300X", 192},
    {"MI325X", 256},
    {"MI355X", 288},
    {"Gaudi", 32},
    {"Gaudi2", 96},
    {"Gaudi3", 128},
    {"Inferentia1", 8},
    {"Inferentia2", 32},
    {"Trainium1", 32},
    {"Trainium2", 96},
    {"Qualcomm AI100", 16},
    {"TPU v2", 16},
    {"TPU v3", 32},
    {"TPU v4", 32},
    {"TPU v5e", 16},
    {"TPU v5p", 95},
    {"TPU v6e", 32},
    {"RTX 3090 Ti", 24},
    {"H100 SXM 96GB", 96},
    {"MI250", 128},
};

/* First match wins. name: letters and digits only, lower case, makers' names dropped.
 * type: a piece of the instance type (lower case), NULL = any. */
static const struct {
    const char *name, *type;
    float memory_lo, memory_hi; /* 0, 0 = any, also when not stated */
    const char *model;
    bool form_assumed;
} aliases[] = {
    {"a100", "nc24ads_a100", 0, 0, "A100-80GB PCIe", false},
    {"a100", "sxm", 60, 90, "A100-80GB SXM4", false},
    {"a100", "sxm", 0, 0, "A100-40GB SXM4", false},
    {"a100", "pci", 60, 90, "A100-80GB PCIe", false},
    {"a100", "a2-", 0, 0, "A100-40GB SXM4", false},
    {"a100", "p4d.", 0, 0, "A100-40GB SXM4", false},
    {"a100", NULL, 60, 90, "A100-80GB PCIe", true},
    {"a100", NULL, 0, 0, "A100-40GB PCIe", true},
    {"a10040gb", "sxm", 0, 0, "A100-40GB SXM4", false},
    {"a10040gb", NULL, 0, 0, "A100-40GB PCIe", true},
    {"a10080gb", "sxm", 0, 0, "A100-80GB SXM4", false},
    {"a10080gb", "p4de.", 0, 0, "A100-80GB SXM4", false},
    {"a10080gb", "a2-", 0, 0, "A100-80GB SXM4", false},
    {"a10080gb", NULL, 0, 0, "A100-80GB PCIe", true},
    {"a10080gbsxm", NULL, 0, 0, "A100-80GB SXM4", false},
    {"a10080gbpcie", NULL, 0, 0, "A100-80GB PCIe", false},
    {"a100pcie", NULL, 60, 90, "A100-80GB PCIe", false},
    {"a100pcie", NULL, 0, 0, "A100-40GB PCIe", false},
    {"a100sxm", NULL, 60, 90, "A100-80GB SXM4", false},
    {"a100sxm4", NULL, 60, 90, "A100-80GB SXM4", false},
    {"a100sxm4", NULL, 0, 0, "A100-40GB SXM4", false},
    {"h100", "nvl", 0, 0, "H100 NVL", false},
    {"h100", "sxm", 0, 0, "H100 SXM", false},
    {"h100", "pci", 0, 0, "H100 PCIe", false},
    {"h100", "p5.", 0, 0, "H100 SXM", false},
    {"h100", "a3-", 0, 0, "H100 SXM", false},
    {"h100", NULL, 90, 100, "H100 NVL", false},
    {"h100", NULL, 0, 0, "H100 PCIe", true},
    {"h100mega", NULL, 0, 0, "H100 SXM", false},
    {"h100sxm", NULL, 0, 0, "H100 SXM", false},
    {"h100sxm5", NULL, 0, 0, "H100 SXM", false},
    {"h100nvl", NULL, 0, 0, "H100 NVL", false},
    {"h100pcie", NULL, 0, 0, "H100 PCIe", false},
    {"h100pci", NULL, 0, 0, "H100 PCIe", false},
    {"h200", NULL, 0, 0, "H200 SXM", false},
    {"h200sxm", NULL, 0, 0, "H200 SXM", false},
    {"v100", "sxm", 28, 36, "V100-32GB SXM2", false},
    {"v100", NULL, 28, 36, "V100-32GB PCIe", true},
    {"v100", "sxm", 0, 0, "V100-16GB SXM2", false},
    {"v100", "p3.", 0, 0, "V100-16GB SXM2", false},
    {"v100", "n1-", 0, 0, "V100-16GB SXM2", false},
    {"v100", NULL, 0, 0, "V100-16GB PCIe", true},
    {"v10016gb", NULL, 0, 0, "V100-16GB PCIe", true},
    {"v10032gb", "p3dn.", 0, 0, "V100-32GB SXM2", false},
    {"v10032gb", NULL, 0, 0, "V100-32GB PCIe", true},
    {"p100", NULL, 0, 0, "P100-16GB PCIe", false},
    {"p100pcie", NULL, 0, 0, "P100-16GB PCIe", false},
    {"a6000", NULL, 0, 0, "RTX A6000", false},
    {"a5000", NULL, 0, 0, "RTX A5000", false},
    {"a4000", NULL, 0, 0, "RTX A4000", false},
    {"rtx6000", NULL, 0, 0, "Quadro RTX 6000", false},
    {"rtx8000", NULL, 0, 0, "Quadro RTX 8000", false},
    {"6000ada", NULL, 0, 0, "RTX 6000 Ada", false},
    {"rtx6000adageneration", NULL, 0, 0, "RTX 6000 Ada", false},
    {"rtxpro6000", NULL, 0, 0, "RTX PRO 6000 BSE", false},
    {"rtxpro6000se", NULL, 0, 0, "RTX PRO 6000 BSE", false},
    {"rtxpro6000server", NULL, 0, 0, "RTX PRO 6000 BSE", false},
    {"gaudi1", NULL, 0, 0, "Gaudi", false},
    {"inferentia", NULL, 0, 0, "Inferentia1", false},
    {"trainium", NULL, 0, 0, "Trainium1", false},
    {"a100pcie40gb", NULL, 0, 0, "A100-40GB PCIe", false},
    {"a100sxm440gb", NULL, 0, 0, "A100-40GB SXM4", false},
    {"a100sxm480gb", NULL, 0, 0, "A100-80GB SXM4", false},
    {"h10080gbhbm3", NULL, 0, 0, "H100 SXM", false},
    {"v100pcie16gb", NULL, 0, 0, "V100-16GB PCIe", false},
    {"v100pcie32gb", NULL, 0, 0, "V100-32GB PCIe", false},
    {"v100sxm216gb", NULL, 0, 0, "V100-16GB SXM2", false},
    {"v100sxm232gb", NULL, 0, 0, "V100-32GB SXM2", false},
    {"gh200480gb", NULL, 0, 0, "GH200", false},
    {"gh20096gb", NULL, 0, 0, "GH200", false},
};

/* Length of a maker's name that stands here as a word's end, 0 if none does. */
static size_t maker_at(const char *p)
{
    static const char *const makers[] = {"nvidia", "amd",     "intel",    "habana", "aws",
                                         "tesla",  "geforce", "instinct", "google"};
    size_t found = 0;
    for (size_t i = 0; i < COUNT(makers); i++) {
        if ((*p | 0x20) == makers[i][0]) {
            size_t k = strlen(makers[i]);
            found = strncasecmp(p, makers[i], k) == 0 && !isalnum((unsigned char)p[k]) ? k : found;
        }
    }
    return found;
}

/* Next letter or digit of a name, lower case, without the makers' names; '\0' at the end. */
static char next_squashed(const char **p)
{
    while (**p != '\0') {
        size_t maker = maker_at(*p);
        char c = **p;
        *p += maker ? maker : 1;
        if (!maker && isalnum((unsigned char)c)) {
            return (char)tolower((unsigned char)c);
        }
    }
    return '\0';
}

static void squash(const char *name, char out[64])
{
    size_t n = 0;
    for (char c; n < 63 && (c = next_squashed(&name)) != '\0';) {
        out[n++] = c;
    }
    out[n] = '\0';
}

static bool squashes_to(const char *name, const char *plain)
{
    for (;; plain++) {
        char c = next_squashed(&name);
        if (c != *plain) {
            return false;
        }
        if (c == '\0') {
            return true;
        }
    }
}

static bool contains(const char *text, const char *piece)
{
    return strcasestr(text, piece) != NULL;
}

struct gpu_name gpu_canonical(const char *name, double memory_gib, const char *vendor,
                              const char *instance_type)
{
    const struct gpu_instance *g = gpu_of_instance(vendor, instance_type);
    if (g) {
        return (struct gpu_name){g->model, true, false};
    }
    char plain[64];
    squash(name, plain);
    for (size_t i = 0; i < COUNT(models); i++) {
        if (squashes_to(models[i].model, plain)) {
            return (struct gpu_name){models[i].model, true, false};
        }
    }
    for (size_t i = 0; i < COUNT(aliases); i++) {
        bool any = aliases[i].memory_hi <= 0;
        if (strcmp(aliases[i].name, plain) == 0 &&
            (!aliases[i].type || contains(instance_type, aliases[i].type)) &&
            (any || (memory_gib >= (double)aliases[i].memory_lo &&
                     memory_gib <= (double)aliases[i].memory_hi))) {
            return (struct gpu_name){aliases[i].model, true, aliases[i].form_assumed};
        }
    }
    return (struct gpu_name){name, false, false};
}

double gpu_model_memory(const char *model)
{
    for (size_t i = 0; i < COUNT(models); i++) {
        if (strcmp(models[i].model, model) == 0) {
            return (double)models[i].memory_gb;
        }
    }
    return -1;
}
