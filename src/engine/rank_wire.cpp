#include "engine/rank_wire.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace evener::engine {
namespace {

using Kind = RankCommand::Kind;

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

// What does not fit into the bytes that are left reads as nothing, and nothing is good from then
// on.
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
  bool is_good() const { return is_good_; }
  bool is_good_to_the_end() const { return is_good_ && bytes_.empty(); }

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
  const RankPass pass = stored.pass();
  const model::PassInput& input = pass.input;
  writer.put(stored.number());
  writer.put(pass.wanted);
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

// Slices cover all rows in order, as device::Batch says. Null if the numbers contradict each other.
std::shared_ptr<StoredPass> get_pass(Reader& reader) {
  const auto number = reader.get<uint64_t>();
  const auto wanted = reader.get<Wanted>();
  const auto tokens = reader.get_all<int32_t>();
  const auto positions = reader.get_all<int32_t>();
  const auto logit_rows = reader.get_all<int32_t>();
  const auto num_slices = reader.get<uint64_t>();
  std::vector<std::vector<int32_t>> pages;
  std::vector<device::Slice> slices;
  size_t num_rows = 0;
  while (slices.size() < num_slices && reader.is_good()) {
    device::Slice slice;
    slice.first_row = num_rows;
    slice.num_rows = std::min(reader.get<uint64_t>(), tokens.size() - num_rows);
    slice.first_position = reader.get<uint64_t>();
    slice.state_slot = reader.get<int32_t>();
    num_rows += slice.num_rows;
    pages.push_back(reader.get_all<int32_t>());
    slices.push_back(slice);
  }
  for (size_t i = 0; i < slices.size(); ++i) slices[i].pages = pages[i];
  const bool is_known = wanted >= Wanted::logits && wanted <= Wanted::best_tokens;
  const auto is_row = [&](int32_t row) { return row >= 0 && size_t(row) < num_rows; };
  if (!is_known || num_rows != tokens.size() || num_rows != positions.size() ||
      !std::ranges::all_of(logit_rows, is_row)) {
    return nullptr;
  }
  auto stored = std::make_shared<StoredPass>();
  stored->store({.input = {.tokens = tokens,
                           .positions = positions,
                           .batch = {.slices = slices, .num_rows = num_rows},
                           .logit_rows = logit_rows},
                 .wanted = wanted},
                number);
  return stored;
}

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
  if (command.kind == Kind::run) {
    command.pass = get_pass(reader);
    if (!command.pass) return broken_message();
  }
  if (is_written(command.kind)) {
    command.bytes = std::make_shared<RankCommand::Bytes>(reader.get_all<std::byte>());
  }
  const bool is_known = command.kind >= Kind::run && command.kind <= Kind::reset_expert_uses;
  if (!is_known || !reader.is_good_to_the_end()) return broken_message();
  return command;
}

std::vector<std::byte> to_bytes(const RankAnswer& answer) {
  Writer writer;
  writer.put(answer.number);
  writer.put(uint8_t{answer.error.has_value()});
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
  writer.put_all(std::span<const float>(answer.result.logits));
  writer.put_all(std::span<const int32_t>(answer.result.best_tokens));
  writer.put(uint64_t{answer.uses.size()});
  for (const auto& layer : answer.uses) writer.put_all(std::span<const uint64_t>(layer));
  return writer.take();
}

Result<RankAnswer> answer_from(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  RankAnswer answer;
  answer.number = reader.get<uint64_t>();
  if (reader.get<uint8_t>() != 0) {
    Error error;
    error.code = reader.get<Code>();
    const bool is_code = error.code >= Code::invalid_argument && error.code <= Code::internal;
    if (!is_code) error.code = Code::internal;
    error.doing = reader.get_text();
    error.where = reader.get_text();
    error.why = reader.get_text();
    error.remedy = reader.get_text();
    answer.error = std::move(error);
  }
  answer.page_bytes = reader.get<uint64_t>();
  answer.state_bytes = reader.get<uint64_t>();
  answer.bytes = reader.get_all<std::byte>();
  answer.result.logits = reader.get_all<float>();
  answer.result.best_tokens = reader.get_all<int32_t>();
  const auto num_layers = reader.get<uint64_t>();
  while (answer.uses.size() < num_layers && reader.is_good()) {
    answer.uses.push_back(reader.get_all<uint64_t>());
  }
  if (!reader.is_good_to_the_end()) return broken_message();
  return answer;
}

}  // namespace evener::engine
