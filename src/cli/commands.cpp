#include <iterator>

#include "cli/command.h"

namespace evener::cli {

extern const Command serve_command;
extern const Command chat_command;
extern const Command run_command;
extern const Command inspect_command;
extern const Command logits_command;
extern const Command convert_command;
extern const Command quantize_command;
extern const Command perplexity_command;
extern const Command compare_command;
extern const Command simulate_command;
extern const Command doctor_command;
extern const Command snapshot_command;
extern const Command devices_command;
extern const Command tune_command;
extern const Command bench_command;

const Command* const kCommands[] = {
    &serve_command,   &chat_command,     &run_command,        &inspect_command, &logits_command,
    &convert_command, &quantize_command, &perplexity_command, &compare_command, &devices_command,
    &doctor_command,  &snapshot_command, &simulate_command,   &tune_command,    &bench_command};
const size_t kNumCommands = std::size(kCommands);

}  // namespace evener::cli
