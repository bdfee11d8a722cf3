#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "host/facts.h"
#include "host/file_tree.h"
#include "telemetry/amd_card.h"
#include "telemetry/cores.h"
#include "telemetry/nvidia_smi.h"
#include "telemetry/rapl.h"
#include "telemetry/sample.h"
#include "telemetry/system_load.h"

namespace evener::telemetry {

struct SensorOptions {
  std::filesystem::path root = "/";  // whose sys and proc are read
  std::vector<int> own_processes;    // whose work is the run's own: HostReading::cpus_own
  std::string nvidia_smi;            // path of the program; empty: NVIDIA's cards are not asked
};

// What this machine can be asked while something runs. All texts are taken as hostile: what is no
// number within its limits is absent. Reads only, and wakes no sleeping card. One thread at a time.
// Judge: tests/telemetry.
class Sensors {
 public:
  // Finds the sensors that are there; none is an error, for a container may show nothing.
  static Sensors open(SensorOptions options);

  // A sample has the fast sources each time, clocks and temperatures of cores at most once a
  // second, and NVIDIA's cards at most every two seconds: those left out are absent in between. May
  // take as long as a driver takes to answer; nvidia-smi is ended after two seconds.
  Sample read(std::chrono::steady_clock::time_point now);

  // What is there and may not be read, with the remedy.
  const std::vector<host::Missing>& missing() const { return missing_; }

  size_t num_cpus() const { return load_.num_cpus(); }
  size_t num_cores() const { return cores_.num_cores(); }
  size_t num_cards() const { return num_cards_; }

 private:
  explicit Sensors(SensorOptions options);
  void read_nvidia(std::chrono::steady_clock::time_point now, std::vector<CardReading>& cards);

  host::FileTree files_;
  Cores cores_;
  SystemLoad load_;
  PackagePower power_;
  std::vector<AmdCard> amd_cards_;
  std::vector<PciCard> nvidia_cards_;
  NvidiaSmi nvidia_smi_;
  std::vector<host::Missing> missing_;
  size_t num_cards_ = 0;
  std::chrono::steady_clock::time_point cores_due_;
  std::chrono::steady_clock::time_point nvidia_due_;
};

}  // namespace evener::telemetry
