/* Other names under which people know the models of the table, and the names of the bounds. */
#include "gputier/text.h"
#include "model_internal.h"
#include <stddef.h>
#include <string.h>

const char *bound_name(enum bound b)
{
    static const char *const names[BOUND_COUNT] = {"compute",       "memory_bandwidth", "input_cpu",
                                                   "input_storage", "interconnect",     "latency"};

    return b >= 0 && b < BOUND_COUNT ? names[b] : "unknown";
}

struct alias {
    const char *other, *name;
};
/* Compared without case, with '_' and ' ' as '-'. */
static const struct alias aliases[] = {
    {"resnet-18", "resnet18"},
    {"resnet-34", "resnet34"},
    {"resnet-50", "resnet50"},
    {"resnet50-v1.5", "resnet50"},
    {"rn50", "resnet50"},
    {"resnet-101", "resnet101"},
    {"resnet-152", "resnet152"},
    {"wide-resnet50-2", "wide_resnet50_2"},
    {"resnext101-32x4d", "resnext101-32x4d"},
    {"resnext-101-32x4d", "resnext101-32x4d"},
    {"resnext-101-32x8d", "resnext101-32x8d"},
    {"se-resnext-101-32x4d", "se-resnext101-32x4d"},
    {"seresnext101-32x4d", "se-resnext101-32x4d"},
    {"efficientnet-b2", "efficientnet_b2"},
    {"mobilenetv2", "mobilenetv2_100"},
    {"mobilenet-v2", "mobilenetv2_100"},
    {"mobilenetv3-large-100", "mobilenetv3-large"},
    {"mobilenet-v3-large", "mobilenetv3-large"},
    {"convnext-tiny", "convnext_tiny"},
    {"convnext-small", "convnext_small"},
    {"swin-tiny", "swin_tiny_patch4_window7_224"},
    {"swin-base-patch4-window7-224", "swin-base"},
    {"vit-tiny-16", "vit_tiny_patch16_224"},
    {"vit-small-patch16-224", "vit-small-16"},
    {"vit-b-16", "vit-base-16"},
    {"vit-b16", "vit-base-16"},
    {"vit-base-patch16-224", "vit-base-16"},
    {"vit-base-32", "vit_base_patch32_224"},
    {"vit-b-32", "vit_base_patch32_224"},
    {"vit-l-16", "vit-large-16"},
    {"vit-large-patch16-224", "vit-large-16"},
    {"vit-h-14", "vit-huge-14"},
    {"mixer-b-16", "mixer_b16_224"},
    {"bert-base-uncased", "bert-base"},
    {"bert-base-cased", "bert-base"},
    {"bert-base-squad", "bert-base"},
    {"bert-large-uncased", "bert-large"},
    {"bert-large-cased", "bert-large"},
    {"bert-large-squad", "bert-large"},
    {"gpt2", "gpt2-124m"},
    {"gpt2-small", "gpt2-124m"},
    {"gpt2-345m", "gpt2-medium"},
    {"gpt2-355m", "gpt2-medium"},
    {"gpt2-large", "gpt2-large-774m"},
    {"gpt2-xl", "gpt2-xl-1.5b"},
    {"gpt2-1.5b", "gpt2-xl-1.5b"},
    {"gptj-6b", "gpt-j-6b"},
    {"gpt-neox", "gpt-neox-20b"},
    {"gpt3", "gpt3-175b"},
    {"gpt-3-175b", "gpt3-175b"},
    {"bloom", "bloom-176b"},
    {"llama-7b", "llama1-7b"},
    {"llama-13b", "llama1-13b"},
    {"llama-30b", "llama1-33b"},
    {"llama-33b", "llama1-33b"},
    {"llama-65b", "llama1-65b"},
    {"llama-2-7b", "llama2-7b"},
    {"llama-2-13b", "llama2-13b"},
    {"llama-2-70b", "llama2-70b"},
    {"llama-3-8b", "llama3-8b"},
    {"llama-3-70b", "llama3-70b"},
    {"llama-3.1-8b", "llama3.1-8b"},
    {"llama-3.1-70b", "llama3.1-70b"},
    {"llama-3.1-405b", "llama3.1-405b"},
    {"llama3-405b", "llama3.1-405b"},
    {"llama-3.2-1b", "llama3.2-1b"},
    {"llama-3.2-3b", "llama3.2-3b"},
    {"tinyllama", "tinyllama-1.1b"},
    {"mistral-7b-v0.1", "mistral-7b"},
    {"mixtral", "mixtral-8x7b"},
    {"qwen-1-8b", "qwen-1.8b"},
    {"phi-1-5", "phi-1.5"},
    {"phi1.5", "phi-1.5"},
    {"phi2", "phi-2"},
    {"stablelm-base-alpha-3b", "stablelm-3b"},
    {"sd1.5", "sd1.5-unet-512"},
    {"stable-diffusion-1.5", "sd1.5-unet-512"},
    {"sd2", "sd2-unet-512"},
    {"stable-diffusion-2", "sd2-unet-512"},
    {"stable-diffusion-2.1", "sd2.1-unet-768"},
    {"sdxl", "sdxl-unet-1024"},
    {"stable-diffusion-xl", "sdxl-unet-1024"},
    {"dlrm", "dlrm-mlperf"},
    {"3d-unet", "unet3d"},
    {"unet-3d", "unet3d"},
    {"mask-rcnn", "mask-rcnn-r50-fpn"},
    {"maskrcnn", "mask-rcnn-r50-fpn"},
    {"ssd", "ssd300-vgg16"},
    {"ssd300", "ssd300-vgg16"},
    {"retinanet", "retinanet-r50-fpn"},
    {"rnnt", "rnn-t-mlperf"},
    {"rnn-t", "rnn-t-mlperf"},
    {"whisper-large-v2", "whisper-large"},
    {"whisper-large-v3", "whisper-large"},
    {"wav2vec2", "wav2vec2-base"},
};

static char fold(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return c == '_' || c == ' ' ? '-' : c;
}

static bool same_name(const char *a, const char *b)
{
    while (*a != '\0' && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

const char *model_alias(const char *name)
{
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    const char *plain = slash != NULL ? slash + 1 : name; /* "org/model" of the hubs */

    if (plain == NULL) {
        return "";
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (same_name(aliases[i].other, plain)) {
            return aliases[i].name;
        }
    }
    return plain;
}

const struct model_profile *model_find(const struct model_profile *models, size_t n,
                                       const char *name)
{
    for (size_t i = 0; i < n && name != NULL; i++) {
        if (strcmp(models[i].name, name) == 0) {
            return &models[i];
        }
    }
    for (size_t i = 0; i < n && name != NULL; i++) {
        if (same_name(models[i].name, model_alias(name))) {
            return &models[i];
        }
    }
    return NULL;
}
