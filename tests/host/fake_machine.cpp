#include "host/fake_machine.h"

#include <fmt/format.h>

#include <fstream>

namespace evener::host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSwitch = "pci0000:00/0000:00:02.0/0000:03:00.0/";

}  // namespace

FakeMachine::FakeMachine() {
  write_system();
  write_functions();
  write_drivers();
}

void FakeMachine::write(const std::string& path, std::string_view text) {
  fs::create_directories((root() / path).parent_path());
  std::ofstream(root() / path, std::ios::binary) << text;
}

void FakeMachine::remove(const std::string& path) { fs::remove_all(root() / path); }

void FakeMachine::link(const std::string& path, const std::string& target) {
  fs::create_directories((root() / path).parent_path());
  fs::create_symlink(target, root() / path);
}

void FakeMachine::add_function(const std::string& way, const std::string& id,
                               const std::string& class_code) {
  const std::string name = way.substr(way.rfind('/') + 1);
  const std::string folder = "sys/devices/" + way;
  write(folder + "/vendor", "0x" + id.substr(0, 4) + "\n");
  write(folder + "/device", "0x" + id.substr(5) + "\n");
  write(folder + "/class", "0x" + class_code + "\n");
  write(folder + "/revision", "0x00\n");
  write(folder + "/numa_node", "0\n");
  write(folder + "/power_state", "D0\n");
  write(folder + "/power/runtime_status", "active\n");
  write(folder + "/config", ConfigSpace(256).set(0, 0x12345678, 4).bytes());
  link(device(name), "../../../devices/" + way);
}

