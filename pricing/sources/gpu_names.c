/* GPU names as vendors and catalogues write them, to the models of the GPU table
 * (docs/gpu-specs.csv). Only what the words themselves tell is answered here, with the instance
 * type where that names the form. A word that several parts answer to ("H100") stays the vendor's:
 * what one vendor means by it stands in gpu_aliases.csv, with the vendor, and is looked up when
 * the catalog is loaded. */
#include "gpu_names.h"
#include <ctype.h>
#include <math.h>
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
} aliases[] = {
    {"a100", "sxm", 60, 90, "A100-80GB SXM4"},
    {"a100", "sxm", 30, 50, "A100-40GB SXM4"},
    {"a100", "pci", 60, 90, "A100-80GB PCIe"},
    {"a100", "pci", 30, 50, "A100-40GB PCIe"},
    {"a10040gb", "sxm", 0, 0, "A100-40GB SXM4"},
    {"a10040gb", "pci", 0, 0, "A100-40GB PCIe"},
    {"a10080gb", "sxm", 0, 0, "A100-80GB SXM4"},
    {"a10080gb", "pci", 0, 0, "A100-80GB PCIe"},
    {"a10080gbsxm", NULL, 0, 0, "A100-80GB SXM4"},
    {"a10080gbpcie", NULL, 0, 0, "A100-80GB PCIe"},
    {"a100pcie", NULL, 60, 90, "A100-80GB PCIe"},
    {"a100pcie", NULL, 30, 50, "A100-40GB PCIe"},
    {"a100sxm", NULL, 60, 90, "A100-80GB SXM4"},
    {"a100sxm", NULL, 30, 50, "A100-40GB SXM4"},
    {"a100sxm4", NULL, 60, 90, "A100-80GB SXM4"},
    {"a100sxm4", NULL, 30, 50, "A100-40GB SXM4"},
    {"h100", "nvl", 0, 0, "H100 NVL"},
    {"h100", "sxm", 0, 0, "H100 SXM"},
    {"h100", "pci", 0, 0, "H100 PCIe"},
    {"h100", NULL, 92, 95, "H100 NVL"}, /* the only one of 94 GB */
    {"h100mega", NULL, 0, 0, "H100 SXM"},
    {"h100sxm", NULL, 0, 0, "H100 SXM"},
    {"h100sxm5", NULL, 0, 0, "H100 SXM"},
    {"h100nvl", NULL, 0, 0, "H100 NVL"},
    {"h100pcie", NULL, 0, 0, "H100 PCIe"},
    {"h100pci", NULL, 0, 0, "H100 PCIe"},
    {"h200", NULL, 0, 0, "H200 SXM"},
    {"h200sxm", NULL, 0, 0, "H200 SXM"},
    {"v100", "sxm", 28, 36, "V100-32GB SXM2"},
    {"v100", "sxm", 14, 18, "V100-16GB SXM2"},
    {"v100", "pci", 28, 36, "V100-32GB PCIe"},
    {"v100", "pci", 14, 18, "V100-16GB PCIe"},
    {"p100pcie", NULL, 0, 0, "P100-16GB PCIe"},
    {"a6000", NULL, 0, 0, "RTX A6000"},
    {"a5000", NULL, 0, 0, "RTX A5000"},
    {"a4000", NULL, 0, 0, "RTX A4000"},
    {"rtx8000", NULL, 0, 0, "Quadro RTX 8000"},
    {"6000ada", NULL, 0, 0, "RTX 6000 Ada"},
    {"rtx5880ada", NULL, 0, 0, "RTX 5880 Ada"}, /* no sheet of it here */
    {"rtx6000adageneration", NULL, 0, 0, "RTX 6000 Ada"},
    {"rtxpro6000se", NULL, 0, 0, "RTX PRO 6000 BSE"},
    {"rtxpro6000server", NULL, 0, 0, "RTX PRO 6000 BSE"},
    {"rtxpro6000blackwellserveredition", NULL, 0, 0, "RTX PRO 6000 BSE"},
    {"rtxpro6000blackwellworkstationedition", NULL, 0, 0, "RTX PRO 6000 WS"}, /* no sheet here */
    {"v100fhhl16gb", NULL, 0, 0, "V100-16GB FHHL"},
    {"gaudi1", NULL, 0, 0, "Gaudi"},
    {"inferentia", NULL, 0, 0, "Inferentia1"},
    {"trainium", NULL, 0, 0, "Trainium1"},
    {"a100pcie40gb", NULL, 0, 0, "A100-40GB PCIe"},
    {"a100sxm440gb", NULL, 0, 0, "A100-40GB SXM4"},
    {"a100sxm480gb", NULL, 0, 0, "A100-80GB SXM4"},
    {"h10080gbhbm3", NULL, 0, 0, "H100 SXM"}, /* the PCIe part has HBM2e */
    {"v100pcie16gb", NULL, 0, 0, "V100-16GB PCIe"},
    {"v100pcie32gb", NULL, 0, 0, "V100-32GB PCIe"},
    {"v100sxm216gb", NULL, 0, 0, "V100-16GB SXM2"},
    {"v100sxm232gb", NULL, 0, 0, "V100-32GB SXM2"},
    {"gh200480gb", NULL, 0, 0, "GH200"},
    {"gh20096gb", NULL, 0, 0, "GH200"},
};

