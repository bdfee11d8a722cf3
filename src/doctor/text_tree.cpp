#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doctor/text_sections.h"
#include "doctor/tree.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::Function;

constexpr size_t kDepthMax = 24;  // what is deeper is not indented further
constexpr size_t kDescriptionBytesMax = 60;

// What a row says, as pieces with commas between them.
class Facts {
 public:
  void add(std::string text, Tone tone = Tone::plain) {
    if (text.empty()) return;
    if (!spans_.empty()) spans_.push_back({.text = is_first_ ? " " : ", ", .tone = Tone::plain});
    is_first_ = spans_.empty();
    spans_.push_back({.text = std::move(text), .tone = tone});
  }
  std::vector<Span> take() { return std::move(spans_); }

 private:
  bool is_first_ = true;  // the name, which no comma follows
  std::vector<Span> spans_;
};

std::string speed_text(std::optional<double> gts, std::optional<unsigned> width) {
  constexpr std::array<double, 6> kGenerations = {2.5, 5, 8, 16, 32, 64};
  std::string text;
  if (gts) {
    const auto found = std::ranges::find(kGenerations, *gts);
    text = found == kGenerations.end() ? fmt::format("{} GT/s", *gts)
                                       : fmt::format("Gen{}", found - kGenerations.begin() + 1);
  }
  if (width) text += fmt::format("{}x{}", text.empty() ? "" : " ", *width);
  return text;
}

bool is_slow(const host::Link& link) {
  return link.now_gts && link.max_gts && *link.now_gts < *link.max_gts;
}

bool is_narrow(const host::Link& link) {
  return link.now_width && link.max_width && *link.now_width < *link.max_width;
}

// Speed goes down to save power, width does not.
void add_link(const std::optional<host::Link>& link, Facts& facts) {
  if (!link) return;
  const std::string now = speed_text(link->now_gts, link->now_width);
  const std::string max = speed_text(link->max_gts, link->max_width);
  const bool was_busy = link->under_load.value_or(false);
  if (now.empty()) {
    if (!max.empty()) facts.add("up to " + max);
  } else if (is_narrow(*link) || (is_slow(*link) && was_busy)) {
    facts.add(fmt::format("{} of {}{}", now, max, was_busy ? " under load" : ""), Tone::caution);
  } else if (is_slow(*link)) {
    facts.add(fmt::format("{} of {} (idle?)", now, max), Tone::quiet);
  } else {
    facts.add(now);
  }
}

void add_window(const char* name, const host::Window& window, Facts& facts) {
  if (!window.size_bytes) return;
  if (*window.size_bytes == 0) return facts.add(fmt::format("no {}", name), Tone::caution);
  std::string text = fmt::format("{} {}", name, window_text(*window.size_bytes));
  if (window.base) text += fmt::format(" at {}", address_text(*window.base));
  facts.add(std::move(text));
}

std::string_view kind_text(const Function& port) {
  if (!port.port) return port.is_bridge ? "bridge" : "";
  switch (*port.port) {
    case host::PortKind::root:
      return "root port";
    case host::PortKind::switch_up:
      return "switch, upstream port";
    case host::PortKind::switch_down:
      return "switch, downstream port";
    case host::PortKind::card_up:
      return "switch on the card, upstream port";
    case host::PortKind::card_down:
      return "switch on the card, downstream port";
  }
  return "";
}

std::string acs_text(const host::Acs& acs) {
  std::string bits;
  const auto add = [&bits](bool is_set, const char* name) {
    if (is_set) bits += fmt::format("{}{}", bits.empty() ? "" : ", ", name);
  };
  add(acs.request_redirect(), "requests");
  add(acs.completion_redirect(), "completions");
  add(acs.egress_control(), "egress control");
  return fmt::format("ACS redirects ({})", bits);
}

void add_port(const Function& port, const std::optional<host::Link>& link, Facts& facts) {
  facts.add(std::string(kind_text(port)));
  if (port.port == host::PortKind::switch_up) {
    facts.add(printable(port.description, kDescriptionBytesMax));
  }
  if (!port.slot.empty()) facts.add(fmt::format("slot {}", short_name(port.slot)));
  add_link(link, facts);
  add_window("window", port.prefetchable, facts);
  if (port.acs && port.acs->redirects()) facts.add(acs_text(*port.acs), Tone::caution);
}

const host::Bar* vram_bar(const host::Gpu& gpu, const Function* function) {
  if (!function || !gpu.vram_bar) return nullptr;
  const auto found = std::ranges::find(function->bars, *gpu.vram_bar, &host::Bar::index);
  return found == function->bars.end() ? nullptr : &*found;
}

