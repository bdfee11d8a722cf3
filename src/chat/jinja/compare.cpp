#include "chat/jinja/compare.h"

#include <fmt/format.h>

#include "chat/jinja/failure.h"

namespace evener::chat::jinja {
namespace {

Result<bool> equal_lists(Budget& budget, const List& a, const List& b) {
  if (a.items.size() != b.items.size() || a.is_tuple != b.is_tuple) return false;
  for (size_t i = 0; i < a.items.size(); ++i) {
    ASSIGN_OR_RETURN(const bool same, equal(budget, a.items[i], b.items[i]));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_dicts(Budget& budget, const Dict& a, const Dict& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (other == nullptr) return false;
    ASSIGN_OR_RETURN(const bool same, equal(budget, value, *other));
    if (!same) return false;
  }
  return true;
}

Result<std::partial_ordering> order_lists(Budget& budget, const List& a, const List& b) {
  for (size_t i = 0; i < std::min(a.items.size(), b.items.size()); ++i) {
    ASSIGN_OR_RETURN(const bool same, equal(budget, a.items[i], b.items[i]));
    if (!same) return order(budget, a.items[i], b.items[i]);
  }
  return std::partial_ordering(a.items.size() <=> b.items.size());
}

}  // namespace

bool truth(const Value& value) {
  if (const bool* flag = value.as<bool>()) return *flag;
  if (const auto number = as_number(value)) return *number != 0;
  if (const std::string* text = value.text()) return !text->empty();
  if (const List* list = value.list()) return !list->items.empty();
  if (const Dict* dict = value.dict()) return dict->size() != 0;
  return !value.is_undefined() && !value.is_none();
}

std::optional<double> as_number(const Value& value) {
  if (const auto number = as_integer(value)) return static_cast<double>(*number);
  if (const double* number = value.as<double>()) return *number;
  return std::nullopt;
}

std::optional<int64_t> as_integer(const Value& value) {
  if (const int64_t* number = value.as<int64_t>()) return *number;
  if (const bool* flag = value.as<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}

Result<bool> equal(Budget& budget, const Value& a, const Value& b) {
  RETURN_IF_ERROR(budget.work());
  const auto a_integer = as_integer(a);
  const auto b_integer = as_integer(b);
  if (a_integer && b_integer) return *a_integer == *b_integer;
  const auto a_number = as_number(a);
  const auto b_number = as_number(b);
  if (a_number && b_number) return *a_number == *b_number;
  if (a.held().index() != b.held().index()) return false;
  if (const std::string* text = a.text()) {
    RETURN_IF_ERROR(budget.bytes_work(text->size()));
    return *text == *b.text();
  }
  if (const List* list = a.list()) return equal_lists(budget, *list, *b.list());
  if (const Dict* dict = a.dict()) return equal_dicts(budget, *dict, *b.dict());
  if (a.is_none() || a.is_undefined()) return true;
  if (const Function* function = a.function()) return function == b.function();
  if (const Loop* loop = a.loop()) return loop == b.loop();
  return a.name_space() == b.name_space();
}

Result<std::partial_ordering> order(Budget& budget, const Value& a, const Value& b) {
  RETURN_IF_ERROR(budget.work());
  const auto a_integer = as_integer(a);
  const auto b_integer = as_integer(b);
  if (a_integer && b_integer) return std::partial_ordering(*a_integer <=> *b_integer);
  const auto a_number = as_number(a);
  const auto b_number = as_number(b);
  if (a_number && b_number) return *a_number <=> *b_number;
  if (a.text() != nullptr && b.text() != nullptr) {
    RETURN_IF_ERROR(budget.bytes_work(std::min(a.text()->size(), b.text()->size())));
    return std::partial_ordering(*a.text() <=> *b.text());
  }
  if (a.list() != nullptr && b.list() != nullptr) return order_lists(budget, *a.list(), *b.list());
  return refuse(fmt::format("{} and {} have no order", a.type(), b.type()));
}

Result<bool> contains(Budget& budget, const Value& container, const Value& item) {
  if (const std::string* text = container.text()) {
    if (item.text() == nullptr) {
      return refuse(
          fmt::format("'in' on a string needs a string on its left, not {}", item.type()));
    }
    RETURN_IF_ERROR(budget.bytes_work(text->size()));
    return text->find(*item.text()) != std::string::npos;
  }
  if (const List* list = container.list()) {
    for (const Value& element : list->items) {
      ASSIGN_OR_RETURN(const bool same, equal(budget, element, item));
      if (same) return true;
    }
    return false;
  }
  if (const Dict* dict = container.dict()) return dict->find(item) != nullptr;
  if (container.is_undefined()) return false;
  return refuse(fmt::format("'in' does not work on {}", container.type()));
}

}  // namespace evener::chat::jinja
