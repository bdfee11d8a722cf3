#!/bin/sh
# Writes what 'evener doctor' needs to know about a machine into a folder and a tar.gz, on machines
# without Evener. Needs a POSIX shell with awk, od and tar (busybox has them); uses lspci if there.
#
#   sudo sh capture.sh [-l SECONDS] [-r DIR] [OUT]
#
#   OUT   folder to make, p2p-snapshot if not said; OUT.tar.gz beside it is what you send
#   -l N  read all links again, once a second for N seconds: start a copy between the cards first
#   -r D  read D/sys, D/proc, D/boot and D/var/log/dmesg in place of this machine's
#
# Reads only. Wakes no card that sleeps. Serial numbers, MAC and IPv4 addresses, UUIDs, host name and
# home folders are masked; look at the folder before you share it all the same. Without root it works
# too and knows less. 'evener snapshot' writes the same files; a test compares the two.
set -u
LC_ALL=C
export LC_ALL
umask 077

fail() { printf 'capture.sh: %s\n' "$*" >&2; exit 1; }

root=
load_seconds=0
while getopts l:r: option; do
  case $option in
    l) load_seconds=$OPTARG ;;
    r) root=$OPTARG ;;
    *) fail 'usage: sh capture.sh [-l SECONDS] [-r DIR] [OUT]' ;;
  esac
done
shift $((OPTIND - 1))
out=${1:-p2p-snapshot}
case $load_seconds in '' | *[!0-9]*) fail '-l takes a number of seconds' ;; esac
[ ! -e "$out" ] || fail "$out is there already: remove it, or name another folder"
sys=$root/sys
proc=$root/proc
functions=$sys/bus/pci/devices
[ -n "$(ls "$functions" 2>/dev/null)" ] ||
  fail "$functions shows no PCI devices; in a container, run this on the host itself"
mkdir -p "$out/tools" "$out/load" || exit 1

have() { command -v "$1" >/dev/null 2>&1; }
missed() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$out/unread.tsv"; }

# --- masking ---------------------------------------------------------------------------------------

host_name=$(cat "$proc/sys/kernel/hostname" 2>/dev/null)
export host_name

