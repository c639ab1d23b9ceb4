// SPDX-License-Identifier: MIT
//
// `GuestMemory` is the guest's memory as the model's bus: it maps the ranges that QEMU announced.
// It refuses accesses outside them, and every access while the function is not bus master. A window
// of the memory can serve as on-chip SRAM: the secondary interface reaches only that, the primary
// one only the rest. With a StaleView, the device accesses that view instead of the guest's memory.
#ifndef NVDLA_EMULATOR_DEVICE_GUEST_MEMORY_HPP
#define NVDLA_EMULATOR_DEVICE_GUEST_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/device/dma_log.hpp"
#include "emulator/device/faults.hpp"
#include "emulator/device/message.hpp"
#include "emulator/device/stale_view.hpp"
#include "model/core/bus.hpp"
#include "support/memory_window.hpp"

namespace nvdla::emulator {

// Windows are ranges of guest physical addresses.
using detail::MemoryWindow;
using detail::parse_window;

class GuestMemory final : public model::Bus {
 public:
  // `log` may be null. `counters` and `log` outlive the memory. Without `sram` the secondary
  // interface reaches nothing.
  explicit GuestMemory(Counters& counters, DmaLog* log = nullptr,
                       std::optional<MemoryWindow> sram = std::nullopt) noexcept
      : counters_(counters), log_(log), sram_(sram) {}
  ~GuestMemory() override { clear(); }
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  // Replaces all mappings by `ranges`. If a range cannot be mapped or is longer than its file,
  // throws ProtocolError and leaves nothing mapped.
  void replace(std::vector<MemoryRange> ranges);

  void set_bus_master(bool on) noexcept { bus_master_ = on; }

  // Gives the device its own view of memory, except for the windows in `uncached`.
  void use_stale_view(const std::vector<MemoryWindow>& uncached);
  // Executes an operation NVDLA_FAULT_SYNC_* on a range. Does nothing without a stale view, and
  // outside of memory.
  void sync(std::uint32_t operation, std::uint64_t address, std::uint64_t size);

  // While a pattern is set, everything that the device writes is overwritten with it.
  void set_pattern(std::optional<std::byte> pattern) noexcept { pattern_ = pattern; }

  // The function calls this after each step of the model.
  void end_of_step() noexcept;

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override;
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;  // the guest may write at any time
  }
  void written(model::Ram ram, std::uint64_t address, std::uint64_t size) noexcept override;
  void client(std::uint32_t dma) noexcept override { client_ = dma; }

 private:
  struct Range {
    std::uint64_t address;
    std::uint64_t size;
    std::byte* data;
    void* mapping;  // page-aligned start of the mapping, and its length
    std::size_t mapped;
  };

  void clear() noexcept;
  model::Mapping find_in_guest(std::uint64_t address) const noexcept;
  model::Mapping find(model::Ram ram, std::uint64_t address) noexcept;

  Counters& counters_;
  DmaLog* log_;
  std::optional<MemoryWindow> sram_;
  std::vector<Range> ranges_;
  std::optional<StaleView> view_;
  bool bus_master_ = false;
  std::optional<std::byte> pattern_;
  std::uint32_t client_ = 0;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_GUEST_MEMORY_HPP
