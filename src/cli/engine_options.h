#pragma once

#include <memory>

#include "base/error.h"
#include "chat/chat_template.h"
#include "cli/command_line.h"
#include "engine/engine.h"

namespace evener::cli {

// MODEL (or -m), --threads, --ctx, --kv, --parallel, --memory: what every command that
// generates has. `positional` puts MODEL behind the command, else it is -m.
enum class ModelArgument { positional, option };
void add_engine_options(CommandLine& line, engine::EngineOptions& options, ModelArgument model);

// Loads a model with a progress bar on stderr. Errors: as Engine::create; cancelled on Ctrl-C.
Result<std::unique_ptr<engine::Engine>> load_engine(const engine::EngineOptions& options);

// What the loader is doing, for people: "packing weights".
const char* phase_name(engine::LoadState::Phase phase);

// The model's chat template, or ours for its family.
Result<chat::ChatTemplate> chat_template_of(const engine::Engine& engine);

}  // namespace evener::cli
