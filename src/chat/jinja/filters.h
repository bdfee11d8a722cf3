#pragma once

#include <span>
#include <string_view>

#include "chat/jinja/context.h"
#include "chat/jinja/function.h"

namespace evener::chat::jinja {

struct Filter {
  std::string_view name;
  Result<Value> (*run)(Context&, const Value& input, const Arguments&);
};

// Null if there is no filter of that name.
const Filter* find_filter(std::string_view name);

// input | name(arguments). Error: there is no filter of that name.
Result<Value> apply_filter(Context& context, std::string_view name, const Value& input,
                           const Arguments& arguments);

// The tables that find_filter() searches.
std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> list_filters();
std::span<const Filter> selecting_filters();

// The element or attribute that attribute="a.b.0" names; `otherwise` stands for a part that is not
// there.
Result<Value> attribute_of(Context& context, const Value& item, const Value& path,
                           const Value& otherwise = {});

}  // namespace evener::chat::jinja
