#pragma once

#include "device/cpu/pack_block.h"

namespace evener::device::cpu {

// pack_block.cpp lists these; each writes the layout that the format's file in kernels/ describes.
void pack_q4_0(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q4_1(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q5_0(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q5_1(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q8_0(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq4_nl(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq4_xs(const std::byte* block, LanePlace place, std::byte* packed);
void pack_mxfp4(const std::byte* block, LanePlace place, std::byte* packed);
void pack_nvfp4(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q2_k(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q3_k(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q4_k(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q5_k(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q6_k(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq1_s(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq1_m(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq2_xxs(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq2_xs(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq2_s(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq3_xxs(const std::byte* block, LanePlace place, std::byte* packed);
void pack_iq3_s(const std::byte* block, LanePlace place, std::byte* packed);
void pack_tq1_0(const std::byte* block, LanePlace place, std::byte* packed);
void pack_tq2_0(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q1_0(const std::byte* block, LanePlace place, std::byte* packed);
void pack_q2_0(const std::byte* block, LanePlace place, std::byte* packed);

}  // namespace evener::device::cpu
