#include "host/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/fact_words.h"

namespace evener::host {
namespace {

// Enough to see that something is wrong; a hostile file could bring millions.
constexpr size_t kContradictionsMax = 100;

std::string show(const std::string& text) { return "'" + text + "'"; }
std::string show(PciId id) { return to_string(id); }
std::string show(PortKind kind) { return std::string(word_of(kPortWords, kind)); }
std::string show(double number) { return fmt::format("{}", number); }
std::string show(unsigned number) { return fmt::format("{}", number); }
std::string show(uint64_t address) { return fmt::format("{:#x}", address); }

// All that the sources say of one function.
class Layers {
 public:
  Layers(Seen& out, std::vector<std::string>& contradictions)
      : out_(&out), contradictions_(&contradictions) {}

  void add(std::string_view source, const Seen& below);

 private:
  void add_identity(const Function& below);
  void add_bars(const Seen& below);
  void add_numbered_bars(const Function& below);
  void add_bar(const Bar& below);
  void add_window(const char* label, Window& out, const Window& below);
  void add_link(const std::optional<Link>& below);
  void add_acs(const std::optional<Acs>& below);
  void add_atomics(const std::optional<Atomics>& below);
  void add_state(const Function& below);
  void add_card(const Card& below);

  // Takes what is not there; compares what is.
  template <class T>
  void compare(std::string label, std::optional<T>& out, const std::optional<T>& below);
  void compare(std::string label, std::string& out, const std::string& below);
  template <class T>
  void take(std::optional<T>& out, const std::optional<T>& below) {
    if (!out) out = below;
  }
  void differ(const std::string& label, const std::string& believed, const std::string& other);