# Variable free=1: the text may hold anything, so addresses, host name and home folders go too.
# shellcheck disable=SC2016
mask_program='
function prior(s, at) { return at > 1 ? substr(s, at - 1, 1) : " " }
function mask_runs(s, pattern, step,   out, n) {
  out = ""
  while (match(s, pattern)) {
    n = (RLENGTH + 1) / step
    out = out substr(s, 1, RSTART - 1) (step == 3 && n == 8 ? "xx-MASKED8" : "xx:MASKED" n)
    s = substr(s, RSTART + RLENGTH)
  }
  return out s
}
function mask_labels(s,   low, rest) {
  low = tolower(s)
  if (match(low, with_sign) || match(low, vendor_data)) {
    rest = substr(s, RSTART + RLENGTH)
    if (rest != "" && rest !~ /^(MASKED|xx)/) return substr(s, 1, RSTART + RLENGTH - 1) "MASKED"
    return s
  }
  if (match(low, with_space)) {
    rest = substr(s, RSTART + RLENGTH)
    if (rest ~ /[0-9]/ && rest !~ /^(MASKED|xx)/) return substr(s, 1, RSTART + RLENGTH - 1) "MASKED"
  }
  return s
}
function is_version(before) {
  before = tolower(before)
  return before ~ /(^|[^a-z])(version|ver|bios|rev|agesa|firmware|vbios|driver|fw)[ :=]*$/
}
function in_range(address,   part) {
  split(address, part, ".")
  return part[1] <= 255 && part[2] <= 255 && part[3] <= 255 && part[4] <= 255
}
function mask_addresses(s,   out, before, found, after) {
  out = ""
  while (match(s, ipv4)) {
    before = out substr(s, 1, RSTART - 1)
    found = substr(s, RSTART, RLENGTH)
    after = substr(s, RSTART + RLENGTH)
    if (before !~ /[A-Za-z0-9.-]$/ && after !~ /^([A-Za-z0-9-]|\.[0-9])/ && in_range(found) &&
        !is_version(before)) found = "IP-MASKED"
    out = before found
    s = after
  }
  return out s
}
function mask_name(s, name,   out, at, before, after) {
  out = ""
  while ((at = index(s, name)) > 0) {
    before = out substr(s, 1, at - 1)
    after = substr(s, at + length(name))
    out = before (before ~ /[A-Za-z0-9_-]$/ || after ~ /^[A-Za-z0-9_-]/ ? name : "HOST")
    s = after
  }
  return out s
}
function is_common(name) {
  return length(name) < 3 || name !~ /[^0-9]/ || index(common, " " tolower(name) " ") > 0
}
function mask_line(s,   i) {
  s = mask_runs(s, pairs, 3)
  s = mask_runs(s, quads, 5)
  gsub(uuid, "UUID-MASKED", s)
  if (match(s, interface)) s = substr(s, 1, RSTART + 2) "MASKED" substr(s, RSTART + RLENGTH)
  s = mask_labels(s)
  if (!free) return s
  s = mask_addresses(s)
  for (i = 1; i <= num_names; i++) s = mask_name(s, names[i])
  gsub("/home/[A-Za-z0-9_.-]+", "/home/USER", s)
  return s
}
function number(hex,   i, n) {
  n = 0
  for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", tolower(substr(hex, i, 1))) - 1
  return n
}
function byte(at) { return (at in bytes) ? number(bytes[at]) : 0 }
function zero(from, count,   i) { for (i = from; i < from + count; i++) if (i in bytes) bytes[i] = "00" }
function walk_capabilities(   at, seen) {
  if (int(byte(6) / 16) % 2 == 0) return
  for (at = byte(52) - byte(52) % 4; at >= 64 && !(at in seen); at = byte(at + 1) - byte(at + 1) % 4) {
    seen[at] = 1
    if (byte(at) == 3) zero(at + 4, 4)
  }
}
function walk_extended(   at, seen) {
  for (at = 256; at >= 256 && !(at in seen) && (at + 3) in bytes; ) {
    seen[at] = 1
    if (byte(at) == 3 && byte(at + 1) == 0) zero(at + 4, 8)
    at = byte(at + 3) * 16 + int(byte(at + 2) / 16)
    at -= at % 4
  }
}
function end_dump(   i, k, line) {
  if (num_lines == 0) return
  walk_capabilities()
  walk_extended()
  for (k = 0; k < num_lines; k++) {
    line = labels[k] ":"
    for (i = starts[k]; i < starts[k] + counts[k]; i++) line = line " " bytes[i]
    print line
  }
  num_lines = 0
  split("", bytes)
}
BEGIN {
  num_lines = 0
  h = "[0-9A-Fa-f]"; p = h h; q = p p
  pairs = p "[:-]" p "[:-]" p "[:-]" p "[:-]" p "([:-]" p ")*"
  quads = q ":" q ":" q ":" q "(:" q ")*"
  uuid = q q "-" q "-" q "-" q "-" q q q
  interface = "(enx|wlx)" p p p p p p
  o = "[0-9][0-9]?[0-9]?"
  ipv4 = o "[.]" o "[.]" o "[.]" o
  gap = "[] \t\"\047)#]*"
  with_sign = "(serial[ _]?number|serial no|serial|s/n|service tag|asset tag|unique[ _]id|ppin)" gap "[:=\t][] \t:=\"\047)#]*"
  with_sign = "(^|[^a-z0-9])" with_sign
  with_space = "(^|[^a-z0-9])(serial[ _]?number|service tag|asset tag|unique_id|ppin) +"
  vendor_data = "\\[v[^]]*\\] vendor specific" gap "[:=\t][ ]*"
  common = " localhost linux kernel pci pcie gpu amd amdgpu nvidia intel iommu ubuntu debian fedora arch host root server bar memory bridge window driver device "
  host = ENVIRON["host_name"]
  if (!is_common(host)) names[++num_names] = host
  short = host
  sub(/[.].*/, "", short)
  if (short != host && !is_common(short)) names[++num_names] = short
}
/^[0-9a-f][0-9a-f]+: [0-9a-f][0-9a-f]( |$)/ {
  label = $1
  sub(/:$/, "", label)
  if (number(label) == 0) end_dump()
  labels[num_lines] = label
  starts[num_lines] = number(label)
  counts[num_lines++] = NF - 1
  for (i = 2; i <= NF; i++) bytes[number(label) + i - 2] = $i
  next
}
{ end_dump(); print mask_line($0) }
END { end_dump() }'

# Standard input, masked, into a file of the snapshot; no file if there is nothing.
save() {
  awk -v free="$2" "$mask_program" >"$out/$1"
  [ -s "$out/$1" ] || rm -f "$out/$1"
}

# --- the whole machine -----------------------------------------------------------------------------

