#include "parallel/fault.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace evener::parallel {
namespace {

using device::Device;
using device::Tensor;

constexpr std::pair<std::string_view, FaultKind> kFaultKinds[] = {{"exit", FaultKind::exit},
                                                                  {"hang", FaultKind::hang},
                                                                  {"corrupt", FaultKind::corrupt},
                                                                  {"abort", FaultKind::abort}};

Error bad_fault(std::string_view text, std::string why) {
  return {.code = Code::invalid_argument,
          .doing = "plan a fault",
          .where = fmt::format("'{}'", printable(text)),
          .why = std::move(why),
          .remedy = "write rank=R,after=N,kind=K,times=T, K being exit, hang, corrupt or abort"};
}

template <class T>
bool parse_number(std::string_view text, T* value) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *value);
  return result.ec == std::errc() && result.ptr == end;
}

bool parse_kind(std::string_view text, FaultKind* kind) {
  for (const auto& [name, value] : kFaultKinds) {
    if (text != name) continue;
    *kind = value;
    return true;
  }
  return false;
}

// What both comms of a rank count together.
struct FaultState {
  FaultPlan plan;
  std::shared_ptr<HangGate> gate;
  uint64_t num_calls = 0;           // by the rank's thread
  bool has_happened = false;        // by the rank's thread
  std::atomic<bool> ended = false;  // the comms are gone
};

class FaultyComm final : public Comm {
 public:
  FaultyComm(std::unique_ptr<Comm> comm, std::shared_ptr<FaultState> state)
      : comm_(std::move(comm)),
        state_(std::move(state)),
        rank_(comm_->rank()),
        size_(comm_->size()) {}

  size_t rank() const override { return rank_; }
  size_t size() const override { return size_; }

  void all_reduce(Device& device, const Tensor& x) override {
    if (!enter()) return;
    comm_->all_reduce(device, x);
    corrupt(device, x);
  }
  void gather(Device& device, size_t root, const Tensor& part, const Tensor& whole) override {
    if (enter()) comm_->gather(device, root, part, whole);
  }
  void broadcast(Device& device, size_t root, const Tensor& x) override {
    if (!enter()) return;
    comm_->broadcast(device, root, x);
    corrupt(device, x);
  }
  void send(Device& device, size_t to, const Tensor& x) override {
    if (enter()) comm_->send(device, to, x);
  }
  void receive(Device& device, size_t from, const Tensor& x) override {
    if (!enter()) return;
    comm_->receive(device, from, x);
    corrupt(device, x);
  }
  void verify_same(Device& device, const Tensor& x) override {
    if (enter()) comm_->verify_same(device, x);
  }

  Status status() const override {
    if (!state_->ended.load()) return comm_->status();
    return Error{.code = Code::unavailable,
                 .doing = "go on with this rank",
                 .where = "",
                 .why = "it was told to end, as a fault on purpose",
                 .remedy = ""};
  }
  void break_with(Error error) override {
    if (!state_->ended.load()) comm_->break_with(std::move(error));
  }

 private:
  // False if the rank is gone.
  bool enter() {
    if (state_->ended.load()) return false;
    if (state_->has_happened || state_->num_calls++ < state_->plan.after) return true;
    switch (state_->plan.kind) {
      case FaultKind::exit:
        state_->has_happened = true;
        state_->ended.store(true);
        comm_ = nullptr;
        return false;
      case FaultKind::hang:
        state_->has_happened = true;
        state_->gate->wait();
        return true;
      case FaultKind::abort:
        std::_Exit(70);
      case FaultKind::corrupt:
        return true;  // behind the call
    }
    return true;
  }

  void corrupt(Device& device, const Tensor& x) {
    const FaultPlan& plan = state_->plan;
    if (plan.kind != FaultKind::corrupt || state_->has_happened) return;
    if (state_->num_calls <= plan.after || x.rows * x.cols == 0) return;
    state_->has_happened = true;
    std::vector<float> values(x.rows * x.cols);
    device.read(x, values);
    float& value = values[values.size() / 2];
    constexpr uint32_t kBit = 1U << 22;  // the largest of the mantissa: nothing rounds it away
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ kBit);
    device.write(values, x);
  }

  std::unique_ptr<Comm> comm_;
  std::shared_ptr<FaultState> state_;
  size_t rank_;
  size_t size_;
};

}  // namespace

Result<FaultPlan> parse_fault(std::string_view text) {
  FaultPlan plan;
  bool has_rank = false;
  bool has_after = false;
  bool has_kind = false;
  bool has_times = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view field = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), field.size() + 1));
    const std::string_view key = field.substr(0, field.find('='));
    if (key.size() == field.size()) {
      return bad_fault(text, fmt::format("'{}' has no value", printable(field)));
    }
    const std::string_view value = field.substr(key.size() + 1);
    const auto first = [](bool& seen) { return !std::exchange(seen, true); };
    const bool known = (key == "rank" && first(has_rank) && parse_number(value, &plan.rank)) ||
                       (key == "after" && first(has_after) && parse_number(value, &plan.after)) ||
                       (key == "kind" && first(has_kind) && parse_kind(value, &plan.kind)) ||
                       (key == "times" && first(has_times) && parse_number(value, &plan.times));
    if (!known) return bad_fault(text, fmt::format("'{}' says nothing", printable(field)));
  }
  if (!has_rank) return bad_fault(text, "it does not say which rank");
  if (!has_kind) return bad_fault(text, "it does not say which kind");
  return plan;
}

void HangGate::open() {
  {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
  }
  opened_.notify_all();
}

void HangGate::wait() {
  std::unique_lock lock(mutex_);
  opened_.wait(lock, [&] { return is_open_; });
}

void inject_fault(RankComms& comms, const FaultPlan& plan, std::shared_ptr<HangGate> gate) {
  if (comms.rank != plan.rank) return;
  const auto state = std::make_shared<FaultState>();
  state->plan = plan;
  state->gate = std::move(gate);
  comms.shards = std::make_unique<FaultyComm>(std::move(comms.shards), state);
  comms.stages = std::make_unique<FaultyComm>(std::move(comms.stages), state);
}

}  // namespace evener::parallel
