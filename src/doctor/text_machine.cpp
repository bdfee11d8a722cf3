#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "doctor/text_sections.h"

namespace evener::doctor {
namespace {

constexpr size_t kNameBytesMax = 40;

// Facts side by side; those that are not known are left out.
std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

void add_fact(std::string_view label, const std::string& value, TextPage& page) {
  if (value.empty()) return;
  const std::string first = fmt::format("  {:<9}", label);
  page.paragraph(first, std::string(first.size(), ' '),
                 std::array{Span{.text = value, .tone = Tone::plain}});
}

std::string cpu_text(const host::Machine& machine) {
  std::string sockets;
  if (machine.num_sockets) {
    sockets =
        fmt::format("{} socket{}", *machine.num_sockets, *machine.num_sockets == 1 ? "" : "s");
  }
  return joined({machine.cpu, sockets});
}

std::string bios_text(const std::string& bios) { return bios.empty() ? bios : "BIOS " + bios; }

}  // namespace

std::string short_name(std::string_view name) { return printable(name, kNameBytesMax); }

std::string_view words_of(host::IommuMode mode) {
  switch (mode) {
    case host::IommuMode::off:
      return "off";
    case host::IommuMode::identity:
      return "pass-through (identity)";
    case host::IommuMode::translated:
      return "translated";
  }
  return "unknown";
}

Tone tone_of(Risk risk) {
  if (risk >= Risk::medium_to_high) return Tone::bad;
  return risk >= Risk::medium ? Tone::caution : Tone::plain;
}

void add_machine(const host::HostFacts& facts, TextPage& page) {
  const host::Machine& machine = facts.machine;
  page.title("Machine");
  add_fact("board", joined({machine.board, bios_text(machine.bios)}), page);
  add_fact("CPU", cpu_text(machine), page);
  add_fact("kernel", facts.kernel.release, page);
  add_fact("patches", joined(facts.kernel.patches), page);
  add_fact("options", facts.kernel.command_line.value_or(""), page);
  add_fact("IOMMU", std::string(facts.iommu ? words_of(*facts.iommu) : "unknown"), page);
  if (machine.guest.value_or(false)) {
    add_fact("guest", "this is a virtual machine: it shows what the hypervisor lets through", page);
  }
}

}  // namespace evener::doctor
