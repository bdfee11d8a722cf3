// evener bench kernel: what this machine can do at most, and what the CPU device makes of it.
//
// Cells, each in several rounds of several samples:
//   read memory     all of a memory that no cache holds, by 1, 2, 4 .. threads
//   multiply-adds   int8 and f32 in registers, for each instruction set, by as many threads
//   linear          each weight format with 1 row (decode) and 128 rows (prefill)
//   other operations at sizes of real models
// A multiply-add is two operations. The bandwidth of an operation is of the bytes that it must
// move, of linear the packed weights. Shares are of the best that the first two kinds reached with
// all threads: whatever else runs on the machine can only make that less.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/experiment.h"
#include "bench/machine/machine_cell.h"
#include "bench/machine/op_cases.h"
#include "bench/machine/peaks.h"
#include "bench/machine/random_weights.h"
#include "device/cpu/cpu_node.h"
#include "device/cpu/isa.h"
#include "device/create_device.h"
#include "host/file_tree.h"
#include "host/text_lines.h"

namespace evener::bench {
namespace {

using device::Tensor;
using device::cpu::Peak;

constexpr size_t kNumSamples = 5;
constexpr size_t kOutputs = 4096;
constexpr size_t kInputs = 4096;
constexpr size_t kRowCounts[] = {1, 128};
constexpr size_t kMebibyte = size_t{1} << 20;

// Of the last-level cache; 0 if the kernel does not say.
size_t cache_bytes() {
  const auto line = host::FileTree("/").read_line("sys/devices/system/cpu/cpu0/cache/index3/size");
  return line ? host::parse_size(*line).value_or(0) : 0;
}

// So much that a cache keeps little of it until it is read again.
size_t bytes_beyond_caches() {
  return std::clamp(2 * cache_bytes(), 64 * kMebibyte, 512 * kMebibyte);
}

std::vector<size_t> thread_counts(size_t num_cpus) {
  std::vector<size_t> counts;
  for (size_t count = 1; count < num_cpus; count *= 2) counts.push_back(count);
  counts.push_back(num_cpus);
  return counts;
}

class KernelRun {
 public:
  explicit KernelRun(Bench& bench) : bench_(bench) {}

  Status run() {
    ASSIGN_OR_RETURN(node_, device::cpu::read_cpu_node(0));
    ASSIGN_OR_RETURN(const auto isa, device::cpu::choose_isa(""));
    isa_ = device::cpu::isa_name(isa);
    RETURN_IF_ERROR(measure_machine());
    ASSIGN_OR_RETURN(const auto device, device::create_device("cpu:0", 0));
    for (size_t i = 0; i < kNumDTypes; ++i) RETURN_IF_ERROR(measure_linear(*device, kDTypes[i]));
    if (bench_.stop) return {};
    Status done = each_op_case(*device, [&](const OpCase& op) { return measure_op(op); });
    if (!done && done.error().code == Code::cancelled) return {};
    return done;
  }

 private:
  void tell(const std::string& what) {
    if (bench_.progress) bench_.progress("kernel, " + what, fraction_);
  }

  MachineCell::Plan plan(const std::string& point, uint32_t round, size_t num_threads) const {
    return {.experiment = "kernel",
            .point = point,
            .round = round,
            .target = {{"threads", fmt::format("{}", num_threads)}}};
  }

  Status measure_machine() {
    const std::vector<size_t> counts = thread_counts(node_.cpus.size());
    for (uint32_t round = 1; round <= bench_.options.num_rounds; ++round) {
      for (const size_t count : counts) {
        if (bench_.stop) return {};
        ASSIGN_OR_RETURN(const auto pool, ThreadPool::create(std::span(node_.cpus).first(count)));
        fraction_ = 0.1 * (round - 1) / bench_.options.num_rounds;
        RETURN_IF_ERROR(measure_reading(*pool, round));
        for (const Peak* peak : available_peaks()) {
          RETURN_IF_ERROR(measure_peak(*pool, *peak, round));
        }
      }
    }
    return {};
  }

