// evener bench link: bandwidth and latency of the ways that data takes, over sizes, with every copy
// compared with what was sent.
//
//   host to cpu:N      Device::write: one thread copies host memory into a buffer of the device
//   cpu:N to host      Device::read
//   cpu:N within       Device::gather_rows: the device's threads copy between two of its buffers
//   cpu:N to cpu:M     Device::read and Device::write, through host memory: from node to node
//   all-reduce         Comm::all_reduce over one rank a node, or over two cores of the only node
//
// A latency is the time of one copy of that size, a bandwidth its bytes over that time; of an
// all-reduce, its bus bandwidth. Sizes that fit in a cache show the cache.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/experiment.h"
#include "bench/machine/all_reduce.h"
#include "bench/machine/copy_pattern.h"
#include "bench/machine/machine_cell.h"
#include "device/create_device.h"

namespace evener::bench {
namespace {

using device::Device;
using device::Tensor;

constexpr size_t kNumSamples = 5;
constexpr size_t kDevicesMax = 64;
constexpr size_t kCols = 1024;
constexpr size_t kRowBytes = kCols * sizeof(float);
constexpr uint64_t kSizesBytes[] = {uint64_t{4} << 10,   uint64_t{16} << 10, uint64_t{64} << 10,
                                    uint64_t{256} << 10, uint64_t{1} << 20,  uint64_t{4} << 20,
                                    uint64_t{16} << 20,  uint64_t{64} << 20, uint64_t{256} << 20};

// The same number of rows on a device.
struct DeviceRows {
  std::unique_ptr<device::Buffer> buffer;
  Tensor rows;
};

Result<DeviceRows> allocate_rows(Device& device, size_t num_rows) {
  DeviceRows made;
  ASSIGN_OR_RETURN(made.buffer, device.allocate(num_rows * kRowBytes));
  made.rows = {made.buffer.get(), 0, num_rows, kCols, kCols};
  return made;
}

// One way and one size: `send` moves what `put` has laid ready, `fetch` brings back what arrived.
struct Way {
  std::string name;
  size_t num_rows;
  FunctionRef<void(std::span<const float>)> put;
  FunctionRef<void()> send;
  FunctionRef<void(std::span<float>)> fetch;
};

class LinkRun {
 public:
  explicit LinkRun(Bench& bench) : bench_(bench) {
    const std::vector<uint64_t>& wanted = bench.options.link.sizes_bytes;
    const std::span<const uint64_t> sizes =
        wanted.empty() ? std::span<const uint64_t>(kSizesBytes) : wanted;
    for (const uint64_t size : sizes) num_rows_.insert(std::max<size_t>(size / kRowBytes, 1));
  }

  Status run() {
    RETURN_IF_ERROR(open_devices());
    for (uint32_t round = 1; round <= bench_.options.num_rounds; ++round) {
      for (const size_t num_rows : num_rows_) {
        if (bench_.stop) return {};
        if (!fits(num_rows, round)) continue;
        RETURN_IF_ERROR(measure_size(num_rows, round));
      }
    }
    return {};
  }

 private:
  // One for each NUMA node.
  Status open_devices() {
    while (devices_.size() < kDevicesMax) {
      auto device = device::create_device(fmt::format("cpu:{}", devices_.size()), 0);
      if (!device && !devices_.empty() && device.error().code == Code::invalid_argument) break;
      if (!device) return std::move(device).error();
      devices_.push_back(*std::move(device));
    }
    ASSIGN_OR_RETURN(summing_devices_, devices_to_sum_over());
    if (summing_devices_.size() < 2) tell_of_all_reduce();
    return {};
  }

  // Two buffers on a device and three on the host, in half of its memory.
  bool fits(size_t num_rows, uint32_t round) {
    const size_t num_rows_max = devices_.front()->info().memory_bytes / 2 / (5 * kRowBytes);
    if (num_rows <= num_rows_max) return true;
    if (round > 1) return false;
    bench_.recorder.finding(
        {Fault::too_few_samples,
         Severity::note,
         {},
         {},
         fmt::format("link: copies of {} bytes were not measured: of five times that, half of the "
                     "device's {} bytes of memory is less",
                     num_rows * kRowBytes, devices_.front()->info().memory_bytes)});
    return false;
  }

  Status measure_size(size_t num_rows, uint32_t round) {
    for (const auto& device : devices_) {
      RETURN_IF_ERROR(measure_device(*device, num_rows, round));
      for (const auto& other : devices_) {
        if (other != device) RETURN_IF_ERROR(measure_pair(*device, *other, num_rows, round));
      }
    }
    if (bench_.stop || summing_devices_.size() < 2) return {};
    return measure_all_reduce(num_rows, round);
  }

  Status measure_device(Device& device, size_t num_rows, uint32_t round) {
    ASSIGN_OR_RETURN(const DeviceRows here, allocate_rows(device, num_rows));
    ASSIGN_OR_RETURN(const DeviceRows there, allocate_rows(device, num_rows));
    const std::string& name = device.info().name;
    std::vector<float> host(num_rows * kCols);
    const auto to_here = [&](std::span<const float> values) { device.write(values, here.rows); };
    const auto from_here = [&](std::span<float> values) { device.read(here.rows, values); };
    const auto to_host = [&](std::span<const float> values) {
      std::ranges::copy(values, host.begin());
    };
    const auto from_host = [&](std::span<float> values) {
      std::ranges::copy(host, values.begin());
    };

    RETURN_IF_ERROR(measure({.name = "host to " + name,
                             .num_rows = num_rows,
                             .put = to_host,
                             .send = [&] { device.write(host, here.rows); },
                             .fetch = from_here},
                            round));
    RETURN_IF_ERROR(measure({.name = name + " to host",
                             .num_rows = num_rows,
                             .put = to_here,
                             .send = [&] { device.read(here.rows, host); },
                             .fetch = from_host},
                            round));
    std::vector<int32_t> ids(num_rows);
    std::iota(ids.begin(), ids.end(), 0);
    return measure({.name = name + " within",
                    .num_rows = num_rows,
                    .put = to_here,
                    .send = [&] { device.gather_rows(here.rows, ids, there.rows); },
                    .fetch = [&](std::span<float> values) { device.read(there.rows, values); }},
                   round);
  }

