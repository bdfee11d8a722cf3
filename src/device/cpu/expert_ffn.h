#pragma once

#include "base/thread_pool.h"
#include "device/cpu/cpu_routing.h"
#include "device/cpu/kernels/linear_kernels.h"
#include "device/cpu/kernels/ops_kernels.h"
#include "device/cpu/matrix_view.h"
#include "device/experts.h"

namespace evener::device::cpu {

struct ExpertKernels {
  const OpsKernels& ops;
  const LinearKernels& linear;
};

// Device::expert_ffn() of the rows that `routing` has choices for, in five parallel regions: gather
// the rows of each expert; gate and up; silu(gate) * up; down; sum up each row's experts. Weights
// were made by pack_weight with `kernels`.
//
// The maps are cut over experts and outputs, so that one row keeps all threads reading weights. A
// row of y has the same bits whatever the rows beside it: its experts are linear maps, which
// promise that, and are summed in the order in which they were chosen.
// Judge: tests/reference/experts.cpp.
void expert_ffn(ThreadPool& pool, const ExpertKernels& kernels, CpuRouting& routing,
                ConstMatrixView x, const ExpertWeights& weights, MatrixView y);

}  // namespace evener::device::cpu
