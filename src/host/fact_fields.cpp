#include "host/fact_fields.h"

#include <charconv>

namespace evener::host {
namespace {

std::optional<uint64_t> parse_hex(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, 16);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return value;
}

}  // namespace

template <class T, class Out>
void FactFields::take(Result<T> value, Out& out) const {
  if (!value) {
    *status_ = std::move(value).error();
    return;
  }
  out = *std::move(value);
}

const json::Value* FactFields::find(std::string_view name) const {
  return ok() ? fields_.find(name) : nullptr;
}

void FactFields::fail(std::string_view name, std::string why) const {
  *status_ = fields_.error(name, std::move(why));
}

void FactFields::text(std::string_view name, std::string& out) const {
  if (find(name) != nullptr) take(fields_.get_string(name), out);
}

void FactFields::text(std::string_view name, std::optional<std::string>& out) const {
  if (find(name) != nullptr) take(fields_.get_string(name), out);
}

void FactFields::texts(std::string_view name, std::vector<std::string>& out) const {
  if (find(name) == nullptr) return;
  std::vector<std::string_view> views;
  take(fields_.get_strings(name), views);
  out.assign(views.begin(), views.end());
}

void FactFields::flag(std::string_view name, std::optional<bool>& out) const {
  if (find(name) != nullptr) take(fields_.get_bool_or(name, false), out);
}

void FactFields::flag(std::string_view name, bool& out) const {
  if (find(name) != nullptr) take(fields_.get_bool_or(name, false), out);
}

void FactFields::number(std::string_view name, std::optional<double>& out) const {
  if (find(name) == nullptr) return;
  take(fields_.get_number(name), out);
  if (out && *out < 0) fail(name, "is less than 0");
}

void FactFields::count(std::string_view name, std::optional<unsigned>& out, unsigned max) const {
  if (find(name) == nullptr) return;
  uint64_t wide = 0;
  take(fields_.get_uint(name, max), wide);
  out = static_cast<unsigned>(wide);
}

void FactFields::count(std::string_view name, std::optional<uint64_t>& out) const {
  if (find(name) != nullptr) take(fields_.get_uint(name), out);
}

void FactFields::node(std::string_view name, std::optional<int>& out) const {
  const json::Value* value = find(name);
  if (value == nullptr) return;
  const bool is_node = value->is_number_integer() && *value >= -1 && *value <= 65'535;
  if (!is_node) return fail(name, "is not a NUMA node: a whole number from -1 to 65535");
  out = value->get<int>();
}

void FactFields::size(std::string_view name, std::optional<uint64_t>& out) const {
  if (find(name) != nullptr) take(fields_.get_uint(name, kAddressMax), out);
}

void FactFields::sizes(std::string_view name, std::optional<std::vector<uint64_t>>& out) const {
  if (find(name) != nullptr) take(fields_.get_uints(name, kAddressMax), out);
}

void FactFields::address(std::string_view name, std::optional<uint64_t>& out) const {
  if (find(name) == nullptr) return;
  std::string_view digits;
  take(fields_.get_string(name), digits);
  if (!ok()) return;
  out = parse_hex(digits);
  if (!out) return fail(name, "is not a hexadecimal address such as 0x380400000000");
  if (*out > kAddressMax) fail(name, "lies above every address that a machine has");
}

void FactFields::id(std::string_view name, std::optional<PciId>& out) const {
  if (find(name) == nullptr) return;
  std::string_view digits;
  take(fields_.get_string(name), digits);
  if (!ok()) return;
  out = parse_pci_id(digits);
  if (!out) fail(name, "is not a vendor and device such as 8086:6f00");
}

}  // namespace evener::host