release=$(cat "$proc/sys/kernel/osrelease" 2>/dev/null)
{
  echo 'format=p2p-snapshot 1'
  echo "euid=$(id -u)"
  echo "kernel=$release"
  echo "arch=$(uname -m)"
  echo 'masked=1'
  echo 'made_by=capture.sh'
} >"$out/MANIFEST"

awk '
function keep(option) {
  if (option == "") return
  if (option ~ /^(pci|iommu|intel_iommu|amd_iommu|amdgpu|nvidia|nouveau|xe|i915|radeon|vfio|modprobe|module_blacklist|swiotlb|mem|acpi|efi|numa|norebar|nomodeset|video|intremap|ivrs|kfd|hsa)/)
    print option
  else
    others++
}
{
  word = ""; quoted = 0
  for (i = 1; i <= length($0); i++) {
    c = substr($0, i, 1)
    if (c == "\"") quoted = !quoted
    if (!quoted && (c == " " || c == "\t")) { keep(word); word = "" } else word = word c
  }
  keep(word)
}
END { print "other_options=" others + 0 }' "$proc/cmdline" 2>/dev/null | save cmdline.txt 1

config() {
  if [ -r "$proc/config.gz" ]; then gzip -dc "$proc/config.gz"; return; fi
  for file in "$root/boot/config-$release" "$root/lib/modules/$release/config" "$root/usr/lib/modules/$release/config"; do
    if [ -r "$file" ]; then cat "$file"; return; fi
  done
}
config 2>/dev/null | awk '/^(# )?CONFIG_(PCI_P2PDMA|HSA_AMD|DMABUF_MOVE_NOTIFY|DEVICE_PRIVATE|ZONE_DEVICE|PCI_REALLOC|IOMMU_DEFAULT|INTEL_IOMMU|AMD_IOMMU|PCIEASPM|DRM_AMDGPU|DRM_XE)/' |
  save kconfig.txt 0
[ -e "$out/kconfig.txt" ] ||
  missed 'the options that the kernel was built with' "there is neither /proc/config.gz nor a readable /boot/config-$release" \
    "capture as root, or install the kernel's config file"

awk '
function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
{
  colon = index($0, ":")
  if (colon == 0) next
  name = trim(substr($0, 1, colon - 1)); value = trim(substr($0, colon + 1))
}
name == "physical id" && !(value in socket) { socket[value] = 1; sockets++ }
name == "flags" { flags = 1; if ((" " value " ") ~ / hypervisor /) guest = 1 }
name ~ /^(vendor_id|cpu family|model|model name|address sizes)$/ && !(name in seen) { seen[name] = 1; print name ": " value }
END {
  if (sockets) print "sockets: " sockets
  if (flags) print "hypervisor: " guest + 0
}' "$proc/cpuinfo" 2>/dev/null | save cpu.txt 0

# One line of a file, without spaces at its ends; nothing and false if it cannot be read.
first_line() { [ -r "$1" ] && { read -r line || [ -n "$line" ]; } 2>/dev/null <"$1" && printf '%s' "$line"; }

for field in sys_vendor product_name product_version board_vendor board_name board_version bios_vendor bios_version bios_date; do
  value=$(first_line "$sys/class/dmi/id/$field") && [ -n "$value" ] && printf '%s\t%s\n' "$field" "$value"
done | save dmi.txt 0

save iomem.txt 0 2>/dev/null <"$proc/iomem" ||
  missed 'the map of addresses (/proc/iomem)' 'permission denied' 'capture as root on the host itself'

# cat, for the kernel gives nothing of cpulist to a shell that reads byte by byte.
for node in "$sys"/devices/system/node/node*; do
  [ -d "$node" ] || continue
  printf '%s\t%s\t%s\n' "${node##*/}" "$(cat "$node/cpulist")" "$(cat "$node/distance")"
done 2>/dev/null | save numa.tsv 0

kernel_log() { if [ -n "$root" ]; then cat "$root/var/log/dmesg"; else dmesg; fi; }
if kernel_log >"$out/log" 2>/dev/null; then
  awk '
    { sub(/^<[0-9]+>/, ""); low = tolower($0); sub(/^\[[^]]*\] /, "", low) }
    low ~ /command line|usb|scsi|audit|systemd|linux version|bluetooth/ { next }
    low ~ /(^|[^a-z0-9])(nvme|ata)[0-9]/ { next }
    low ~ /pci|iommu|dmar|amd-vi|amdgpu|nvrm|nvidia|nouveau|dmi:|bar |vram|hypervisor|whitelist|hardware error|trn=/ { print; next }
    low ~ /(^|[^a-z0-9])(kfd|aer|acs|p2p|xe|i915)([^a-z0-9]|$)/' "$out/log" | save dmesg.txt 1
