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

using Bytes = MpiWorld::Bytes;

constexpr const char* kDoingChannel = "talk to another process";

void append(Bytes& bytes, std::span<const std::byte> part) {
  const uint64_t size = part.size();
  const auto head = std::as_bytes(std::span(&size, 1));
  bytes.insert(bytes.end(), head.begin(), head.end());
  bytes.insert(bytes.end(), part.begin(), part.end());
}

// The parts that were appended. What does not read as one ends the list.
std::vector<Bytes> parts_of(std::span<const std::byte> bytes) {
  std::vector<Bytes> parts;
  uint64_t size = 0;
  while (bytes.size() >= sizeof size) {
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes = bytes.subspan(sizeof size);
    if (size > bytes.size()) break;
    parts.emplace_back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(size);
  }
  return parts;
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes to_bytes(const std::vector<Agreement>& stated) {
  Bytes bytes;
  for (const Agreement& one : stated) {
    append(bytes, std::as_bytes(std::span(one.name)));
    append(bytes, std::as_bytes(std::span(one.value)));
  }
  return bytes;
}

std::vector<Agreement> from_bytes(std::span<const std::byte> bytes) {
  const std::vector<Bytes> parts = parts_of(bytes);
  std::vector<Agreement> stated;
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    stated.push_back({.name = text_of(parts[i]), .value = text_of(parts[i + 1])});
  }
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
const std::string& MpiWorld::place(size_t rank) const { return link_->place(rank).text; }
const std::string& MpiWorld::host(size_t rank) const { return link_->place(rank).host; }
std::shared_ptr<Heartbeats> MpiWorld::heartbeats() const { return link_->health().heartbeats(); }
Status MpiWorld::status() const { return link_->health().status(); }
void MpiWorld::break_with(Error error) { link_->break_with(std::move(error)); }
Error MpiWorld::fail(Error error) {
  // Then it is what became of another's error here.
  if (!status() && error.where.empty()) return error;
  Error named = error_of_rank(link_->health().names(), rank(), std::move(error));
  link_->break_with(named);
  return named;
}
void MpiWorld::wait_until_left(size_t rank) { link_->wait_until_left(rank); }

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

Result<Bytes> MpiWorld::receive_bytes(size_t from) {
  EVENER_ASSERT(from < size());
  EVENER_ASSERT(from != rank());
  const auto no_more = [&]() -> Error {
    const Status broken = status();
    return broken ? ended_rank(link_->health().names(), from) : broken.error();
  };
  std::optional<size_t> size_bytes;
  const auto is_there = [&] { return (size_bytes = link_->probe(from, Tag::command)).has_value(); };
  if (!link_->wait_for_command(from, is_there)) return no_more();
  if (*size_bytes > kBytesMax) {
    return Error{
        .code = Code::limit_exceeded,
        .doing = kDoingChannel,
        .where = name(from),
        .why = fmt::format("it sends {} bytes, at most {} are taken", *size_bytes, kBytesMax),
        .remedy = ""};
  }
  const auto transfer = link_->start_receive(from, Tag::command, *size_bytes);
  if (!link_->wait_for_command(from, [&] { return link_->poll(*transfer); })) return no_more();
  transfer->bytes.resize(transfer->size);
  return std::move(transfer->bytes);
}

Result<std::vector<Bytes>> MpiWorld::exchange(std::span<const std::byte> own) {
  Bytes all;
  if (rank() != 0) {
    RETURN_IF_ERROR(send_bytes(0, own));
    ASSIGN_OR_RETURN(all, receive_bytes(0));
  } else {
    append(all, own);
    for (size_t from = 1; from < size(); ++from) {
      ASSIGN_OR_RETURN(const Bytes theirs, receive_bytes(from));
      append(all, theirs);
    }
    for (size_t to = 1; to < size(); ++to) RETURN_IF_ERROR(send_bytes(to, all));
  }
  std::vector<Bytes> parts = parts_of(all);
  if (parts.size() == size()) return parts;
  return Error{
      .code = Code::corrupt,
      .doing = kDoingChannel,
      .where = name(0),
      .why = fmt::format("it gives the words of {} processes, there are {}", parts.size(), size()),
      .remedy = ""};
}

// How a rank differs from rank 0; empty if it does not.
std::string MpiWorld::differences(size_t rank, const std::vector<Agreement>& theirs,
                                  const std::vector<Agreement>& wanted) const {
  std::string text;
  const auto add = [&](const std::string& what) {
    text += (text.empty() ? name(rank) + ": " : ", ") + what;
  };
  if (theirs.size() != wanted.size()) add("it states other things");
  for (size_t i = 0; i < std::min(wanted.size(), theirs.size()); ++i) {
    if (theirs[i].name != wanted[i].name) {
      add(fmt::format("'{}' where '{}' was to come", printable(theirs[i].name), wanted[i].name));
    } else if (theirs[i].value != wanted[i].value) {
      add(fmt::format("its {} is {}, that of {} is {}", wanted[i].name, printable(theirs[i].value),
                      name(0), printable(wanted[i].value)));
    }
  }
  return text;
}

Status MpiWorld::agree(const std::vector<Agreement>& stated) {
  ASSIGN_OR_RETURN(const auto all, exchange(to_bytes(stated)));
  const std::vector<Agreement> wanted = from_bytes(all[0]);
  std::string verdict;
  for (size_t rank = 1; rank < size(); ++rank) {
    const std::string one = differences(rank, from_bytes(all[rank]), wanted);
    if (!one.empty()) verdict += (verdict.empty() ? "" : "; ") + one;
  }
  if (verdict.empty()) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "run one model in all processes",
               .where = verdict,
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
