#include "device/cpu/pack_block.h"

#include <cstdint>

#include "device/cpu/pack_formats.h"
#include "device/cpu/pack_lanes.h"

namespace evener::device::cpu {
namespace {

template <class T>
void pack_value(const std::byte* block, LanePlace place, std::byte* packed) {
  LaneArray<T>(packed, 0, place).set(0, read<T>(block));
}

}  // namespace

PackBlock find_pack_block(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return pack_value<uint32_t>;
    case DType::F16:
      return pack_value<uint16_t>;
    case DType::BF16:
      return pack_value<uint16_t>;
    case DType::Q4_0:
      return pack_q4_0;
    case DType::Q4_1:
      return pack_q4_1;
    case DType::Q5_0:
      return pack_q5_0;
    case DType::Q5_1:
      return pack_q5_1;
    case DType::Q8_0:
      return pack_q8_0;
    case DType::Q2_K:
      return pack_q2_k;
    case DType::Q3_K:
      return pack_q3_k;
    case DType::Q4_K:
      return pack_q4_k;
    case DType::Q5_K:
      return pack_q5_k;
    case DType::Q6_K:
      return pack_q6_k;
    case DType::IQ1_S:
      return pack_iq1_s;
    case DType::IQ1_M:
      return pack_iq1_m;
    case DType::IQ2_XXS:
      return pack_iq2_xxs;
    case DType::IQ2_XS:
      return pack_iq2_xs;
    case DType::IQ2_S:
      return pack_iq2_s;
    case DType::IQ3_XXS:
      return pack_iq3_xxs;
    case DType::IQ3_S:
      return pack_iq3_s;
    case DType::IQ4_NL:
      return pack_iq4_nl;
    case DType::IQ4_XS:
      return pack_iq4_xs;
    case DType::TQ1_0:
      return pack_tq1_0;
    case DType::TQ2_0:
      return pack_tq2_0;
    case DType::MXFP4:
      return pack_mxfp4;
    case DType::NVFP4:
      return pack_nvfp4;
    case DType::Q1_0:
      return pack_q1_0;
    case DType::Q2_0:
      return pack_q2_0;
    default:
      return nullptr;
  }
}

}  // namespace evener::device::cpu
