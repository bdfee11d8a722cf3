#include "device/device_name.h"

#include <gtest/gtest.h>

#include "device/create_device.h"

namespace evener::device {
namespace {

std::string why_not(std::string_view text) {
  const auto name = parse_device_name(text);
  if (name) return "";
  EXPECT_EQ(name.error().code, Code::invalid_argument);
  return name.error().where + ": " + name.error().why;
}

TEST(DeviceName, ANodeOrSomeOfItsCores) {
  EXPECT_EQ(*parse_device_name("cpu:0"), (DeviceName{.numa_node = 0}));
  EXPECT_EQ(*parse_device_name("cpu:12"), (DeviceName{.numa_node = 12}));
  EXPECT_EQ(*parse_device_name("cpu:0[7]"), (DeviceName{.numa_node = 0, .cores = {7}}));
  EXPECT_EQ(*parse_device_name("cpu:1[0,2-4]"),
            (DeviceName{.numa_node = 1, .cores = {0, 2, 3, 4}}));
  EXPECT_EQ(*parse_device_name("cpu:0[3,1-2]"), (DeviceName{.numa_node = 0, .cores = {1, 2, 3}}));
}

DeviceName card(std::string words, size_t part = 0) {
  return {.kind = DeviceKind::vulkan, .adapter = std::move(words), .part = part};
}

TEST(DeviceName, ACardByNumberAddressOrName) {
  EXPECT_EQ(*parse_device_name("vulkan:0"), card("0"));
  EXPECT_EQ(*parse_device_name("vulkan:03:00.0"), card("03:00.0"));
  EXPECT_EQ(*parse_device_name("vulkan:0000:03:00.0#1"), card("0000:03:00.0", 1));
  EXPECT_EQ(*parse_device_name("vulkan:7900 xtx"), card("7900 xtx"));
  EXPECT_EQ(*parse_device_name("vulkan:Radeon [Vega]#15"), card("Radeon [Vega]", 15));
  EXPECT_EQ(*parse_device_name("vulkan:0#0"), card("0"));
  EXPECT_NE(*parse_device_name("vulkan:0"), *parse_device_name("cpu:0"));
}

TEST(DeviceName, IsPrintedInItsShortestForm) {
  for (const std::string text : {"cpu:0", "cpu:3[5]", "cpu:0[0,2-3]", "cpu:0[0-7,9-10,12]",
                                 "vulkan:0", "vulkan:0#1", "vulkan:7900 xtx"}) {
    EXPECT_EQ(to_string(*parse_device_name(text)), text);
  }
  EXPECT_EQ(to_string(*parse_device_name("cpu:0[3,0,1,2-2]")), "cpu:0[0-3]");
  EXPECT_EQ(to_string(*parse_device_name("vulkan:0#0")), "vulkan:0");
}

TEST(DeviceName, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(why_not("gpu:0"), "'gpu:0': there is no such kind of device");
  EXPECT_EQ(why_not("cpu"), "'cpu': there is no such kind of device");
  EXPECT_EQ(why_not("cpu:"), "'cpu:': there is no such kind of device");
  EXPECT_EQ(why_not("cpu:x"), "'cpu:x': there is no such kind of device");
  EXPECT_EQ(why_not("cpu:0x"), "'cpu:0x': there is no such kind of device");
  EXPECT_EQ(why_not("cpu:-1"), "'cpu:-1': there is no such kind of device");
  EXPECT_EQ(why_not(""), "'': a name is empty");
  EXPECT_EQ(why_not("cpu:0["), "'cpu:0[': its brackets do not end");
  EXPECT_EQ(why_not("cpu:0[1]x"), "'cpu:0[1]x': its brackets do not end");
  EXPECT_EQ(why_not("cpu:0[]"), "'cpu:0[]': there are no cores in its brackets");
  EXPECT_EQ(why_not("cpu:0[1,]"), "'cpu:0[1,]': a core is missing in its brackets");
  EXPECT_EQ(why_not("cpu:0[1-]"), "'cpu:0[1-]': '1-' is neither a core nor a range of cores");
  EXPECT_EQ(why_not("cpu:0[-1]"), "'cpu:0[-1]': '-1' is neither a core nor a range of cores");
  EXPECT_EQ(why_not("cpu:0[1 ,2]"), "'cpu:0[1 ,2]': '1 ' is neither a core nor a range of cores");
  EXPECT_EQ(why_not("cpu:0[3-1]"), "'cpu:0[3-1]': the range '3-1' is reversed");
  EXPECT_EQ(why_not("cpu:0[0-3,2]"), "'cpu:0[0-3,2]': core 2 is in it twice");
}

TEST(DeviceName, SaysWhatIsWrongWithTheWordsForACard) {
  EXPECT_EQ(why_not("vulkan"), "'vulkan': there is no such kind of device");
  EXPECT_EQ(why_not("Vulkan:0"), "'Vulkan:0': there is no such kind of device");
  EXPECT_EQ(why_not("vulkan:"), "'vulkan:': it does not say which card");
  EXPECT_EQ(why_not("vulkan:#1"), "'vulkan:#1': it does not say which card");
  EXPECT_EQ(why_not("vulkan:0#"), "'vulkan:0#': '' behind the # is no number");
  EXPECT_EQ(why_not("vulkan:0#-1"), "'vulkan:0#-1': '-1' behind the # is no number");
  EXPECT_EQ(why_not("vulkan:0#1#2"), "'vulkan:0#1#2': '1#2' behind the # is no number");
  EXPECT_EQ(why_not("vulkan:0#16"), "'vulkan:0#16': #15 is the last that can be named");
  EXPECT_EQ(why_not("vulkan:0#99999999999999999999999"),
            "'vulkan:0#99999999999999999999999': #15 is the last that can be named");
  EXPECT_EQ(why_not("vulkan:a\x1b[2J"),
            "'vulkan:a\\x1b[2J': there are characters in it that no card's name has");
  EXPECT_EQ(why_not("vulkan:\xff"),
            "'vulkan:\\xff': there are characters in it that no card's name has");
  EXPECT_TRUE(why_not("vulkan:" + std::string(257, 'x'))
                  .ends_with("': a card's name has at most 256 bytes"));
  EXPECT_EQ(why_not("vulkan:" + std::string(256, 'x')), "");
}

TEST(DeviceName, HugeNumbersAndLongNamesAreRefusedAtOnce) {
  EXPECT_EQ(why_not("cpu:0[0-99999999999999999999999]"),
            "'cpu:0[0-99999999999999999999999]': '0-99999999999999999999999' goes beyond core "
            "4095, the last that can be named");
  EXPECT_EQ(why_not("cpu:18446744073709551616"),
            "'cpu:18446744073709551616': node 1023 is the last that can be named");
  const std::string text = why_not("cpu:0[" + std::string(1 << 20, '1') + "]");
  EXPECT_LT(text.size(), 300u);
  EXPECT_LT(why_not(std::string(1 << 20, '[')).size(), 300u);
  EXPECT_LT(why_not("vulkan:" + std::string(1 << 20, 'x')).size(), 300u);
  EXPECT_LT(why_not("vulkan:0#" + std::string(1 << 20, 'x')).size(), 300u);
}

TEST(DeviceList, IsCutAtCommasOutsideOfBrackets) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(split_device_list("cpu:0"), Names{"cpu:0"});
  EXPECT_EQ(split_device_list("cpu:0[0,2],cpu:1"), (Names{"cpu:0[0,2]", "cpu:1"}));
  EXPECT_EQ(split_device_list("cpu:0,,"), (Names{"cpu:0", "", ""}));
  EXPECT_EQ(split_device_list("cpu:0[1,cpu:1"), Names{"cpu:0[1,cpu:1"});
}

std::string why_not_together(const std::vector<std::string>& names) {
  const Status status = check_no_core_twice(names);
  return status ? "" : status.error().where + ": " + status.error().why;
}

TEST(DeviceList, NoCoreWorksForTwo) {
  EXPECT_EQ(why_not_together({"cpu:0", "cpu:1"}), "");
  EXPECT_EQ(why_not_together({"cpu:0[0-3]", "cpu:0[4]", "cpu:1[0-3]"}), "");
  EXPECT_EQ(why_not_together({"cpu:1", "cpu:1"}), "'cpu:1': it is named twice");
  EXPECT_EQ(why_not_together({"cpu:0[0,1]", "cpu:0[0-1]"}), "'cpu:0[0-1]': it is named twice");
  EXPECT_EQ(why_not_together({"cpu:0", "vulkan:0", "vulkan:0#1", "vulkan:1"}), "");
  EXPECT_EQ(why_not_together({"vulkan:0#1", "vulkan:0", "vulkan:0#1"}),
            "'vulkan:0#1': it is named twice");
  EXPECT_EQ(why_not_together({"cpu:0[0-3]", "cpu:0[5]", "cpu:0[2-4]"}),
            "'cpu:0[2-4]': it shares core 2 of node 0 with 'cpu:0[0-3]'");
  EXPECT_EQ(why_not_together({"cpu:0[3]", "cpu:0"}),
            "'cpu:0': it shares core 3 of node 0 with 'cpu:0[3]'");
  EXPECT_EQ(why_not_together({"cpu:0", "cpu:0[3]"}),
            "'cpu:0[3]': it shares core 3 of node 0 with 'cpu:0'");
}

TEST(CreateDevice, HasTheCoresThatWereNamed) {
  const auto device = create_device("cpu:0[0]", 0);
  ASSERT_TRUE(device.has_value()) << to_string(device.error());
  EXPECT_EQ((*device)->info().name, "cpu:0[0]");
  EXPECT_EQ((*device)->info().num_threads, 1u);
  EXPECT_EQ((*device)->info().numa_node, 0u);
  const auto crowded = create_device("cpu:0[0]", 2);
  ASSERT_FALSE(crowded.has_value());
  EXPECT_EQ(to_string(crowded.error()),
            "cannot open device: 'cpu:0[0]': 2 threads are asked for, it has 1 core\n"
            "  use --threads 0 for one thread per core");
}

TEST(CreateDevice, CoresBeyondTheNodeAreNamed) {
  for (const std::string& name : {std::string("cpu:0[4095]"), std::string("cpu:0[0,4095]")}) {
    const auto device = create_device(name, 0);
    ASSERT_FALSE(device.has_value());
    EXPECT_EQ(device.error().code, Code::invalid_argument);
    EXPECT_EQ(device.error().where, "'" + name + "'");
    EXPECT_TRUE(device.error().why.starts_with("there is no core 4095: this process may use "));
    EXPECT_FALSE(check_devices({name}).has_value());
  }
  EXPECT_TRUE(check_devices({"cpu:0[0]"}).has_value());
}

}  // namespace
}  // namespace evener::device