else
  missed "the kernel's log" 'permission denied' 'capture as root on the host itself'
fi
rm -f "$out/log"

# --- PCI functions ---------------------------------------------------------------------------------

is_asleep() {
  case $(first_line "$1/power_state") in D3*) return 0 ;; esac
  case $(first_line "$1/power/runtime_status") in suspended | suspending) return 0 ;; esac
  return 1
}

# field FUNCTION NAME FILE: the file's lines, joined by ';'.
field() {
  [ -r "$3" ] || return 0
  value=
  while read -r line || [ -n "$line" ]; do value="$value${value:+;}$line"; done 2>/dev/null <"$3" || return 0
  printf '%s/%s\t%s\n' "$1" "$2" "$value"
}

# Which slot a device is in: "address<TAB>name" lines.
slots=$(for slot in "$sys"/bus/pci/slots/*; do
  address=$(first_line "$slot/address") && printf '%s\t%s\n' "$address" "${slot##*/}"
done)

sysfs_of() {
  device=$1
  name=${device##*/}
  for file in vendor device subsystem_vendor subsystem_device class revision label numa_node local_cpulist enable \
    power_state max_link_speed max_link_width dma_mask_bits consistent_dma_mask_bits resource resource0_resize \
    resource1_resize resource2_resize resource3_resize resource4_resize resource5_resize mem_info_vram_total \
    mem_info_vis_vram_total aer_dev_correctable aer_dev_nonfatal aer_dev_fatal d3cold_allowed product_name \
    vbios_version boot_vga; do
    field "$name" "$file" "$device/$file"
  done
  field "$name" runtime_status "$device/power/runtime_status"
  if ! is_asleep "$device"; then
    for file in current_link_speed current_link_width pp_dpm_pcie; do field "$name" "$file" "$device/$file"; done
    for monitor in "$device"/hwmon/*; do
      field "$name" power1_cap "$monitor/power1_cap"
      field "$name" power1_cap_max "$monitor/power1_cap_max"
    done
  fi
  for link in driver iommu_group; do
    target=$(readlink "$device/$link") && printf '%s/%s\t%s\n' "$name" "$link" "${target##*/}"
  done
  field "$name" iommu_type "$device/iommu_group/type"
  printf '%s\n' "$slots" | while read -r address slot; do
    [ "$address" = "${name%.*}" ] && printf '%s/slot\t%s\n' "$name" "$slot"
  done
  way=$(readlink "$device") && printf '%s/path\t%s\n' "$name" "${way##*devices/}"
}
for device in "$functions"/*; do sysfs_of "$device"; done 2>/dev/null | save sysfs.tsv 0

# As lspci -Dnn heads a function, from what sysfs says.
heading() {
  class=$(first_line "$1/class")
  class=${class#0x}
  revision=$(first_line "$1/revision")
  revision=${revision#0x}
  vendor=$(first_line "$1/vendor")
  id=$(first_line "$1/device")
  case $revision in 00 | '') suffix= ;; *) suffix=" (rev $revision)" ;; esac
  printf '%s Class [%s]: Device [%s:%s]%s\n' "${1##*/}" "${class%??}" "${vendor#0x}" "${id#0x}" "$suffix"
}
hex_dump() {
  od -A n -v -t x1 -N 4096 "$1/config" 2>/dev/null |
    awk '{ printf "%02x:", at; for (i = 1; i <= NF; i++) printf " %s", $i; print ""; at += 16 }'
}
for device in "$functions"/*; do
  if is_asleep "$device"; then
    heading "$device"
    case $(first_line "$device/class") in
      0x03* | 0x12* | 0x06*)
        missed "config space and link of ${device##*/}" 'it sleeps, and reading would wake it' \
          'capture again while it works'
        ;;
    esac
  elif [ -z "$root" ] && have lspci; then
    lspci -Dnnvvvxxxx -s "${device##*/}" 2>/dev/null
  else
    heading "$device"
    hex_dump "$device"
  fi
  echo
done | save lspci.txt 0
if [ -z "$root" ] && have lspci; then lspci -tv 2>/dev/null | save lspci-tree.txt 0; fi
[ "$(id -u)" = 0 ] ||
  missed 'config space beyond its first 64 bytes' 'the kernel shows it to root only' 'capture as root (sudo sh capture.sh)'

