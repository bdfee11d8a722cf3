#!/usr/bin/env python3
"""Writes the snapshots beside this file: three machines that do not exist, as their files would be.

Every fact of a machine is said once, in this script, and written the ways that lspci, sysfs, iomem
and the kernel's log write it. Registers end at 0x400 to keep the files short; nothing that Evener
reads lies behind that. Run it and commit what it writes:  python3 make_snapshots.py
"""
import pathlib
import struct

MIB, GIB = 1 << 20, 1 << 30
SPEEDS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5}
PORT_TYPES = {"endpoint": 0, "root": 4, "up": 5, "down": 6, "integrated": 9}
PORT_NAMES = {"endpoint": "Legacy Endpoint, MSI 00", "root": "Root Port (Slot+), MSI 00",
              "up": "Upstream Port, MSI 00", "down": "Downstream Port (Slot+), MSI 00",
              "integrated": "Root Complex Integrated Endpoint, MSI 00"}


class Device:
    def __init__(self, address, parent, ident, name, **more):
        self.address, self.parent, self.ident, self.name = address, parent, ident, name
        self.kind = "endpoint"
        self.class_code, self.class_name = 0x060000, "Host bridge"
        self.subsystem = None
        self.buses = None          # (secondary, subordinate)
        self.bars = []             # (index, base, size, prefetchable, is_64_bit)
        self.rebar = None          # (index, sizes)
        self.prefetchable = None   # (base, size)
        self.memory = None
        self.acs = None            # control bits
        self.link = None           # (max speed, max width, speed, width)
        self.atomics = 0           # DevCap2 bits 6..8
        self.slot = 0
        self.rows = {}             # more of sysfs
        for key, value in more.items():
            setattr(self, key, value)

    def bus(self):
        return int(self.address[5:7], 16)


def bridge(address, parent, ident, name, kind, buses, **more):
    return Device(address, parent, ident, name, kind=kind, buses=buses, class_code=0x060400,
                  class_name="PCI bridge", **more)


