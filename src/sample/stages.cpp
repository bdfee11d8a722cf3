#include "sample/stage.h"

namespace evener::sample {

extern const Stage temperature;
extern const Stage top_k;
extern const Stage typical;
extern const Stage top_p;
extern const Stage min_p;

namespace {

const Stage* const kStages[] = {&temperature, &top_k, &typical, &top_p, &min_p};

}  // namespace

std::span<const Stage* const> stages() { return kStages; }

}  // namespace evener::sample
