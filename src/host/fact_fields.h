#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_fields.h"
#include "host/limits.h"
#include "host/pci_address.h"

namespace evener::host {

// Reads the members of one JSON object into a structure, member by member. A member that is absent
// or null leaves its variable alone: unknown stays unknown. The first error is kept in `status`,
// which all readers of a document share, and ends all reading.
class FactFields {
 public:
  FactFields(json::Fields fields, Status& status) : fields_(std::move(fields)), status_(&status) {}

  void text(std::string_view name, std::string& out) const;
  void text(std::string_view name, std::optional<std::string>& out) const;
  void texts(std::string_view name, std::vector<std::string>& out) const;
  void flag(std::string_view name, std::optional<bool>& out) const;
  void flag(std::string_view name, bool& out) const;
  void number(std::string_view name, std::optional<double>& out) const;  // finite, 0 or more
  void count(std::string_view name, std::optional<unsigned>& out, unsigned max) const;
  void count(std::string_view name, std::optional<uint64_t>& out) const;
  void node(std::string_view name, std::optional<int>& out) const;  // of NUMA; -1: not said
  void size(std::string_view name, std::optional<uint64_t>& out) const;
  void sizes(std::string_view name, std::optional<std::vector<uint64_t>>& out) const;
  void address(std::string_view name, std::optional<uint64_t>& out) const;  // "0x380400000000"
  void id(std::string_view name, std::optional<PciId>& out) const;          // "8086:6f00"

  // read(FactFields) for an object; read(value, index) for each of a list.
  template <class Read>
  void object(std::string_view name, Read&& read) const;
  template <class Read>
  void each(std::string_view name, Read&& read) const;
  // The same for a list of objects: read(FactFields, index).
  template <class Read>
  void each_object(std::string_view name, Read&& read) const;

  const json::Value* find(std::string_view name) const;  // null once something failed
  void fail(std::string_view name, std::string why) const;
  bool ok() const { return status_->has_value(); }

 private:
  template <class T, class Out>
  void take(Result<T> value, Out& out) const;

  json::Fields fields_;
  Status* status_;
};

template <class Read>
void FactFields::object(std::string_view name, Read&& read) const {
  if (find(name) == nullptr) return;
  auto inner = fields_.get_object(name);
  if (!inner) {
    *status_ = std::move(inner).error();
    return;
  }
  read(FactFields(*std::move(inner), *status_));
}

template <class Read>
void FactFields::each(std::string_view name, Read&& read) const {
  const json::Value* list = find(name);
  if (list == nullptr) return;
  if (!list->is_array()) return fail(name, "is not a list");
  size_t index = 0;
  for (const json::Value& value : *list) {
    if (!ok()) return;
    read(value, index++);
  }
}

template <class Read>
void FactFields::each_object(std::string_view name, Read&& read) const {
  each(name, [&](const json::Value& value, size_t index) {
    auto inner = json::Fields::of(
        value, fields_.where() + ", " + std::string(name) + "[" + std::to_string(index) + "]");
    if (!inner) {
      *status_ = std::move(inner).error();
      return;
    }
    read(FactFields(*std::move(inner), *status_), index);
  });
}

}  // namespace evener::host
