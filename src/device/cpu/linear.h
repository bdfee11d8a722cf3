#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "device/cpu/isa.h"
#include "device/cpu/kernels/linear_kernels.h"
#include "device/cpu/matrix_view.h"
#include "device/cpu/memory.h"
#include "device/weight.h"

namespace evener::device::cpu {

// The kernels of an instruction set that this CPU has.
const LinearKernels& linear_kernels(Isa isa);

// One linear map of an input that several maps share. `weight` was made by pack_weight for
// WeightUse::linear with the kernels that linear() is called with.
struct HostLinearPart {
  const Weight* weight = nullptr;
  const float* bias = nullptr;  // [outputs]; null means none
  MatrixView y;                 // [rows, outputs]
};

// Memory of linear() that is kept between calls; it only grows. One for each pool.
struct LinearScratch {
  Memory activations_q8_0;
  Memory activations_q8_k;
};

// For each part: y = x W^T + bias. x [rows, inputs]; rows may be 0. Inputs of quantised weights are
// rounded to 8 bits (Q8_0 or Q8_K, as the weight's format asks), once for all parts.
//
// A row of y has the same bits whatever the number of rows, parts and threads: the products of a
// block of inputs are summed as integers, exactly, and the blocks in rising order in f32. Float
// weights are summed input by input, 256 inputs at a time.
// At most two parallel regions; nothing is allocated once the scratch has grown. Shapes that
// disagree abort, and so does a system without memory for the scratch (a few MiB).
// Judge: tests/reference/linear.cpp.
void linear(ThreadPool& pool, const LinearKernels& kernels, LinearScratch& scratch,
            ConstMatrixView x, std::span<const HostLinearPart> parts);

// y[i] = row ids[i] of a weight that pack_weight made for WeightUse::embedding, as f32. Every id is
// below weight.outputs(). y [ids, inputs].
void embedding_rows(const Weight& weight, std::span<const int32_t> ids, MatrixView y);

}  // namespace evener::device::cpu
