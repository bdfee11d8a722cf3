#pragma once

#include "chat/jinja/ast.h"
#include "chat/jinja/context.h"

namespace evener::chat::jinja {

// Python's arithmetic: integers stay integers (but in 64 bits: leaving them is an error), / gives a
// float, // and % round towards minus infinity, + joins strings and lists, * repeats them, % on a
// string formats.
Result<Value> arithmetic(Context& context, ast::Arithmetic::Operator op, const Value& a,
                         const Value& b);

Result<Value> negate(const Value& operand);
Result<Value> plus(const Value& operand);

// One step of a comparison.
Result<bool> compare(Budget& budget, ast::Comparison::Operator op, const Value& a, const Value& b);

// "'x' is undefined", for an operation that needs a value.
Error undefined_error(const Value& value);

// The elements of a list, the characters of a string, the keys of a mapping; none of undefined.
Result<std::vector<Value>> elements(Budget& budget, const Value& value);

}  // namespace evener::chat::jinja
