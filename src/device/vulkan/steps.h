#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/work_times.h"
#include "device/vulkan/arena.h"
#include "device/vulkan/command.h"
#include "device/vulkan/gpu.h"
#include "device/vulkan/hazards.h"
#include "device/vulkan/memory_pool.h"
#include "device/vulkan/pipelines.h"
#include "device/vulkan/recordings.h"
#include "device/vulkan/spill_watch.h"
#include "device/vulkan/step_costs.h"

namespace evener::device::vulkan {

// A kernel's call. `push` are its arguments as the kernel declares them.
struct Call {
  PipelineKey pipeline;
  std::array<uint32_t, 3> groups{};
  std::span<const std::byte> push;
  std::span<const Touched> reads;
  std::span<const Touched> writes;
  Work work = Work::elementwise;
  Cost cost = {};
};

// Bytes of one buffer.
struct Place {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  uint64_t address = 0;
};

// Collects what a device is to do and hands it over as steps. The host does not wait until
// something is read. A step whose commands equal those of an earlier one is that one, submitted
// again.
//
// One thread. After a failure nothing is done any more, and what is read is zeros.
class Steps {
 public:
  struct Options {
    std::chrono::nanoseconds deadline;  // for the card to answer in
    bool is_plan = false;  // nothing is computed and what is read is zeros: for costs alone
  };
  static Result<std::unique_ptr<Steps>> create(std::shared_ptr<Gpu> gpu,
                                               std::shared_ptr<MemoryPool> pool,
                                               std::unique_ptr<Pipelines> pipelines,
                                               const Options& options);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  // In front of what belongs together: what it brings along stays until its last command. Hands
  // over what has become long.
  void begin();

  void call(const Call& call);
  void copy(const Place& from, const Place& to, size_t size_bytes, Work work);
  void fill(const Place& to, size_t size_bytes, uint32_t word, Work work);

  // Memory that another device sees too changes hands, `family` being that of the other's queues:
  // behind what wrote it here, in front of what reads it here.
  void release(const Place& shared, size_t size_bytes, uint32_t family);
  void acquire(const Place& shared, size_t size_bytes, uint32_t family);

  // Memory for the host to fill, for the commands up to the next begin(), and for those behind it
  // while number() stays.
  // Null after a failure.
  SharedPiece bring(size_t size_bytes);

  // Copies bytes to where the host sees them after finish(). Null after a failure, and in a plan.
  const std::byte* take_home(const Place& from, size_t size_bytes);

  // Hands over what was collected and waits for it. Error: as status().
  const Status& finish();

  // Hands it over without waiting.
  void hand_over();

  // Counts the steps that were handed over.
  uint64_t number() const { return timeline_value_; }
  // Until the step of a number, and those before it, are done.
  void wait_for(uint64_t number);

  const Status& status() const { return status_; }
  void fail(Error error);

  // As Device::while_waiting().
  void while_waiting(std::function<void()> sign) { sign_ = std::move(sign); }

  // Adds the time of each kind to `times`; null: to nobody. Only if the card has a clock.
  void measure(std::shared_ptr<WorkTimes> times);

  // What was done so far: steps, and how many of them had to be recorded.
  size_t num_steps() const { return num_steps_; }
  size_t num_recorded() const { return recordings_->num_made(); }
  const StepCosts& costs() const { return costs_; }
  void forget_costs() { costs_.clear(); }
  bool is_plan() const { return options_.is_plan; }

 private:
  // What one step in flight needs for itself.
  struct Frame {
    explicit Frame(const std::shared_ptr<Gpu>& gpu)
        : brought(gpu, MemoryKind::upload), taken(gpu, MemoryKind::readback) {}

    Arena brought;
    Arena taken;
    Recording* recording = nullptr;  // in flight, or done and its times not yet added
  };
  static constexpr size_t kNumFrames = 2;
  static constexpr size_t kCommandsMax = 8192;
  static constexpr size_t kBroughtBytesMax = size_t{64} << 20;

  Steps(std::shared_ptr<Gpu> gpu, std::shared_ptr<MemoryPool> pool,
        std::unique_ptr<Pipelines> pipelines, const Options& options);
  Status open();
  void add(Command command, std::span<const Touched> reads, std::span<const Touched> writes);
  void pass_on(CommandKind kind, const Place& shared, size_t size_bytes, uint32_t family);
  void submit();
  VkResult wait(uint64_t value);
  void give_up(std::string why, const char* remedy);
  void add_times(Frame& frame);
  Frame& frame() { return *frames_[frame_]; }

  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<Pipelines> pipelines_;
  Options options_;
  std::unique_ptr<Recordings> recordings_;
  size_t generation_ = 0;  // of the pool, that the recordings belong to
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  uint64_t timeline_value_ = 0;  // after what was handed over last
  uint64_t done_value_ = 0;      // known to be reached
  std::array<std::unique_ptr<Frame>, kNumFrames> frames_;
  std::array<uint64_t, kNumFrames> frame_ends_{};
  size_t frame_ = 0;
  std::vector<Command> commands_;
  Hazards hazards_;
  Status status_;
  std::shared_ptr<WorkTimes> times_;
  std::function<void()> sign_;
  StepCosts costs_;
  SpillWatch spill_watch_;
  size_t num_steps_ = 0;
};

}  // namespace evener::device::vulkan
