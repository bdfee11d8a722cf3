#include "host/mask_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "host/ascii.h"

namespace evener::host {
namespace {

constexpr std::string_view kMasked = "MASKED";
constexpr std::string_view kMaskedLow = "masked";
constexpr size_t kValueBytes = 64;  // of what stands behind a label, to look for a digit

// Words before a value that is one device's own. With `spaces`, a space is enough between the two;
// else there must be ':' or '=' or a tab, for "serial" also begins "Serial bus controller".
struct Label {
  std::string_view word;
  bool spaces = false;
};
constexpr std::array<Label, 11> kLabels = {{{"serial number", true},
                                            {"serial_number", true},
                                            {"serialnumber", true},
                                            {"serial no", false},
                                            {"serial", false},
                                            {"s/n", false},
                                            {"service tag", true},
                                            {"asset tag", true},
                                            {"unique_id", true},
                                            {"unique id", false},
                                            {"ppin", true}}};  // a CPU's number, in machine checks
// Vital product data of lspci: what a vendor puts here may be an address without separators.
constexpr Label kVendorSpecific = {"vendor specific", false};

// Words before four numbers that are a version and no address.
constexpr std::array<std::string_view, 9> kVersionWords = {
    "version", "ver", "bios", "rev", "agesa", "firmware", "vbios", "driver", "fw"};

bool starts_token(std::string_view line, size_t at) { return at == 0 || !is_alnum(line[at - 1]); }

bool ends_token(std::string_view line, size_t at) {
  return at >= line.size() || !is_alnum(line[at]);
}

// Hex digits from `at` on, up to `num_max`.
size_t num_hex_digits(std::string_view line, size_t at, size_t num_max) {
  size_t count = 0;
  while (count < num_max && at + count < line.size() && is_hex_digit(line[at + count])) ++count;
  return count;
}

// A run of groups of `digits` hex digits with one separator between them, from `at` on.
struct Run {
  size_t num_groups = 0;
  size_t end = 0;
};

Run run_at(std::string_view line, size_t at, size_t digits) {
  Run run = {0, at};
  const char separator = at + digits < line.size() ? line[at + digits] : ' ';
  const bool separated = separator == ':' || (separator == '-' && digits == 2);
  for (size_t group = at;
       num_hex_digits(line, group, digits) == digits && ends_token(line, group + digits);
       group = run.end + 1) {
    ++run.num_groups;
    run.end = group + digits;
    if (!separated || run.end >= line.size() || line[run.end] != separator) break;
  }
  return run;
}

// Where the groups 8-4-4-4-12 stand; the length, or 0.
size_t uuid_length(std::string_view line, size_t at) {
  size_t length = 0;
  for (const size_t digits : std::initializer_list<size_t>{8, 4, 4, 4, 12}) {
    if (length > 0 && (at + length >= line.size() || line[at + length] != '-')) return 0;
    if (length > 0) ++length;
    if (num_hex_digits(line, at + length, digits) != digits) return 0;
    length += digits;
  }
  return ends_token(line, at + length) ? length : 0;
}

// Length of an IPv4 address at `at`, or 0.
size_t ipv4_length(std::string_view line, size_t at) {
  size_t length = 0;
  for (int octet = 0; octet < 4; ++octet) {
    if (octet > 0 && (at + length >= line.size() || line[at + length++] != '.')) return 0;
    size_t digits = 0;
    int value = 0;
    while (at + length < line.size() && is_digit(line[at + length]) && digits < 4) {
      value = value * 10 + (line[at + length++] - '0');
      ++digits;
    }
    if (digits == 0 || value > 255) return 0;
  }
  const char next = at + length < line.size() ? line[at + length] : ' ';
  const bool goes_on =
      is_alnum(next) || next == '-' ||
      (next == '.' && at + length + 1 < line.size() && is_digit(line[at + length + 1]));
  return goes_on ? 0 : length;
}

bool follows_version_word(std::string_view line, size_t at) {
  size_t end = line.find_last_not_of(" :=", at == 0 ? 0 : at - 1);
  end = end == std::string_view::npos || at == 0 ? 0 : end + 1;
  size_t begin = end;
  while (begin > 0 && is_letter(line[begin - 1])) --begin;
  const std::string word = to_lower(line.substr(begin, end - begin));
  return std::ranges::find(kVersionWords, word) != kVersionWords.end();
}

// Where the value behind a label begins, in a line of small letters; npos if there is none, or only
// a mask.
size_t value_behind(std::string_view line, size_t at, const Label& label) {
  bool separated = false;
  bool spaced = false;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    separated = separated || c == ':' || c == '=' || c == '\t';
    spaced = spaced || c == ' ';
    if (std::string_view(" \t:=\"'])#").find(c) == std::string_view::npos) break;
  }
  const std::string_view value = line.substr(at);
  const bool has_digit = std::ranges::any_of(value.substr(0, kValueBytes), is_digit);
  if (value.empty() || value.starts_with(kMaskedLow) || value.starts_with("xx")) return line.npos;
  if (separated) return at;
  return label.spaces && spaced && has_digit ? at : line.npos;
}

// Where the value behind the first such label that has one begins, in a line of small letters; npos
// if there is none.
size_t value_of(std::string_view low, const Label& label) {
  for (size_t at = low.find(label.word); at != low.npos; at = low.find(label.word, at + 1)) {
    const size_t end = at + label.word.size();
    if (!starts_token(low, at) || !ends_token(low, end)) continue;
    if (const size_t value = value_behind(low, end, label); value != low.npos) return value;
  }
  return low.npos;
}

bool is_name_char(char c) { return is_alnum(c) || c == '-' || c == '_'; }

}  // namespace

