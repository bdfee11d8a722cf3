#include "base/error.h"

namespace evener {

std::string to_string(const Error& error) {
  std::string text = "cannot " + (error.doing.empty() ? std::string("go on") : error.doing);
  if (!error.where.empty()) text += ": " + error.where;
  if (!error.why.empty()) text += ": " + error.why;
  if (!error.remedy.empty()) text += "\n  " + error.remedy;
  return text;
}

}  // namespace evener
