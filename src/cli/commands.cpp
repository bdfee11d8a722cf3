#include <iterator>

#include "cli/command.h"

namespace evener::cli {

extern const Command serve;
extern const Command chat;
extern const Command run;
extern const Command inspect;
extern const Command logits;

const Command* const kCommands[] = {&serve, &chat, &run, &inspect, &logits};
const size_t kNumCommands = std::size(kCommands);

}  // namespace evener::cli
