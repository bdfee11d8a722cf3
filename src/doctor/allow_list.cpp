#include "doctor/allow_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

constexpr uint16_t kAmd = 0x1022;
constexpr uint16_t kIntel = 0x8086;
constexpr uint16_t kZhaoxin = 0x1d17;
constexpr Release kRootPortAnywhere{5, 19};

constexpr ListEntry kEntries[] = {
    {kAmd, 0x1450, 0x1450, false, {5, 2}, "AMD Zen"},  // from 5.9 on all of Zen passes by its
                                                       // family
    {kAmd, 0x15d0, 0x15d0, false, {5, 8}, "AMD Zen (Raven)"},
    {kAmd, 0x1630, 0x1630, false, {5, 8}, "AMD Zen (Renoir)"},
    {kIntel, 0x3c00, 0x3c01, true, {5, 4}, "Xeon E5 v1 (Sandy Bridge-EP)"},
    {kIntel, 0x2f00, 0x2f01, true, {5, 4}, "Xeon E5/E7 v3 and Core i7 (Haswell-E)"},
    {kIntel, 0x2020, 0x2020, false, {5, 4}, "Skylake-E/-SP"},
    {kIntel, 0x2030, 0x2030, false, {5, 4}, "Skylake-E/-SP, root port A"},
    {kIntel, 0x2031, 0x2033, false, {5, 7}, "Skylake-E/-SP, root ports B to D"},
    {kIntel, 0x09a2, 0x09a2, false, {5, 18}, "Xeon since Ice Lake-SP"},
    {kIntel, 0x0b25, 0x0b25, false, {7, 2}, "Xeon with DSA first"},
    {kIntel, 0x11fb, 0x11fb, false, {7, 2}, "Xeon with DSA first"},
    {kIntel, 0x1212, 0x1212, false, {7, 2}, "Xeon with DSA first"},
    {kIntel, 0x0cfe, 0x0cfe, false, {7, 2}, "Xeon with IAA first"},
    {kIntel, 0x1216, 0x1216, false, {7, 2}, "Xeon with IAA first"},
    {kIntel, 0x4940, 0x4940, false, {7, 2}, "Xeon with QAT first"},
    {kIntel, 0x4942, 0x4942, false, {7, 2}, "Xeon with QAT first"},
    {kIntel, 0x4944, 0x4944, false, {7, 2}, "Xeon with QAT first"},
    {kIntel, 0x4946, 0x4946, false, {7, 2}, "Xeon with QAT first"},
    {kIntel, 0x4948, 0x4948, false, {7, 2}, "Xeon with QAT first"},
    {0x1ae0, 0x0000, 0xffff, false, {7, 2}, "Google SoC"},
    {0x10de, 0x2f95, 0x2f98, false, {7, 3}, "NVIDIA CPU"},
    {kZhaoxin, 0x1003, 0x1003, true, {7, 4}, "Zhaoxin KX-6000"},
    {kZhaoxin, 0x1005, 0x1007, true, {7, 4}, "Zhaoxin KH-40000, KX-6000G, KX-7000"},
    {kZhaoxin, 0x1008, 0x1008, false, {7, 4}, "Zhaoxin KH-50000"},
    {0x1ded, 0x8000, 0x8000, false, {7, 4}, "Alibaba Yitian 710"},
    {kIntel, 0x0c08, 0x0c08, true, {7, 4}, "Xeon E3 v3 (Haswell client)"},
    {kIntel, 0x6f00, 0x6f00, true, {7, 4}, "Xeon E5/E7 v4 and Core i7 (Broadwell-E)"},
};

bool covers(const ListEntry& entry, host::PciId id) {
  return entry.vendor == id.vendor && id.device >= entry.first_device &&
         id.device <= entry.last_device;
}