void FakeMachine::write_system() {
  write("proc/cmdline",
        "BOOT_IMAGE=/boot/vmlinuz-6.8.0 root=UUID=5d3c0d4e-77aa-4bcd-9c7e-0123456789ab ro quiet "
        "iommu=pt pci=realloc,noacs acpi_osi=\"Linux 2020\" user=alice\n");
  write("proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 79\n"
        "model name\t: Intel(R) Xeon(R) CPU E5-2697A v4 @ 2.60GHz\nphysical id\t: 0\n"
        "flags\t\t: fpu vme sse\naddress sizes\t: 46 bits physical, 48 bits virtual\n\n"
        "processor\t: 1\nvendor_id\t: GenuineIntel\nphysical id\t: 1\n");
  write("proc/iomem", "00000000-00000fff : Reserved\n38000000000-3bfffffffff : PCI Bus 0000:00\n");
  write("proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
  write("proc/sys/kernel/hostname", "alices-box.example.org\n");
  write("boot/config-6.8.0-31-generic",
        "CONFIG_PCI=y\nCONFIG_PCI_P2PDMA=y\n# CONFIG_HSA_AMD_P2P is not set\nCONFIG_USB=y\n");
  write("sys/class/dmi/id/product_name", "Precision Tower 7910\n");
  write("sys/class/dmi/id/product_serial", "7XK2B42\n");
  write("sys/class/dmi/id/bios_version", "1.2.3.4\n");
  write("sys/devices/system/node/node0/cpulist", "0-15,32-47\n");
  write("sys/devices/system/node/node0/distance", "10 21\n");
  write("sys/devices/system/node/possible", "0-1\n");
  write("dev/kmsg",
        "6,0,0,-;Linux version 6.8.0 (buildd@farm-12)\n"
        "6,7,1234567,-;pci 0000:03:00.0: [1000:c030] type 01 class 0x060400\n"
        " SUBSYSTEM=pci\n DEVICE=+pci:0000:03:00.0\n"
        "4,8,2000000,-;alices-box kernel: pci 0000:00:02.0: peer 10.0.0.7 at 00:1b:21:aa:bb:cc\n"
        "6,9,2000001,-;usb 1-1: New USB device found\n"
        "6,10,62000000,-;[drm] Detected VRAM RAM=24560M, BAR=256M\n"
        "6,11,62000001,-;nvme0: detected in pci slot\n"
        "6,12,62000002,-;a layer of paint\n");
  write("var/log/dmesg",
        "[    0.000000] Linux version 6.8.0 (buildd@farm-12)\n"
        "[    1.234567] pci 0000:03:00.0: [1000:c030] type 01 class 0x060400\n"
        "[    2.000000] alices-box kernel: pci 0000:00:02.0: peer 10.0.0.7 at 00:1b:21:aa:bb:cc\n"
        "[    2.000001] usb 1-1: New USB device found\n"
        "[   62.000000] [drm] Detected VRAM RAM=24560M, BAR=256M\n"
        "[   62.000001] nvme0: detected in pci slot\n"
        "[   62.000002] a layer of paint\n");
}

void FakeMachine::write_functions() {
  add_function("pci0000:00/0000:00:00.0", "8086:6f00", "060000");
  add_function("pci0000:00/0000:00:02.0", "8086:6f04", "060400");
  add_function("pci0000:00/0000:00:02.0/0000:03:00.0", "1000:c030", "060400");
  add_function(std::string(kSwitch) + "0000:04:08.0/0000:07:00.0", "1002:744c", "030000");
  add_function(std::string(kSwitch) + "0000:04:10.0/0000:0a:00.0", "1002:744c", "030000");

  const std::string awake = device("0000:07:00.0");
  write(awake + "/revision", "0xc8\n");
  write(awake + "/config", ConfigSpace().device_serial(0x148, 0x0011223344556677).bytes());
  write(awake + "/resource",
        "0x0000038000000000 0x000003800fffffff 0x000000000014220c\n"
        "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
  write(awake + "/current_link_speed", "16.0 GT/s PCIe\n");
  write(awake + "/current_link_width", "16\n");
  write(awake + "/hwmon/hwmon3/power1_cap_max", "355000000\n");
  write(awake + "/unique_id", "a1b2c3d4e5f60718\n");
  link(awake + "/driver", "../../../../bus/pci/drivers/amdgpu");
  link(awake + "/iommu_group", "../../../kernel/iommu_groups/31");
  write("sys/bus/pci/slots/3/address", "0000:07:00\n");

  const std::string asleep = device("0000:0a:00.0");
  write(asleep + "/power_state", "D3hot\n");
  write(asleep + "/power/runtime_status", "suspended\n");
  write(asleep + "/current_link_speed", "2.5 GT/s PCIe\n");
}

void FakeMachine::write_drivers() {
  const std::string node = "sys/class/kfd/kfd/topology/nodes/1/";
  write(node + "gpu_id", "46310\n");
  write(node + "properties", "gfx_target_version 110000\nunique_id 11651590505119499032\n");
  write(node + "p2p_links/0/properties", "node_from 1\nnode_to 2\n");
  write(node + "caches/0/properties", "level 1\n");
  write("sys/module/amdgpu/parameters/pcie_p2p", "Y\n");
  write("proc/driver/nvidia/gpus/0000:41:00.0/information",
        "Model: \t\t NVIDIA GeForce RTX 3090\n"
        "GPU UUID: \t GPU-5d3c0d4e-77aa-4bcd-9c7e-0123456789ab\n");
}

ConfigSpace& ConfigSpace::set(size_t offset, uint32_t value, size_t num_bytes) {
  for (size_t i = 0; i < num_bytes; ++i)
    bytes_.at(offset + i) = static_cast<char>(value >> (8 * i));
  return *this;
}

ConfigSpace& ConfigSpace::vital_product_data(size_t at, uint32_t data) {
  set(0x06, 0x0010, 2).set(0x34, static_cast<uint32_t>(at), 1);
  return set(at, 0x0003, 2).set(at + 4, data, 4);
}

ConfigSpace& ConfigSpace::device_serial(size_t at, uint64_t number) {
  set(0x100, 0x0001'0001 | static_cast<uint32_t>(at) << 20, 4);
  set(at, 0x0001'0003, 4);
  set(at + 4, static_cast<uint32_t>(number), 4);
  return set(at + 8, static_cast<uint32_t>(number >> 32), 4);
}

std::string ConfigSpace::hex() const {
  std::string text;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if (i % 16 == 0) text += fmt::format("{}{:02x}:", i == 0 ? "" : "\n", i);
    text += fmt::format(" {:02x}", static_cast<unsigned char>(bytes_[i]));
  }
  return text + "\n";
}

}  // namespace evener::host
