#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/work_times.h"
#include "device/device.h"
#include "engine/ranks_report.h"
#include "engine/work_report.h"
#include "gguf/file.h"
#include "model/model.h"
#include "parallel/layout.h"

namespace evener::engine {

// What one rank stands on. It is shared: a rank that has been given up may still use it, and its
// weights serve the one that takes its place.
struct RankSeat {
  std::string device_name;
  size_t num_threads = 0;                  // of the device, as device::create_device() takes it
  std::shared_ptr<const gguf::File> file;  // embeddings are read from it
  std::shared_ptr<device::Device> device;
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<WorkTimes> times = {};  // what its device spends; null: nobody wants to know
};

struct RankSeats {
  parallel::Layout layout;
  std::vector<RankSeat> seats;  // by rank
};

// "rank 1 (cpu:0[1])", for messages.
std::string rank_name(size_t rank, const std::string& device_name);
std::vector<std::string> rank_names(const std::vector<RankSeat>& seats);

// "cpu:0[0] + cpu:0[1], tp 2 (5:4)", "cpu:0 + cpu:1, 2 stages (14)": the devices by rank, and how
// the model is cut over them.
std::string layout_text(const RankSeats& seats);

// What each rank's time goes into; empty if nobody asked.
std::vector<RankTimes> times_of(const RankSeats& seats);

// Of ranks that run, and have not failed yet.
RanksReport report_of(const RankSeats& seats);

}  // namespace evener::engine
