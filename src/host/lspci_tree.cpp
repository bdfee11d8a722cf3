#include <algorithm>
#include <map>

#include "host/lspci_text.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

struct Bus {
  uint32_t domain = 0;
  uint8_t number = 0;
  std::string parent;  // the bridge it lies behind, or its own name for a root bus
};

// One line is a walk to the right: "-[0000:a0]-+-02.0-[a1-a5]----00.0-[a2-a5]--+-08.0-[a3]----00.0
// name". What branches further down hangs below a '+' in the same column, or a '\' for the last.
class TreeLine {
 public:
  TreeLine(std::string_view line, std::map<size_t, Bus>& branches, Sightings& out)
      : line_(line), branches_(&branches), out_(&out) {}

  void read() {
    while (at_ < line_.size() && step()) {
    }
  }

 private:
  bool step() {
    switch (line_[at_]) {
      case ' ':
      case '|':
      case '-':
        ++at_;
        return true;
      case '+':
      case '\\':
        return branch();
      case '[':
        return bus();
      default:
        return function();
    }
  }

  // Opens a branch on the first line of a bus, returns to it on the others.
  bool branch() {
    if (bus_) {
      branches_->insert_or_assign(at_, *bus_);
    } else if (const auto known = branches_->find(at_); known != branches_->end()) {
      bus_ = known->second;
    }
    ++at_;
    return true;
  }

  // "[0000:a0]", "[a1-a5]" or "[a1]": a root bus, or what lies behind the bridge before it.
  bool bus() {
    const auto inside = between(line_.substr(at_), "[", "]");
    if (!inside) return false;
    at_ += inside->size() + 2;
    return bridge_ != nullptr ? open_behind_bridge(*inside) : open_root(*inside);
  }

  bool open_root(std::string_view text) {
    const auto name = canonical_bus(before(text, "-"));
    if (!name) return false;
    const size_t colon = name->find(':');
    bus_ = Bus{.domain = static_cast<uint32_t>(*parse_uint(name->substr(0, colon), 16)),
               .number = static_cast<uint8_t>(*parse_uint(name->substr(colon + 1), 16)),
               .parent = *name};
    return true;
  }

  bool open_behind_bridge(std::string_view text) {
    const auto first = parse_uint(before(text, "-"), 16);
    const auto last = parse_uint(text.substr(text.find('-') + 1), 16);
    if (!first || *first > 0xff || !last || *last > 0xff) return false;
    bridge_->function.is_bridge = true;
    bridge_->below = BusRange{static_cast<uint8_t>(*first), static_cast<uint8_t>(*last)};
    bus_ = Bus{.domain = bus_->domain,
               .number = static_cast<uint8_t>(*first),
               .parent = bridge_->function.name};
    bridge_ = nullptr;
    return true;
  }

  // "02.0", with the device's name behind two blanks.
  bool function() {
    if (!bus_ || at_ + 4 > line_.size()) return false;
    const auto device = parse_uint(line_.substr(at_, 2), 16);
    const auto number = parse_uint(line_.substr(at_ + 3, 1), 16);
    if (!device || *device > 31 || line_[at_ + 2] != '.' || !number || *number > 7) return false;
    Seen& seen = seen_at(*out_, {.domain = bus_->domain,
                                 .bus = bus_->number,
                                 .device = static_cast<uint8_t>(*device),
                                 .function = static_cast<uint8_t>(*number)});
    seen.function.parent = bus_->parent;
    bridge_ = &seen;
    at_ += 4;
    const std::string_view rest = line_.substr(at_);
    if (!rest.starts_with("  ")) return true;
    seen.function.description = clean(trim(rest));
    return false;
  }

  std::string_view line_;
  std::map<size_t, Bus>* branches_;
  Sightings* out_;
  size_t at_ = 0;
  std::optional<Bus> bus_;
  Seen* bridge_ = nullptr;  // the function just read: a '[' makes it a bridge
};

}  // namespace

bool is_tree_line(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.find_first_not_of(" |"), line.size()));
  if (text.starts_with("-[") || text.starts_with("-+-[") || text.starts_with("\\-[")) return true;
  const bool branches = text.starts_with("+-") || text.starts_with("\\-");
  if (!branches || text.size() < 6) return false;
  return text[4] == '.' || text[2] == '[';
}

Sightings read_lspci_tree(std::string_view text) {
  Sightings out;
  std::map<size_t, Bus> branches;
  each_line(text, [&](std::string_view line) {
    if (is_tree_line(line)) TreeLine(line, branches, out).read();
  });
  return out;
}

}  // namespace evener::host
