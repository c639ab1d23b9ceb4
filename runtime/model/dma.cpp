// SPDX-License-Identifier: MIT
#include "model/dma.hpp"

#include <algorithm>
#include <cstring>

namespace nvdla::model {
namespace {

// After a refusal the bus is asked again at the next boundary of this size, so that what lies
// behind a hole is still reached.
constexpr std::uint64_t kRefusalBytes = 4096;

}  // namespace

void Dma::refuse(nvdla_dma client, std::uint64_t address, bool write) noexcept {
  if (refusals_.count++ == 0) {
    refusals_.first_address = address;
    refusals_.first_dma = client;
    refusals_.first_write = write;
  }
}

void Dma::read(nvdla_dma client, Ram ram, std::uint64_t address, void* to,
               std::uint64_t size) noexcept {
  auto* out = static_cast<std::byte*>(to);
  bus_.client(client);
  while (size != 0) {
    address &= address_mask_;
    const Mapping mapping = bus_.map(ram, address, size, false);
    std::uint64_t count = std::min(mapping.size, size);
    if (count != 0) {
      std::memcpy(out, mapping.data, count);
    } else {
      refuse(client, address, false);
      count = std::min(size, kRefusalBytes - address % kRefusalBytes);
      std::memset(out, 0xff, count);
    }
    out += count;
    address += count;
    size -= count;
  }
}

void Dma::write(nvdla_dma client, Ram ram, std::uint64_t address, const void* from,
                std::uint64_t size) noexcept {
  auto* in = static_cast<const std::byte*>(from);
  bus_.client(client);
  while (size != 0) {
    address &= address_mask_;
    const Mapping mapping = bus_.map(ram, address, size, true);
    std::uint64_t count = std::min(mapping.size, size);
    if (count != 0) {
      std::memcpy(mapping.data, in, count);
    } else {
      refuse(client, address, true);
      count = std::min(size, kRefusalBytes - address % kRefusalBytes);
    }
    in += count;
    address += count;
    size -= count;
  }
}

}  // namespace nvdla::model