def size_text(size):
    for unit, letter in ((1 << 40, "T"), (GIB, "G"), (MIB, "M"), (1024, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def registers(d):
    b = bytearray(0x400)
    vendor, device = (int(x, 16) for x in d.ident.split(":"))
    struct.pack_into("<HHHH", b, 0, vendor, device, 0x0407, 0x0010)
    b[8] = 1
    b[9], b[10], b[11] = d.class_code & 0xff, d.class_code >> 8 & 0xff, d.class_code >> 16
    for index, base, size, pref, wide in d.bars:
        low = base & 0xffffffff | (8 if pref else 0) | (4 if wide else 0)
        struct.pack_into("<I", b, 0x10 + 4 * index, low)
        if wide:
            struct.pack_into("<I", b, 0x14 + 4 * index, base >> 32)
    if d.buses:
        b[0x0e] = 1
        b[0x18], b[0x19], b[0x1a] = d.bus(), d.buses[0], d.buses[1]
        base, size = d.memory or (0xfff00000, 0)
        limit = base + size - 1 if size else 0x000fffff
        struct.pack_into("<HH", b, 0x20, base >> 16 & 0xfff0, limit >> 16 & 0xfff0)
        base, size = d.prefetchable or (0xfff00000, 0)
        limit = base + size - 1 if size else 0x000fffff
        struct.pack_into("<HHII", b, 0x24, base >> 16 & 0xfff0 | 1, limit >> 16 & 0xfff0 | 1,
                         base >> 32, limit >> 32)
    elif d.subsystem:
        struct.pack_into("<HH", b, 0x2c, *(int(x, 16) for x in d.subsystem.split(":")))
    b[0x34] = 0x48
    struct.pack_into("<BBHH", b, 0x48, 0x01, 0x58 if d.link or d.kind == "root" else 0, 0x0003, 0)
    if d.link or d.kind == "root":
        express(b, d)
    extended(b, d)
    return b


def express(b, d):
    flags = 2 | PORT_TYPES[d.kind] << 4 | (0x100 if d.slot else 0)
    struct.pack_into("<BBH", b, 0x58, 0x10, 0, flags)
    if d.link:
        top, width, now, now_width = d.link
        struct.pack_into("<I", b, 0x58 + 0x0c, SPEEDS[top] | width << 4)
        struct.pack_into("<H", b, 0x58 + 0x12, SPEEDS[now] | now_width << 4)
    struct.pack_into("<I", b, 0x58 + 0x14, d.slot << 19)
    struct.pack_into("<I", b, 0x58 + 0x24, d.atomics)
    struct.pack_into("<H", b, 0x58 + 0x28, 0x40 if d.kind == "endpoint" and d.rebar else 0)


def extended(b, d):
    parts = [(0x0001, 0x48)]
    if d.acs is not None:
        parts.append((0x000d, 8))
    if d.rebar:
        parts.append((0x0015, 0x10))
    at = 0x100
    for i, (ident, size) in enumerate(parts):
        following = 0x100 + 0x80 * (i + 1) if i + 1 < len(parts) else 0
        struct.pack_into("<I", b, at, ident | 1 << 16 | following << 20)
        if ident == 0x000d:
            struct.pack_into("<HH", b, at + 4, 0x005f, d.acs)
        if ident == 0x0015:
            index, sizes = d.rebar
            offered = sum(s >> 16 for s in sizes)
            current = next(s for n, _, s, _, _ in d.bars if n == index)
            code = current.bit_length() - 21
            struct.pack_into("<II", b, at + 4, offered, index | 1 << 5 | code << 8)
        at = following


def acs_text(control):
    names = ["SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl",
             "DirectTrans"]
    return " ".join(n + ("+" if control >> i & 1 else "-") for i, n in enumerate(names))


def megabytes(size):
    return f"{size // GIB}GB" if size >= GIB else f"{size // MIB}MB"


def gts(speed):
    return f"{speed:g}GT/s"


def window_text(window, wide):
    if not window:
        return "[disabled]" + (" [64-bit]" if wide else " [32-bit]")
    base, size = window
    digits = 16 if wide else 8
    return (f"{base:0{digits}x}-{base + size - 1:0{digits}x} [size={size_text(size)}] "
            f"[{'64' if wide else '32'}-bit]")


def lspci(d):
    lines = [f"{d.address} {d.class_name} [{d.class_code >> 8:04x}]: {d.name} [{d.ident}] (rev 01)"]
    if d.subsystem:
        lines.append(f"\tSubsystem: Device [{d.subsystem}]")
    if d.slot:
        lines.append(f"\tPhysical Slot: {d.slot}")
    lines.append("\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping-")
    if "numa_node" in d.rows and d.rows["numa_node"] != "-1":
        lines.append(f"\tNUMA node: {d.rows['numa_node']}")
    if "iommu_group" in d.rows:
        lines.append(f"\tIOMMU group: {d.rows['iommu_group']}")
    for index, base, size, pref, wide in d.bars:
        lines.append(f"\tRegion {index}: Memory at {base:x} ({'64' if wide else '32'}-bit, "
                     f"{'' if pref else 'non-'}prefetchable) [size={size_text(size)}]")
    if d.buses:
        lines.append(f"\tBus: primary={d.bus():02x}, secondary={d.buses[0]:02x}, "
                     f"subordinate={d.buses[1]:02x}, sec-latency=0")
        lines.append("\tI/O behind bridge: f000-0fff [disabled] [32-bit]")
        lines.append("\tMemory behind bridge: " + window_text(d.memory, False))
        lines.append("\tPrefetchable memory behind bridge: " + window_text(d.prefetchable, True))
    lines.append("\tCapabilities: [48] Power Management version 3")
    lines.append("\t\tStatus: D0 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-")
    if d.link or d.kind == "root":
        lines += express_text(d)
    lines.append("\tCapabilities: [100 v1] Advanced Error Reporting")
    at = 0x180
    if d.acs is not None:
        lines.append(f"\tCapabilities: [{at:x} v1] Access Control Services")
        lines.append("\t\tACSCap:\t" + acs_text(0x5f))
        lines.append("\t\tACSCtl:\t" + acs_text(d.acs))
        at += 0x80
    if d.rebar:
        index, sizes = d.rebar
        current = next(s for n, _, s, _, _ in d.bars if n == index)
        lines.append(f"\tCapabilities: [{at:x} v1] Physical Resizable BAR")
        lines.append(f"\t\tBAR {index}: current size: {megabytes(current)}, supported: "
                     + " ".join(megabytes(s) for s in sizes))
    if d.rows.get("driver"):
        lines.append(f"\tKernel driver in use: {d.rows['driver']}")
    raw = registers(d)
    for offset in range(0, len(raw), 16):
        lines.append(f"{offset:02x}: " + " ".join(f"{x:02x}" for x in raw[offset:offset + 16]))
    return "\n".join(lines) + "\n\n"


def express_text(d):
    lines = [f"\tCapabilities: [58] Express (v2) {PORT_NAMES[d.kind]}"]
    if d.link:
        top, width, now, now_width = d.link
        slow = " (downgraded)" if now < top else ""
        narrow = " (downgraded)" if now_width < width else ""
        lines.append(f"\t\tLnkCap:\tPort #0, Speed {gts(top)}, Width x{width}, ASPM L1")
        lines.append(f"\t\tLnkSta:\tSpeed {gts(now)}{slow}, Width x{now_width}{narrow}")
    flags = "".join(f" {n}{'+' if d.atomics >> bit & 1 else '-'}"
                    for n, bit in (("32bit", 7), ("64bit", 8), ("128bitCAS", 9)))
    routing = f" Routing{'+' if d.atomics >> 6 & 1 else '-'}" if d.buses else ""
    lines.append(f"\t\t\t AtomicOpsCap:{routing}{flags}")
    if d.kind == "endpoint" and d.rebar:
        lines.append("\t\t\t AtomicOpsCtl: ReqEn+")
    return lines


def resource(d):
    rows = [(0, 0, 0)] * (17 if d.buses else 7)
    for index, base, size, pref, wide in d.bars:
        flags = 0x40200 | (0x2000 if pref else 0) | (0x100000 if wide else 0)
        rows[index] = (base, base + size - 1, flags)
    for row, window, flags in ((14, d.memory, 0x200), (15, d.prefetchable, 0x102201)):
        if d.buses and window:
            rows[row] = (window[0], window[0] + window[1] - 1, flags)
    return "".join(f"0x{a:016x} 0x{b:016x} 0x{c:016x};" for a, b, c in rows)


def path_of(d, by_address):
    if d.parent in by_address:
        return path_of(by_address[d.parent], by_address) + "/" + d.address
    return f"pci{d.parent}/{d.address}"


def sysfs(d, by_address):
    vendor, device = d.ident.split(":")
    rows = {"vendor": "0x" + vendor, "device": "0x" + device, "class": f"0x{d.class_code:06x}"}
    if d.subsystem:
        rows["subsystem_vendor"], rows["subsystem_device"] = ("0x" + x for x in
                                                              d.subsystem.split(":"))
    if d.link:
        top, width, now, now_width = d.link
        rows |= {"current_link_speed": f"{now} GT/s PCIe", "current_link_width": str(now_width),
                 "max_link_speed": f"{top} GT/s PCIe", "max_link_width": str(width)}
    rows["power_state"] = "D0"
    rows["resource"] = resource(d)
    if d.rebar:
        bits = sum(s >> 20 for s in d.rebar[1])
        rows[f"resource{d.rebar[0]}_resize"] = f"{bits:016x}"
    rows |= d.rows
    rows["path"] = path_of(d, by_address)
    return "".join(f"{d.address}/{k}\t{v}\n" for k, v in rows.items())


def write(folder, files):
    here = pathlib.Path(__file__).parent / folder
    for name, text in files.items():
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def device_files(devices):
    by_address = {d.address: d for d in devices}
    devices = sorted(devices, key=lambda d: d.address)
    return {"lspci.txt": "".join(lspci(d) for d in devices),
            "sysfs.tsv": "".join(sysfs(d, by_address) for d in devices)}


def radeon(first_bus, parent, card, bar, vram, slot_link, card_link, group, node):
    """A card with its own switch: upstream port, downstream port, graphics, sound."""
    base, size = bar
    ident, subsystem, name, sizes, bits = card
    a, b, c = (f"0000:{first_bus + i:02x}:00.0" for i in range(3))
    window = (base, size + 2 * MIB)
    common = {"numa_node": node}
    up = bridge(a, parent, "1002:1478", "Advanced Micro Devices, Inc. [AMD/ATI] Navi 10 XL Upstream "
                "Port of PCI Express Switch", "up", (first_bus + 1, first_bus + 2),
                prefetchable=window, memory=(0xd0000000 + first_bus * MIB * 4, 2 * MIB),
                link=slot_link, atomics=0x40, rows=common | {"driver": "pcieport"})
    down = bridge(b, a, "1002:1479", "Advanced Micro Devices, Inc. [AMD/ATI] Navi 10 XL Downstream "
                  "Port of PCI Express Switch", "down", (first_bus + 2, first_bus + 2),
                  prefetchable=window, memory=(0xd0000000 + first_bus * MIB * 4, 2 * MIB),
                  link=card_link, acs=0x1d, atomics=0x40, rows=common | {"driver": "pcieport"})
    gpu = Device(c, b, ident, name, class_code=0x030000, class_name="VGA compatible controller",
                 subsystem=subsystem, link=card_link, rebar=(0, sizes),
                 bars=[(0, base, size, True, True), (2, base + size, 2 * MIB, True, True),
                       (5, 0xd0000000 + first_bus * MIB * 4, MIB, False, False)],
                 rows=common | group | {"driver": "amdgpu", "dma_mask_bits": str(bits),
                                        "mem_info_vram_total": str(vram),
                                        "mem_info_vis_vram_total": str(min(vram, size)),
                                        "power1_cap": "300000000"})
    sound = Device(c[:-1] + "1", b, "1002:ab30", "Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 "
                   "HDMI/DP Audio", class_code=0x040300, class_name="Audio device", link=card_link,
                   bars=[(0, 0xd0100000 + first_bus * MIB * 4, 16384, False, False)],
                   rows=common | {"driver": "snd_hda_intel", "dma_mask_bits": "64"} | group)
    return [up, down, gpu, sound]


XTX = ("1002:744c", "1da2:471e", "Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 "
       "XT/7900 XTX/7900 GRE/7900M]", [256 * MIB << i for i in range(8)], 44)
R9700 = ("1002:7551", "1da2:e494", "Advanced Micro Devices, Inc. [AMD/ATI] Navi 48 [Radeon AI PRO "
         "R9700]", [256 * MIB << i for i in range(8)], 44)


def kfd_node(number, bus, target, vram, is_public, peers):
    text = (f"{number}/gpu_id\t{4000 + number}\n{number}/properties\tcpu_cores_count 0\n"
            f"{number}/properties\tsimd_count 192\n{number}/properties\tvendor_id 4098\n"
            f"{number}/properties\tgfx_target_version {target}\n"
            f"{number}/properties\tlocation_id {bus << 8}\n{number}/properties\tdomain 0\n"
            f"{number}/mem_banks/0/properties\theap_type {1 if is_public else 2}\n"
            f"{number}/mem_banks/0/properties\tsize_in_bytes {vram}\n")
    for i, peer in enumerate(peers):
        text += (f"{number}/p2p_links/{i}/properties\ttype 2\n"
                 f"{number}/p2p_links/{i}/properties\tnode_from {number}\n"
                 f"{number}/p2p_links/{i}/properties\tnode_to {peer}\n")
    return text


KCONFIG = ("CONFIG_ZONE_DEVICE=y\nCONFIG_DEVICE_PRIVATE=y\nCONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD=y\n"
           "CONFIG_HSA_AMD_P2P=y\nCONFIG_DMABUF_MOVE_NOTIFY=y\n# CONFIG_PCI_REALLOC_ENABLE_AUTO is "
           "not set\nCONFIG_INTEL_IOMMU=y\n# CONFIG_INTEL_IOMMU_DEFAULT_ON is not set\n"
           "CONFIG_AMD_IOMMU=y\nCONFIG_IOMMU_DEFAULT_DMA_LAZY=y\n")


def t7910():
    node0, node1 = {"numa_node": "0"}, {"numa_node": "1"}
    port = {"driver": "pcieport"}
    x = 0x10000000000
    root_a = (x, 770 * MIB)
    leg1, leg2 = (x, 258 * MIB), (x + 512 * MIB, 258 * MIB)
    devices = [
        Device("0000:00:00.0", "0000:00", "8086:6f00", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D DMI2", kind="integrated", rows=node0),
        bridge("0000:00:02.0", "0000:00", "8086:6f04", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D PCI Express Root Port 2", "root", (5, 7), acs=0x1d, slot=2,
               prefetchable=(0xc000000000, 33 * GIB), memory=(0xd1400000, 4 * MIB), atomics=0x1c0,
               link=(8.0, 16, 8.0, 16), rows=node0 | port),
        bridge("0000:00:03.0", "0000:00", "8086:6f08", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D PCI Express Root Port 3", "root", (8, 10), acs=0x1d, slot=4,
               prefetchable=(0xd000000000, 33 * GIB), memory=(0xd2000000, 4 * MIB), atomics=0x1c0,
               link=(8.0, 16, 8.0, 16), rows=node0 | port),
        Device("0000:00:1f.2", "0000:00", "8086:8d02", "Intel Corporation C610/X99 series chipset "
               "6-Port SATA Controller [AHCI mode]", class_code=0x010601, class_name="SATA controller",
               kind="integrated", bars=[(5, 0xd0a00000, 2048, False, False)],
               rows=node0 | {"driver": "ahci", "dma_mask_bits": "64"}),
        bridge("0000:a0:02.0", "0000:a0", "8086:6f04", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D PCI Express Root Port 2", "root", (0xa1, 0xa9), acs=0x1d, slot=6,
               prefetchable=root_a, memory=(0xf8c00000, 16 * MIB), atomics=0x1c0,
               link=(8.0, 16, 8.0, 16), rows=node1 | port),
        bridge("0000:a1:00.0", "0000:a0:02.0", "1000:c010", "Broadcom / LSI PEX880xx PCIe Gen 4 "
               "Switch", "up", (0xa2, 0xa9), prefetchable=root_a, memory=(0xf8c00000, 16 * MIB),
               atomics=0x40, link=(16.0, 16, 8.0, 16), rows=node1 | port),
        bridge("0000:a2:00.0", "0000:a1:00.0", "1000:c010", "Broadcom / LSI PEX880xx PCIe Gen 4 "
               "Switch", "down", (0xa3, 0xa5), prefetchable=leg1, memory=(0xf8c00000, 4 * MIB),
               acs=0x10, atomics=0x40, link=(16.0, 16, 16.0, 16), rows=node1 | port),
        bridge("0000:a2:01.0", "0000:a1:00.0", "1000:c010", "Broadcom / LSI PEX880xx PCIe Gen 4 "
               "Switch", "down", (0xa6, 0xa8), prefetchable=leg2, memory=(0xf9800000, 4 * MIB),
               acs=0x10, atomics=0x40, link=(16.0, 16, 16.0, 16), rows=node1 | port),
    ]
    fast = (16.0, 16, 8.0, 16)
    inner = (16.0, 16, 16.0, 16)
    devices += radeon(0x05, "0000:00:02.0", R9700, (0xc000000000, 32 * GIB), 34208743424, fast,
                      inner, {}, "0")
    devices += radeon(0x08, "0000:00:03.0", R9700, (0xd000000000, 32 * GIB), 34208743424, fast,
                      inner, {}, "0")
    devices += radeon(0xa3, "0000:a2:00.0", XTX, (leg1[0], 256 * MIB), 25753026560, inner, inner,
                      {}, "1")
    devices += radeon(0xa6, "0000:a2:01.0", XTX, (leg2[0], 256 * MIB), 25753026560, inner, inner,
                      {}, "1")
    for d in devices:  # the two behind the switch have one downstream port without redirect each
        if d.kind == "down":
            d.acs = 0x10
    refused = [(a, b) for a in ("05", "08") for b in ("a3", "a6")]
    gpu = {"05": "07", "08": "0a", "a3": "a5", "a6": "a8"}
    lines = ["DMI: Dell Inc. Precision Tower 7910/0215PR, BIOS A34 10/19/2020",
             "smpboot: CPU0: Intel(R) Xeon(R) CPU E5-2683 v4 @ 2.10GHz (family: 0x6, model: 0x4f, "
             "stepping: 0x1)",
             "pci_bus 0000:00: root bus resource [mem 0xd0000000-0xf7ffffff window]",
             "pci_bus 0000:00: root bus resource [mem 0xc000000000-0xffffffffff window]",
             "pci_bus 0000:00: root bus resource [bus 00-9f]",
             "pci_bus 0000:a0: root bus resource [mem 0xf8000000-0xfbffffff window]",
             "pci_bus 0000:a0: root bus resource [mem 0x10000000000-0x13fffffffff window]",
             "pci_bus 0000:a0: root bus resource [bus a0-fe]",
             "iommu: Default domain type: Translated"]
    for leg, port in (("a5", "a2:00.0"), ("a8", "a2:01.0")):
        lines += [f"pcieport 0000:{port}: bridge window [mem 0x{x:x}-0x{x + 258 * MIB - 1:x} 64bit "
                  "pref]: was not released (still contains assigned resources)" if leg == "a5" else
                  f"pcieport 0000:a1:00.0: bridge window [mem 0x{x:x}-0x{x + 770 * MIB - 1:x} 64bit "
                  "pref]: was not released (still contains assigned resources)",
                  f"amdgpu 0000:{leg}:00.0: amdgpu: Not enough PCI address space for a large BAR.",
                  f"amdgpu 0000:{leg}:00.0: amdgpu: Detected VRAM RAM=24560M, BAR=256M"]
    for bus in ("07", "0a"):
        lines.append(f"amdgpu 0000:{bus}:00.0: amdgpu: Detected VRAM RAM=32624M, BAR=32768M")
    for a, b in refused:
        for near, far in ((a, b), (b, a)):
            lines.append(f"amdgpu 0000:{gpu[near]}:00.0: amdgpu: PCIe P2P access from peer device "
                         f"0000:{gpu[far]}:00.0 is not supported by the chipset")
    write("t7910", device_files(devices) | {
        "MANIFEST": "format=p2p-snapshot 1\neuid=0\nkernel=7.0.14-p2pdma\narch=x86_64\nmasked=1\n",
        "cmdline.txt": "pci=realloc\nother_options=4\n",
        "kconfig.txt": KCONFIG,
        "cpu.txt": "vendor_id: GenuineIntel\ncpu family: 6\nmodel: 79\nmodel name: Intel(R) Xeon(R) "
                   "CPU E5-2683 v4 @ 2.10GHz\naddress sizes: 46 bits physical, 48 bits virtual\n"
                   "sockets: 2\nhypervisor: 0\n",
        "dmi.txt": "sys_vendor\tDell Inc.\nproduct_name\tPrecision Tower 7910\nboard_vendor\tDell "
                   "Inc.\nboard_name\t0215PR\nbios_version\tA34\nbios_date\t10/19/2020\n",
        "iomem.txt": "00000000-00000fff : Reserved\n00001000-0009ffff : System RAM\n"
                     "d0000000-f7ffffff : PCI Bus 0000:00\n  d1400000-d17fffff : PCI Bus 0000:05\n"
                     "f8000000-fbffffff : PCI Bus 0000:a0\n100000000-803fffffff : System RAM\n"
                     "c000000000-ffffffffff : PCI Bus 0000:00\n"
                     "  c000000000-c83fffffff : PCI Bus 0000:05\n"
                     "10000000000-13fffffffff : PCI Bus 0000:a0\n"
                     "  10000000000-100301fffff : PCI Bus 0000:a1\n",
        "dmesg.txt": "".join(f"[{i + 0.25:12.6f}] {line}\n" for i, line in enumerate(lines)),
        "kfd.tsv": "0/gpu_id\t0\n0/properties\tcpu_cores_count 32\n0/properties\tsimd_count 0\n"
                   + kfd_node(1, 0x07, 120001, 34208743424, True, [2])
                   + kfd_node(2, 0x0a, 120001, 34208743424, True, [1])
                   + kfd_node(3, 0xa5, 110000, 25753026560, False, [])
                   + kfd_node(4, 0xa8, 110000, 25753026560, False, []),
        "mod.tsv": "/sys/module/amdgpu/parameters/pcie_p2p\tY\n"
                   "/sys/module/amdgpu/parameters/rebar\t-1\n",
        "numa.tsv": "node0\t0-15,32-47\t10 21\nnode1\t16-31,48-63\t21 10\n"})


def x99():
    window = 0x380000000000
    devices = [
        Device("0000:00:00.0", "0000:00", "8086:6f00", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D DMI2", kind="integrated",
               rows={"numa_node": "0", "iommu_group": "0", "iommu_type": "DMA-FQ"}),
        bridge("0000:00:02.0", "0000:00", "8086:6f04", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D PCI Express Root Port 2", "root", (3, 5), acs=0x1d, slot=2,
               prefetchable=(window, 33 * GIB), memory=(0xd0c00000, 4 * MIB), atomics=0x1c0,
               link=(8.0, 16, 2.5, 16),
               rows={"numa_node": "0", "driver": "pcieport", "iommu_group": "1", "iommu_type": "DMA-FQ"}),
        bridge("0000:00:03.0", "0000:00", "8086:6f08", "Intel Corporation Xeon E7 v4/Xeon E5 v4/Xeon "
               "E3 v4/Xeon D PCI Express Root Port 3", "root", (6, 8), acs=0x1d, slot=4,
               prefetchable=(window + 64 * GIB, 33 * GIB), memory=(0xd1800000, 4 * MIB),
               atomics=0x1c0, link=(8.0, 16, 2.5, 16),
               rows={"numa_node": "0", "driver": "pcieport", "iommu_group": "2", "iommu_type": "DMA-FQ"}),
    ]
    idle = (16.0, 16, 2.5, 16)
    inner = (16.0, 16, 16.0, 16)
    for bus, parent, base, group in ((3, "0000:00:02.0", window, "20"),
                                     (6, "0000:00:03.0", window + 64 * GIB, "24")):
        devices += radeon(bus, parent, R9700, (base, 32 * GIB), 34208743424, idle, inner,
                          {"iommu_group": group, "iommu_type": "DMA-FQ"}, "0")
    load = "".join(f"{a}/current_link_speed\t8.0 GT/s PCIe\n{a}/current_link_width\t{w}\n"
                   for a, w in (("0000:00:02.0", 16), ("0000:03:00.0", 16), ("0000:00:03.0", 8),
                                ("0000:06:00.0", 8)))
    lines = ["Linux version 7.4.0-1-generic (builder@build) (gcc 15) #1 SMP PREEMPT_DYNAMIC",
             "DMI: HUANANZHI HUANANZHI-X99/X99-TF GAMING V6.0, BIOS 5.11 03/14/2024",
             "DMAR: IOMMU enabled",
             "iommu: Default domain type: Translated",
             "pci 0000:05:00.0: Adding to iommu group 20",
             "amdgpu 0000:05:00.0: amdgpu: Detected VRAM RAM=32624M, BAR=32768M",
             "amdgpu 0000:08:00.0: amdgpu: Detected VRAM RAM=32624M, BAR=32768M"]
    write("x99", device_files(devices) | {
        "MANIFEST": "format=p2p-snapshot 1\neuid=0\nkernel=7.4.0-1-generic\narch=x86_64\nmasked=1\n",
        "cmdline.txt": "intel_iommu=on\nother_options=3\n",
        "kconfig.txt": KCONFIG,
        "cpu.txt": "vendor_id: GenuineIntel\ncpu family: 6\nmodel: 79\nmodel name: Intel(R) Xeon(R) "
                   "CPU E5-2697A v4 @ 2.60GHz\naddress sizes: 46 bits physical, 48 bits virtual\n"
                   "sockets: 1\nhypervisor: 0\n",
        "dmi.txt": "sys_vendor\tTo Be Filled By O.E.M.\nproduct_name\tTo Be Filled By O.E.M.\n"
                   "board_vendor\tHUANANZHI\nboard_name\tX99-TF GAMING V6.0\nbios_version\t5.11\n"
                   "bios_date\t03/14/2024\n",
        "iomem.txt": "d0000000-fbffbfff : PCI Bus 0000:00\n"
                     "380000000000-383fffffffff : PCI Bus 0000:00\n",
        "dmesg.txt": "".join(f"[{i + 0.5:12.6f}] {line}\n" for i, line in enumerate(lines)),
        "kfd.tsv": kfd_node(1, 5, 120001, 34208743424, True, [2])
                   + kfd_node(2, 8, 120001, 34208743424, True, [1]),
        "mod.tsv": "/sys/module/amdgpu/parameters/pcie_p2p\tY\n",
        "numa.tsv": "node0\t0-31\t10\n",
        "load/sysfs.tsv": load})


def epyc():
    devices, csv, tops = [], "", []
    for i, root in enumerate((0x00, 0x40, 0x80, 0xc0)):
        host = f"0000:{root:02x}"
        rows = {"numa_node": "0", "iommu_group": str(10 * i), "iommu_type": "identity"}
        devices.append(Device(f"{host}:00.0", host, "1022:1480", "Advanced Micro Devices, Inc. [AMD] "
                              "Starship/Matisse Root Complex", kind="integrated", rows=rows))
        base, low = 0x20000000000 + i * 0x4000000000, 0xb0000000 + i * 0x10000000
        card = f"0000:{root + 1:02x}:00.0"
        width = 8 if i == 3 else 16
        devices.append(bridge(f"{host}:01.1", host, "1022:1483", "Advanced Micro Devices, Inc. [AMD] "
                              "Starship/Matisse GPP Bridge", "root", (root + 1, root + 1), acs=0x1d,
                              slot=i + 1, prefetchable=(base, 33 * GIB), memory=(low, 16 * MIB),
                              atomics=0x1c0, link=(16.0, 16, 16.0, width),
                              rows=rows | {"driver": "pcieport", "iommu_group": str(10 * i + 1)}))
        group = {"iommu_group": str(10 * i + 2), "iommu_type": "identity"}
        devices.append(Device(card, f"{host}:01.1", "10de:2204", "NVIDIA Corporation GA102 [GeForce "
                              "RTX 3090]", class_code=0x030000, class_name="VGA compatible controller",
                              subsystem="1458:403b", link=(16.0, 16, 16.0, width),
                              rebar=(1, [64 * MIB << n for n in range(10)]),
                              bars=[(0, low, 16 * MIB, False, False),
                                    (1, base, 32 * GIB, True, True),
                                    (3, base + 32 * GIB, 32 * MIB, True, True)],
                              rows={"numa_node": "0", "driver": "nvidia", "dma_mask_bits": "47"}
                              | group))
        csv += f"00000000:{root + 1:02X}:00.0, NVIDIA GeForce RTX 3090, 24576, 350.00, 570.86.16\n"
        tops.append(card)
    head = "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
    topo = head + "".join(f"GPU{a}\t" + "\t".join(" X " if a == b else "NODE" for b in range(4))
                          + "\t0-63\t0\n" for a in range(4))
    grants = " \t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\t\x1b[0m\n" + "".join(
        f" GPU{a}\t" + "\t".join("X" if a == b else "CNS" for b in range(4)) + "\t\n"
        for a in range(4))
    grants += ("\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n")
    iomem = "".join(f"{0xb0000000 + i * 0x10000000:x}-{0xbfffffff + i * 0x10000000:x} : PCI Bus "
                    f"0000:{bus}\n" for i, bus in enumerate(("00", "40", "80", "c0")))
    iomem += "".join(f"{0x20000000000 + i * 0x4000000000:x}-{0x23fffffffff + i * 0x4000000000:x} : "
                     f"PCI Bus 0000:{bus}\n" for i, bus in enumerate(("00", "40", "80", "c0")))
    write("epyc", device_files(devices) | {
        "MANIFEST": "format=p2p-snapshot 1\neuid=0\nkernel=6.8.0-45-generic\narch=x86_64\nmasked=1\n",
        "cmdline.txt": "iommu=pt\nother_options=5\n",
        "kconfig.txt": KCONFIG,
        "cpu.txt": "vendor_id: AuthenticAMD\ncpu family: 23\nmodel: 49\nmodel name: AMD EPYC 7542 "
                   "32-Core Processor\naddress sizes: 48 bits physical, 48 bits virtual\n"
                   "sockets: 1\nhypervisor: 0\n",
        "dmi.txt": "sys_vendor\tSupermicro\nproduct_name\tSuper Server\nboard_vendor\tSupermicro\n"
                   "board_name\tH12SSL-i\nbios_version\t2.8\nbios_date\t02/27/2024\n",
        "iomem.txt": iomem,
        "dmesg.txt": "[    0.500000] iommu: Default domain type: Passthrough (set via kernel command "
                     "line)\n[    0.600000] AMD-Vi: Interrupt remapping enabled\n",
        "mod.tsv": "/sys/module/nvidia/version\t570.86.16\n/proc/driver/nvidia/version\tNVRM version: "
                   "NVIDIA UNIX Open Kernel Module for x86_64  570.86.16\n",
        "numa.tsv": "node0\t0-63\t10\n",
        "tools/nvidia-topo-m.txt": topo,
        "tools/nvidia-p2p-r.txt": grants,
        "tools/nvidia-smi-query.csv": csv})


if __name__ == "__main__":
    t7910()
    x99()
    epyc()
