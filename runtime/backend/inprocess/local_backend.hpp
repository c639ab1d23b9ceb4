// SPDX-License-Identifier: MIT
//
// A device that the engine drives from this process, on a thread of its own: what the model has in
// common with devices whose registers are reached.
#ifndef NVDLA_BACKEND_INPROCESS_LOCAL_BACKEND_HPP
#define NVDLA_BACKEND_INPROCESS_LOCAL_BACKEND_HPP

#include <functional>
#include <memory>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/inprocess/local_buffer.hpp"
#include "backend/inprocess/runner.hpp"
#include "firmware/nvdla_hw.h"

namespace nvdla::detail {

struct LocalDevice {
  const nvdla_hw* hw = nullptr;
  std::string_view backend = {};  // DeviceInfo::backend; lives as long as the program
  bool fast_fp16 = false;         // DeviceInfo::fast_fp16
  MemorySpeed memory = {};        // DeviceInfo::memory
  std::uint64_t sram_bytes = 0;   // DeviceInfo::sram_bytes
  std::uint32_t clock_khz = 0;    // of the runner's clock; 0: 1 GHz
  std::unique_ptr<Runner> runner = {};
  // Zeroed; from any thread. Throws kNoMemory.
  std::function<std::shared_ptr<LocalBuffer>(DeviceId, std::uint64_t bytes, Memory)> allocate = {};
  // Backend::adopt(), or nothing: a copy is taken then, as where it returns nullptr. From any
  // thread.
  std::function<std::shared_ptr<LocalBuffer>(DeviceId, const std::shared_ptr<HostPages>&, Memory)>
      adopt = {};
};

std::shared_ptr<Backend> make_local_backend(LocalDevice device);

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_INPROCESS_LOCAL_BACKEND_HPP
