#include "device/vulkan/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/log.h"

namespace evener::device::vulkan {

Result<std::unique_ptr<Steps>> Steps::create(std::shared_ptr<Gpu> gpu,
                                             std::shared_ptr<MemoryPool> pool,
                                             std::unique_ptr<Pipelines> pipelines,
                                             const Options& options) {
  std::unique_ptr<Steps> steps(
      new Steps(std::move(gpu), std::move(pool), std::move(pipelines), options));
  RETURN_IF_ERROR(steps->open());
  return steps;
}

Steps::Steps(std::shared_ptr<Gpu> gpu, std::shared_ptr<MemoryPool> pool,
             std::unique_ptr<Pipelines> pipelines, const Options& options)
    : gpu_(std::move(gpu)),
      pool_(std::move(pool)),
      pipelines_(std::move(pipelines)),
      options_(options),
      spill_watch_(gpu_->adapter().pci_address) {
  for (auto& each : frames_) each = std::make_unique<Frame>(gpu_);
}

Status Steps::open() {
  ASSIGN_OR_RETURN(recordings_, Recordings::create(gpu_, pipelines_->layout()));
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  const VkResult result = gpu_->api().CreateSemaphore(gpu_->device(), &info, nullptr, &timeline_);
  if (result == VK_SUCCESS) return {};
  return gpu_->no_room("open device", result);
}

Steps::~Steps() {
  if (timeline_ == VK_NULL_HANDLE || gpu_->is_abandoned()) return;
  gpu_->wait_until_idle();
  gpu_->api().DestroySemaphore(gpu_->device(), timeline_, nullptr);
}

void Steps::add(Command command, std::span<const Touched> reads, std::span<const Touched> writes) {
  if (hazards_.needs_barrier(reads, writes)) command.waits = 1;
  commands_.push_back(command);
}

void Steps::begin() {
  if (commands_.size() < kCommandsMax && frame().brought.used_bytes() < kBroughtBytesMax) return;
  hand_over();
}

void Steps::call(const Call& call) {
  if (!status_) return;
  if (call.groups[0] == 0 || call.groups[1] == 0 || call.groups[2] == 0) return;
  const auto pipeline = pipelines_->get(call.pipeline);
  if (!pipeline) return fail(pipeline.error());
  if (is_plan()) costs_.add(call.pipeline.kernel, call.cost);
  Command command;
  command.work = uint32_t(call.work);
  EVENER_ASSERT(call.push.size() <= command.push.size());
  command.pipeline = *pipeline;
  command.groups = call.groups;
  command.push_bytes = uint32_t(call.push.size());
  std::memcpy(command.push.data(), call.push.data(), call.push.size());
  add(command, call.reads, call.writes);
}

void Steps::copy(const Place& from, const Place& to, size_t size_bytes, Work work) {
  if (!status_ || size_bytes == 0) return;
  Command command;
  command.kind = CommandKind::copy;
  command.work = uint32_t(work);
  command.from = from.buffer;
  command.to = to.buffer;
  command.from_offset = from.offset;
  command.to_offset = to.offset;
  command.size_bytes = size_bytes;
  const Touched read{from.address, from.address + size_bytes};
  const Touched written{to.address, to.address + size_bytes};
  add(command, {&read, 1}, {&written, 1});
}

void Steps::fill(const Place& to, size_t size_bytes, uint32_t word, Work work) {
  if (!status_ || size_bytes == 0) return;
  Command command;
  command.kind = CommandKind::fill;
  command.work = uint32_t(work);
  command.to = to.buffer;
  command.to_offset = to.offset;
  command.size_bytes = (size_bytes + 3) / 4 * 4;
  command.fill_word = word;
  const Touched written{to.address, to.address + command.size_bytes};
  add(command, {}, {&written, 1});
}

void Steps::release(const Place& shared, size_t size_bytes, uint32_t family) {
  pass_on(CommandKind::release, shared, size_bytes, family);
}

void Steps::acquire(const Place& shared, size_t size_bytes, uint32_t family) {
  pass_on(CommandKind::acquire, shared, size_bytes, family);
}

void Steps::pass_on(CommandKind kind, const Place& shared, size_t size_bytes, uint32_t family) {
  if (!status_ || size_bytes == 0) return;
  Command command;
  command.kind = kind;
  command.work = uint32_t(Work::copies);
  command.to = shared.buffer;
  command.to_offset = shared.offset;
  command.size_bytes = size_bytes;
  command.fill_word = family;
  add(command, {}, {});
}

SharedPiece Steps::bring(size_t size_bytes) {
  if (!status_) return {};
  auto piece = frame().brought.take(size_bytes);
  if (piece) return *piece;
  fail(piece.error());
  return {};
}

const std::byte* Steps::take_home(const Place& from, size_t size_bytes) {
  if (!status_ || is_plan()) return nullptr;
  const auto piece = frame().taken.take(size_bytes);
  if (!piece) {
    fail(piece.error());
    return nullptr;
  }
  copy(from, {.buffer = piece->buffer, .offset = piece->offset, .address = piece->address},
       size_bytes, Work::copies);
  return piece->host;
}

const Status& Steps::finish() {
  if (!status_) return status_;
  const bool has_commands = !commands_.empty();
  if (has_commands) submit();
  wait_for(timeline_value_);
  if (!status_) return status_;
  for (auto& each : frames_) add_times(*each);
  spill_watch_.check(gpu_->host_bytes());
  if (has_commands) {  // what was taken home is read before this frame is asked for more
    frame().brought.clear();
    frame().taken.clear();
  }
  return status_;
}

void Steps::hand_over() {
  if (!status_ || commands_.empty()) return;
  submit();
  if (!status_) return;
  frame_ = (frame_ + 1) % kNumFrames;
  wait_for(frame_ends_[frame_]);
  if (!status_) return;
  add_times(frame());
  frame().brought.clear();
  frame().taken.clear();
}

void Steps::submit() {
  if (is_plan()) {
    commands_.clear();
    hazards_.clear();
    return;
  }
  if (generation_ != pool_->generation()) {
    wait_for(timeline_value_);
    if (!status_) return;
    for (auto& each : frames_) add_times(*each);
    recordings_->clear();
    generation_ = pool_->generation();
  }
  const bool has_timestamps = times_ != nullptr && gpu_->adapter().nanoseconds_per_tick > 0;
  const auto recording = recordings_->get(commands_, has_timestamps, done_value_);
  if (!recording) return fail(recording.error());
  commands_.clear();
  hazards_.clear();

  const uint64_t value = timeline_value_ + 1;
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &value;
  VkSubmitInfo submission{};
  submission.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submission.pNext = &timeline;
  submission.commandBufferCount = 1;
  submission.pCommandBuffers = &(*recording)->buffer;
  submission.signalSemaphoreCount = 1;
  submission.pSignalSemaphores = &timeline_;
  if (const VkResult result = gpu_->submit(submission); result != VK_SUCCESS) {
    return give_up(fmt::format("it takes no work: {}", result_name(result)),
                   "see `dmesg`: the driver may have reset the card");
  }
  timeline_value_ = value;
  (*recording)->ends_at = value;
  frame().recording = *recording;
  frame_ends_[frame_] = value;
  ++num_steps_;
}

// Bit by bit: a card may compute for longer than others wait for a sign of life.
VkResult Steps::wait(uint64_t value) {
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  constexpr std::chrono::nanoseconds kBit = std::chrono::milliseconds(50);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  for (;;) {
    const std::chrono::nanoseconds left = options_.deadline - (Clock::now() - began);
    const auto bit = std::clamp(left, std::chrono::nanoseconds(0), kBit);
    const VkResult result =
        gpu_->api().WaitSemaphores(gpu_->device(), &info, uint64_t(bit.count()));
    if (result != VK_TIMEOUT || left <= kBit) return result;
    if (sign_) sign_();
  }
}

void Steps::wait_for(uint64_t value) {
  if (value <= done_value_) return;
  const VkResult result = wait(value);
  if (result == VK_SUCCESS) {
    done_value_ = value;
    return;
  }
  give_up(result == VK_TIMEOUT
              ? fmt::format("it has not answered for {:.3g} s",
                            std::chrono::duration<double>(options_.deadline).count())
              : fmt::format("it is lost: {}", result_name(result)),
          "see `dmesg`; look at power, cooling and the slot (`evener doctor`)");
}

void Steps::give_up(std::string why, const char* remedy) {
  gpu_->abandon();
  fail({.code = Code::unavailable,
        .doing = "compute",
        .where = title_of(gpu_->adapter()),
        .why = std::move(why),
        .remedy = remedy});
}

void Steps::add_times(Frame& frame) {
  const Recording* const recording = std::exchange(frame.recording, nullptr);
  if (recording == nullptr || recording->queries == VK_NULL_HANDLE || !times_) return;
  std::vector<uint64_t> stamps(recording->works.size() + 1);
  const VkResult result = gpu_->api().GetQueryPoolResults(
      gpu_->device(), recording->queries, 0, uint32_t(stamps.size()),
      stamps.size() * sizeof(uint64_t), stamps.data(), sizeof(uint64_t), VK_QUERY_RESULT_64_BIT);
  if (result != VK_SUCCESS) return;
  for (size_t i = 0; i < recording->works.size(); ++i) {
    const double ticks = stamps[i + 1] > stamps[i] ? double(stamps[i + 1] - stamps[i]) : 0;
    times_->add(recording->works[i], std::chrono::duration_cast<WorkTimes::Clock::duration>(
                                         std::chrono::duration<double, std::nano>(
                                             ticks * gpu_->adapter().nanoseconds_per_tick)));
  }
}

void Steps::measure(std::shared_ptr<WorkTimes> times) { times_ = std::move(times); }

void Steps::fail(Error error) {
  commands_.clear();
  hazards_.clear();
  if (!status_) return;
  log::error("{}", to_string(error));
  status_ = std::move(error);
}

}  // namespace evener::device::vulkan
