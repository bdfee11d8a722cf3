#include "cli/parallel_options.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "device/create_device.h"
#include "device/device_name.h"
#include "engine/layout_plan.h"

namespace evener::cli {
namespace {

constexpr size_t kListLengthMax = 1000;  // characters of --split and --ratio

Error no_list(std::string_view option, std::string_view text, std::string why,
              std::string example) {
  return Error{.code = Code::invalid_argument,
               .doing = fmt::format("read {}", option),
               .where = "'" + printable(text, 60) + "'",
               .why = std::move(why),
               .remedy = std::move(example)};
}

// Numbers between `separator`; none for an empty text.
template <class T>
Result<std::vector<T>> read_numbers(std::string_view option, std::string_view text, char separator,
                                    const std::string& example) {
  std::vector<T> numbers;
  if (text.empty()) return numbers;
  if (text.size() > kListLengthMax) return no_list(option, text, "it is too long", example);
  for (std::string_view rest = text;;) {
    const size_t end = rest.find(separator);
    const std::string_view word = rest.substr(0, end);
    T number{};
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || stop != word.data() + word.size()) {
      return no_list(option, text,
                     word.empty()
                         ? "a number is missing"
                         : fmt::format("'{}' is not a number that it takes", printable(word, 40)),
                     example);
    }
    numbers.push_back(number);
    if (end == std::string_view::npos) return numbers;
    rest.remove_prefix(end + 1);
  }
}

parallel::ExpertCut expert_cut(std::string_view word) {
  if (word == "inside") return parallel::ExpertCut::inside;
  if (word == "whole") return parallel::ExpertCut::whole;
  return parallel::ExpertCut::automatic;
}

device::PeerUse peer_use(std::string_view word) {
  if (word == "always") return device::PeerUse::always;
  if (word == "off") return device::PeerUse::off;
  return device::PeerUse::automatic;
}

}  // namespace

void ParallelWords::add_to(CommandLine& line) {
  line.add(
      "--devices,--device", devices_,
      "devices that share the model, as cpu:0,cpu:1 or cpu:0[0-3],cpu:0[4-7] or vulkan:0, a card; "
      "`evener devices` lists them; without: what `evener tune` found, else cpu:0");
  line.add("--tp", num_shards_,
           "devices that compute each layer together; 0: all of them, or what --stages leaves")
      .between(0, 64);
  line.add("--stages", num_stages_,
           "groups of layers, one behind the other; 0: one, or what --tp leaves")
      .between(0, 64);
  line.add("--split", split_,
           "first layer of each further stage, as 21 or 10,20; without: what makes the slowest "
           "stage fastest");
  line.add(
      "--ratio", ratio_,
      "shares of the devices that compute a layer together, as 5:4; auto: by speed and memory; "
      "without: equal ones");
  line.add("--experts", experts_,
           "whether such devices share each expert (inside) or have whole ones (whole)")
      .one_of({"auto", "inside", "whole"});
  line.add("--peer", peer_,
           "from card to card without the host: auto, where it was tested to be right and faster; "
           "always, where it is right; off")
      .one_of({"auto", "always", "off"});
}

void ParallelWords::add_failures_to(CommandLine& line) {
  line.add("--rank-deadline", rank_deadline_seconds_,
           "seconds without a sign of life after which a device is given up")
      .between(0.1, 3600);
  line.add("--max-restarts", max_restarts_, "times in an hour that devices are started again")
      .between(0, 1000);
  line.add("--fallback", fallback_,
           "when they are used up, go on without the devices that failed, if the model fits");
  line.add(
          "--fault", fault_,
          "a drill: make a device fail on purpose, as rank=1,after=100,kind=exit; hang and corrupt "
          "are other kinds")
      .from_environment("EVENER_FAULT");
}

bool ParallelWords::says_nothing() const {
  return devices_.empty() && num_shards_ == 0 && num_stages_ == 0 && split_.empty() &&
         ratio_.empty();
}

Status ParallelWords::apply(engine::ParallelOptions& options) const {
  RETURN_IF_ERROR(read(options));
  RETURN_IF_ERROR(device::check_devices(options.devices));
  return engine::check_parallel(options);
}

Status ParallelWords::read(engine::ParallelOptions& options) const {
  if (!devices_.empty()) options.devices = device::split_device_list(devices_);
  options.num_shards = num_shards_;
  options.num_stages = num_stages_;
  ASSIGN_OR_RETURN(options.borders,
                   read_numbers<size_t>("--split", split_, ',',
                                        "name the first layer of each further stage: --split "
                                        "10,20"));
  options.measure_ratio = ratio_ == "auto";
  if (!options.measure_ratio) {
    ASSIGN_OR_RETURN(options.ratio,
                     read_numbers<double>("--ratio", ratio_, ':',
                                          "name a share for each, as --ratio 5:4, or auto"));
  }
  options.experts = expert_cut(experts_);
  options.peer = peer_use(peer_);
  options.rank_deadline = std::chrono::milliseconds(int64_t(1000 * rank_deadline_seconds_));
  options.max_restarts = max_restarts_;
  options.fallback = fallback_;
  if (!fault_.empty()) {
    ASSIGN_OR_RETURN(options.fault, parallel::parse_fault(fault_));
  }
  return {};
}

}  // namespace evener::cli
