#include "parallel/rank_errors.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

namespace evener::parallel {
namespace {

constexpr const char* kDoing = "compute with all ranks";
constexpr std::string_view kEnded = "it has ended";
constexpr std::string_view kSilent = "no sign of life";
constexpr std::string_view kUnheard = "nothing heard of its process";
constexpr std::string_view kDiffers = " computed other numbers than ";
constexpr std::string_view kDevice = "its device";

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// "rank 1" is no part of "rank 11".
bool names_rank(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::string_view rest = text.substr(at + name.size());
    if (rest.empty() || std::isdigit(static_cast<unsigned char>(rest.front())) == 0) return true;
  }
  return false;
}

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
          .why = fmt::format("{} for {:.1f} s; {} waits for it in {}{}", kSilent,
                             seconds(late.silent_for), names[late.rank], to_text(late.call), pass),
          .remedy = "if the machine was only overloaded, give ranks a longer deadline"};
}

Error ended_rank(const RankNames& names, size_t rank) {
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names[rank],
          .why = std::string(kEnded),
          .remedy = ""};
}

Error lost_process(const RankNames& names, size_t rank, std::chrono::nanoseconds silent_for) {
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names[rank],
          .why = fmt::format("{} for {:.1f} s", kUnheard, seconds(silent_for)),
          .remedy = "it has ended, its machine hangs, or the network between the hosts is down"};
}

Error silent_rank(const RankNames& names, size_t rank, std::chrono::nanoseconds silent_for) {
  return {.code = Code::unavailable,
          .doing = kDoing,
          .where = names[rank],
          .why = fmt::format("{} for {:.1f} s", kSilent, seconds(silent_for)),
          .remedy = "if the machine was only overloaded, give ranks a longer deadline"};
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
  return {
      .code = Code::unavailable,
      .doing = kDoing,
      .where = names.list(ranks),
      .why = fmt::format("{}{}{} ({})", ranks.size() > 1 ? "they have" : "it has", kDiffers,
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

// What the device calls itself, the name of the rank has in it.
Error failed_device(Error error) {
  error.code = Code::unavailable;
  error.doing = kDoing;
  error.where = kDevice;
  return error;
}

Error error_of_rank(const RankNames& names, size_t rank, Error error) {
  if (!failed_ranks(names, error).ranks.empty()) return error;
  error.where = error.where.empty() ? names[rank] : names[rank] + ", " + error.where;
  return error;
}

FailedRanks failed_ranks(const RankNames& names, const Error& error) {
  FailedRanks failed{.ranks = {}, .how = "other"};
  for (size_t rank = 0; rank < names.size(); ++rank) {
    if (names_rank(error.where, names[rank])) failed.ranks.push_back(rank);
  }
  if (error.why.starts_with(kEnded)) failed.how = "ended";
  if (error.why.starts_with(kSilent) || error.why.starts_with(kUnheard)) failed.how = "late";
  if (error.why.find(kDiffers) != std::string::npos) failed.how = "differs";
  if (error.where.ends_with(kDevice)) failed.how = "device";
  return failed;
}

}  // namespace evener::parallel
