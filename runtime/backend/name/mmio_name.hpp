// SPDX-License-Identifier: MIT
//
// Parses what follows "mmio:" in the name of a device, except the configuration.
#ifndef NVDLA_BACKEND_NAME_MMIO_NAME_HPP
#define NVDLA_BACKEND_NAME_MMIO_NAME_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/memory_window.hpp"

namespace nvdla::detail {

struct MmioName {
  enum class Form { kPci, kUio, kPhysical };

  Form form = Form::kPci;
  // "0000:00:04.0", "/dev/uio0" or "0x10040000".
  std::string place = {};
  std::uint64_t address = 0;  // kPhysical
  // Reserved memory, which nothing else uses. Without it, the device uses huge pages, at most
  // `pool` bytes of them.
  std::optional<MemoryWindow> memory = std::nullopt;
  std::uint64_t pool = 0;                           // 0: all huge pages, up to a default
  std::optional<MemoryWindow> sram = std::nullopt;  // memory at the second memory interface
  std::uint32_t clock_khz = 0;                      // 0: not known
  bool poll = false;                                // polls even if there are interrupts
};

// Parses one of the three forms of `place`; nullopt for anything else.
std::optional<MmioName> parse_mmio_place(std::string_view place);
// Parses one "<key>=<value>" into `name`; false for an unknown key or value.
bool parse_mmio_option(std::string_view key, std::string_view value, MmioName& name);
// The message for a device that no IOMMU or driver can stop from writing to freed memory.
inline constexpr const char* kNeedsReservedMemory =
    "needs 'memory=<size>@<address>', memory that the kernel leaves alone: nothing keeps this "
    "device "
    "from memory that is given back";

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_NAME_MMIO_NAME_HPP
