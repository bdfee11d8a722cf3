#pragma once

#include <cstdint>
#include <string>

#include "doctor/report.h"
#include "host/facts.h"

// Small machines for tests of rules, on which all gates pass; a test then breaks one thing.

namespace evener::doctor {

inline constexpr uint64_t kMega = uint64_t{1} << 20;
inline constexpr uint64_t kGiga = uint64_t{1} << 30;

// Two 7900 XTX, A and B, below the switch "up" with the legs "leg-a" and "leg-b", below the root
// port 0000:00:02.0 of a Xeon E5 v4; Linux 6.12, IOMMU off. BARs of 32 GiB, windows to match.
host::HostFacts below_switch();

// The same cards on the root ports 0000:00:02.0 and 0000:00:03.0 of a Xeon E5 v3, which the list
// of Linux 6.12 has.
host::HostFacts on_root_ports();

// On 0000:00:02.0 and 0000:80:02.0, as of two sockets; first devices 8086:2020, which are listed.
host::HostFacts on_two_sockets();

// Two RTX 3090 on an AMD Zen machine, whose driver grants peers.
host::HostFacts nvidia_pair();

host::Function& function(host::HostFacts& facts, const std::string& name);
host::Function& card(host::HostFacts& facts, const std::string& gpu);  // the card's function
host::Bar& vram_bar(host::HostFacts& facts, const std::string& gpu);
host::Gpu& gpu(host::HostFacts& facts, const std::string& name);

void set_redirect(host::HostFacts& facts, const std::string& port, uint16_t control);
void set_link(host::Function& function, host::Link link);

// As the pair A-B has it.
const PairReport& pair_of(const Report& report);
const Finding* find_finding(const Report& report, const std::string& rule);
bool decides(const Report& report, const std::string& rule);  // for A-B

}  // namespace evener::doctor
