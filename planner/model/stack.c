/* Software stacks: the same GPU and model differ by 2.2 x with it (shared/docs/
 * throughput-model.md section 5). Classes by what the code is known to do, not by its results:
 * fused = graph compiler or hand-fused kernels; tuned = channels-last, fused attention or
 * optimiser, careful input; stock = eager framework code. */
#include "gputier/text.h"
#include "model_internal.h"
#include <stddef.h>

static const struct stack stacks[] = {
    {"tuned", STACK_TUNED, false},
    {"stock", STACK_STOCK, false},
    {"compiled", STACK_FUSED, false},
    {"mxnet-dali", STACK_FUSED, false},
    {"paddle", STACK_FUSED, false},
    {"paddle-dali", STACK_FUSED, false},
    {"tf-xla-dali", STACK_FUSED, false},
    {"tf2-xla", STACK_FUSED, false},
    {"pytorch-apex", STACK_FUSED, false},
    {"llm-foundry", STACK_FUSED, false},
    {"lit-gpt-flash", STACK_FUSED, false},
    {"maxtext", STACK_FUSED, false},
    {"levanter", STACK_FUSED, false},
    {"megatron", STACK_FUSED, false},
    {"megatron-lm", STACK_FUSED, false},
    {"megatron-deepspeed", STACK_FUSED, false},
    {"primus-megatron", STACK_FUSED, false},
    {"nemo", STACK_FUSED, false},
    {"llm.c", STACK_FUSED, false},
    {"transformer-engine", STACK_FUSED, false},
    {"unsloth", STACK_FUSED, false},
    {"unsloth-open", STACK_FUSED, false},
    {"pytorch-dali", STACK_TUNED, false},
    {"pytorch-dlrm", STACK_TUNED, false},
    {"timm-nhwc", STACK_TUNED, false},
    {"torchtitan", STACK_TUNED, false},
    {"torchtune", STACK_TUNED, false},
    {"vectorlm-fsdp", STACK_TUNED, false},
    {"fsdp-qlora-bnb", STACK_TUNED, false},
    {"composer", STACK_TUNED, false},
    {"axolotl", STACK_TUNED, false},
    {"pytorch-lambda", STACK_STOCK, false},
    {"pytorch-lambda-v2", STACK_STOCK, false},
    {"timm-nchw", STACK_STOCK, false},
    {"tf1-synthetic", STACK_STOCK, false},
    {"litgpt", STACK_STOCK, false},
    {"qwen-hf", STACK_STOCK, true},
    {"qwen-hf-flash2", STACK_STOCK, false},
    {"hf-peft", STACK_STOCK, false},
    {"hf-trainer", STACK_STOCK, true},
    {"hf-qlora", STACK_STOCK, true},
    {"hf-sft-rocm", STACK_STOCK, true},
};

const struct stack *model_stack(const char *name)
{
    if (name == NULL || name[0] == '\0') {
        return NULL;
    }
    for (size_t i = 0; i < sizeof stacks / sizeof stacks[0]; i++) {
        if (text_ieq(stacks[i].name, name)) {
            return &stacks[i];
        }
    }
    return NULL;
}

const char *model_stack_name(size_t i)
{
    return i < sizeof stacks / sizeof stacks[0] ? stacks[i].name : NULL;
}

bool model_stack_known(const char *name)
{
    return model_stack(name) != NULL;
}
