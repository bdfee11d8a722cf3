#include "parallel/rank_errors.h"

#include <fmt/format.h>

#include <utility>

namespace evener::parallel {
namespace {

constexpr const char* kDoing = "compute with all ranks";

}  // namespace

RankNames::RankNames(size_t num_ranks, std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t rank = names_.size(); rank < num_ranks; ++rank) {
    names_.push_back(fmt::format("rank {}", rank));
  }
}

std::string RankNames::list(std::span<const size_t> ranks) const {
  std::string text;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += names_[ranks[i]];
  }
  return text;
}

Error late_rank(const RankNames& names, const LateRank& late) {
  const std::string pass = late.pass > 0 ? fmt::format(" of pass {}", late.pass) : "";
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names[late.peer],
          .why = fmt::format("no sign of life for {:.1f} s; {} waits for it in {}{}",
                             std::chrono::duration<double>(late.silent_for).count(),
                             names[late.rank], to_text(late.call), pass),
          .remedy = "if the machine was only overloaded, give ranks a longer deadline"};
}

Error ended_rank(const RankNames& names, size_t rank) {
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names[rank],
          .why = "it has ended",
          .remedy = ""};
}

Error lost_process(const RankNames& names, size_t rank, std::chrono::nanoseconds silent_for) {
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names[rank],
          .why = fmt::format("nothing heard of its process for {:.1f} s",
                             std::chrono::duration<double>(silent_for).count()),
          .remedy = "it has ended, its machine hangs, or the network between the hosts is down"};
}

Error stuck_circle(const RankNames& names, std::span<const size_t> ranks, const Call& call) {
  return {
      .code = Code::unavailable,
      .doing = kDoing,
      .where = names.list(ranks),
      .why = fmt::format("they wait for each other, {} in {}", names[ranks.front()], to_text(call)),
      .remedy = "this is a fault of Evener: please report it"};
}

Error different_values(const RankNames& names, std::span<const size_t> ranks, const Call& call) {
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names.list(ranks),
          .why = fmt::format(
              "{} computed other numbers than {} ({})", ranks.size() > 1 ? "they have" : "it has",
              ranks.size() > 1 ? "each other or the rest" : "the others", to_text(call)),
          .remedy = "memory, a processor or a link gives wrong data: look for hardware errors"};
}

Error out_of_step(const RankNames& names, const CallOfRank& one, const CallOfRank& other) {
  return {
      .code = Code::unavailable,
      .doing = kDoing,
      .where = fmt::format("{} and {}", names[one.rank], names[other.rank]),
      .why = fmt::format("out of step: the one is in {}, the other in {}", one.what, other.what),
      .remedy = "this is a fault of Evener: please report it"};
}

}  // namespace evener::parallel
