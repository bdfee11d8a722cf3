#include <array>

#include "doctor/explanations.h"

// Rules about the way between two cards, stability, speed and proof.
// Source: reference/host/pci-p2p.md, section 7.2, F to I; grounds in its sections 1 and 5.

namespace evener::doctor {
namespace {

constexpr std::array kRouteExplanations = {
    Explanation{.rule = "R50",
                .title = "a common switch turns the traffic round",
                .when = "The cards share a port above them, and no port on the way redirects.",
                .why = "The kernel accepts this on any host: nothing goes through the processor.",
                .look = "lspci -tv; lspci -vvv, ACSCtl of each port on the way.",
                .fixes = ""},
    Explanation{
        .rule = "R51",
        .title = "traffic under a switch goes up to the processor and back",
        .when = "The cards share a switch, a port on the way redirects, and the processor is an "
                "AMD of the Zen families.",
        .why = "ACS redirection sends requests to the root. A Zen host accepts that; it costs the "
               "uplink twice.",
        .look = "lspci -vvv: ReqRedir+ or CmpltRedir+ in ACSCtl.",
        .fixes = "F11 F10"},
    Explanation{.rule = "R52",
                .title = "traffic under a switch goes up to the processor and back",
                .when =
                    "The cards share a switch, a port on the way redirects, and the kernel has the "
                    "host bridge on its list.",
                .why = "As with R51, on an Intel host that the list knows.",
                .look = "lspci -vvv: ReqRedir+ or CmpltRedir+ in ACSCtl.",
                .fixes = "F11 F10"},
    Explanation{
        .rule = "R53",
        .title = "ACS redirection leads to a host bridge that the kernel does not trust",
        .when = "The cards share a switch, a port on the way redirects, and the host bridge is "
                "not on the kernel's list.",
        .why = "The redirection makes the kernel treat the pair as if it went through the host "
               "bridge. Without it the switch would do. Clear it on every port of the way, also "
               "on the card's own switch; isolation between these devices ends with it.",
        .look = "dmesg | grep -i 'not in P2PDMA whitelist'; the ACSCtl lines.",
        .fixes = "F11 F10"},
    Explanation{
        .rule = "R54",
        .title = "through the host bridge of a Zen processor",
        .when = "The cards have no port in common, and the processor is an AMD of family 17h or "
                "later.",
        .why = "The kernel accepts every such processor.",
        .look = "lscpu: CPU family.",
        .fixes = ""},
    Explanation{
        .rule = "R55",
        .title = "through a host bridge that this kernel has on its list",
        .when = "The cards have no port in common, sit under the same host bridge, and its first "
                "device is on this kernel's list.",
        .why = "The list is part of the kernel's source (drivers/pci/p2pdma.c) and grows with its "
               "releases.",
        .look = "lspci -nn: the first device of the cards' root bus.",
        .fixes = ""},
    Explanation{
        .rule = "R56",
        .title = "the kernel does not have the host bridge on its list",
        .when = "The cards have no port in common, sit under the same host bridge, and its first "
                "device is not on this kernel's list.",
        .why = "A matter of policy: the kernel refuses what nobody has shown to work. Two entries "
               "(8086:6f00, 8086:0c08) were tested by upstream and are there from 7.4 on. Adding "
               "one that nobody tested has led to copies that report success and deliver wrong "
               "bytes.",
        .look = "lspci -nn: the first device of the root bus. Often nothing is printed.",
        .fixes = "F08 F16 F17 F29 F18"},
    Explanation{
        .rule = "R57",
        .title = "from one host bridge to another, which the kernel accepts",
        .when = "The cards sit under different host bridges, and both are on the list without the "
                "mark that they must be the same.",
        .why = "Traffic crosses the processor or the link between two of them, which is slower "
               "than staying under one bridge.",
        .look = "lspci -t: the root buses; numa_node of each card.",
        .fixes = ""},
    Explanation{
        .rule = "R58",
        .title = "from one host bridge to another, which the kernel refuses",
        .when = "The cards sit under different host bridges that are not both on the list, or "
                "only for peers of one bridge.",
        .why = "A matter of policy: on processors linked by QPI such traffic is slow or broken. "
               "That it is impossible has not been shown.",
        .look = "lspci -t: the root buses; numa_node of each card.",
        .fixes = "F08 F09 F29"},
    Explanation{
        .rule = "R59",
        .title = "the kernel cannot look the host bridge up",
        .when = "The first device of the root bus is neither at 00.0 nor a root port.",
        .why = "The kernel identifies a host bridge by that device. Where there is none to ask, "
               "the answer is no.",
        .look = "lspci -nn: the lowest device of the cards' root bus.",
        .fixes = "F08 F09 F29"},
    Explanation{
        .rule = "R60",
        .title = "the IOMMU's mode is known to make this set-up hang",
        .when = "Translated mode with the patched NVIDIA module, or hangs of RCCL that asks for "
                "iommu=pt.",
        .why = "Seen in public reports and cured by pass-through mode or by switching the IOMMU "
               "off. Look at R40 first: on some boards pass-through takes away peer access.",
        .look = "cat /sys/bus/pci/devices/BDF/iommu_group/type",
        .fixes = "F06 F07 F29"},
    Explanation{
        .rule = "R61",
        .title = "the list was extended by hand and nobody checked the bytes",
        .when = "This kernel accepts a host bridge that upstream does not know, and no data check "
                "is among the facts.",
        .why = "The list is the only thing between a pair and silent corruption on hosts that "
               "drop or damage peer traffic.",
        .look = "the patches of your kernel.",
        .fixes = "F30"},
    Explanation{
        .rule = "R62",
        .title = "a data check failed",
        .when = "A copy between the cards arrived with wrong bytes.",
        .why = "Peer access must be off until the cause is found; results computed with it "
               "cannot be trusted.",
        .look = "the output of the check; all ones is typical of a read that nobody answered.",
        .fixes = "F29 F11 F10"},
    Explanation{.rule = "R63",
                .title = "the machine hangs only while peer access is on",
                .when = "Hangs or resets were reported with it and none without.",
                .why = "The cause is open: redirection, link errors and power all do this.",
                .look = "dmesg for AER lines; the link of each card under load.",
                .fixes = "F11 F10 F29"},
    Explanation{
        .rule = "R70",
        .title = "the links on the way, hop by hop",
        .when = "Always, where links are known.",
        .why = "The slowest hop bounds a copy. A card with a switch of its own shows its inner "
               "link as if it were the slot's: what counts is the port above.",
        .look = "lspci -vv: LnkSta of every port, read while a copy runs.",
        .fixes = ""},
    Explanation{.rule = "R71",
                .title = "a link has fewer lanes than both ends can do",
                .when = "Its width is below the maximum of the port and of the device.",
                .why =
                    "Width does not change to save power. Contacts, a riser, bifurcation or a slot "
                    "that shares its lanes are the usual causes.",
                .look = "lspci -vv: LnkCap and LnkSta of both ends.",
                .fixes = "F28"},
    Explanation{
        .rule = "R72",
        .title = "a link is slow at rest",
        .when = "Its speed is below what both ends can do, and nothing was running.",
        .why = "Cards lower the speed to save power, so this reading means nothing. Read again "
               "while a copy runs.",
        .look = "lspci -vv during a copy.",
        .fixes = "F00"},
    Explanation{.rule = "R73",
                .title = "a link is slow under load",
                .when = "Its speed was below what both ends can do while a copy ran.",
                .why = "The two did not agree on the full speed: contacts, riser, slot.",
                .look = "lspci -vv during a copy; the AER counters of the port.",
                .fixes = "F28"},
    Explanation{.rule = "R74",
                .title = "a card hangs off the chipset",
                .when = "The root port above it belongs to the chipset.",
                .why = "It shares the chipset's link to the processor with disks, network and USB.",
                .look = "lspci -t: on Intel boards ports 1b, 1c and 1d of bus 00.",
                .fixes = "F09"},
    Explanation{.rule = "R75",
                .title = "a measured rate does not fit the links",
                .when = "It is below 0.70 or above 0.95 of what the slowest known hop carries.",
                .why =
                    "Above: the hop was read at rest or is not on the way. Below: something else "
                    "limits. Either way no hop is called the bottleneck.",
                .look = "read the links again under load, and measure again.",
                .fixes = "F00"},
    Explanation{.rule = "R76",
                .title = "peer traffic through an old Xeon is slow, and that is normal",
                .when = "The way goes through the host bridge of an E5 of version 1 to 4.",
                .why = "These deliver 0.4 to 0.55 of the link for peer traffic.",
                .look = "",
                .fixes = ""},
    Explanation{.rule = "R77",
                .title = "the card is far from the cores or the memory in use",
                .when = "Card and process are on different NUMA nodes.",
                .why = "Copies to and from the host then cross the link between the processors.",
                .look = "numa_node of the card; numactl --show.",
                .fixes = "F32"},
    Explanation{
        .rule = "R80",
        .title = "allowed, not verified",
        .when = "Every gate passes, and no data check is among the facts.",
        .why = "A copy may run at full speed and deliver wrong bytes. Copy a known pattern each "
               "way, at least 64 MiB, and let the card that received it compare; then small and "
               "odd sizes, then a collective whose result is known. There and back again proves "
               "nothing: both ways may be wrong alike.",
        .look = "",
        .fixes = "F30"},
    Explanation{.rule = "R81",
                .title = "works: a data check was seen",
                .when = "A data check between the cards passed.",
                .why = "This is the only thing that makes a pair count as working.",
                .look = "",
                .fixes = ""},
    Explanation{
        .rule = "R82",
        .title = "what was seen contradicts the rules",
        .when = "The driver grants what the rules call blocked, or refuses what they allow.",
        .why = "One of the two is wrong: a patched kernel, a fact read wrongly, or a rule of "
               "ours. Both are shown; a snapshot of such a machine helps us.",
        .look = "",
        .fixes = "F00"},
    Explanation{.rule = "R83",
                .title = "the driver grants access; gates whose facts are missing count as passed",
                .when =
                    "KFD or a matrix of peers shows the pair as accessible while some fact is not "
                    "known.",
                .why = "The driver tests the same gates. What it granted is not proof of delivery.",
                .look = "/sys/class/kfd/kfd/topology/nodes/N/p2p_links",
                .fixes = ""},
};

}  // namespace

std::span<const Explanation> explanations_of_routes() { return kRouteExplanations; }

}  // namespace evener::doctor
