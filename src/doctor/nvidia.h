#pragma once

#include <string>

#include "doctor/case.h"

namespace evener::doctor {

// The word of `nvidia-smi topo -p2p` for a pair: "OK", "CNS", "GNS", "TNS", "NS"; empty: not known.
std::string nvidia_reason(const Case& c, const Pair& pair);

// GeForce of the generations whose stock driver refuses peers by its policy.
bool is_refused_by_policy(const Card& card);

}  // namespace evener::doctor
