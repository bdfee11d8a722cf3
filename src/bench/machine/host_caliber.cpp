#include "bench/host_caliber.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "device/cpu/isa.h"
#include "host/facts_json.h"
#include "host/file_tree.h"
#include "host/read_facts.h"
#include "host/run_program.h"
#include "host/text_lines.h"
#include "telemetry/sensors.h"

namespace evener::bench {
namespace {

class Writer {
 public:
  explicit Writer(std::string prefix) : prefix_(std::move(prefix)) {}

  void add(const std::string& name, const std::string& value) {
    if (!value.empty()) caliber_[prefix_ + name] = host::clean(value);
  }
  template <class Number>
  void add(const std::string& name, const std::optional<Number>& value) {
    if (value) caliber_[prefix_ + name] = fmt::format("{:g}", double(*value));
  }
  void add_count(const std::string& name, const std::optional<uint64_t>& value) {
    if (value) caliber_[prefix_ + name] = fmt::format("{}", *value);
  }

  Caliber take() { return std::move(caliber_); }

 private:
  std::string prefix_;
  Caliber caliber_;
};

// Of what stays as it is: the kernel's log grows, and error counters and live links move.
std::string facts_hash(host::HostFacts facts) {
  facts.log.clear();
  for (host::Function& function : facts.functions) {
    function.aer_correctable.reset();
    function.suspended.reset();
    if (!function.link) continue;
    function.link->now_gts.reset();
    function.link->now_width.reset();
    function.link->under_load.reset();
  }
  const std::string text = host::facts_to_json(facts);
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string peer_summary(const host::HostFacts& facts) {
  const auto& peers = facts.observed.peers;
  if (peers.empty()) return {};
  const auto allowed = std::ranges::count_if(peers, &host::PeerObservation::allowed);
  return fmt::format("{} of {} directions allowed", allowed, peers.size());
}

std::string_view iommu_word(host::IommuMode mode) {
  switch (mode) {
    case host::IommuMode::off:
      return "off";
    case host::IommuMode::identity:
      return "identity";
    case host::IommuMode::translated:
      return "translated";
  }
  return "";
}

std::string_view swap_word(const std::optional<uint64_t>& bytes) {
  if (!bytes) return "";
  return *bytes == 0 ? "off" : "on";
}

// The slot's: on a card with a switch of its own the graphics function shows one inside the card.
const std::optional<host::Link>& slot_link(const host::HostFacts& facts,
                                           const host::Function& card) {
  const host::Function* end = &card;
  for (const host::Function* port : host::ancestors(facts, card.name).ports) {
    if (port->port != host::PortKind::card_up && port->port != host::PortKind::card_down) break;
    end = port;
  }
  return end->link;
}

std::string link_text(const std::optional<host::Link>& link) {
  if (!link || !link->max_gts || !link->max_width) return {};
  return fmt::format("{:g} GT/s x{}", *link->max_gts, *link->max_width);
}

Caliber host_part(const host::HostFacts& facts, const HostSizes& sizes,
                  const telemetry::Sample& sample) {
  Writer out("host.");
  out.add("facts_hash", facts_hash(facts));
  out.add("board", facts.machine.board);
  out.add("cpu", facts.machine.cpu);
  out.add_count("sockets", facts.machine.num_sockets);
  out.add_count("cores", sizes.num_cores);
  out.add_count("cpus", sizes.num_cpus);
  out.add("isa", fmt::format("{}", fmt::join(sizes.isas, " ")));
  out.add_count("ram_bytes", sizes.memory_bytes);
  out.add("swap", std::string(swap_word(sizes.swap_bytes)));
  out.add("kernel", facts.kernel.release);
  if (facts.iommu) out.add("iommu", std::string(iommu_word(*facts.iommu)));
  out.add("cpu_clock_cap_mhz", sample.host.cpu_mhz_cap);
  if (facts.complete || !facts.gpus.empty()) out.add_count("cards", facts.gpus.size());
  out.add("peers", peer_summary(facts));
  return out.take();
}

Caliber device_part(const host::HostFacts& facts, const host::Gpu& gpu,
                    const telemetry::Sample& sample) {
  const host::Function* function = host::find_function(facts, gpu.function);
  if (function == nullptr || !function->address) return {};
  const std::string bus = host::to_string(*function->address);
  Writer out("device." + bus + ".");
  out.add("name", gpu.model);
  out.add_count("vram_bytes", gpu.vram_bytes);
  out.add("driver", function->driver.value_or(""));
  out.add("link", link_text(slot_link(facts, *function)));
  const auto card = std::ranges::find(sample.cards, bus, &telemetry::CardReading::bus);
  if (card != sample.cards.end()) {
    out.add("power_cap_w", card->power_cap_w);
    out.add("clock_cap_mhz", card->core_mhz_max);
  }
  return out.take();
}

Caliber client_part(const host::HostFacts& facts, const HostSizes& sizes) {
  Writer out("client.");
  out.add("cpu", facts.machine.cpu);
  out.add_count("cpus", sizes.num_cpus);
  out.add_count("ram_bytes", sizes.memory_bytes);
  out.add("kernel", facts.kernel.release);
  return out.take();
}

std::optional<uint64_t> kib_in(std::string_view meminfo, std::string_view key) {
  const auto rest = host::after(meminfo, key);
  const auto kib = rest ? host::leading_uint(host::trim(*rest)) : std::nullopt;
  return kib && *kib < uint64_t{1} << 44 ? std::optional(*kib << 10) : std::nullopt;
}

}  // namespace

Caliber host_caliber(const host::HostFacts& facts, const HostSizes& sizes,
                     const telemetry::Sample& sample, HostRole role) {
  if (role == HostRole::client) return client_part(facts, sizes);
  Caliber caliber = host_part(facts, sizes, sample);
  for (const host::Gpu& gpu : facts.gpus) caliber.merge(device_part(facts, gpu, sample));
  return caliber;
}

Result<Caliber> read_host_caliber(HostRole role) {
  // A container may show no PCI devices at all.
  auto live = host::read_live();
  if (!live && live.error().code != Code::not_found) return std::move(live).error();
  const host::HostFacts facts = live ? *std::move(live) : host::HostFacts();
  auto sensors = telemetry::Sensors::open(
      {.root = "/",
       .own_processes = {},
       .nvidia_smi = host::find_program("nvidia-smi").value_or(std::string())});
  const std::string meminfo = host::FileTree("/").read("proc/meminfo", 65'536).value_or("");
  HostSizes sizes;
  if (sensors.num_cores() > 0) sizes.num_cores = sensors.num_cores();
  if (sensors.num_cpus() > 0) sizes.num_cpus = sensors.num_cpus();
  sizes.memory_bytes = kib_in(meminfo, "MemTotal:");
  sizes.swap_bytes = kib_in(meminfo, "SwapTotal:");
  for (const device::cpu::Isa isa : device::cpu::available_isas()) {
    sizes.isas.emplace_back(device::cpu::isa_name(isa));
  }
  return host_caliber(facts, sizes, sensors.read(std::chrono::steady_clock::now()), role);
}

}  // namespace evener::bench