// Every "8086:6f00" in a text.
std::vector<host::PciId> ids_in(std::string_view text) {
  constexpr size_t kLength = 9;
  std::vector<host::PciId> ids;
  for (size_t i = 0; i + kLength <= text.size(); ++i) {
    if (text[i + 4] != ':') continue;
    if (const auto id = host::parse_pci_id(text.substr(i, kLength))) ids.push_back(*id);
  }
  return ids;
}

bool adds_to_list(std::string_view patch) {
  static constexpr std::array kWords = {"list entry", "whitelist", "allow list", "allowlist",
                                        "p2pdma"};
  return std::ranges::any_of(kWords, [&](const char* word) { return mentions(patch, word); });
}

bool is_patched_in(host::PciId id, const host::Kernel& kernel) {
  return std::ranges::any_of(list_patches(kernel), [&](const ListPatch& patch) {
    return std::ranges::find(patch.ids, id) != patch.ids.end();
  });
}

// Is the bus's first device one that the kernel looks up? Empty: not known.
std::optional<bool> is_looked_up(const host::RootBus& root,
                                 const std::optional<KernelName>& kernel) {
  if (const auto address = host::parse_pci_address(root.first.name)) {
    if (address->device == 0 && address->function == 0) return true;
  } else if (root.first.name.empty() && root.first.id && !root.first.is_root_port) {
    return true;  // a report that names the device of 00.0 without saying where it is
  }
  if (!root.first.is_root_port) return {};
  if (!*root.first.is_root_port) return false;
  if (!kernel) return {};
  return kernel->release >= kRootPortAnywhere;
}

ListAnswer unknown(std::string why) {
  ListAnswer answer;
  answer.why = std::move(why);
  return answer;
}

ListAnswer look_up(host::PciId id, const host::Kernel& kernel,
                   const std::optional<KernelName>& name) {
  ListAnswer answer;
  answer.entry = find_entry(id);
  if (is_patched_in(id, kernel)) {
    answer.kind = ListAnswer::Kind::matched;
    answer.by_patch = true;
    answer.same_bridge = answer.entry == nullptr || answer.entry->same_bridge;
    return answer;
  }
  if (answer.entry == nullptr) {
    answer.kind = ListAnswer::Kind::unmatched;
    return answer;
  }
  answer.same_bridge = answer.entry->same_bridge;
  if (!name) {
    answer.why = "the kernel's release is not known";
    return answer;
  }
  const bool is_listed = name->release >= answer.entry->since;
  answer.kind = is_listed ? ListAnswer::Kind::matched : ListAnswer::Kind::unmatched;
  return answer;
}

}  // namespace

const ListEntry* find_entry(host::PciId id) {
  const auto* at = std::ranges::find_if(kEntries, [&](const auto& e) { return covers(e, id); });
  return at == std::ranges::end(kEntries) ? nullptr : at;
}

std::string_view known_corruption(host::PciId id) {
  if (id == host::PciId{kIntel, 0x4c43}) {
    return "two cards on Rocket Lake: the copy reported success and every element was wrong";
  }
  return {};
}

ListAnswer ask_allow_list(const host::RootBus& root, const host::Kernel& kernel) {
  const auto name = parse_kernel_name(kernel.release);
  const auto looked_up = is_looked_up(root, name);
  if (looked_up == false) {
    ListAnswer answer;
    answer.kind = ListAnswer::Kind::lookup_fails;
    return answer;
  }
  if (!root.first.id) {
    return unknown(fmt::format("the first device of root bus {} is not known", root.bus));
  }
  if (!looked_up) {
    return unknown(
        fmt::format("where the first device of root bus {} sits is not known", root.bus));
  }
  return look_up(*root.first.id, kernel, name);
}

std::vector<ListPatch> list_patches(const host::Kernel& kernel) {
  std::vector<ListPatch> patches;
  for (const std::string& text : kernel.patches) {
    if (adds_to_list(text)) patches.push_back({text, ids_in(text)});
  }
  return patches;
}

}  // namespace evener::doctor
