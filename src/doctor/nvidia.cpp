#include "doctor/nvidia.h"

#include <algorithm>
#include <array>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !is_letter(text[at - 1]);
    if (begins && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

// Reports that give the matrix in words: {"tools": {"topo-p2p": "CNS both directions"}}.
std::string reason_in_words(const json::Value& other) {
  static constexpr std::array kReasons = {"CNS", "GNS", "TNS", "NS"};
  if (!other.is_object()) return {};
  const auto tools = other.find("tools");
  if (tools == other.end() || !tools->is_object()) return {};
  for (const auto& tool : *tools) {
    if (!tool.is_string()) continue;
    for (const char* reason : kReasons) {
      if (has_word(tool.get_ref<const std::string&>(), reason)) return reason;
    }
  }
  return {};
}

}  // namespace

std::string nvidia_reason(const Case& c, const Pair& pair) {
  const std::string& a = pair.a->name();
  const std::string& b = pair.b->name();
  for (const host::PeerObservation& peer : c.facts.observed.peers) {
    const bool is_ours = (peer.from == a && peer.to == b) || (peer.from == b && peer.to == a);
    if (is_ours && !peer.reason.empty()) return peer.reason;
  }
  return reason_in_words(c.facts.observed.other);
}

bool is_refused_by_policy(const Card& card) {
  static constexpr std::array kSeries = {"RTX 40", "RTX 50"};
  if (!mentions(card.gpu->model, "geforce")) return false;
  return std::ranges::any_of(kSeries,
                             [&](const char* series) { return mentions(card.gpu->model, series); });
}

}  // namespace evener::doctor
