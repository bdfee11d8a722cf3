// evener devices: what there is to compute with, and what it is called.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "base/thread_pool.h"
#include "bench/machine/peaks.h"
#include "cli/card_devices.h"
#include "cli/command.h"
#include "cli/long_work.h"
#include "device/cpu/cpu_node.h"
#include "device/cpu/isa.h"
#include "device/cpu/node_memory.h"
#include "device/device_name.h"

namespace evener::cli {
namespace {

using device::cpu::CpuNode;

struct Options {
  bool no_measure = false;
  bool json = false;
};
Options options;

void add_options(CommandLine& line) {
  line.add("--no-measure", options.no_measure, "do not measure how fast memory is read");
  line.add("--json", options.json, "the list as JSON");
}

// Per second; or why it could not be measured.
using Bandwidth = Result<double>;

struct Listed {
  std::string name;
  CpuNode node;
  size_t memory_bytes = 0;
  size_t memory_free_bytes = 0;
  std::optional<Bandwidth> bandwidth;  // none: not measured
};

// Twice what caches hold: what they keep is gone before it is read again.
constexpr size_t kBytesMax = size_t{512} << 20;
constexpr auto kMeasureTime = std::chrono::milliseconds(800);

// The best of what several readings of one large memory reach, on a thread of the node.
Bandwidth measure_bandwidth(const CpuNode& node, size_t free_bytes, const LongWork& work) {
  using Clock = std::chrono::steady_clock;
  ASSIGN_OR_RETURN(const auto pool, ThreadPool::create(node.cpus));
  RETURN_IF_ERROR(pool->pin_caller());
  const bench::BigMemory memory(*pool, std::min(kBytesMax, free_bytes / 4));
  double best = 0;
  for (const auto end = Clock::now() + kMeasureTime; Clock::now() < end;) {
    if (work.interrupted()) break;
    const auto begin = Clock::now();
    memory.read(*pool);
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    best = std::max(best, double(memory.size_bytes()) / seconds.count());
  }
  return best;
}

Result<std::vector<Listed>> list_devices() {
  ASSIGN_OR_RETURN(const std::vector<CpuNode> nodes, device::cpu::read_cpu_nodes());
  std::vector<Listed> listed;
  for (const CpuNode& node : nodes) {
    if (node.cpus.empty()) continue;
    listed.push_back({.name = to_string(device::DeviceName{.numa_node = node.index}),
                      .node = node,
                      .memory_bytes = device::cpu::node_memory_limit(node),
                      .memory_free_bytes = device::cpu::free_node_memory(node),
                      .bandwidth = {}});
  }
  return listed;
}

void measure_all(std::vector<Listed>& listed) {
  LongWork work;
  for (size_t i = 0; i < listed.size(); ++i) {
    Listed& each = listed[i];
    if (!work.advance("reading the memory of " + each.name, double(i), double(listed.size()))) {
      break;
    }
    // A thread of its own, since it is bound to the node.
    std::thread([&] {
      each.bandwidth = measure_bandwidth(each.node, each.memory_free_bytes, work);
    }).join();
  }
  work.finish();
}

std::string cores_of_text(const CpuNode& node) {
  const std::string all = node.cpus.size() == 1 ? "0" : fmt::format("0-{}", node.cpus.size() - 1);
  return fmt::format("cpu:{}[{}]", node.index, all);
}

void print_device(const Listed& each, std::string_view isa) {
  const CpuNode& node = each.node;
  fmt::print("{:<9}{}\n", each.name, node.model.empty() ? "CPU" : node.model);
  fmt::print("         cores       {} ({}), {}\n", node.cpus.size(), cores_of_text(node),
             counted_text(node.num_threads, "hardware thread"));
  fmt::print("         computes    with {}\n", isa);
  fmt::print("         memory      {}, {} free\n", bytes_text(each.memory_bytes),
             bytes_text(each.memory_free_bytes));
  if (!each.bandwidth) return;
  if (!*each.bandwidth) {
    fmt::print("         bandwidth   not measured: {}: {}\n", each.bandwidth->error().where,
               each.bandwidth->error().why);
  } else {
    fmt::print("         bandwidth   {:.1f} GB/s, reading with all cores\n",
               **each.bandwidth * 1e-9);
  }
}

// Words to begin with on this machine.
void print_uses(const std::vector<Listed>& listed, const std::vector<std::string>& cards) {
  fmt::print("\nFor --devices:\n");
  const auto row = [](const std::string& words, const std::string& meaning) {
    fmt::print("  {:<28}  {}\n", words, meaning);
  };
  const CpuNode& first = listed.front().node;
  row(listed.front().name, listed.size() == 1 ? "all cores: what is used without being told"
                                              : "the cores of one node: what is used without being "
                                                "told");
  if (listed.size() > 1) {
    row(listed[0].name + "," + listed[1].name, "two nodes, each with half of the model");
  }
  if (!cards.empty()) row(cards[0], "a card");
  if (cards.size() > 1) row(cards[0] + "," + cards[1], "two cards, each with half of the model");
  const size_t cores = first.cpus.size();
  if (cores < 2) return;
  const auto group = [&](size_t begin, size_t end) {
    device::DeviceName name{.numa_node = first.index};
    for (size_t core = begin; core < end; ++core) name.cores.push_back(core);
    return to_string(name);
  };
  row(group(0, cores / 2) + "," + group(cores / 2, cores), "two halves of one node's cores");
}

nlohmann::ordered_json json_of(const Listed& each, std::string_view isa) {
  nlohmann::ordered_json object = {{"name", each.name},
                                   {"kind", "cpu"},
                                   {"numa_node", each.node.index},
                                   {"model", each.node.model},
                                   {"cores", each.node.cpus.size()},
                                   {"hardware_threads", each.node.num_threads},
                                   {"isa", isa},
                                   {"memory_bytes", each.memory_bytes},
                                   {"memory_free_bytes", each.memory_free_bytes}};
  if (each.bandwidth && *each.bandwidth) object["read_bytes_per_s"] = **each.bandwidth;
  if (each.bandwidth && !*each.bandwidth) object["not_measured"] = each.bandwidth->error().why;
  return object;
}

void print_json(const std::vector<Listed>& listed, const ListedCards& cards, std::string_view isa) {
  auto devices = nlohmann::ordered_json::array();
  for (const Listed& each : listed) devices.push_back(json_of(each, isa));
  for (const ListedCard& card : cards.cards) devices.push_back(json_of(card));
  nlohmann::ordered_json json = {{"devices", devices}};
  if (!cards.why_none.empty()) json["no_cards"] = cards.why_none;
  fmt::print("{}\n", json.dump(2));
}

Result<int> run() {
  ASSIGN_OR_RETURN(const auto isa, device::cpu::choose_isa(""));
  const std::string_view isa_name = device::cpu::isa_name(isa);
  ASSIGN_OR_RETURN(std::vector<Listed> listed, list_devices());
  if (listed.empty()) {
    return Error{.code = Code::unsupported,
                 .doing = "list devices",
                 .where = {},
                 .why = "this process may use no cpu",
                 .remedy = "see `taskset -p` and the cgroup's cpuset"};
  }
  if (!options.no_measure) measure_all(listed);
  const ListedCards cards = list_cards();
  if (options.json) {
    print_json(listed, cards, isa_name);
    return 0;
  }
  for (const Listed& each : listed) print_device(each, isa_name);
  for (const ListedCard& card : cards.cards) print_card(card);
  if (!cards.why_none.empty()) fmt::print("No cards: {}\n", cards.why_none);
  print_uses(listed, names_of_cards());
  return 0;
}

}  // namespace

extern const Command devices_command;
const Command devices_command = {
    .name = "devices",
    .summary = "List what there is to compute with: processors, cards, their names and memory",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
