#pragma once

#include <stddef.h>
#include <stdint.h>

// The arithmetic of linear maps, once per instruction set: what an ISA file exports and what the
// rest of this folder may call. Nothing here checks, allocates or knows a thread.
// C headers only, no inline functions: see ANCHORS 2.7.
namespace evener::device::cpu {

// Rows of an activation panel: what the kernels compute at a time.
constexpr size_t kPanelRows = 4;

// Inputs of linear(), rounded to 8 bits as llama.cpp's Q8_0: 32 inputs of four rows. Every four
// inputs the rows alternate, so that a kernel broadcasts four inputs of each row from one place.
struct Q8_0Panel {
  int8_t codes[8][kPanelRows][4];
  float scale[kPanelRows];       // rounded to f16
  int32_t sum[kPanelRows];       // of the codes
  int32_t half_sum[kPanelRows];  // of the first sixteen
  float scaled_sum[kPanelRows];  // sum times the unrounded scale, rounded to f16: llama.cpp's Q8_1
};

// The same as Q8_K: 256 inputs of four rows.
struct Q8_KPanel {
  int8_t codes[64][kPanelRows][4];
  int16_t sums16[8][kPanelRows][2];  // of 16 neighbouring codes, in pairs
  int16_t sums32[4][kPanelRows][2];  // of 32 neighbouring codes, in pairs
  float scale[kPanelRows];
};

// Most rows that many_rows takes in one call.
constexpr size_t kTileRows = 128;

enum class Activations { f32, q8_0, q8_k };

// Which outputs of which rows to compute. y[row, output] for the rows given and the outputs of
// groups [group_begin, group_end), as many as exist.
struct LinearArgs {
  const void* weights;  // group 0 of the packed weight
  size_t group_bytes;
  size_t group_begin;
  size_t group_end;
  size_t inputs;
  size_t outputs;

  // Panels in order of rows, num_blocks each; panel_bytes from one to the next. Of float weights:
  // the rows themselves, panel_bytes from one row to the next.
  const void* activations;
  size_t panel_bytes;
  size_t rows;

  const float* bias;  // [outputs] or null
  float* y;           // [rows, outputs]
  size_t y_stride;
};

// What one weight format needs. Numbers are DType's.
struct FormatKernels {
  uint32_t dtype;
  Activations activations;
  uint32_t block_inputs;                 // inputs in a packed block
  uint32_t lane_bytes;                   // bytes of a packed block for each lane
  void (*few_rows)(const LinearArgs&);   // decodes weights on the way: best for few rows
  void (*many_rows)(const LinearArgs&);  // decodes each tile of weights once for all rows
};

// The formats of one object file: all in one take too long to compile.
struct FormatTable {
  const FormatKernels* formats;
  size_t num_formats;
};

constexpr size_t kFormatTables = 3;

struct LinearKernels {
  const char* isa;
  size_t lanes;  // outputs in a group
  // Rounds one row of n inputs (whole blocks) into place `row` of its panel.
  void (*quantise_q8_0)(const float* x, size_t n, Q8_0Panel* panel, size_t row);
  void (*quantise_q8_k)(const float* x, size_t n, Q8_KPanel* panel, size_t row);
  const FormatTable* tables[kFormatTables];
};

extern const LinearKernels linear_kernels_avx2;
extern const LinearKernels linear_kernels_avx512vnni;
extern const LinearKernels linear_kernels_avx512vnni_emulated;  // exists in tests alone

// Of the formats with blocks of 256 inputs, and those among them that have codebooks.
extern const FormatTable super_formats_avx2;
extern const FormatTable super_formats_avx512vnni;
extern const FormatTable super_formats_avx512vnni_emulated;
extern const FormatTable codebook_formats_avx2;
extern const FormatTable codebook_formats_avx512vnni;
extern const FormatTable codebook_formats_avx512vnni_emulated;

}  // namespace evener::device::cpu
