#include "parallel/call.h"

namespace evener::parallel {

std::string name_of(CallKind kind) {
  switch (kind) {
    case CallKind::all_reduce:
      return "all-reduce";
    case CallKind::gather:
      return "gather";
    case CallKind::broadcast:
      return "broadcast";
    case CallKind::send:
      return "send";
    case CallKind::receive:
      return "receive";
    case CallKind::comparison:
      return "comparison";
  }
  return "unknown call";
}

std::string to_text(const Call& call) {
  return name_of(call.kind) + " " + std::to_string(call.number);
}

}  // namespace evener::parallel
