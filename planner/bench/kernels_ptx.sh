#!/bin/sh
# kernels_ptx.sh FOLDER: writes the PTX texts that the program carries into FOLDER (planner/bench/ptx
# holds them; a test makes them again and compares). base and half come from kernels.cl by clang 14;
# the tensor-core loops are written here, each at the lowest PTX version that has its instruction
# (gpu-bench.md 2.5), one text per level, so that an old driver still loads what it knows.
set -eu
here=$(dirname "$0")
out=$1
clang=${CLANG:-clang-14}
mkdir -p "$out"

compile() { # CPU FILE OPTION…
    cpu=$1 file=$2
    shift 2
    "$clang" -x cl -cl-std=CL1.2 -target nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang "$cpu" \
        -nogpulib -O3 "$@" -include "$here/kernels_nv.h" -S "$here/kernels.cl" -o "$out/$file"
}
compile sm_30 base_sm30.ptx
compile sm_60 half_sm60.ptx -DHALF_ONLY -Xclang -cl-ext=+cl_khr_fp16

head_of() { # VERSION TARGET
    printf '.version %s\n.target %s\n.address_size 64\n' "$1" "$2"
}

# list PREFIX FROM COUNT: {%a0, %a1}
list() {
    i=0 text=''
    while [ "$i" -lt "$3" ]; do
        text="$text${text:+, }%$1$(($2 + i))"
        i=$((i + 1))
    done
    printf '{%s}' "$text"
}

# mma NAME INSTRUCTION A-REGISTERS B-REGISTERS C-REGISTERS REGISTER-TYPE ONE C-TYPE
# Four independent accumulators a warp; A and B hold ones, so each step adds the depth K to every
# element of C: the result is K x p. z gets the mean of a thread's elements.
mma() {
    name=$1 op=$2 na=$3 nb=$4 nc=$5 type=$6 one=$7 ctype=$8
    if [ "$type" = f64 ]; then in=.f64; else in=.b32; fi
    cat <<TEXT

.visible .entry $name(
	.param .u64 z, .param .u64 x, .param .u64 y, .param .u64 u, .param .u32 n, .param .u32 p)
{
	.reg .pred %more;
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .f32 %mean, %part;
	.reg $in %a<$na>, %b<$nb>;
	.reg .$ctype %c<$((4 * nc))>;
	ld.param.u64 %rd0, [z];
	cvta.to.global.u64 %rd0, %rd0;
	ld.param.u32 %r0, [p];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd0, %rd0, %rd1;
TEXT
    case $ctype in f32) zero=0f00000000 ;; f64) zero=0d0000000000000000 ;; *) zero=0 ;; esac
    i=0
    while [ "$i" -lt "$na" ]; do printf '\tmov%s %%a%d, %s;\n' "$in" "$i" "$one"; i=$((i + 1)); done
    i=0
    while [ "$i" -lt "$nb" ]; do printf '\tmov%s %%b%d, %s;\n' "$in" "$i" "$one"; i=$((i + 1)); done
    i=0
    while [ "$i" -lt $((4 * nc)) ]; do printf '\tmov.%s %%c%d, %s;\n' "$ctype" "$i" "$zero"; i=$((i + 1)); done
    printf 'step:\n'
    g=0
    while [ "$g" -lt 4 ]; do
        c=$(list c $((g * nc)) "$nc")
        printf '\t%s %s, %s, %s, %s;\n' "$op" "$c" "$(list a 0 "$na")" "$(list b 0 "$nb")" "$c"
        g=$((g + 1))
    done
    printf '\tsub.u32 %%r0, %%r0, 1;\n\tsetp.ne.u32 %%more, %%r0, 0;\n\t@%%more bra step;\n'
    printf '\tmov.f32 %%mean, 0f00000000;\n'
    i=0
    while [ "$i" -lt $((4 * nc)) ]; do
        case $ctype in
        f32) printf '\tadd.f32 %%mean, %%mean, %%c%d;\n' "$i" ;;
        *) printf '\tcvt.rn.f32.%s %%part, %%c%d;\n\tadd.f32 %%mean, %%mean, %%part;\n' "$ctype" "$i" ;;
        esac
        i=$((i + 1))
    done
    case $((4 * nc)) in 8) share=0f3E000000 ;; 16) share=0f3D800000 ;; 32) share=0f3D000000 ;; esac
    printf '\tmul.f32 %%mean, %%mean, %s;\n\tst.global.f32 [%%rd0], %%mean;\n\tret;\n}\n' "$share"
}

f16=0x3C003C00 bf16=0x3F803F80 tf32=0x3F800000 s8=0x01010101 e4m3=0x38383838
{
    head_of 6.4 sm_70
    mma mma_f16 mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 2 2 8 b32 $f16 f32
} >"$out/tensor_sm70.ptx"
{
    head_of 6.5 sm_75
    mma mma_f16 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 2 1 4 b32 $f16 f32
    mma mma_s8 mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 1 1 2 b32 $s8 s32
} >"$out/tensor_sm75.ptx"
{
    head_of 7.0 sm_80
    mma mma_f16 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 4 2 4 b32 $f16 f32
    mma mma_bf16 mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 4 2 4 b32 $bf16 f32
    mma mma_tf32 mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 4 2 4 b32 $tf32 f32
    mma mma_s8 mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 4 2 4 b32 $s8 s32
    mma mma_f64 mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 1 1 2 f64 0d3FF0000000000000 f64
} >"$out/tensor_sm80.ptx"
{
    head_of 8.4 sm_89
    mma mma_e4m3 mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 4 2 4 b32 $e4m3 f32
} >"$out/tensor_sm89.ptx"
