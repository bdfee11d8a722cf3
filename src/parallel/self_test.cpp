#include "parallel/self_test.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "parallel/call.h"
#include "parallel/rank_errors.h"

namespace evener::parallel {
namespace {

using device::Tensor;

// Whole numbers, small enough that their sums are exact in any order.
float test_value(size_t rank, size_t i, size_t salt) {
  return float((rank + 1) * ((i * 7 + salt * 13) % 1021));
}

struct TestShape {
  size_t rows;
  size_t cols;
};

// One of the two groups of a rank.
class GroupTest {
 public:
  GroupTest(Comm& comm, RankComms& comms, device::Device& device, const CommOptions& options)
      : comm_(comm), comms_(comms), device_(device), options_(options) {}

  Status run() {
    if (comm_.size() == 1) return {};
    const size_t border = options_.one_shot_bytes / sizeof(float);
    const TestShape shapes[] = {
        {1, 1}, {3, 100}, {1, border}, {1, border + 1}, {2, options_.piece_bytes / sizeof(float)}};
    for (const TestShape& shape : shapes) {
      RETURN_IF_ERROR(run(shape));
      ++salt_;
    }
    return comm_.status();
  }

 private:
  Status run(const TestShape& shape) {
    const size_t size = shape.rows * shape.cols;
    if (size == 0) return {};
    const size_t stride = shape.cols * comm_.size() + 1;
    ASSIGN_OR_RETURN(const auto memory, device_.allocate(shape.rows * stride * sizeof(float)));
    const Tensor whole{memory.get(), 0, shape.rows, stride - 1, stride};
    const Tensor x = whole.columns(0, shape.cols);
    RETURN_IF_ERROR(test_all_reduce(x));
    RETURN_IF_ERROR(test_broadcast(x));
    RETURN_IF_ERROR(test_ring(x));
    return test_gather(whole, shape.cols);
  }

  Status test_all_reduce(const Tensor& x) {
    put(x, comm_.rank());
    comm_.all_reduce(device_, x);
    const size_t n = comm_.size();
    RETURN_IF_ERROR(check(CallKind::all_reduce, x, [&](size_t, size_t, size_t i) {
      return test_value(0, i, salt_) * float(n * (n + 1) / 2);
    }));
    comm_.verify_same(device_, x);
    return comm_.status();
  }

  Status test_broadcast(const Tensor& x) {
    for (size_t root = 0; root < comm_.size(); ++root) {
      put(x, comm_.rank());
      comm_.broadcast(device_, root, x);
      RETURN_IF_ERROR(check(CallKind::broadcast, x,
                            [&](size_t, size_t, size_t i) { return test_value(root, i, salt_); }));
    }
    return {};
  }

  // From each rank to the next.
  Status test_ring(const Tensor& x) {
    const size_t next = (comm_.rank() + 1) % comm_.size();
    const size_t last = (comm_.rank() + comm_.size() - 1) % comm_.size();
    put(x, comm_.rank());
    comm_.send(device_, next, x);
    comm_.receive(device_, last, x);
    return check(CallKind::receive, x,
                 [&](size_t, size_t, size_t i) { return test_value(last, i, salt_); });
  }

  Status test_gather(const Tensor& whole, size_t part_cols) {
    const Tensor part = whole.columns(comm_.rank() * part_cols, part_cols);
    for (size_t root = 0; root < comm_.size(); ++root) {
      put(part, comm_.rank());
      comm_.gather(device_, root, part, whole);
      if (comm_.rank() != root) continue;
      RETURN_IF_ERROR(check(CallKind::gather, whole, [&](size_t row, size_t col, size_t) {
        return test_value(col / part_cols, row * part_cols + col % part_cols, salt_);
      }));
    }
    return comm_.status();
  }

  void put(const Tensor& x, size_t rank) {
    std::vector<float> values(x.rows * x.cols);
    for (size_t i = 0; i < values.size(); ++i) values[i] = test_value(rank, i, salt_);
    device_.write(values, x);
  }

  template <class Expected>  // of (row, column, place)
  Status check(CallKind kind, const Tensor& x, Expected expected) {
    RETURN_IF_ERROR(comm_.status());
    std::vector<float> values(x.rows * x.cols);
    device_.read(x, values);
    for (size_t i = 0; i < values.size(); ++i) {
      const float right = expected(i / x.cols, i % x.cols, i);
      if (values[i] == right) continue;
      const RankNames names(comms_.rank + 1, options_.names);
      Error error{
          .code = Code::unavailable,
          .doing = "test the links between ranks",
          .where = names[comms_.rank],
          .why = fmt::format("{} of {} bytes left {} in place {} instead of {}", name_of(kind),
                             x.rows * x.cols * sizeof(float), values[i], i, right),
          .remedy = "a link, a processor or memory gives wrong data: run without this device"};
      comms_.break_with(error);
      return error;
    }
    return {};
  }

  Comm& comm_;
  RankComms& comms_;
  device::Device& device_;
  const CommOptions& options_;
  size_t salt_ = 0;
};

}  // namespace

Status self_test(RankComms& comms, device::Device& device, const CommOptions& options) {
  for (Comm* const comm : {comms.shards.get(), comms.stages.get()}) {
    const Status status = GroupTest(*comm, comms, device, options).run();
    if (status) continue;
    comms.break_with(status.error());  // of what others would wait for
    return status;
  }
  return comms.status();
}

}  // namespace evener::parallel
