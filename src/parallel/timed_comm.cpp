#include "parallel/timed_comm.h"

#include <utility>

namespace evener::parallel {
namespace {

using device::Device;
using device::Tensor;

// What a device still computes for x is not the ranks' time: it books that itself.
void settle(Device& device, const Tensor& x) { (void)device.host_data(x); }

class TimedComm final : public Comm {
 public:
  TimedComm(std::unique_ptr<Comm> comm, std::shared_ptr<WorkTimes> times)
      : comm_(std::move(comm)), times_(std::move(times)) {}

  size_t rank() const override { return comm_->rank(); }
  size_t size() const override { return comm_->size(); }
  void all_reduce(Device& device, const Tensor& x) override {
    settle(device, x);
    const WorkTimer timer(times_.get(), Work::ranks);
    comm_->all_reduce(device, x);
  }
  void gather(Device& device, size_t root, const Tensor& part, const Tensor& whole) override {
    settle(device, part);
    const WorkTimer timer(times_.get(), Work::ranks);
    comm_->gather(device, root, part, whole);
  }
  void broadcast(Device& device, size_t root, const Tensor& x) override {
    settle(device, x);
    const WorkTimer timer(times_.get(), Work::ranks);
    comm_->broadcast(device, root, x);
  }
  void send(Device& device, size_t to, const Tensor& x) override {
    settle(device, x);
    const WorkTimer timer(times_.get(), Work::ranks);
    comm_->send(device, to, x);
  }
  void receive(Device& device, size_t from, const Tensor& x) override {
    const WorkTimer timer(times_.get(), Work::ranks);
    comm_->receive(device, from, x);
  }
  void verify_same(Device& device, const Tensor& x) override {
    settle(device, x);
    const WorkTimer timer(times_.get(), Work::ranks);
    comm_->verify_same(device, x);
  }
  Status status() const override { return comm_->status(); }
  void break_with(Error error) override { comm_->break_with(std::move(error)); }

 private:
  std::unique_ptr<Comm> comm_;
  std::shared_ptr<WorkTimes> times_;
};

void time_comm(std::unique_ptr<Comm>& comm, const std::shared_ptr<WorkTimes>& times) {
  if (comm->size() > 1) comm = std::make_unique<TimedComm>(std::move(comm), times);
}

}  // namespace

void time_comms(RankComms& comms, const std::shared_ptr<WorkTimes>& times) {
  time_comm(comms.shards, times);
  time_comm(comms.stages, times);
}

}  // namespace evener::parallel
