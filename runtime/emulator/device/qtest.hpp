// SPDX-License-Identifier: MIT
//
// Interrupts into QEMU through its qtest socket, which works beside TCG: a text line per command,
// each answered by a line that starts with OK. A thread of its own sends and waits, because QEMU's
// main loop, which answers, may itself be waiting for the device process.
#ifndef NVDLA_EMULATOR_DEVICE_QTEST_HPP
#define NVDLA_EMULATOR_DEVICE_QTEST_HPP

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "emulator/device/interrupts.hpp"
#include "emulator/device/stream.hpp"

namespace nvdla::emulator {

class Qtest final : public InterruptPort {
 public:
  // `line` is the interrupt's, as set_irq_in names it; `patience` is settle()'s.
  Qtest(Descriptor socket, std::string line,
        std::chrono::milliseconds patience = std::chrono::seconds(1));
  ~Qtest() override;
  Qtest(const Qtest&) = delete;
  Qtest& operator=(const Qtest&) = delete;

  void message(std::uint64_t address, std::uint32_t data) override;
  void level(bool high) override;
  // Gives up in the end, with a line in the log: a device must not hang its machine.
  void settle() override;

 private:
  void queue(std::string command);
  void work();
  bool exchange(const std::string& command);

  Descriptor socket_;
  std::string line_;
  std::chrono::milliseconds patience_;
  std::string received_;  // of the worker only

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> commands_;
  bool busy_ = false;
  bool stopping_ = false;
  bool broken_ = false;
  std::thread worker_;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_QTEST_HPP
