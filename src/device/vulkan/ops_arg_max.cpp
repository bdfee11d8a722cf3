// Rows to the columns of their largest values: of a row of logits, four bytes go to the host.
#include <algorithm>

#include "device/vulkan/card_device.h"

namespace evener::device::vulkan {
namespace {

constexpr size_t kPieceCols = 4096;  // of a wide row, so that many workgroups share it

struct ArgMaxArgs {
  uint64_t x, columns, best;
  uint32_t x_stride, rows, cols, piece_cols;
};

}  // namespace

void CardDevice::arg_max(const Tensor& x, std::span<int32_t> best) {
  EVENER_ASSERT(best.size() == x.rows);
  EVENER_ASSERT(x.cols > 0);
  if (best.empty()) return;
  const uint32_t num_pieces = groups_of(x.cols, kPieceCols);
  const size_t pieces_bytes = x.rows * num_pieces * sizeof(int32_t);
  steps_->begin();
  if (!reserve(best_, pieces_bytes + best.size_bytes())) {
    std::ranges::fill(best, 0);
    return;
  }
  const Place pieces = place_in(best_.region);
  const Place rows = num_pieces == 1 ? pieces : place_in(best_.region, pieces_bytes);
  const RowGroups groups = spread_rows(x.rows);
  ArgMaxArgs args{.x = address_of(x),
                  .columns = 0,
                  .best = pieces.address,
                  .x_stride = uint32_t(x.stride),
                  .rows = uint32_t(x.rows),
                  .cols = uint32_t(x.cols),
                  .piece_cols = kPieceCols};
  call({.kernel = "arg_max", .constants = {0, false}, .num_constants = 2},
       {num_pieces, groups.y, groups.z}, args, {touched(x)}, {touched(pieces, pieces_bytes)},
       Work::sampling);
  if (num_pieces > 1) {
    args.columns = pieces.address;
    args.best = rows.address;
    args.cols = num_pieces;
    args.piece_cols = num_pieces;
    call({.kernel = "arg_max", .constants = {0, true}, .num_constants = 2}, {1, groups.y, groups.z},
         args, {touched(x), touched(pieces, pieces_bytes)}, {touched(rows, best.size_bytes())},
         Work::sampling);
  }
  read_bytes(rows, std::as_writable_bytes(best));
}

}  // namespace evener::device::vulkan
