// SPDX-License-Identifier: MIT
//
// The reader of loadables against any bytes: what is taken is also converted and compiled for
// every configuration, and where its memories are small, opened on a device.
#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware/nvdla_hw.h"
#include "loadable/loadable_impl.hpp"
#include "nvdla/error.hpp"
#include "nvdla/loadable.hpp"

namespace {

constexpr std::uint64_t kSmall = 1 << 20;

bool small(const nvdla::loadable::Container& container) {
  std::uint64_t bytes = 0;
  for (const auto& memory : container.memories) {
    if (memory.size > kSmall) return false;
    bytes += memory.size;
  }
  return bytes <= kSmall;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = nvdla::Loadable::load(std::as_bytes(std::span(data, size)));
    file.impl().made_for();
    if (small(file.impl().container)) file.open(nvdla::Device::open("model:nv_full"));
  } catch (const nvdla::Error&) {
    // Any input may be refused; nothing else may happen.
  }
  return 0;
}