void LineMasker::count(std::string_view kind) {
  const auto found = counts_.find(kind);
  if (found == counts_.end()) {
    counts_.emplace(kind, 1);
  } else {
    ++found->second;
  }
}

std::string LineMasker::mask_runs(std::string_view line, size_t digits, size_t num_groups_min) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const bool begins = is_hex_digit(line[at]) && starts_token(line, at);
    const Run run = begins ? run_at(line, at, digits) : Run{};
    if (run.num_groups >= num_groups_min) {
      const bool of_device = digits == 2 && run.num_groups == 8;
      out += of_device ? "xx-MASKED8" : fmt::format("xx:MASKED{}", run.num_groups);
      count(of_device ? "device serial number" : "MAC address");
      at = run.end;
    } else {
      const size_t end = std::max(run.end, at + 1);
      out += line.substr(at, end - at);
      at = end;
    }
  }
  return out;
}

std::string LineMasker::mask_uuids(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const bool begins = is_hex_digit(line[at]) && starts_token(line, at);
    size_t length = begins ? uuid_length(line, at) : 0;
    if (begins && num_hex_digits(line, at, 33) == 32 && ends_token(line, at + 32)) length = 32;
    if (length > 0) {
      out += "UUID-MASKED";
      count("UUID");
      at += length;
    } else {
      out += line[at++];
    }
  }
  return out;
}

// "enx001b21aabbcc": an interface that is named after its address.
std::string LineMasker::mask_interfaces(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    const bool named = (rest.starts_with("enx") || rest.starts_with("wlx")) &&
                       starts_token(line, at) && num_hex_digits(line, at + 3, 13) == 12 &&
                       ends_token(line, at + 15);
    out += rest.substr(0, named ? 3 : 1);
    if (named) {
      out += kMasked;
      count("MAC address");
    }
    at += named ? 15 : 1;
  }
  return out;
}

// Everything behind the first label that has a value.
void LineMasker::mask_labelled(std::string& line) {
  const std::string low = to_lower(line);
  size_t begin = low.contains("[v") ? value_of(low, kVendorSpecific) : line.npos;
  for (const Label& label : kLabels) begin = std::min(begin, value_of(low, label));
  if (begin == line.npos) return;
  line.replace(begin, line.npos, kMasked);
  count("serial number");
}

std::string LineMasker::mask_ipv4(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const bool begins = is_digit(line[at]) && starts_token(line, at) &&
                        (at == 0 || (line[at - 1] != '.' && line[at - 1] != '-'));
    const size_t length = begins ? ipv4_length(line, at) : 0;
    if (length > 0 && !follows_version_word(line, at)) {
      out += "IP-MASKED";
      count("IPv4 address");
      at += length;
    } else {
      out += line[at++];
    }
  }
  return out;
}

void LineMasker::mask_host_names(std::string& line) {
  for (const std::string& name : host_names_) {
    if (!line.contains(name)) continue;
    std::string out;
    for (size_t at = 0; at < line.size();) {
      const size_t end = at + name.size();
      const bool whole = line.compare(at, name.size(), name) == 0 &&
                         (at == 0 || !is_name_char(line[at - 1])) &&
                         (end >= line.size() || !is_name_char(line[end]));
      if (whole) count("host name");
      out += whole ? "HOST" : std::string(1, line[at]);
      at += whole ? name.size() : 1;
    }
    line = std::move(out);
  }
}

std::string LineMasker::mask_homes(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    const size_t folder = rest.starts_with("/home/") ? 6 : rest.starts_with("/Users/") ? 7 : 0;
    size_t end = folder;
    while (folder > 0 && end < rest.size() && (is_name_char(rest[end]) || rest[end] == '.')) ++end;
    const bool named = end > folder && rest.substr(folder, end - folder) != "USER";
    if (named) count("home folder");
    out += rest.substr(0, named ? folder : 1);
    if (named) out += "USER";
    at += named ? end : 1;
  }
  return out;
}

std::string LineMasker::mask_identifiers(std::string line) {
  line = mask_runs(line, 2, 5);
  line = mask_runs(line, 4, 4);
  line = mask_uuids(line);
  if (line.contains("enx") || line.contains("wlx")) line = mask_interfaces(line);
  mask_labelled(line);
  return line;
}

std::string LineMasker::mask_free_text(std::string line) {
  line = mask_ipv4(mask_identifiers(std::move(line)));
  mask_host_names(line);
  return mask_homes(line);
}

}  // namespace evener::host
