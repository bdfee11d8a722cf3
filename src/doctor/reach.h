#pragma once

#include "doctor/case.h"

namespace evener::doctor {

// Can the DMA engine of `source` form the addresses of `target`'s BAR? pci-p2p.md, 2.1 and 2.2.
enum class Reach {
  unknown,       // no BAR address, or no mask
  within,        // below the mask
  above,         // and not translated
  translated,    // above, but the IOMMU gives the peer an address of its own
  mode_unknown,  // above; whether it is translated is not known
};

struct Direction {
  const Card* source = nullptr;
  const Card* target = nullptr;
};

Reach reach(const Direction& direction);

}  // namespace evener::doctor
