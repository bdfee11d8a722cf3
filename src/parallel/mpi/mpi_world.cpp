#include "parallel/mpi/mpi_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "parallel/mpi/mpi_comm.h"
#include "parallel/mpi/mpi_link.h"

namespace evener::parallel {
namespace {

using mpi::MpiLink;
using mpi::Tag;

constexpr const char* kDoingChannel = "talk to another process";

void append_text(std::vector<std::byte>& bytes, std::string_view text) {
  const auto size = uint32_t(text.size());
  const auto head = std::as_bytes(std::span(&size, 1));
  bytes.insert(bytes.end(), head.begin(), head.end());
  const auto body = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), body.begin(), body.end());
}

// False if the bytes end before the text does.
bool take_text(std::span<const std::byte>& bytes, std::string* text) {
  uint32_t size = 0;
  if (bytes.size() < sizeof size) return false;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  if (size > bytes.size()) return false;
  text->assign(reinterpret_cast<const char*>(bytes.data()), size);
  bytes = bytes.subspan(size);
  return true;
}

std::vector<std::byte> to_bytes(const std::vector<Agreement>& stated) {
  std::vector<std::byte> bytes;
  for (const Agreement& one : stated) {
    EVENER_ASSERT(one.name.size() <= kAgreementBytesMax);
    EVENER_ASSERT(one.value.size() <= kAgreementBytesMax);
    append_text(bytes, one.name);
    append_text(bytes, one.value);
  }
  return bytes;
}

// What does not read as a list ends it.
std::vector<Agreement> from_bytes(std::span<const std::byte> bytes) {
  std::vector<Agreement> stated;
  Agreement one;
  while (take_text(bytes, &one.name) && take_text(bytes, &one.value)) stated.push_back(one);
  return stated;
}

}  // namespace

