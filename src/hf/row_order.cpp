#include "hf/row_order.h"

#include <fmt/format.h>

namespace evener::hf {
namespace {

// Row numbers are 32 bits wide: more than any vocabulary.
constexpr uint64_t kRowsMax = uint64_t{1} << 31;

Error disagree(std::string why) {
  return {.code = Code::corrupt, .doing = {}, .where = {}, .why = std::move(why), .remedy = {}};
}

Result<Moves> rotary_moves(uint64_t num_heads, uint64_t head_dim, uint64_t rows) {
  if (rows != num_heads * head_dim || head_dim % 2 != 0) {
    return disagree(
        fmt::format("has {} rows, config.json asks for {} heads of {}", rows, num_heads, head_dim));
  }
  Moves to(rows);
  const uint64_t half = head_dim / 2;
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t head = row / head_dim * head_dim;
    const uint64_t at = row % head_dim;
    to[row] = static_cast<uint32_t>(head + (at < half ? 2 * at : 2 * (at - half) + 1));
  }
  return to;
}

// Of `count` rows behind `begin` others that stay.
Result<Moves> value_moves(const Sizes& sizes, uint64_t begin, uint64_t count) {
  const uint64_t heads = sizes.num_value_heads;
  if (heads == 0 || count % heads != 0) {
    return disagree(fmt::format(
        "has {} rows or columns for values, which {} heads do not share evenly", count, heads));
  }
  if (sizes.num_value_heads == sizes.num_key_heads) return Moves();
  const uint64_t width = count / heads;
  const uint64_t per_key = heads / sizes.num_key_heads;
  Moves to(begin + count);
  for (uint64_t row = 0; row < begin; ++row) to[row] = static_cast<uint32_t>(row);
  for (uint64_t row = 0; row < count; ++row) {
    const uint64_t head = row / width;
    const uint64_t moved = head % per_key * sizes.num_key_heads + head / per_key;
    to[begin + row] = static_cast<uint32_t>(begin + moved * width + row % width);
  }
  return to;
}

Result<Moves> values_behind_keys(const Sizes& sizes, uint64_t rows) {
  const uint64_t keys = 2 * sizes.num_key_heads * sizes.state_size;
  const uint64_t values = sizes.num_value_heads * sizes.state_size;
  if (rows == keys + values) return value_moves(sizes, keys, values);
  return disagree(
      fmt::format("has {} rows, config.json asks for {} of queries and keys and {} of values", rows,
                  keys, values));
}

}  // namespace

Result<MatrixMoves> moves_of(Order order, const Sizes& sizes, uint64_t rows, uint64_t columns) {
  MatrixMoves moves;
  if (order == Order::as_stored) return moves;
  if (rows > kRowsMax || columns > kRowsMax) return disagree("is too large");
  switch (order) {
    case Order::as_stored:
      break;
    case Order::query_heads: {
      ASSIGN_OR_RETURN(moves.rows, rotary_moves(sizes.num_heads, sizes.head_dim, rows));
      break;
    }
    case Order::key_heads: {
      ASSIGN_OR_RETURN(moves.rows, rotary_moves(sizes.num_kv_heads, sizes.head_dim, rows));
      break;
    }
    case Order::value_heads: {
      ASSIGN_OR_RETURN(moves.rows, value_moves(sizes, 0, rows));
      break;
    }
    case Order::values_behind_keys: {
      ASSIGN_OR_RETURN(moves.rows, values_behind_keys(sizes, rows));
      break;
    }
    case Order::columns_by_value_heads: {
      ASSIGN_OR_RETURN(moves.columns, value_moves(sizes, 0, columns));
      break;
    }
  }
  return moves;
}

}  // namespace evener::hf
