#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/seen.h"

namespace evener::host {

struct Source {
  std::string_view name;  // "sysfs.tsv"
  const Sightings* sightings;
};

// Lays what the sources say over each other, `sources[0]` on top: what it does not know, the next
// one may. Where two differ in what does not change by itself, a sentence says which was believed.
Sightings overlay(std::span<const Source> sources, std::vector<std::string>& contradictions);

}  // namespace evener::host
