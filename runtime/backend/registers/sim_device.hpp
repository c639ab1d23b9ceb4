// SPDX-License-Identifier: MIT
//
// A device that another process simulates. Its time passes in requests only, and a simulated clock
// cycle counts as a microsecond: bounds on time are bounds on cycles.
#ifndef NVDLA_BACKEND_REGISTERS_SIM_DEVICE_HPP
#define NVDLA_BACKEND_REGISTERS_SIM_DEVICE_HPP

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/name/device_name.hpp"
#include "backend/registers/bare_device.hpp"
#include "backend/registers/block_table.hpp"
#include "backend/registers/sim_channel.hpp"
#include "support/process.hpp"

namespace nvdla::detail {

class SimDevice final : public BareDevice {
 public:
  // Connects, says hello and resets the device. Throws kNoDevice for what is no simulator of a
  // configuration that is known, kGone where it ends meanwhile.
  explicit SimDevice(const DeviceName& name);

  std::uint32_t read(std::uint32_t offset) override;
  void write(std::uint32_t offset, std::uint32_t value) override;
  std::unique_ptr<BareMemory> allocate(std::uint64_t bytes, Memory memory) override;
  std::unique_ptr<BareMemory> allocate_at(std::uint64_t address, std::uint64_t bytes,
                                          std::optional<Memory> memory) override;
  bool wait_interrupt(Time until) override;
  void relax() override;
  Time now() override;
  std::uint32_t clock_khz() const noexcept override { return 1000; }
  bool counts_cycles() const noexcept override { return true; }
  bool reset() override;
  std::string take_refusals() override;
  const nvdla_hw* configuration() const noexcept override { return hw_; }
  std::string describe() const override { return name_; }

 private:
  class SimMemory;
  // A message that nobody answers; it goes before the next one that is.
  struct Posted {
    std::uint32_t type = 0;
    SimBytes payload = {};
    Descriptor file = {};
  };

  void hello(const nvdla_hw* named);
  void post(Posted message);
  std::unique_ptr<BareMemory> make_memory(std::optional<std::uint64_t> address, std::uint64_t bytes,
                                          std::optional<Memory> memory);
  // Sends what was posted, then the request, which lets `cycles` pass and some more, and serves the
  // simulator until it answers.
  std::uint32_t request(std::uint32_t type, const SimBytes& payload, std::uint64_t cycles = 0);
  void send_posted();
  void send_writes();
  std::uint32_t serve(std::uint64_t cycles);
  void take_sign_of_life(const SimBytes& payload);
  void take_answer(const SimBytes& payload);
  void fetch(const SimBytes& payload);
  void store(const SimBytes& payload);
  void note_refusal(const SimBytes& payload);
  BlockTable::Bytes block_of(const SimBytes& payload, const char* message) const;
  void run(std::uint64_t cycles, std::uint32_t flags);

  std::string name_;
  std::mutex channel_mutex_;  // channel_, failure_
  SimChannel channel_;
  MadeHere made_;
  std::string failure_;  // why there is no device any more
  const nvdla_hw* hw_ = nullptr;
  bool files_;
  std::shared_ptr<BlockTable> blocks_;

  std::mutex posted_mutex_;  // posted_; taken last
  std::vector<Posted> posted_;
  SimBytes writes_;  // of registers, not sent yet

  std::optional<std::uint64_t> first_cycle_;
  std::uint64_t cycle_ = 0;
  std::uint64_t alive_ = 0;  // the cycle of the last sign of life
  std::uint32_t value_ = 0;
  bool line_ = false;
  std::uint64_t refused_ = 0;
  std::string first_refusal_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_SIM_DEVICE_HPP
