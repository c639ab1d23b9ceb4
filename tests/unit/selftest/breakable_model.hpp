// SPDX-License-Identifier: MIT
//
// The device model as a bare device that breaks on demand. Host and device have memory of their
// own, as caches have it: bytes go over when they are synchronised. Time is the device's own, a
// step takes a microsecond.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "backend/registers/bare_device.hpp"
#include "model/core/register_info.hpp"
#include "model/device.hpp"

namespace nvdla::test {

// How a device is broken; not at all unless something is said.
struct Breakage {
  // The window of registers.
  std::optional<std::uint32_t> answers = {};  // to every read
  bool swapped_bytes = false;
  std::uint32_t shifted_by = 0;
  std::uint32_t lost_window_bits = 0;  // address lines that are always 0
  std::uint32_t lines_low = 0;         // data lines of reads
  std::uint32_t lines_high = 0;
  std::optional<std::pair<unsigned, unsigned>> lines_swapped = {};

  // Registers, by name.
  const char* lost_write = nullptr;  // one that drops writes of lost_bits
  std::uint32_t lost_bits = 0;
  const char* left_over = nullptr;  // one that power on leaves at left_value
  std::uint32_t left_value = 0;
  bool one_group = false;                          // both groups of all units are written
  std::optional<std::uint32_t> lost_unit = {};     // enum nvdla_unit: its window reads 0
  std::optional<std::uint32_t> stopped_unit = {};  // its registers work, it never starts
  bool no_reset = false;

  // Interrupts.
  bool line_never = false;
  bool line_always = false;
  bool mask_ignored = false;
  bool set_raises_nothing = false;

  // Memory.
  bool host_writes_stay = false;  // from the second time on, in a cache of the host
  bool host_reads_stale = false;  // the same, what the host has read before
  bool words_reversed = false;    // bytes of each eight
  unsigned data_line_low = 8;     // of each byte on the way to memory; 8: none
  std::uint64_t lost_address_bits = 0;
  bool writes_beyond = false;  // the atom behind what it is to write

  // Computing.
  const char* wrong_when = nullptr;  // a register that is not wrong_unless makes results wrong:
  std::uint32_t wrong_bits = 0;      // those bits of it
  std::uint32_t wrong_unless = 0;
  std::uint32_t wrong_dma = 0;   // of this client, enum nvdla_dma
  bool wrong_conv_only = false;  // SDP, but not when it works from memory
  bool weights_rounded = false;  // 128 bytes are fetched where fewer are asked for
  std::uint64_t ns_per_byte = 0;
};

class BreakableModel final : public detail::BareDevice {
 public:
  // `hw` is what the device is, whatever it is called.
  BreakableModel(const nvdla_hw& hw, const Breakage& breakage,
                 model::Quirks quirks = model::Quirks::kRtl);
  ~BreakableModel() override;

  std::uint32_t read(std::uint32_t offset) override;
  void write(std::uint32_t offset, std::uint32_t value) override;
  std::unique_ptr<detail::BareMemory> allocate(std::uint64_t bytes, Memory memory) override;
  std::unique_ptr<detail::BareMemory> allocate_at(std::uint64_t, std::uint64_t,
                                                  std::optional<Memory>) override {
    return nullptr;
  }
  bool wait_interrupt(Time until) override;
  void relax() override;
  Time now() override { return now_; }
  bool reset() override;
  const nvdla_hw* configuration() const noexcept override { return nullptr; }
  std::string describe() const override { return "breakable"; }

  // How often it was written to, or reset.
  unsigned touched() const noexcept { return touched_; }

 private:
  class Bus;
  struct Block;
  class BlockMemory;

  std::uint32_t register_at(const char* name) const;
  std::uint32_t on_lines(std::uint32_t value) const;
  bool line();
  bool step();
  void write_whole(std::uint32_t offset, std::uint32_t value);
  void set_left_over();

  nvdla_hw hw_;
  model::RegisterMap map_;
  Breakage breakage_;
  std::unique_ptr<Bus> bus_;
  model::Device device_;
  Time now_{0};
  unsigned touched_ = 0;
};

}  // namespace nvdla::test
