#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace evener::tune {

// One way to run a model: which devices, by rank, and how it is cut over them.
struct Trial {
  std::vector<std::string> devices = {};
  size_t num_shards = 1;
  size_t num_stages = 1;
  std::vector<size_t> borders = {};  // first layer of each further stage
  std::vector<double> ratio = {};    // of the shards; empty: even
  size_t chunk = 512;                // prompt tokens a step

  bool operator==(const Trial&) const = default;
};

// "one device", "tp 2, 5:4", "2 stages, split 15, chunk 128".
std::string to_string(const Trial& trial);

// Tokens per second.
struct Speeds {
  double prefill = 0;         // of one long prompt
  double decode = 0;          // of one stream
  double decode_streams = 0;  // of two streams together
};

struct Outcome {
  Trial trial;
  std::optional<Speeds> speeds;
  std::string failure = {};  // why there are none
};

// What to measure on these devices, in waves: each wave looks at what the ones before have shown.
//   one       each device alone
//   shards    all of them share every layer: evenly; where two devices differ, by what each reached
//             alone; and a step to either side of it
//   stages    all of them have layers of their own, as many as the device is fast, in both orders
//   of
//             unlike devices; a step of the border to either side; 2 x 2 of four devices
//   chunks    the best of the stages with shorter chunks of prompts
// A wave is empty where there is nothing to try.
enum class Wave { one, shards, stages, chunks };
inline constexpr Wave kWaves[] = {Wave::one, Wave::shards, Wave::stages, Wave::chunks};

struct SearchSpace {
  std::vector<std::string> devices;
  size_t num_layers = 0;
  size_t chunk = 512;
};
std::vector<Trial> trials_of(Wave wave, const SearchSpace& space,
                             std::span<const Outcome> outcomes);

// A request by which layouts are compared.
struct Request {
  size_t prompt_tokens = 2000;
  size_t answer_tokens = 300;

  double seconds(const Speeds& speeds) const {
    return static_cast<double>(prompt_tokens) / speeds.prefill +
           static_cast<double>(answer_tokens) / speeds.decode;
  }
};

// Places in `outcomes`; nothing where none was measured.
struct Winners {
  std::optional<size_t> prefill;
  std::optional<size_t> decode;
  std::optional<size_t> decode_streams;
  std::optional<size_t> request;     // of all
  std::optional<size_t> one_device;  // of those with one, for the request
};
Winners winners_of(std::span<const Outcome> outcomes, const Request& request);

}  // namespace evener::tune
