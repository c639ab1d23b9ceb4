// SPDX-License-Identifier: MIT
//
// Compiled without special flags.
#include "model/simd/sets/x86_access.hpp"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace nvdla::model {
namespace {

struct Leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

  Leaf(unsigned leaf, unsigned part) noexcept {
    __get_cpuid_count(leaf, part, &eax, &ebx, &ecx, &edx);
  }
};

constexpr bool all(std::uint64_t value, std::uint64_t bits) noexcept {
  return (value & bits) == bits;
}

// XCR0: what the system saves of the processor's registers.
std::uint64_t saved_registers() noexcept {
  constexpr unsigned kOsxsave = 1u << 27;
  if (!all(Leaf(1, 0).ecx, kOsxsave)) return 0;
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

int ask_for_tiles() {
  // asm/prctl.h has these only where the kernel's headers are of 5.16 or later.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 ? 0 : errno;
}

}  // namespace

// Not all compilers can be asked for it by name.
bool has_avx_vnni() noexcept {
  constexpr unsigned kAvxVnni = 1u << 4;
  return all(Leaf(7, 1).eax, kAvxVnni);
}

SetAccess amx_access(const AmxFacts& facts) noexcept {
  if (!facts.instructions) return {false, nullptr};
  if (!facts.registers)
    return {false, "the system does not keep AMX's tiles (XCR0 has no bits 17 and 18)"};
  switch (facts.ask()) {
    case 0:
      return {true, nullptr};
    case EINVAL:
    case EOPNOTSUPP:
    case ENOSYS:
      return {false, "the system has no AMX's tiles to give (Linux has since 5.16)"};
    case ENOSPC:
      return {
          false,
          "the system gives no AMX's tiles to a process whose alternate signal stack has no room "
          "for them"};
    default:
      return {false,
              "the system refused AMX's tiles to this process "
              "(arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA)"};
  }
}

SetAccess amx_access() noexcept {
  constexpr unsigned kTiles = 1u << 24, kInt8 = 1u << 25;
  constexpr std::uint64_t kTileState = 3u << 17;
  static const SetAccess access = amx_access(
      {all(Leaf(7, 0).edx, kTiles | kInt8), all(saved_registers(), kTileState), ask_for_tiles});
  return access;
}

}  // namespace nvdla::model
