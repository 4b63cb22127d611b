// The CUDA kernels as C functions. Each returns null, or what went wrong.

#ifndef OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_GPU_H_
#define OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_GPU_H_

namespace op_by_op {

// type: 0 half, 1 bfloat16, 2 float, 3 double. What `align` and
// `grad` point to, Align<T> and AlignGrad<T>, has pointers to device memory.
extern "C" {
#pragma GCC visibility push(default)
const char* PsRoiAlignLaunch(void* stream, int type, const void* align);
const char* PsRoiAlignGradLaunch(void* stream, int type, const void* grad);
#pragma GCC visibility pop
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_PS_ROI_ALIGN_GPU_H_
