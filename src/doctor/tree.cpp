#include "doctor/tree.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace evener::doctor {
namespace {

using host::Function;
using host::Gpu;
using host::HostFacts;
using host::RootBus;

constexpr size_t kNeighboursMax = 6;  // drawn of one port

// Where a function stands to the cards.
enum class Place {
  unknown,
  above,      // is a card, or has one below it
  neighbour,  // below something that is above
  elsewhere,
};

// The tree as maps: facts have it as names of parents, which may be unknown or go in circles.
class Family {
 public:
  explicit Family(const HostFacts& facts);
  std::vector<TreeRow> rows();

 private:
  void mark_above(const Function& card);
  Place place_of(const Function& function);
  bool is_above(const Function& function) const;
  bool is_part_of_card(const Function& function) const;
  void add_children();
  void draw_below(std::string_view top);
  void push_children(std::string_view parent, size_t depth);
  void draw_place(std::string_view name);
  void draw_root_buses();
  void draw_unknown_places();
  void draw_lost_cards();
  void mark_last_rows();
  void drop_upper_ends();
  TreeRow row_of(const Function& function, size_t depth) const;

  const HostFacts& facts_;
  std::unordered_map<std::string_view, const Function*> functions_;
  std::unordered_map<std::string_view, const RootBus*> roots_;
  std::unordered_map<std::string_view, const Gpu*> gpus_;  // by their function
  std::unordered_map<const Function*, Place> places_;
  std::unordered_map<std::string_view, std::vector<const Function*>> children_;
  std::unordered_set<const Function*> drawn_;
  std::vector<TreeRow> stack_;  // still to be drawn, the next one last
  std::vector<TreeRow> rows_;
};

Family::Family(const HostFacts& facts) : facts_(facts) {
  for (const Function& function : facts.functions) functions_.emplace(function.name, &function);
  for (const RootBus& root : facts.roots) roots_.emplace(root.bus, &root);
  for (const Gpu& gpu : facts.gpus) gpus_.emplace(gpu.function, &gpu);
  for (const Gpu& gpu : facts.gpus) {
    if (const auto found = functions_.find(gpu.function); found != functions_.end()) {
      mark_above(*found->second);
    }
  }
  add_children();
}

void Family::mark_above(const Function& card) {
  for (const Function* at = &card; at && places_[at] != Place::above;) {
    places_[at] = Place::above;
    const auto parent = functions_.find(at->parent);
    at = parent == functions_.end() ? nullptr : parent->second;
  }
}

// Goes up until a place is known, then gives it to all on the way.
Place Family::place_of(const Function& function) {
  std::vector<const Function*> way;
  Place place = Place::elsewhere;
  for (const Function* at = &function; at;) {
    Place& known = places_[at];
    if (known != Place::unknown) {
      place = known == Place::above ? Place::neighbour : known;
      break;
    }
    known = Place::elsewhere;  // ends circles
    way.push_back(at);
    const auto parent = functions_.find(at->parent);
    at = parent == functions_.end() ? nullptr : parent->second;
  }
  for (const Function* each : way) places_[each] = place;
  return place;
}

bool Family::is_above(const Function& function) const {
  const auto found = places_.find(&function);
  return found != places_.end() && found->second == Place::above;
}

// The sound and USB functions of a card say nothing that the card does not.
bool Family::is_part_of_card(const Function& function) const {
  if (!function.address) return false;
  host::PciAddress first = *function.address;
  first.function = 0;
  return gpus_.contains(to_string(first));
}

void Family::add_children() {
  for (const Function& function : facts_.functions) {
    if (!gpus_.contains(function.name) && is_part_of_card(function)) continue;
    if (functions_.at(function.name) != &function) continue;  // a name that occurs twice
    if (is_above(function) || place_of(function) == Place::neighbour) {
      children_[function.parent].push_back(&function);
    }
  }
}

// Whether the function's registers speak of the link below it.
bool is_upper_end(const Function& function) {
  using host::PortKind;
  return function.port == PortKind::root || function.port == PortKind::switch_down ||
         function.port == PortKind::card_down;
}

template <class T>
void lower_to(std::optional<T>& value, const std::optional<T>& other) {
  if (other && (!value || *other < *value)) value = other;
}

// What either end says of the one link between them.
std::optional<host::Link> link_between(const Function& lower, const Function* upper) {
  if (!upper || !is_upper_end(*upper) || !upper->link) return lower.link;
  if (!lower.link) return upper->link;
  host::Link link = *lower.link;
  lower_to(link.max_gts, upper->link->max_gts);
  lower_to(link.max_width, upper->link->max_width);
  return link;
}

TreeRow Family::row_of(const Function& function, size_t depth) const {
  TreeRow row{
      .kind = TreeRow::Kind::port, .name = function.name, .function = &function, .depth = depth};
  if (const auto gpu = gpus_.find(function.name); gpu != gpus_.end()) {
    row.kind = TreeRow::Kind::gpu;
    row.name = gpu->second->name;
    row.gpu = gpu->second;
  } else if (!is_above(function)) {
    row.kind = TreeRow::Kind::neighbour;
  }
  const auto above = functions_.find(function.parent);
  row.link = is_upper_end(function)
                 ? function.link
                 : link_between(function, above == functions_.end() ? nullptr : above->second);
  return row;
}

void Family::push_children(std::string_view parent, size_t depth) {
  const auto found = children_.find(parent);
  if (found == children_.end()) return;
  std::vector<TreeRow> rows;
  size_t num_neighbours = 0;
  for (const Function* child : found->second) {
    TreeRow row = row_of(*child, depth);
    const bool is_neighbour = row.kind == TreeRow::Kind::neighbour;
    if (is_neighbour && ++num_neighbours > kNeighboursMax) continue;
    rows.push_back(std::move(row));
  }
  if (num_neighbours > kNeighboursMax) {
    rows.push_back({.kind = TreeRow::Kind::more,
                    .name = {},
                    .depth = depth,
                    .num_left_out = num_neighbours - kNeighboursMax});
  }
  stack_.insert(stack_.end(), std::make_move_iterator(rows.rbegin()),
                std::make_move_iterator(rows.rend()));
}

void Family::draw_below(std::string_view top) {
  push_children(top, 1);
  while (!stack_.empty()) {
    TreeRow row = std::move(stack_.back());
    stack_.pop_back();
    const Function* function = row.function;
    const size_t depth = row.depth;
    rows_.push_back(std::move(row));
    if (!function || !drawn_.insert(function).second) continue;
    push_children(function->name, depth + 1);
  }
}

void Family::draw_place(std::string_view name) {
  rows_.push_back({.kind = TreeRow::Kind::unknown_place, .name = std::string(name)});
  draw_below(name);
}

void Family::draw_root_buses() {
  for (const RootBus& root : facts_.roots) {
    if (!children_.contains(root.bus) || roots_.at(root.bus) != &root) continue;
    rows_.push_back({.kind = TreeRow::Kind::root_bus, .name = root.bus, .root = &root});
    draw_below(root.bus);
  }
}

// Ports that are named as a parent and not described.
void Family::draw_unknown_places() {
  std::unordered_set<std::string_view> drawn;
  for (const Function& function : facts_.functions) {
    const std::string_view parent = function.parent;
    if (!is_above(function) || parent.empty()) continue;
    if (roots_.contains(parent) || functions_.contains(parent)) continue;
    if (drawn.insert(parent).second) draw_place(parent);
  }
}

// Cards that no way led to: their parent is not known, or their ports go in a circle.
void Family::draw_lost_cards() {
  bool has_place = children_.contains("");
  if (has_place) draw_place("");
  for (const Gpu& gpu : facts_.gpus) {
    const auto found = functions_.find(gpu.function);
    const Function* function = found == functions_.end() ? nullptr : found->second;
    if (gpus_.at(gpu.function) == &gpu && function && drawn_.contains(function)) continue;
    if (!std::exchange(has_place, true)) {
      rows_.push_back({.kind = TreeRow::Kind::unknown_place, .name = {}});
    }
    rows_.push_back({.kind = TreeRow::Kind::gpu,
                     .name = gpu.name,
                     .function = function,
                     .gpu = &gpu,
                     .depth = 1,
                     .link = function ? function->link : std::nullopt});
  }
}

// From the end: a row is the last of its depth unless one came before something less deep did.
void Family::mark_last_rows() {
  std::vector<bool> is_open;
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
    row->is_last = row->depth >= is_open.size() || !is_open[row->depth];
    is_open.resize(row->depth + 1);
    is_open[row->depth] = true;
  }
}

void Family::drop_upper_ends() {
  for (size_t i = 0; i + 1 < rows_.size(); ++i) {
    const bool has_lower_end = rows_[i + 1].depth == rows_[i].depth + 1 && rows_[i + 1].link;
    const Function* function = rows_[i].function;
    if (has_lower_end && function && is_upper_end(*function)) rows_[i].link.reset();
  }
}

std::vector<TreeRow> Family::rows() {
  draw_root_buses();
  draw_unknown_places();
  draw_lost_cards();
  mark_last_rows();
  drop_upper_ends();
  return std::move(rows_);
}

}  // namespace

std::vector<TreeRow> tree_of(const HostFacts& facts) { return Family(facts).rows(); }

}  // namespace evener::doctor
