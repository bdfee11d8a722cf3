// Which functions of a pasted `lspci -tv` are cards: it prints no classes, so maker and name tell.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/snapshot.h"

namespace evener::host {
namespace {

size_t num_cards(std::string_view name) {
  const auto snapshot =
      snapshot_of_text(fmt::format("-[0000:00]-+-00.0  Intel Corporation Xeon E7 v4 DMI2\n"
                                   "           \\-02.0-[05]--+-00.0  {0}\n"
                                   "                        \\-00.1  {0}\n",
                                   name),
                       "pasted text");
  if (!snapshot) return 0;
  const auto facts = facts_of(*snapshot);
  return facts ? facts->gpus.size() : 0;
}

TEST(CardNames, TellCardsWhereATextHasNoClasses) {
  for (const char* name : {
           "Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XT/7900 XTX]",
           "Advanced Micro Devices, Inc. [AMD/ATI] Device 7551",
           "NVIDIA Corporation GA102 [GeForce RTX 3090]",
       }) {
    EXPECT_EQ(num_cards(name), 1U) << name;  // and not its second function
  }
}

TEST(CardNames, DoNotMakeCardsOfOtherParts) {
  for (const char* name : {
           "Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 HDMI/DP Audio",
           "Advanced Micro Devices, Inc. [AMD/ATI] Cezanne [Radeon Vega Series]",
           "Advanced Micro Devices, Inc. [AMD] Starship/Matisse Reserved SPP",
           "NVIDIA Corporation GA102 High Definition Audio Controller",
           "Samsung Electronics Co Ltd NVMe SSD Controller",
           "ASPEED Technology, Inc. ASPEED Graphics Family",
       }) {
    EXPECT_EQ(num_cards(name), 0U) << name;
  }
}

}  // namespace
}  // namespace evener::host
