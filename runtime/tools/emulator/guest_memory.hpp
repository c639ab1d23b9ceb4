// SPDX-License-Identifier: MIT
//
// The guest's memory as the model's bus: the ranges that QEMU announced, mapped here. Refuses what
// lies outside, everything while the function may not master the bus, and the secondary memory,
// which this card does not have.
#ifndef NVDLA_EMULATOR_GUEST_MEMORY_HPP
#define NVDLA_EMULATOR_GUEST_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/bus.hpp"
#include "tools/emulator/dma_log.hpp"
#include "tools/emulator/faults.hpp"
#include "tools/emulator/message.hpp"

namespace nvdla::emulator {

class GuestMemory final : public model::Bus {
 public:
  // `log` may be null. Both outlive the memory.
  explicit GuestMemory(Counters& counters, DmaLog* log = nullptr) noexcept
      : counters_(counters), log_(log) {}
  ~GuestMemory() override { clear(); }
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  // Puts `ranges` in place of all that was mapped. Throws ProtocolError when a range cannot be
  // mapped or is longer than its file; then nothing is mapped.
  void replace(std::vector<MemoryRange> ranges);

  void set_bus_master(bool on) noexcept { bus_master_ = on; }

  // While set, whatever the device writes is overwritten with the byte.
  void set_pattern(std::optional<std::byte> pattern) noexcept { pattern_ = pattern; }

  // Called when the model has done one thing.
  void end_of_step() noexcept;

  model::Mapping map(model::Ram ram, std::uint64_t address, std::uint64_t size,
                     bool write) noexcept override;
  std::uint64_t generation(model::Ram, std::uint64_t, std::uint64_t) const noexcept override {
    return 0;  // the guest writes whenever it likes
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
  model::Mapping find(model::Ram ram, std::uint64_t address) const noexcept;

  Counters& counters_;
  DmaLog* log_;
  std::vector<Range> ranges_;
  bool bus_master_ = false;
  std::optional<std::byte> pattern_;
  std::uint32_t client_ = 0;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_GUEST_MEMORY_HPP
