// Goal: fourteen machines that people reported, judged as the reference judges them. Method: their
// facts and the expected answers, as tests/data/host/cases holds them; what has to be said in words
// is looked for by its numbers and key words, since the sentences are ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/json.h"
#include "doctor/diagnose.h"
#include "doctor/fixes.h"
#include "doctor/report_words.h"
#include "doctor/wording.h"
#include "host/facts_json.h"

namespace evener::doctor {
namespace {

using Words = std::vector<std::string>;

struct Machine {
  std::string name;
  Words says;  // each somewhere in the report
};

// One line for each "must_say" of expected.json; | separates what has to be found.
const Machine kMachines[] = {
    {"01-t7910-switch-stock-windows",
     {"vram bar 256 mib is smaller than 24560 mib vram",
      "770 mib is the size of two windows of 256+2 mib side by side|each card pins the window for "
      "the other",
      "refused by kernel policy|different host bridges",
      "kernel 7.0.x may under-size|before any re-enumeration"}},
    {"02-t7910-switch-headroom-kernel",
     {"no byte-level data check is reported: allowed and used, not verified",
      "the reported gen2 x8 hop (4.0 gb/s raw|contradicts what was measured|6.04 gb/s|7.04 gb/s|"
      "read links again under load",
      "refused by kernel policy|different host bridges"}},
    {"03-x99tf-two-r9700-list-entry",
     {"the route is through the host bridge of one socket",
      "before moving to iommu=pt check that both bars end below 16 tib",
      "from linux 7.4 the entry is upstream"}},
    {"04-x99ews-one-card-small-bar",
     {"0xc0000000, below 4 gib|vram bar 256 mib is smaller than 8176 mib vram",
      "another large device uses the high window|remove or move it",
      "later gates remain|address limit|allow list"}},
    {"05-x99ews-bars-above-44-bits",
     {"bar base 0x380400000000|above 2^44|with a 44-bit mask cannot reach it unless the iommu "
      "translates",
      "host bridge 8086:6f00 is not on the list before linux 7.4|a second, independent refusal|if "
      "the cards are on different root ports"}},
    {"06-rocketlake-two-root-ports",
     {"host bridge 8086:4c43 is not on the list in any kernel",
      "forcing the entry on this bridge was tried: data corrupted, copy reported success"}},
    {"07-x299sage-plx8747-window",
     {"root window 256 gib is enough; the window inside the switch is not",
      "kernel 7.0.x|check that sum before any re-enumeration"}},
    {"08-zen2-acs-redirect-nccl-hang",
     {"acs control of rootport-41: 0x000c = request redirect, completion redirect",
      "setpci is lost at reboot", "pci=noacs is not a mainline option"}},
    {"09-mi100-rccl-needs-pt",
     {"iommu=pt cured it",
      "before changing: both bars must end below 2^44|identity mode removes "
      "peer access"}},
    {"10-3090-pair-seen-from-a-guest",
     {"00:00.0 is 8086:29c0: this is a virtual machine, read bars and acs on the host",
      "the size list in a guest is what the hypervisor shows, not the card's list"}},
    {"11-x470-bars-below-4g",
     {"no 64-bit host window above 4 gib",
      "pci=nocrs is risky|it may place bars over other devices"}},
    {"12-duo-module-kernel-7-0-window-sum",
     {"need 96 gib + 2 mib for 2 siblings, got 64 gib + 4 mib",
      "do not bind amdgpu to a device without bar 0: the probe hangs until reboot"}},
    {"13-4090-48g-bar-ceiling",
     {"largest bar 32 gib is below 48 gib vram: no setting changes that"}},
    {"14-four-1080ti-two-sockets-iommu",
     {"intel_iommu=off cured the hang", "cross-socket pairs have no peer access"}},
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ReportedMachine : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    const std::string folder =
        std::string(EVENER_TEST_DATA) + "/host/cases/" + GetParam().name + "/";
    auto facts = host::facts_from_json(read(folder + "facts.json"), "facts.json");
    ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
    report_ = diagnose(*facts);
    auto expected = json::parse(read(folder + "expected.json"), "expected.json");
    ASSERT_TRUE(expected.has_value()) << to_string(expected.error());
    expected_ = *expected;
  }

