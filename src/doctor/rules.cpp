#include "doctor/rules.h"

#include "doctor/rules/all.h"

namespace evener::doctor {
namespace {

// Causes of small BARs come behind the route, see Rule::is_cause.
constexpr const Rule* kGateRules[] = {
    &r02, &r03, &r04,                                // is the capture usable
    &r10, &r11, &r12,                                // devices
    &r20, &r21, &r22,                                // build and policy
    &r30, &r38,                                      // BAR size
    &r40, &r41,                                      // address
    &r50, &r51, &r52, &r53,                          // route below a switch
    &r54, &r55, &r56, &r57, &r58, &r59,              // route through host bridges
    &r31, &r32, &r33, &r34, &r35, &r36, &r37,        // why a BAR is small
    &r60, &r61, &r62, &r63,                          // stability
    &r70, &r71, &r72, &r73, &r74, &r75, &r76, &r77,  // speed
};

constexpr const Rule* kVerificationRules[] = {&r01, &r80, &r81, &r82, &r83};

}  // namespace

std::span<const Rule* const> gate_rules() { return kGateRules; }
std::span<const Rule* const> verification_rules() { return kVerificationRules; }

}  // namespace evener::doctor
