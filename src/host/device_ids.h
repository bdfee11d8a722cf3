#pragma once

#include <optional>
#include <string_view>

#include "host/facts.h"

// What has to be known of single parts by their ids.

namespace evener::host {

// The ports of the switch that some graphics cards carry (AMD since Vega, Intel Arc): the slot's
// link is the one above its upstream port. Source: pci-p2p.md, 5.2.
bool is_switch_of_card(const Function& bridge);

// A graphics processor that is part of the processor: no card, no BAR to care for.
bool is_integrated_gpu(const Function& function);

// A display or compute device of AMD, NVIDIA or Intel, and not the board's management controller.
bool is_gpu(const Function& function);

// "gfx1100" by the device's id; empty where the table does not have it.
std::string_view gfx_of(PciId id);

// Bits of DMA address that the driver sets for this part: pci-p2p.md, 2.2. Only a fallback where
// dma_mask_bits was not captured.
std::optional<unsigned> dma_mask_of(std::string_view gfx);

// The maker, by id or, where there is none, by name or by driver; 0 if nothing tells.
uint16_t vendor_of(const Function& function);
bool is_amd(const Function& function);
bool is_nvidia(const Function& function);

// The BAR that shows the VRAM.
std::optional<unsigned> vram_bar_of(uint16_t vendor);

}  // namespace evener::host
