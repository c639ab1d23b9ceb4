// SPDX-License-Identifier: MIT
//
// What stands behind "mmio:" in the name of a device, but its configuration.
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
  // Memory that nobody else uses. None: huge pages, at most `pool` bytes of them.
  std::optional<MemoryWindow> memory = std::nullopt;
  std::uint64_t pool = 0;                           // 0: as many as there are, up to a default
  std::optional<MemoryWindow> sram = std::nullopt;  // behind the second memory interface
  std::uint32_t clock_khz = 0;                      // 0: not known
  bool poll = false;                                // interrupts or not
};

// The three forms of `place`; nullopt for what is none.
std::optional<MmioName> parse_mmio_place(std::string_view place);
// One "<key>=<value>"; false for what is none.
bool parse_mmio_option(std::string_view key, std::string_view value, MmioName& name);
// Of what nothing can stop.
inline constexpr const char* kNeedsReservedMemory =
    "needs 'memory=<size>@<address>', memory that the kernel leaves alone: nothing keeps this "
    "device "
    "from memory that is given back";

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_NAME_MMIO_NAME_HPP
