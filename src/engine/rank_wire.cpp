#include "engine/rank_wire.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace evener::engine {
namespace {

using Kind = RankCommand::Kind;

constexpr std::chrono::hours kForEver{24 * 365};
constexpr size_t kFrameBytes = size_t{32} << 20;  // within MpiWorld::kBytesMax
constexpr uint64_t kMessageBytesMax = uint64_t{8} << 30;

class Writer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    append(std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  void put_all(std::span<const T> values) {
    put(uint64_t{values.size()});
    append(std::as_bytes(values));
  }
  void put_text(std::string_view text) { put_all(std::span<const char>(text)); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::byte> bytes_;
};

// What does not fit into the bytes that are left reads as nothing, and is_good() is false then.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value{};
    copy_to(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    const auto count = get<uint64_t>();
    if (count > bytes_.size() / sizeof(T)) is_good_ = false;
    std::vector<T> values(is_good_ ? count : 0);
    copy_to(std::as_writable_bytes(std::span(values)));
    return values;
  }
  std::string get_text() {
    const std::vector<char> text = get_all<char>();
    return {text.begin(), text.end()};
  }
  // Everything has been read, and nothing was missing.
  bool is_good() const { return is_good_ && bytes_.empty(); }

 private:
  void copy_to(std::span<std::byte> to) {
    if (to.size() > bytes_.size()) is_good_ = false;
    if (!is_good_ || to.empty()) return;
    std::memcpy(to.data(), bytes_.data(), to.size());
    bytes_ = bytes_.subspan(to.size());
  }

  std::span<const std::byte> bytes_;
  bool is_good_ = true;
};

Error broken_message() {
  return {.code = Code::corrupt,
          .doing = "talk to another process",
          .where = {},
          .why = "a message breaks its own form",
          .remedy = {}};
}

void put_pass(Writer& writer, const StoredPass& stored) {
  const model::PassInput input = stored.pass().input;
  writer.put(stored.number());
  writer.put_all(input.tokens);
  writer.put_all(input.positions);
  writer.put_all(input.logit_rows);
  writer.put(uint64_t{input.batch.slices.size()});
  for (const device::Slice& slice : input.batch.slices) {
    writer.put(uint64_t{slice.num_rows});
    writer.put(uint64_t{slice.first_position});
    writer.put(slice.state_slot);
    writer.put_all(slice.pages);
  }
}

std::shared_ptr<StoredPass> get_pass(Reader& reader) {
  const auto number = reader.get<uint64_t>();
  const auto tokens = reader.get_all<int32_t>();
  const auto positions = reader.get_all<int32_t>();
  const auto logit_rows = reader.get_all<int32_t>();
  const auto num_slices = std::min(reader.get<uint64_t>(), uint64_t{tokens.size()});
  std::vector<std::vector<int32_t>> pages;
  std::vector<device::Slice> slices;
  size_t first_row = 0;
  for (uint64_t i = 0; i < num_slices; ++i) {
    device::Slice slice;
    slice.first_row = first_row;
    slice.num_rows = reader.get<uint64_t>();
    slice.first_position = reader.get<uint64_t>();
    slice.state_slot = reader.get<int32_t>();
    first_row += slice.num_rows;
    pages.push_back(reader.get_all<int32_t>());
    slices.push_back(slice);
  }
  for (size_t i = 0; i < slices.size(); ++i) slices[i].pages = pages[i];
  auto stored = std::make_shared<StoredPass>();
  stored->store({.input = {.tokens = tokens,
                           .positions = positions,
                           .batch = {.slices = slices, .num_rows = tokens.size()},
                           .logit_rows = logit_rows}},
                number);
  return stored;
}

bool is_written(Kind kind) { return kind == Kind::write_page || kind == Kind::write_state; }
bool is_read(Kind kind) { return kind == Kind::read_page || kind == Kind::read_state; }

}  // namespace

bool is_answered(Kind kind) {
  return kind == Kind::run || is_read(kind) || kind == Kind::read_expert_uses;
}

