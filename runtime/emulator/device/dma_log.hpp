// SPDX-License-Identifier: MIT
//
// A text file of the memory accesses of the device, a line each:
//
//   sequence step client R|W DRAM|SRAM address bytes ok|refused
//
// `step` counts what the model did in one go (a layer); accesses of one client that continue each
// other within a step are one line. Made for joining with the driver's trace of where its layers
// may reach.
#ifndef NVDLA_EMULATOR_DEVICE_DMA_LOG_HPP
#define NVDLA_EMULATOR_DEVICE_DMA_LOG_HPP

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "model/core/bus.hpp"

namespace nvdla::emulator {

class DmaLog {
 public:
  // Throws program::OutputError when the file cannot be created.
  explicit DmaLog(const std::string& path);
  ~DmaLog();

  void record(std::uint32_t client, bool write, model::Ram ram, std::uint64_t address,
              std::uint64_t size, bool refused) noexcept;
  void end_of_step() noexcept;
  // Throws program::OutputError if a line was lost.
  void close();

 private:
  struct Line {
    std::uint32_t client = 0;
    bool write = false;
    model::Ram ram = model::Ram::kPrimary;
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // 0: no line is pending
    bool refused = false;
  };
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  void put() noexcept;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  Line pending_;
  std::uint64_t sequence_ = 0;
  std::uint64_t step_ = 0;
  bool used_ = false;  // a line was written in this step
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_DEVICE_DMA_LOG_HPP
