#include "chat/jinja/sorting.h"

#include <algorithm>
#include <numeric>

#include "chat/jinja/compare.h"
#include "chat/jinja/operators.h"

namespace evener::chat::jinja {
namespace {

// A merge sort of its own: comparing can fail, which std::sort does not allow.
class Sorter {
 public:
  Sorter(Budget& budget, const std::vector<Value>& keys, Direction direction)
      : budget_(budget), keys_(keys), direction_(direction), order_(keys.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  Result<std::vector<size_t>> run() {
    for (size_t width = 1; width < order_.size(); width *= 2) {
      merged_.clear();
      for (size_t begin = 0; begin < order_.size(); begin += 2 * width) {
        const size_t middle = std::min(begin + width, order_.size());
        RETURN_IF_ERROR(merge(begin, middle, std::min(middle + width, order_.size())));
      }
      order_.swap(merged_);
    }
    return std::move(order_);
  }

 private:
  Status merge(size_t left, const size_t middle, const size_t end) {
    size_t right = middle;
    while (left < middle || right < end) {
      bool takes_right = left == middle;
      if (left < middle && right < end) {
        ASSIGN_OR_RETURN(takes_right, precedes(order_[right], order_[left]));
      }
      merged_.push_back(order_[takes_right ? right++ : left++]);
    }
    return {};
  }

  Result<bool> precedes(size_t a, size_t b) {
    if (keys_[a].is_undefined()) return undefined_error(keys_[a]);
    if (keys_[b].is_undefined()) return undefined_error(keys_[b]);
    ASSIGN_OR_RETURN(const auto ordering, order(budget_, keys_[a], keys_[b]));
    return direction_ == Direction::ascending ? ordering < 0 : ordering > 0;
  }

  Budget& budget_;
  const std::vector<Value>& keys_;
  Direction direction_;
  std::vector<size_t> order_;
  std::vector<size_t> merged_;
};

}  // namespace

Result<std::vector<size_t>> sorted_order(Budget& budget, const std::vector<Value>& keys,
                                         Direction direction) {
  return Sorter(budget, keys, direction).run();
}

}  // namespace evener::chat::jinja
