#include "serve/server_info.h"

#include <chrono>

#include "base/version.h"
#include "serve/model_routes.h"

namespace evener::serve {
namespace {

double in_ms(std::chrono::duration<double, std::milli> time) { return time.count(); }

Json admissible(const engine::ModelFacts& facts) {
  return {{"tokens", facts.admissible_tokens},
          {"limited_by", limit_name(facts.context_limit)},
          {"model_tokens", facts.trained_context},
          {"pool_tokens", facts.pool_tokens}};
}

Json queue(const engine::Stats& stats, const engine::ModelFacts& facts) {
  return {{"running", stats.running},
          {"running_max", facts.max_sequences},
          {"waiting", stats.waiting},
          {"waiting_tokens", stats.scheduler.tokens_waiting},
          {"requests", stats.requests},
          {"refused", stats.refused},
          {"retractions", stats.scheduler.num_retractions},
          {"cancelled", stats.cancelled},
          {"cancel_ms_max", stats.cancel_seconds_max * 1000}};
}

Json pools(const cache::CacheStats& cache) {
  return {{"pages",
           {{"total", cache.num_pages},
            {"used", cache.pages_private + cache.pages_shared},
            {"kept", cache.pages_evictable},
            {"free", cache.pages_free}}},
          {"states",
           {{"total", cache.num_slots},
            {"used", cache.slots_own},
            {"kept", cache.slots_snapshot},
            {"free", cache.slots_free}}}};
}

Json prefixes(const cache::CacheStats& cache) {
  return {{"lookups", cache.num_lookups},
          {"hits", cache.num_hits},
          {"tokens_looked_up", cache.tokens_looked_up},
          {"tokens_matched", cache.tokens_matched},
          {"pages_evicted", cache.pages_evicted},
          {"states_taken", cache.snapshots_taken},
          {"states_evicted", cache.snapshots_evicted},
          {"pages_loaded", cache.pages_loaded},
          {"states_loaded", cache.states_loaded}};
}

Json tiers(const std::optional<cache::TierStats>& stats) {
  if (!stats) return nullptr;
  Json out = {{"memory",
               {{"entries", stats->num_in_memory},
                {"bytes", stats->memory_bytes},
                {"hits", stats->num_memory_hits}}},
              {"disk", nullptr},
              {"misses", stats->num_misses}};
  if (!stats->has_disk) return out;
  out["disk"] = {
      {"entries", stats->disk.num_entries}, {"foreign_entries", stats->disk.num_foreign},
      {"bytes", stats->disk.bytes},         {"hits", stats->num_disk_hits},
      {"written", stats->disk.num_written}, {"dropped", stats->disk.num_dropped},
      {"evicted", stats->disk.num_evicted}, {"failed_reads", stats->disk.num_failed_reads},
      {"writes", stats->disk.writes}};
  return out;
}

// In the order of sched::CostModel's terms.
Json cost_model(const sched::SchedulerStats& stats) {
  return {
      {"seconds_per_step", stats.cost[0]},         {"seconds_per_step_with_prompts", stats.cost[1]},
      {"seconds_per_prompt_token", stats.cost[2]}, {"seconds_per_prompt_position", stats.cost[3]},
      {"seconds_per_decode_row", stats.cost[4]},   {"seconds_per_decode_position", stats.cost[5]},
      {"seconds_per_moved_page", stats.cost[6]},   {"usual_relative_error", stats.cost_error}};
}

Json gaps(const sched::SchedulerStats& stats, const Metrics& metrics) {
  const Metrics::Counts counts = metrics.counts(Metrics::Time::token_gap);
  Json buckets = Json::array();
  for (size_t i = 0; i < counts.size(); ++i) {
    const bool bounded = i < Metrics::kBounds.size();
    buckets.push_back({{"ms_at_most", bounded ? Json(Metrics::kBounds[i] * 1000) : Json()},
                       {"count", counts[i]}});
  }
  return {{"max_ms", in_ms(stats.gap_max)},
          {"bound_ms", stats.gap_bound ? Json(in_ms(*stats.gap_bound)) : Json()},
          {"decode_owed_ms", in_ms(stats.decode_owed)},
          {"histogram", std::move(buckets)}};
}

Json ranks(const engine::RanksReport& report) {
  constexpr const char* kStates[] = {"running", "degraded", "restarting", "down"};
  Json list = Json::array();
  for (const engine::RanksReport::Rank& rank : report.ranks) {
    list.push_back({{"device", rank.device}, {"stage", rank.stage}, {"shard", rank.shard}});
  }
  return {{"state", kStates[static_cast<size_t>(report.state)]},
          {"layout", report.layout},
          {"ranks", std::move(list)},
          {"restarts", report.num_restarts},
          {"reason", report.reason}};
}

Json scheduling(const engine::EngineOptions& options) {
  return {
      {"max_gap_ms", options.max_gap.count()},
      {"decode_share", options.decode_share},
      {"max_prefill_steps", options.max_prefill_steps ? Json(*options.max_prefill_steps) : Json()},
      {"prefill_deadline_ms", options.prefill_deadline.count()},
      {"prefill_chunk_tokens", options.prefill_chunk},
      {"max_queued", options.max_queued},
      {"queue_timeout_ms", options.queue_timeout.count()},
      {"prefix_cache", options.prefix_cache},
      {"cache_memory_bytes", options.cache_memory_bytes},
      {"cache_on_disk", !options.cache_dir.empty()},
      {"cache_disk_bytes", options.cache_disk_bytes}};
}

}  // namespace

const char* limit_name(engine::ModelFacts::ContextLimit limit) {
  constexpr const char* kNames[] = {"model", "option", "memory"};
  return kNames[static_cast<size_t>(limit)];
}

Json server_info(const Service& service, const Metrics& metrics) {
  const engine::ModelFacts& facts = service.generator->facts();
  const engine::Stats stats = service.generator->stats();
  return {{"version", kVersion},
          {"commit", kCommit},
          {"model", model_entry(service)},
          {"admissible", admissible(facts)},
          {"ranks", ranks(stats.ranks)},
          {"queue", queue(stats, facts)},
          {"pools", pools(stats.cache)},
          {"prefix_cache", prefixes(stats.cache)},
          {"tiers", tiers(stats.tiers)},
          {"cost_model", cost_model(stats.scheduler)},
          {"gaps", gaps(stats.scheduler, metrics)},
          {"options", scheduling(service.generator->options())}};
}

}  // namespace evener::serve