  const PairReport* find(const std::string& a, const std::string& b) const {
    for (const PairReport& pair : report_.pairs) {
      if ((pair.a == a && pair.b == b) || (pair.a == b && pair.b == a)) return &pair;
    }
    return nullptr;
  }

  Report report_;
  json::Value expected_;
};

json::Value or_null(std::optional<uint64_t> number) {
  return number ? json::Value(*number) : json::Value();
}

TEST_P(ReportedMachine, EachPairHasTheExpectedVerdictRouteAndRules) {
  EXPECT_EQ(report_.pairs.size(), expected_["pairs"].size());
  for (const json::Value& pair : expected_["pairs"]) {
    const std::string a = pair["a"];
    const std::string b = pair["b"];
    const PairReport* found = find(a, b);
    ASSERT_NE(found, nullptr) << a << "-" << b;
    const std::string why = a + "-" + b + ": " + found->because;
    EXPECT_EQ(to_string(found->verdict), pair["verdict"].get<std::string>()) << why;
    EXPECT_EQ(found->verified, pair["verified"].get<bool>()) << why;
    EXPECT_EQ(to_string(found->route), pair["route"].get<std::string>()) << why;
    EXPECT_EQ(json::Value(found->rules), pair["rules"]) << why;
    EXPECT_FALSE(found->because.empty());
  }
}

TEST_P(ReportedMachine, BarsAreAsExpected) {
  json::Value bars = json::Value::array();
  for (const BarReport& bar : report_.bars) {
    bars.push_back({{"gpu", bar.gpu},
                    {"now", or_null(bar.now_bytes)},
                    {"need", or_null(bar.need_bytes)},
                    {"max", or_null(bar.max_bytes)}});
  }
  EXPECT_EQ(bars, expected_["bars"]);
}

TEST_P(ReportedMachine, NoBottleneckIsNamedWhereTheFactsDoNotShowOne) {
  ASSERT_TRUE(expected_["bottleneck"].is_null());
  EXPECT_FALSE(report_.bottleneck.has_value());
}

TEST_P(ReportedMachine, TheFirstFixIsOneOfThoseExpectedAndNoneIsForbidden) {
  const auto in = [](const json::Value& list, const std::string& id) {
    return std::ranges::find(list, json::Value(id)) != list.end();
  };
  EXPECT_EQ(report_.fixes.empty(), expected_["fixes"].empty());
  if (!report_.fixes.empty()) {
    EXPECT_TRUE(in(expected_["fixes"], report_.fixes.front())) << report_.fixes.front();
  }
  for (const std::string& id : report_.fixes) {
    EXPECT_FALSE(in(expected_["not_fixes"], id)) << id;
    EXPECT_NE(find_fix(id), nullptr) << id;
  }
}

std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, '|');) parts.push_back(part);
  return parts;
}

TEST_P(ReportedMachine, SaysWhatMustBeSaid) {
  const std::string words = words_of(report_);
  EXPECT_EQ(GetParam().says.size(), expected_["must_say"].size());
  for (const std::string& line : GetParam().says) {
    for (const std::string& part : parts_of(line)) {
      EXPECT_NE(words.find(part), std::string::npos) << part << "\nis not in\n" << words;
    }
  }
}

TEST_P(ReportedMachine, ClaimsNothingThatIsNotKnown) {
  const std::string words = words_of(report_);
  for (const json::Value& claim : expected_["must_not_say"]) {
    EXPECT_EQ(words.find(lower_case(claim.get<std::string>())), std::string::npos) << claim;
  }
  EXPECT_EQ(words.find("hardware limit"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, ReportedMachine, testing::ValuesIn(kMachines),
                         [](const testing::TestParamInfo<Machine>& machine) {
                           std::string name = machine.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace evener::doctor