  Status measure_reading(ThreadPool& pool, uint32_t round) {
    tell(fmt::format("reading memory with {} threads", pool.num_threads()));
    const BigMemory memory(pool, 4 * bytes_beyond_caches_);
    auto cell_plan = plan(fmt::format("read/{}", pool.num_threads()), round, pool.num_threads());
    cell_plan.target["what"] = "read memory";
    MachineCell cell(bench_, std::move(cell_plan));
    for (const double seconds :
         time_calls(bench_, kNumSamples, {.call = [&] { sink_ = memory.read(pool); }})) {
      const double rate = double(memory.size_bytes()) / seconds;
      cell.value("bandwidth", "GB/s", rate * 1e-9);
      if (pool.num_threads() == node_.cpus.size()) best_read_ = std::max(best_read_, rate);
    }
    return cell.end();
  }

  Status measure_peak(ThreadPool& pool, const Peak& peak, uint32_t round) {
    constexpr uint64_t kTurns = 1 << 18;
    auto cell_plan = plan(fmt::format("{}-{}/{}", peak.units, peak.isa, pool.num_threads()), round,
                          pool.num_threads());
    cell_plan.target["what"] = fmt::format("multiply-adds, {}", peak.units);
    cell_plan.target["isa"] = peak.isa;
    MachineCell cell(bench_, std::move(cell_plan));
    const double work = 2 * double(peak.macs_a_turn * kTurns * pool.num_threads());
    for (const double seconds : time_calls(
             bench_, kNumSamples, {.call = [&] { sink_ = multiply_on_all(pool, peak, kTurns); }})) {
      cell.value("operations", "GOP/s", work / seconds * 1e-9);
      if (pool.num_threads() != node_.cpus.size() || peak.isa != isa_) continue;
      double& best = std::string_view(peak.units) == "int8" ? best_int8_ : best_f32_;
      best = std::max(best, work / seconds);
    }
    return cell.end();
  }

  // A format that the device does not take is left out.
  Status measure_linear(device::Device& device, const DTypeInfo& format) {
    fraction_ += 0.5 / double(kNumDTypes);
    if (bench_.stop) return {};
    if (!takes(device, format)) return {};
    tell(fmt::format("linear maps of {}", format.name));
    const auto bytes = random_weights(format.dtype, kOutputs * kInputs);
    std::vector<std::unique_ptr<device::Weight>> weights;
    size_t size_bytes = 0;
    while (size_bytes < bytes_beyond_caches_ && !bench_.stop) {
      auto weight = device.upload({.name = format.name,
                                   .dtype = format.dtype,
                                   .outputs = kOutputs,
                                   .inputs = kInputs,
                                   .bytes = bytes,
                                   .num_experts = 1},
                                  device::WeightUse::linear);
      if (!weight) return std::move(weight).error();
      size_bytes += (*weight)->size_bytes();
      weights.push_back(*std::move(weight));
    }
    for (uint32_t round = 1; round <= bench_.options.num_rounds; ++round) {
      for (const size_t num_rows : kRowCounts) {
        if (bench_.stop) return {};
        RETURN_IF_ERROR(measure_rows(device, weights, size_bytes, num_rows, round));
      }
    }
    return {};
  }

  static bool takes(device::Device& device, const DTypeInfo& format) {
    constexpr size_t kSize = 256;
    const auto bytes = random_weights(format.dtype, kSize * kSize);
    const auto weight = device.upload({.name = format.name,
                                       .dtype = format.dtype,
                                       .outputs = kSize,
                                       .inputs = kSize,
                                       .bytes = bytes,
                                       .num_experts = 1},
                                      device::WeightUse::linear);
    return weight || weight.error().code != Code::unsupported;
  }