# --- drivers ---------------------------------------------------------------------------------------

# lines FILE NAME: "NAME<TAB>line" for each line.
lines() {
  [ -r "$1" ] || return 0
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in unique_id*) ;; *) printf '%s\t%s\n' "$2" "$line" ;; esac
  done 2>/dev/null <"$1"
}
nodes=$sys/class/kfd/kfd/topology/nodes
for node in "$nodes"/*; do
  for file in "$node/gpu_id" "$node/name" "$node/properties" "$node"/mem_banks/*/properties \
    "$node"/io_links/*/properties "$node"/p2p_links/*/properties; do
    lines "$file" "${file#"$nodes"/}"
  done
done | save kfd.tsv 0
for file in /sys/module/amdgpu/parameters/pcie_p2p /sys/module/amdgpu/parameters/rebar \
  /sys/module/amdgpu/parameters/vis_vramlimit /sys/module/amdgpu/parameters/runpm \
  /sys/module/amdgpu/parameters/aspm /sys/module/amdgpu/parameters/pcie_gen_cap /sys/module/amdgpu/version \
  /sys/module/nvidia/version /sys/module/nvidia_drm/parameters/modeset /sys/module/pcie_aspm/parameters/policy \
  /sys/module/vfio_pci/parameters/ids /sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts \
  /sys/module/xe/version /proc/driver/nvidia/version /proc/driver/nvidia/params \
  "$root"/proc/driver/nvidia/gpus/*/information; do
  file=${file#"$root"}
  lines "$root$file" "$file"
done | save mod.tsv 0

# Programs of the vendors: only where their driver is loaded, and not if they would wake a card.
one_sleeps() {
  for device in "$functions"/*; do
    [ "$(first_line "$device/vendor")" = "$1" ] || continue
    case $(first_line "$device/class") in 0x03* | 0x12*) is_asleep "$device" && return 0 ;; esac
  done
  return 1
}
if [ -z "$root" ] && [ -e /proc/driver/nvidia/version ] && have nvidia-smi && ! one_sleeps 0x10de; then
  nvidia-smi topo -m 2>/dev/null | save tools/nvidia-topo-m.txt 1
  nvidia-smi topo -p2p r 2>/dev/null | save tools/nvidia-p2p-r.txt 1
  nvidia-smi topo -p2p w 2>/dev/null | save tools/nvidia-p2p-w.txt 1
  nvidia-smi --query-gpu=pci.bus_id,name,memory.total,power.limit,driver_version --format=csv,noheader,nounits \
    2>/dev/null | save tools/nvidia-smi-query.csv 1
fi
if [ -z "$root" ] && [ -d "$nodes" ] && have rocm-smi && ! one_sleeps 0x1002; then
  rocm-smi --showtopo 2>/dev/null | save tools/rocm-smi-topo.txt 1
fi

# --- links under load ------------------------------------------------------------------------------

sample_links() {
  for device in "$functions"/*; do
    is_asleep "$device" && continue
    speed=$(first_line "$device/current_link_speed") && width=$(first_line "$device/current_link_width") &&
      printf '%s\t%s\t%s\n' "${device##*/}" "$speed" "$width"
  done
}
second=0
while [ "$second" -lt "$load_seconds" ]; do
  [ "$second" -eq 0 ] || sleep 1
  sample_links
  second=$((second + 1))
done | awk -F '\t' '
  $2 * $3 >= best[$1] { best[$1] = $2 * $3; speed[$1] = $2; width[$1] = $3 }
  END { for (f in speed) printf "%s/current_link_speed\t%s\n%s/current_link_width\t%s\n", f, speed[f], f, width[f] }' |
  sort | save load/sysfs.tsv 0

# --- packing ---------------------------------------------------------------------------------------

rmdir "$out/tools" "$out/load" 2>/dev/null
parent=$(dirname "$out")
base=$(basename "$out")
if have gzip; then
  (cd "$parent" && tar cf - "$base") | gzip -c >"$out.tar.gz" && packed=$out.tar.gz
else
  (cd "$parent" && tar cf - "$base") >"$out.tar" && packed=$out.tar
fi
[ -n "${packed:-}" ] || fail "cannot pack $out"
printf 'wrote %s; look at the files in %s before you share it\n' "$packed" "$out"
[ "$(id -u)" = 0 ] || echo 'this was not run as root: addresses, ACS and BAR sizes are missing; sudo shows them'