  Seen* out_;
  std::vector<std::string>* contradictions_;
  std::string_view source_;
  std::map<std::string, std::string_view, std::less<>> origins_;
};

void Layers::add(std::string_view source, const Seen& below) {
  source_ = source;
  add_identity(below.function);
  add_bars(below);
  add_window("the prefetchable window's", out_->function.prefetchable, below.function.prefetchable);
  add_window("the memory window's", out_->function.memory, below.function.memory);
  add_link(below.function.link);
  add_acs(below.function.acs);
  add_atomics(below.function.atomics);
  add_state(below.function);
  add_card(below.card);
  if (!out_->below) out_->below = below.below;
  out_->depth = std::max(out_->depth, below.depth);
  out_->access_denied = out_->access_denied || below.access_denied;
  out_->is_gone = out_->is_gone || below.is_gone;
  out_->bars_are_complete = out_->bars_are_complete || below.bars_are_complete;
}

void Layers::add_identity(const Function& below) {
  Function& out = out_->function;
  compare("the id", out.id, below.id);
  take(out.subsystem, below.subsystem);
  take(out.class_code, below.class_code);
  if (out.description.empty()) out.description = below.description;
  if (out.slot.empty()) out.slot = below.slot;
  compare("the parent", out.parent, below.parent);
  compare("the kind of port", out.port, below.port);
  out.is_bridge = out.is_bridge || below.is_bridge;
}

// Without numbers a BAR is known by its address alone.
void Layers::add_bars(const Seen& below) {
  if (!below.bars_are_guessed) return add_numbered_bars(below.function);
  if (out_->function.bars.empty()) {
    out_->bars_are_guessed = true;
    return add_numbered_bars(below.function);
  }
  for (const Bar& guessed : below.function.bars) {
    const auto at = std::ranges::find_if(
        out_->function.bars, [&](const Bar& bar) { return bar.base && bar.base == guessed.base; });
    if (at != out_->function.bars.end()) take(at->size_bytes, guessed.size_bytes);
  }
}

void Layers::add_numbered_bars(const Function& below) {
  for (const Bar& bar : below.bars) add_bar(bar);
}

void Layers::add_bar(const Bar& below) {
  Bar& out = bar_at(out_->function, below.index);
  const bool was_lost = out.size_bytes == 0;
  compare(fmt::format("the size of BAR {}", below.index), out.size_bytes, below.size_bytes);
  if (!was_lost) compare(fmt::format("the address of BAR {}", below.index), out.base, below.base);
  take(out.prefetchable, below.prefetchable);
  take(out.is_64_bit, below.is_64_bit);
  take(out.resizable, below.resizable);
}

void Layers::add_window(const char* label, Window& out, const Window& below) {
  const bool was_off = out.size_bytes == 0;
  compare(fmt::format("{} size", label), out.size_bytes, below.size_bytes);
  if (!was_off) compare(fmt::format("{} address", label), out.base, below.base);
}

// The state of a link changes with the load: only what both ends could do is compared.
void Layers::add_link(const std::optional<Link>& below) {
  if (!below) return;
  Function& function = out_->function;
  if (!function.link) function.link.emplace();
  compare("the link's highest speed", function.link->max_gts, below->max_gts);
  compare("the link's widest width", function.link->max_width, below->max_width);
  take(function.link->now_gts, below->now_gts);
  take(function.link->now_width, below->now_width);
  take(function.link->under_load, below->under_load);
}

void Layers::add_acs(const std::optional<Acs>& below) {
  if (!below) return;
  std::optional<unsigned> out;
  if (out_->function.acs) out = out_->function.acs->control;
  compare("ACS control", out, std::optional<unsigned>(below->control));
  take(out_->function.acs, below);
}

void Layers::add_atomics(const std::optional<Atomics>& below) {
  if (!below) return;
  if (!out_->function.atomics) out_->function.atomics.emplace();
  Atomics& out = *out_->function.atomics;
  take(out.routing, below->routing);
  take(out.completer_32, below->completer_32);
  take(out.completer_64, below->completer_64);
  take(out.requester_enabled, below->requester_enabled);
}

void Layers::add_state(const Function& below) {
  Function& out = out_->function;
  compare("the IOMMU group", out.iommu_group, below.iommu_group);
  take(out.iommu, below.iommu);
  take(out.numa_node, below.numa_node);
  compare("the driver", out.driver, below.driver);
  take(out.dma_mask_bits, below.dma_mask_bits);
  take(out.suspended, below.suspended);
  take(out.aer_correctable, below.aer_correctable);
}

void Layers::add_card(const Card& below) {
  Card& out = out_->card;
  if (out.model.empty()) out.model = below.model;
  if (out.gfx.empty()) out.gfx = below.gfx;
  take(out.vram_bytes, below.vram_bytes);
  take(out.visible_vram_bytes, below.visible_vram_bytes);
  take(out.in_kfd, below.in_kfd);
  take(out.power_limit_watts, below.power_limit_watts);
}

template <class T>
void Layers::compare(std::string label, std::optional<T>& out, const std::optional<T>& below) {
  if (!below) return;
  if (!out) {
    out = below;
    origins_.emplace(std::move(label), source_);
  } else if (*out != *below) {
    differ(label, show(*out), show(*below));
  }
}

void Layers::compare(std::string label, std::string& out, const std::string& below) {
  if (below.empty()) return;
  if (out.empty()) {
    out = below;
    origins_.emplace(std::move(label), source_);
  } else if (out != below) {
    differ(label, show(out), show(below));
  }
}

void Layers::differ(const std::string& label, const std::string& believed,
                    const std::string& other) {
  if (contradictions_->size() >= kContradictionsMax) return;
  const auto origin = origins_.find(label);
  if (origin == origins_.end()) return;
  contradictions_->push_back(fmt::format("{}: {} is {} in {} and {} in {}; {} is believed",
                                         out_->function.name, label, believed, origin->second,
                                         other, source_, origin->second));
}

}  // namespace

Sightings overlay(std::span<const Source> sources, std::vector<std::string>& contradictions) {
  Sightings merged;
  for (const Source& source : sources) {
    for (const auto& [address, seen] : *source.sightings) seen_at(merged, address);
  }
  for (auto& [address, out] : merged) {
    Layers layers(out, contradictions);
    for (const Source& source : sources) {
      const auto at = source.sightings->find(address);
      if (at != source.sightings->end()) layers.add(source.name, at->second);
    }
  }
  return merged;
}

}  // namespace evener::host
