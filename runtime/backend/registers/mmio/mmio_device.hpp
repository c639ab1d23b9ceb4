// SPDX-License-Identifier: MIT
//
// `MmioDevice` is a core whose registers are mapped into this process, without a driver in the
// kernel.
#ifndef NVDLA_BACKEND_REGISTERS_MMIO_MMIO_DEVICE_HPP
#define NVDLA_BACKEND_REGISTERS_MMIO_MMIO_DEVICE_HPP

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/name/device_name.hpp"
#include "backend/registers/bare_device.hpp"
#include "backend/registers/mmio/attachment.hpp"
#include "backend/registers/mmio/dma_memory.hpp"
#include "backend/registers/mmio/dma_pool.hpp"

namespace nvdla::detail {

class MmioDevice final : public BareDevice {
 public:
  // Maps the registers. Throws kNoDevice and kBusy.
  explicit MmioDevice(const DeviceName& name, const System& system = System());
  // Stops the core before its memory is freed.
  ~MmioDevice() override;

  std::uint32_t read(std::uint32_t offset) override {
    return attachment_->registers().read(offset);
  }
  // The first write checks the version register, maps memory and lets the core reach it; nothing is
  // written before. Throws kNoDevice and kNoMemory.
  void write(std::uint32_t offset, std::uint32_t value) override;
  std::unique_ptr<BareMemory> allocate(std::uint64_t bytes, Memory memory) override;
  std::unique_ptr<BareMemory> allocate_at(std::uint64_t address, std::uint64_t bytes,
                                          std::optional<Memory> memory) override;
  bool wait_interrupt(Time until) override;
  void relax() override;
  Time now() override;
  std::uint32_t clock_khz() const noexcept override { return place_.clock_khz; }
  bool reset() override;
  const nvdla_hw* configuration() const noexcept override;
  std::string describe() const override { return name_; }

 private:
  // The memory behind one interface, mapped when it is first used.
  struct Reach {
    std::unique_ptr<DmaMemory> memory = nullptr;
    std::optional<DmaPool> pool = std::nullopt;
  };

  void take_over();
  bool line_up();
  void stop();
  unsigned address_bits();
  std::unique_ptr<DmaMemory> reserved(const MemoryWindow& window);
  Reach& reach(Memory memory);
  std::unique_ptr<BareMemory> make_memory(Reach& reach, const std::optional<DmaRange>& range,
                                          std::uint64_t bytes, Memory memory);

  std::string name_;
  System system_;
  MmioName place_;
  const nvdla_hw* named_;
  std::unique_ptr<Attachment> attachment_;
  // The base of GLB's registers; set when the device is taken over.
  std::optional<std::uint32_t> glb_;
  std::mutex memory_mutex_;  // guards dram_ and sram_ while they are created
  Reach dram_;
  Reach sram_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_MMIO_MMIO_DEVICE_HPP