  Status measure_pair(Device& from, Device& to, size_t num_rows, uint32_t round) {
    ASSIGN_OR_RETURN(const DeviceRows here, allocate_rows(from, num_rows));
    ASSIGN_OR_RETURN(const DeviceRows there, allocate_rows(to, num_rows));
    std::vector<float> host(num_rows * kCols);
    return measure({.name = from.info().name + " to " + to.info().name,
                    .num_rows = num_rows,
                    .put = [&](std::span<const float> values) { from.write(values, here.rows); },
                    .send =
                        [&] {
                          from.read(here.rows, host);
                          to.write(host, there.rows);
                        },
                    .fetch = [&](std::span<float> values) { to.read(there.rows, values); }},
                   round);
  }

  Status measure(const Way& way, uint32_t round) {
    if (bench_.stop) return {};
    const size_t size_bytes = way.num_rows * kRowBytes;
    MachineCell cell(bench_, plan_of(way.name, way.num_rows, round));
    std::vector<float> values(way.num_rows * kCols);
    uint64_t num_wrong = 0;
    uint32_t seed = round;
    const auto put = [&] {
      fill_pattern(values, ++seed);
      way.put(values);
      fill_pattern(values, ~seed);  // nothing of the right one is left here
    };
    const auto check = [&] {
      way.fetch(values);
      num_wrong += count_wrong_bytes(values, seed);
    };
    for (const double seconds :
         time_calls(bench_, kNumSamples, {.call = way.send, .before = put, .after = check})) {
      cell.value("bandwidth", "GB/s", double(size_bytes) / seconds * 1e-9);
      cell.value("latency", "us", seconds * 1e6);
    }
    cell.value("data_wrong", "bytes", double(num_wrong));
    if (num_wrong > 0) {
      cell.finding(Fault::wrong_answer, Severity::voids,
                   fmt::format("{} bytes arrived wrong", num_wrong));
    }
    return cell.end();
  }

  Status measure_all_reduce(size_t num_rows, uint32_t round) {
    const size_t num_ranks = summing_devices_.size();
    const size_t size_bytes = num_rows * kRowBytes;
    MachineCell cell(bench_,
                     plan_of(fmt::format("all-reduce over {} ranks", num_ranks), num_rows, round));
    ASSIGN_OR_RETURN(const AllReduceTimes times,
                     time_all_reduce(summing_devices_, size_bytes, kNumSamples, bench_.stop));
    for (const double seconds : times.seconds) {
      cell.value("bandwidth", "GB/s", bus_bandwidth(num_ranks, size_bytes, seconds) * 1e-9);
      cell.value("latency", "us", seconds * 1e6);
    }
    cell.value("data_wrong", "bytes", double(times.num_wrong * sizeof(float)));
    if (times.num_wrong > 0) {
      cell.finding(Fault::wrong_answer, Severity::voids,
                   fmt::format("{} sums are wrong", times.num_wrong));
    }
    return cell.end();
  }

  // Says what comes, too.
  MachineCell::Plan plan_of(const std::string& way, size_t num_rows, uint32_t round) const {
    const size_t size_bytes = num_rows * kRowBytes;
    if (bench_.progress) {
      bench_.progress(fmt::format("link, {}, {} bytes", way, size_bytes),
                      fraction(num_rows, round));
    }
    std::string point = fmt::format("{}/{}", way, size_bytes);
    std::ranges::replace(point, ' ', '-');
    return {.experiment = "link",
            .point = point,
            .round = round,
            .target = {{"link", way}, {"size_bytes", fmt::format("{}", size_bytes)}}};
  }

  // By bytes, of which the largest sizes are nearly all.
  double fraction(size_t before_rows, uint32_t round) const {
    const auto all = double(std::accumulate(num_rows_.begin(), num_rows_.end(), size_t{0}));
    double before = 0;
    for (const size_t num_rows : num_rows_) {
      if (num_rows < before_rows) before += double(num_rows);
    }
    return (double(round - 1) + before / all) / double(bench_.options.num_rounds);
  }

  // Never a figure for what did not happen.
  void tell_of_all_reduce() {
    bench_.recorder.finding({Fault::too_few_samples,
                             Severity::note,
                             {},
                             {},
                             "link: all-reduce was not measured: it takes two ranks, and this "
                             "process may use one core"});
  }

  Bench& bench_;
  std::set<size_t> num_rows_;  // of each size
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::string> summing_devices_;
};

Status run(Bench& bench) { return LinkRun(bench).run(); }

}  // namespace

extern const Experiment link_experiment;
const Experiment link_experiment = {
    .name = "link",
    .summary =
        "Bandwidth and latency between host memory and devices and of sums over them, "
        "every copy compared",
    .needs = Needs::nothing,
    .run = run,
};

}  // namespace evener::bench
