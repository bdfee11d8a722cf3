// The second look at a masked snapshot, with rules of its own: what only looks like an identifier
// is found too, so that a mistake in mask() does not pass.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "host/ascii.h"
#include "host/config_serials.h"
#include "host/mask.h"
#include "host/text_lines.h"

namespace evener::host {
namespace {

constexpr size_t kReach = 60;  // bytes behind a word in which its value is looked for

constexpr std::array<std::string_view, 10> kSerialWords = {
    "serial", "s/n",      "service tag", "servicetag", "asset",
    "unique", "mac addr", "hwaddr",      "uuid",       "ppin"};

// What may follow "serial" in the name of a kind of device.
constexpr std::array<std::string_view, 6> kKinds = {" bus",        " attached", " ata",
                                                    " controller", " console",  " port"};

bool is_token_char(char c) { return is_alnum(c) || c == '-'; }

// Groups of one or two hex digits with ':' between them, or of two with '-'.
size_t address_length(std::string_view text) {
  size_t num_groups = 0;
  size_t end = 0;
  const size_t first = text.substr(0, 3).find_first_of(":-");
  if (first == 0 || first == text.npos) return 0;
  const char separator = text[first];
  const size_t digits_min = separator == ':' ? 1 : 2;
  for (size_t at = 0; at < text.size(); at = end + 1) {
    size_t digits = 0;
    while (digits < 3 && at + digits < text.size() && is_hex_digit(text[at + digits])) ++digits;
    if (digits < digits_min || digits > 2) break;
    ++num_groups;
    end = at + digits;
    if (end >= text.size() || text[end] != separator) break;
  }
  return num_groups >= 6 ? end : 0;
}

// "001b.21aa.bbcc", as switches print addresses.
bool is_dotted_address(std::string_view token) {
  if (token.size() != 14 || token[4] != '.' || token[9] != '.') return false;
  bool has_letter = false;
  for (size_t i = 0; i < token.size(); ++i) {
    if (i == 4 || i == 9) continue;
    if (!is_hex_digit(token[i])) return false;
    has_letter = has_letter || !is_digit(token[i]);
  }
  return has_letter;
}

bool is_uuid(std::string_view token) {
  constexpr std::string_view kShape = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
  if (token.size() < kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == '-' ? token[i] == '-' : is_hex_digit(token[i]);
    if (!fits) return false;
  }
  return true;
}

// Letters and digits mixed as serial numbers have them; masks, plain words and addresses are not.
bool looks_like_serial(std::string_view token) {
  if (token.size() < 6 || token.starts_with("0x") || token.contains("MASKED")) return false;
  const auto num_digits = std::ranges::count_if(token, is_digit);
  const auto num_letters = std::ranges::count_if(token, is_letter);
  return num_digits >= 3 && (num_letters > 0 || num_digits >= 8);
}

std::optional<std::string_view> serial_in(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!is_token_char(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_token_char(text[end])) ++end;
    const std::string_view token = text.substr(at, end - at);
    if (looks_like_serial(token)) return token;
    at = end;
  }
  return std::nullopt;
}

bool names_a_kind(std::string_view behind) {
  return std::ranges::any_of(kKinds,
                             [&](std::string_view kind) { return behind.starts_with(kind); });
}

std::optional<std::string_view> labelled_serial(std::string_view line) {
  const std::string low = to_lower(line);
  for (const std::string_view word : kSerialWords) {
    for (size_t at = low.find(word); at != low.npos; at = low.find(word, at + word.size())) {
      const size_t behind = at + word.size();
      if (names_a_kind(std::string_view(low).substr(behind))) continue;
      if (const auto token = serial_in(line.substr(behind, kReach))) return token;
    }
  }
  return std::nullopt;
}

struct Suspect {
  std::string_view kind;
  std::string_view text;
};

std::optional<Suspect> suspect_at(std::string_view line, size_t at) {
  const std::string_view rest = line.substr(at);
  if (const size_t length = address_length(rest); length > 0)
    return Suspect{"MAC address", rest.substr(0, length)};
  if (is_uuid(rest)) return Suspect{"UUID", rest.substr(0, 36)};
  if (is_dotted_address(rest.substr(0, 14))) return Suspect{"MAC address", rest.substr(0, 14)};
  return std::nullopt;
}

std::optional<Suspect> suspect_in(std::string_view line) {
  for (size_t at = 0; at < line.size(); ++at) {
    if (!is_hex_digit(line[at]) || (at > 0 && is_hex_digit(line[at - 1]))) continue;
    if (const auto suspect = suspect_at(line, at)) return suspect;
  }
  if (const auto serial = labelled_serial(line)) return Suspect{"serial number", *serial};
  return std::nullopt;
}

size_t line_number(std::string_view text, size_t position) {
  return 1 + static_cast<size_t>(std::ranges::count(text.substr(0, position), '\n'));
}

void search_file(const std::string& name, std::string_view text, size_t num_max,
                 std::vector<Identifier>& found) {
  const ConfigSerials serials = find_config_serials(text);
  if (!serials.positions.empty())
    found.push_back({name, line_number(text, serials.positions.front()),
                     "device serial number in config space",
                     std::string(text.substr(serials.positions.front(), 2))});
  size_t number = 0;
  each_line(text, [&](std::string_view line) {
    ++number;
    if (found.size() >= num_max) return;
    if (const auto suspect = suspect_in(line))
      found.push_back({name, number, std::string(suspect->kind), std::string(suspect->text)});
  });
}

}  // namespace

std::vector<Identifier> find_identifiers(const Snapshot& snapshot, size_t num_max) {
  std::vector<Identifier> found;
  for (const auto& [name, text] : snapshot.files) {
    if (found.size() < num_max) search_file(name, text, num_max, found);
  }
  return found;
}

Status check_masked(const Snapshot& snapshot) {
  const std::vector<Identifier> found = find_identifiers(snapshot, 1);
  if (found.empty()) return {};
  const Identifier& first = found.front();
  return Error{.code = Code::unsupported,
               .doing = "share snapshot",
               .where = fmt::format("{}, line {}", printable(first.file), first.line),
               .why = fmt::format("'{}' looks like a {} that tells this machine from others",
                                  printable(first.text), first.kind),
               .remedy =
                   "capture with the script of 'evener snapshot --script', take the line out "
                   "by hand, and pack the folder with 'evener snapshot --from FOLDER'"};
}

}  // namespace evener::host