  Status measure_rows(device::Device& device,
                      const std::vector<std::unique_ptr<device::Weight>>& weights,
                      size_t size_bytes, size_t num_rows, uint32_t round) {
    ASSIGN_OR_RETURN(const auto in, device.allocate(num_rows * kInputs * sizeof(float)));
    ASSIGN_OR_RETURN(const auto out, device.allocate(num_rows * kOutputs * sizeof(float)));
    const Tensor x = {in.get(), 0, num_rows, kInputs, kInputs};
    const Tensor y = {out.get(), 0, num_rows, kOutputs, kOutputs};
    device.write(std::vector<float>(num_rows * kInputs, 0.5f), x);

    const DType dtype = weights.front()->dtype();
    const std::string_view name = info(dtype).name;
    auto cell_plan = plan(fmt::format("linear-{}/{}", name, num_rows), round, node_.cpus.size());
    cell_plan.target["what"] = fmt::format("linear {} {} x {}, {} row{}", name, kOutputs, kInputs,
                                           num_rows, num_rows == 1 ? "" : "s");
    cell_plan.target["isa"] = isa_;
    MachineCell cell(bench_, std::move(cell_plan));
    const auto multiply_all = [&] {
      for (const auto& weight : weights) {
        const device::LinearPart part = {.weight = weight.get(), .bias = {}, .y = y};
        device.linear(x, {&part, 1});
      }
    };
    const bool is_float = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
    const double operations = 2 * double(num_rows * kOutputs * kInputs * weights.size());
    for (const double seconds : time_calls(bench_, kNumSamples, {.call = multiply_all})) {
      const double bytes_per_s = double(size_bytes) / seconds;
      const double operations_per_s = operations / seconds;
      cell.value("bandwidth", "GB/s", bytes_per_s * 1e-9);
      cell.value("operations", "GOP/s", operations_per_s * 1e-9);
      if (num_rows == 1) {
        add_share(cell, "share_of_bandwidth", bytes_per_s, best_read_);
      } else {
        add_share(cell, "share_of_peak", operations_per_s, is_float ? best_f32_ : best_int8_);
      }
    }
    return cell.end();
  }

  // Error after an interrupt: cancelled, so that nothing more is made ready.
  Status measure_op(const OpCase& op) {
    fraction_ = std::min(fraction_ + 0.006, 0.99);
    tell(op.name);
    for (uint32_t round = 1; round <= bench_.options.num_rounds; ++round) {
      if (bench_.stop) {
        return Error{
            .code = Code::cancelled, .doing = "measure", .where = {}, .why = {}, .remedy = {}};
      }
      std::string point = "op-" + op.name;
      std::ranges::replace(point, '/', ':');
      std::ranges::replace(point, ' ', '-');
      auto cell_plan = plan(point, round, node_.cpus.size());
      cell_plan.target["what"] = op.name;
      cell_plan.target["isa"] = isa_;
      MachineCell cell(bench_, std::move(cell_plan));
      for (const double seconds : time_calls(bench_, kNumSamples, {.call = op.call})) {
        add_op_figures(cell, op, seconds);
      }
      RETURN_IF_ERROR(cell.end());
    }
    return {};
  }

  void add_op_figures(MachineCell& cell, const OpCase& op, double seconds) {
    const double rate = op.work / seconds;
    cell.value("time", "us", seconds * 1e6);
    switch (op.unit) {
      case OpCase::Work::bytes:
        return cell.value("bandwidth", "GB/s", rate * 1e-9);
      case OpCase::Work::memory_bytes:
        cell.value("bandwidth", "GB/s", rate * 1e-9);
        return add_share(cell, "share_of_bandwidth", rate, best_read_);
      case OpCase::Work::flops:
        cell.value("operations", "GOP/s", rate * 1e-9);
        return add_share(cell, "share_of_peak", rate, best_f32_);
      case OpCase::Work::int8_ops:
        cell.value("operations", "GOP/s", rate * 1e-9);
        return add_share(cell, "share_of_peak", rate, best_int8_);
    }
  }

  static void add_share(MachineCell& cell, std::string_view key, double rate, double best) {
    if (best > 0) cell.value(key, "", rate / best);
  }

  Bench& bench_;
  const size_t bytes_beyond_caches_ = bytes_beyond_caches();
  device::cpu::CpuNode node_;
  std::string isa_;
  // A second, with all threads and the device's instruction set; 0: not measured.
  double best_read_ = 0;
  double best_int8_ = 0;
  double best_f32_ = 0;
  double fraction_ = 0;
  volatile uint64_t sink_ = 0;  // results go here, so that no work is left out
};

Status run(Bench& bench) { return KernelRun(bench).run(); }

// A minute and a half for three rounds on two cores, most of it prefill.
std::chrono::duration<double> expected_time(const Bench& bench, const Speed&) {
  return std::chrono::duration<double>(15 + 25.0 * bench.options.num_rounds);
}

}  // namespace

extern const Experiment kernel_experiment;
const Experiment kernel_experiment = {
    .name = "kernel",
    .summary =
        "What this machine can do at most, and what share of it the "
        "CPU's operations reach",
    .needs = Needs::nothing,
    .run = run,
    .expected_time = expected_time,
};

}  // namespace evener::bench