/* Words that several parts answer to, in one spelling, with what is stated of the memory. */
static const struct {
    const char *name;
    float memory_lo, memory_hi; /* 0, 0 = any, also when not stated */
    const char *word;
    float memory_gb; /* that the word itself tells, -1 = none */
} open_words[] = {
    {"a100", 60, 90, "A100-80GB", 80},
    {"a100", 30, 50, "A100-40GB", 40},
    {"a100", 0, 0, "A100", -1},
    {"a10080gb", 0, 0, "A100-80GB", 80},
    {"a10040gb", 0, 0, "A100-40GB", 40},
    {"h100", 0, 0, "H100", -1},
    {"h10080gb", 0, 0, "H100", -1},
    {"v100", 28, 36, "V100-32GB", 32},
    {"v100", 14, 18, "V100-16GB", 16},
    {"v100", 0, 0, "V100", -1},
    {"v10032gb", 0, 0, "V100-32GB", 32},
    {"v10016gb", 0, 0, "V100-16GB", 16},
    {"p100", 0, 0, "P100", -1},
    {"rtx6000", 0, 0, "RTX 6000", -1},
    {"rtxpro6000", 0, 0, "RTX PRO 6000", 96},
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

/* Letters and digits of a name, lower case, without the makers' names. */
static void squash(const char *name, char out[64])
{
    size_t n = 0;
    while (*name != '\0' && n < 63) {
        size_t maker = maker_at(name);
        if (!maker && isalnum((unsigned char)*name)) {
            out[n++] = (char)tolower((unsigned char)*name);
        }
        name += maker ? maker : 1;
    }
    out[n] = '\0';
}

/* Whether the name of a model, in which no maker stands, squashes to `plain`. */
static bool squashes_to(const char *model, const char *plain)
{
    for (; *model != '\0'; model++) {
        if (isalnum((unsigned char)*model) && tolower((unsigned char)*model) != *plain++) {
            return false;
        }
    }
    return *plain == '\0';
}

static bool contains(const char *text, const char *piece)
{
    return strcasestr(text, piece) != NULL;
}

/* hi 0: any memory, also one that is not stated */
static bool within(double memory_gib, float lo, float hi)
{
    return hi <= 0 || (memory_gib >= (double)lo && memory_gib <= (double)hi);
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
        if (aliases[i].name[0] == plain[0] && strcmp(aliases[i].name, plain) == 0 &&
            (!aliases[i].type || contains(instance_type, aliases[i].type)) &&
            within(memory_gib, aliases[i].memory_lo, aliases[i].memory_hi)) {
            return (struct gpu_name){aliases[i].model, true, false};
        }
    }
    for (size_t i = 0; i < COUNT(open_words); i++) {
        if (open_words[i].name[0] == plain[0] && strcmp(open_words[i].name, plain) == 0 &&
            within(memory_gib, open_words[i].memory_lo, open_words[i].memory_hi)) {
            return (struct gpu_name){open_words[i].word, false, true};
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
    for (size_t i = 0; i < COUNT(open_words); i++) {
        if (strcmp(open_words[i].word, model) == 0) {
            return (double)open_words[i].memory_gb;
        }
    }
    return -1;
}

double gpu_nominal_memory(const char *model, double gib)
{
    double sheet = gpu_model_memory(model);
    return gib <= 0 || (sheet > 0 && fabs(gib - sheet) <= sheet * 0.08) ? sheet : gib;
}