void add_bar(const host::Gpu& gpu, const Function* function, Facts& facts) {
  const host::Bar* bar = vram_bar(gpu, function);
  if (!bar || !bar->size_bytes) return facts.add("BAR size unknown", Tone::quiet);
  if (*bar->size_bytes == 0) {
    return facts.add(fmt::format("BAR {} has no address", bar->index), Tone::bad);
  }
  std::string text = fmt::format("BAR {}: {}", bar->index, size_text(*bar->size_bytes));
  if (bar->base) text += fmt::format(" at {}", address_text(*bar->base));
  if (!gpu.vram_bytes) return facts.add(std::move(text));
  const bool is_enough = *bar->size_bytes >= *gpu.vram_bytes;
  facts.add(std::move(text), is_enough ? Tone::good : Tone::bad);
}

void add_card(const TreeRow& row, Facts& facts) {
  const host::Gpu& gpu = *row.gpu;
  facts.add(printable(gpu.model, kDescriptionBytesMax));
  if (gpu.function != gpu.name) facts.add(short_name(gpu.function));
  facts.add(short_name(gpu.gfx));
  if (gpu.vram_bytes) facts.add("VRAM " + size_text(*gpu.vram_bytes));
  add_bar(gpu, row.function, facts);
  if (!row.function) return;
  add_link(row.link, facts);
  if (row.function->driver) {
    facts.add(row.function->driver->empty() ? "no driver" : short_name(*row.function->driver));
  }
}

void add_root(const host::RootBus& root, Facts& facts) {
  facts.add("root bus");
  if (root.numa_node && *root.numa_node >= 0) facts.add(fmt::format("node {}", *root.numa_node));
  if (root.first.id) facts.add("first device " + to_string(*root.first.id));
  add_window("window above 4 GiB", root.memory_64, facts);
}

void add_neighbour(const TreeRow& row, Facts& facts) {
  const Function& function = *row.function;
  if (function.is_bridge) return add_port(function, row.link, facts);
  facts.add(printable(function.description, kDescriptionBytesMax));
  for (const host::Bar& bar : function.bars) {
    if (bar.size_bytes.value_or(0) == 0 || !bar.prefetchable.value_or(false)) continue;
    facts.add(fmt::format("BAR {}: {}", bar.index, size_text(*bar.size_bytes)));
  }
}

std::vector<Span> spans_of(const TreeRow& row) {
  Facts facts;
  const bool is_card = row.kind == TreeRow::Kind::gpu;
  if (!row.name.empty()) facts.add(short_name(row.name), is_card ? Tone::strong : Tone::plain);
  switch (row.kind) {
    case TreeRow::Kind::root_bus:
      add_root(*row.root, facts);
      break;
    case TreeRow::Kind::unknown_place:
      facts.add(row.name.empty() ? "place in the tree not known" : "not described", Tone::quiet);
      break;
    case TreeRow::Kind::port:
      add_port(*row.function, row.link, facts);
      break;
    case TreeRow::Kind::gpu:
      add_card(row, facts);
      break;
    case TreeRow::Kind::neighbour:
      add_neighbour(row, facts);
      break;
    case TreeRow::Kind::more:
      facts.add(fmt::format("and {} more", row.num_left_out), Tone::quiet);
  }
  return facts.take();
}

// The lines left of the rows.
class Guides {
 public:
  explicit Guides(bool ascii) : ascii_(ascii) {}

  // Left of the row, and left of the lines that it goes on in.
  std::pair<std::string, std::string> of(const TreeRow& row, bool has_children) {
    const size_t depth = std::min(row.depth, kDepthMax);
    goes_on_.resize(depth + 1);
    goes_on_[depth] = !row.is_last;
    std::string left = "  ";
    for (size_t i = 1; i < depth; ++i) left += goes_on_[i] ? bar() : "   ";
    std::string below = left;
    if (depth > 0) {
      left += row.is_last ? corner() : fork();
      below += row.is_last ? "   " : bar();
    }
    return {std::move(left), below + (has_children ? bar() : "   ")};
  }

 private:
  const char* bar() const { return ascii_ ? "|  " : "│  "; }
  const char* fork() const { return ascii_ ? "|- " : "├─ "; }
  const char* corner() const { return ascii_ ? "`- " : "└─ "; }

  bool ascii_;
  std::vector<bool> goes_on_;  // by depth
};

}  // namespace

void add_tree(const host::HostFacts& facts, TextPage& page) {
  const std::vector<TreeRow> rows = tree_of(facts);
  if (rows.empty()) return;
  page.title("Where the cards are");
  Guides guides(page.style().ascii);
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool has_children = i + 1 < rows.size() && rows[i + 1].depth > rows[i].depth;
    const auto [first, rest] = guides.of(rows[i], has_children);
    page.paragraph(first, rest, spans_of(rows[i]));
  }
}

}  // namespace evener::doctor
