#include "device/cpu/isa.h"

#include <cpuid.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"

namespace evener::device::cpu {
namespace {

constexpr Isa kIsas[] = {Isa::avx2, Isa::avx512vnni};

// Which register files the operating system saves at a switch: XCR0. The instruction by name needs
// a compiler flag of its own.
uint64_t saved_registers() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// All bits of `wanted` are set.
bool has(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }

// The number of leading entries of kIsas that may be used.
size_t count_available() {
  constexpr uint64_t kAvxRegisters = 0x06;     // SSE, upper halves of AVX
  constexpr uint64_t kAvx512Registers = 0xe6;  // and masks, upper halves, registers 16..31
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return 0;
  if (!has(ecx, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C)) return 0;
  const uint64_t saved = saved_registers();
  if (!has(saved, kAvxRegisters)) return 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return 0;
  if (!has(ebx, bit_AVX2 | bit_BMI2)) return 0;
  if (!has(saved, kAvx512Registers)) return 1;
  if (!has(ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ)) return 1;
  return has(ecx, bit_AVX512VNNI) ? 2 : 1;
}

Error isa_error(Code code, std::string_view wanted, std::string why) {
  return Error{.code = code,
               .doing = "choose an instruction set",
               .where = "'" + printable(wanted, 40) + "'",
               .why = std::move(why),
               .remedy = "leave EVENER_ISA unset to use the best that this CPU has"};
}

}  // namespace

std::string_view isa_name(Isa isa) { return isa == Isa::avx2 ? "avx2" : "avx512vnni"; }

std::span<const Isa> available_isas() {
  static const size_t count = count_available();
  return {kIsas, count};
}

Result<Isa> choose_isa(std::string_view wanted) {
  if (wanted.empty()) {
    const char* const forced = std::getenv("EVENER_ISA");
    if (forced != nullptr) wanted = forced;
  }
  const auto available = available_isas();
  if (available.empty()) {
    return isa_error(Code::unsupported, "x86-64",
                     "this CPU lacks AVX2, FMA, F16C or BMI2, which Evener needs");
  }
  if (wanted.empty()) return available.back();
  for (const Isa isa : available) {
    if (wanted == isa_name(isa)) return isa;
  }
  for (const Isa isa : kIsas) {
    if (wanted == isa_name(isa)) {
      return isa_error(Code::unsupported, wanted, "this CPU or operating system lacks it");
    }
  }
  return isa_error(Code::invalid_argument, wanted, "there are avx2 and avx512vnni");
}

}  // namespace evener::device::cpu
