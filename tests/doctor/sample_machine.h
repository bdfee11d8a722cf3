#pragma once

#include "doctor/report.h"
#include "host/facts.h"

namespace evener::doctor {

// A workstation with two sockets, written by hand: X1 and X2 under a switch with an NVMe drive
// beside them, their BARs small; R1 on a port of its own under the other host bridge.
host::HostFacts sample_machine();

// What rules could have made of it; the texts are this test's own.
Report sample_report();

}  // namespace evener::doctor
