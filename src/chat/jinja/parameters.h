#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "chat/jinja/function.h"

namespace evener::chat::jinja {

// Arguments sorted by parameter, for filters, methods and functions of ours.
class Parameters {
 public:
  // Errors: too many arguments, a name that is no parameter, one given twice.
  static Result<Parameters> bind(std::string_view function, const Arguments& arguments,
                                 std::initializer_list<std::string_view> names);

  bool given(size_t index) const { return !values_[index].is_undefined(); }
  const Value& operator[](size_t index) const { return values_[index]; }

  // The argument as a type, or `otherwise` when it was not given. Errors name the parameter.
  Result<int64_t> integer(size_t index, int64_t otherwise) const;
  Result<std::string_view> text(size_t index, std::string_view otherwise) const;
  bool flag(size_t index, bool otherwise) const;
  Result<Value> required(size_t index) const;

 private:
  std::string_view function_;
  std::vector<std::string_view> names_;
  std::vector<Value> values_;
};

}  // namespace evener::chat::jinja
