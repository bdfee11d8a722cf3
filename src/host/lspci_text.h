#pragma once

#include <string_view>

#include "host/seen.h"

namespace evener::host {

// What `lspci` printed with any of -v, -vv, -vvv, -n, -nn, -D, -k, -x and -xxxx, whole or in part,
// with other text between. Where there are hexadecimal lines, what they say goes to `config`; the
// decoded text goes to `text`.
struct Lspci {
  Sightings config;
  Sightings text;
  bool starts_at_the_top = false;  // has the function 00.0 of the first bus: not a single card
  bool is_cut = false;             // ends inside a hexadecimal dump
};
Lspci read_lspci(std::string_view text);

// Is this line the first of a function? Then its address.
std::optional<PciAddress> lspci_header(std::string_view line);

// `lspci -t`, with or without -v: for each function its parent, and for bridges the buses behind.
Sightings read_lspci_tree(std::string_view text);
bool is_tree_line(std::string_view line);

// What names tell where numbers are missing: "VGA compatible controller" is class 0x030000,
// "NVIDIA Corporation ..." vendor 0x10de.
std::optional<uint32_t> class_of_name(std::string_view name);
std::optional<uint16_t> vendor_of_name(std::string_view name);

}  // namespace evener::host