bool MpiWorld::launched() {
  // What mpirun tells the processes it starts; that of Open MPI 5 sets the other one.
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

Result<std::unique_ptr<MpiWorld>> MpiWorld::join(const CommOptions& options,
                                                 const std::string& label) {
  ASSIGN_OR_RETURN(std::shared_ptr<MpiLink> link, MpiLink::join(options, label));
  return std::unique_ptr<MpiWorld>(new MpiWorld(std::move(link)));
}

MpiWorld::MpiWorld(std::shared_ptr<MpiLink> link) : link_(std::move(link)) {}

MpiWorld::~MpiWorld() { link_->leave_together(); }

size_t MpiWorld::rank() const { return link_->rank(); }
size_t MpiWorld::size() const { return link_->size(); }
const std::string& MpiWorld::name(size_t rank) const { return link_->health().names()[rank]; }
std::shared_ptr<Heartbeats> MpiWorld::heartbeats() const { return link_->health().heartbeats(); }
Status MpiWorld::status() const { return link_->health().status(); }
void MpiWorld::break_with(Error error) { link_->break_with(std::move(error)); }

Status MpiWorld::send_bytes(size_t to, std::span<const std::byte> bytes) {
  EVENER_ASSERT(to < size());
  if (bytes.size() > kBytesMax) {
    return Error{.code = Code::limit_exceeded,
                 .doing = kDoingChannel,
                 .where = name(to),
                 .why = fmt::format("a message of {} bytes, at most {} may be sent", bytes.size(),
                                    kBytesMax),
                 .remedy = ""};
  }
  if (!link_->send_command(to, bytes)) RETURN_IF_ERROR(status());
  return {};
}

Result<std::vector<std::byte>> MpiWorld::receive_bytes(size_t from,
                                                       std::chrono::milliseconds patience) {
  EVENER_ASSERT(from < size());
  EVENER_ASSERT(from != rank());
  const auto until = Heartbeats::Clock::now() + patience;
  std::optional<size_t> size_bytes;
  const auto is_there = [&] { return (size_bytes = link_->probe(from, Tag::command)).has_value(); };
  if (!link_->wait_for_command(from, until, is_there)) {
    RETURN_IF_ERROR(status());
    if (link_->is_leaving(from)) return ended_rank(link_->health().names(), from);
    return Error{.code = Code::unavailable,
                 .doing = kDoingChannel,
                 .where = name(from),
                 .why = fmt::format("no answer within {:.1f} s", double(patience.count()) * 1e-3),
                 .remedy = ""};
  }
  if (*size_bytes > kBytesMax) {
    return Error{
        .code = Code::limit_exceeded,
        .doing = kDoingChannel,
        .where = name(from),
        .why = fmt::format("it sends {} bytes, at most {} are taken", *size_bytes, kBytesMax),
        .remedy = ""};
  }
  const auto transfer = link_->start_receive(from, Tag::command, *size_bytes);
  if (!link_->wait_for_command(from, until, [&] { return link_->poll(*transfer); })) {
    RETURN_IF_ERROR(status());
    return ended_rank(link_->health().names(), from);
  }
  transfer->bytes.resize(transfer->size);
  return std::move(transfer->bytes);
}

// How one rank differs from this one; empty if it does not.
std::string MpiWorld::differences(const std::vector<Agreement>& stated, size_t rank,
                                  const std::vector<Agreement>& theirs) const {
  std::string text;
  const auto add = [&](const std::string& what) {
    text += (text.empty() ? name(rank) + ": " : ", ") + what;
  };
  if (theirs.size() != stated.size()) add("it states other things");
  for (size_t i = 0; i < std::min(stated.size(), theirs.size()); ++i) {
    const auto& [their_name, their_value] = theirs[i];
    const auto& [own_name, own_value] = stated[i];
    if (their_name != own_name) {
      add(fmt::format("'{}' where '{}' was to come", printable(their_name), own_name));
    } else if (their_value != own_value) {
      add(fmt::format("its {} is {}, that of {} is {}", own_name, printable(their_value), name(0),
                      printable(own_value)));
    }
  }
  return text;
}

// On rank 0: what differs, told to all.
Result<std::string> MpiWorld::compare_all(const std::vector<Agreement>& stated) {
  std::string verdict;
  for (size_t from = 1; from < size(); ++from) {
    ASSIGN_OR_RETURN(const auto bytes, receive_bytes(from, link_->health().options().deadline));
    const std::string one = differences(stated, from, from_bytes(bytes));
    if (!one.empty()) verdict += (verdict.empty() ? "" : "; ") + one;
  }
  for (size_t to = 1; to < size(); ++to) {
    RETURN_IF_ERROR(send_bytes(to, std::as_bytes(std::span(verdict))));
  }
  return verdict;
}

Status MpiWorld::agree(const std::vector<Agreement>& stated) {
  std::string verdict;
  if (rank() == 0) {
    ASSIGN_OR_RETURN(verdict, compare_all(stated));
  } else {
    RETURN_IF_ERROR(send_bytes(0, to_bytes(stated)));
    ASSIGN_OR_RETURN(const auto bytes, receive_bytes(0, link_->health().options().deadline));
    verdict.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (verdict.empty()) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "run one model in all processes",
               .where = printable(verdict, kAgreementBytesMax),
               .why = "",
               .remedy = "start the same program with the same model and options on every host"};
}

Result<RankComms> MpiWorld::connect(const Grid& grid, const CommOptions& options) {
  if (grid.num_ranks() != size()) {
    return Error{
        .code = Code::invalid_argument,
        .doing = "connect the ranks",
        .where = fmt::format("{} stages x {} shards", grid.num_stages, grid.num_shards),
        .why = fmt::format("that takes {} processes, mpirun started {}", grid.num_ranks(), size()),
        .remedy = fmt::format("start mpirun -n {}, or choose another layout", grid.num_ranks())};
  }
  return RankComms{
      .shards = mpi::make_mpi_comm(link_, grid.ranks_of_stage(grid.stage_of(rank())), options),
      .stages = mpi::make_mpi_comm(link_, grid.ranks_of_shard(grid.shard_of(rank())), options),
      .heartbeats = heartbeats(),
      .rank = rank()};
}

}  // namespace evener::parallel