std::vector<std::byte> to_bytes(const RankCommand& command, size_t size_bytes) {
  Writer writer;
  writer.put(command.kind);
  writer.put(command.number);
  writer.put(command.from);
  writer.put(command.to);
  if (command.kind == Kind::run) put_pass(writer, *command.pass);
  if (is_read(command.kind)) writer.put(uint64_t{size_bytes});
  if (is_written(command.kind)) {
    const std::span<const std::byte> whole = *command.bytes;
    writer.put_all(whole.subspan(command.first_byte, size_bytes));
  }
  return writer.take();
}

Result<RankCommand> command_from(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  RankCommand command;
  command.kind = reader.get<Kind>();
  command.number = reader.get<uint64_t>();
  command.from = reader.get<int32_t>();
  command.to = reader.get<int32_t>();
  if (command.kind == Kind::run) command.pass = get_pass(reader);
  if (is_read(command.kind)) {
    const auto size = reader.get<uint64_t>();
    if (size > kMessageBytesMax) return broken_message();
    command.bytes = std::make_shared<RankCommand::Bytes>(size);
  }
  if (is_written(command.kind)) {
    command.bytes = std::make_shared<RankCommand::Bytes>(reader.get_all<std::byte>());
  }
  if (command.kind == Kind::read_expert_uses) {
    command.uses = std::make_shared<std::vector<RankCommand::ExpertUses>>(1);
  }
  if (!reader.is_good() || command.kind > Kind::reset_expert_uses) return broken_message();
  return command;
}

std::vector<std::byte> to_bytes(const RankAnswer& answer) {
  Writer writer;
  writer.put(answer.number);
  writer.put(answer.error.has_value());
  if (answer.error) {
    writer.put(answer.error->code);
    writer.put_text(answer.error->doing);
    writer.put_text(answer.error->where);
    writer.put_text(answer.error->why);
    writer.put_text(answer.error->remedy);
  }
  writer.put(answer.page_bytes);
  writer.put(answer.state_bytes);
  writer.put_all(std::span<const std::byte>(answer.bytes));
  writer.put_all(std::span<const float>(answer.logits));
  writer.put(uint64_t{answer.uses.size()});
  for (const auto& layer : answer.uses) writer.put_all(std::span<const uint64_t>(layer));
  return writer.take();
}

Result<RankAnswer> answer_from(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  RankAnswer answer;
  answer.number = reader.get<uint64_t>();
  if (reader.get<bool>()) {
    Error error;
    error.code = reader.get<Code>();
    error.doing = reader.get_text();
    error.where = reader.get_text();
    error.why = reader.get_text();
    error.remedy = reader.get_text();
    answer.error = std::move(error);
  }
  answer.page_bytes = reader.get<uint64_t>();
  answer.state_bytes = reader.get<uint64_t>();
  answer.bytes = reader.get_all<std::byte>();
  answer.logits = reader.get_all<float>();
  const auto num_layers = std::min(reader.get<uint64_t>(), uint64_t{bytes.size()});
  for (uint64_t layer = 0; layer < num_layers; ++layer) {
    answer.uses.push_back(reader.get_all<uint64_t>());
  }
  if (!reader.is_good()) return broken_message();
  return answer;
}

Status send_message(parallel::MpiWorld& world, size_t to, std::span<const std::byte> bytes) {
  const uint64_t size = bytes.size();
  RETURN_IF_ERROR(world.send_bytes(to, std::as_bytes(std::span(&size, 1))));
  for (size_t done = 0; done < bytes.size(); done += kFrameBytes) {
    RETURN_IF_ERROR(
        world.send_bytes(to, bytes.subspan(done, std::min(kFrameBytes, bytes.size() - done))));
  }
  return {};
}

Result<std::vector<std::byte>> receive_message(parallel::MpiWorld& world, size_t from) {
  ASSIGN_OR_RETURN(const auto head, world.receive_bytes(from, kForEver));
  uint64_t size = 0;
  if (head.size() != sizeof(size)) return broken_message();
  std::memcpy(&size, head.data(), sizeof(size));
  if (size > kMessageBytesMax) return broken_message();
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    ASSIGN_OR_RETURN(const auto frame, world.receive_bytes(from, kForEver));
    if (frame.empty() || frame.size() > size - bytes.size()) return broken_message();
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  return bytes;
}

}  // namespace evener::engine
