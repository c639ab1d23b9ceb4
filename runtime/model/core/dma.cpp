// SPDX-License-Identifier: MIT
#include "model/core/dma.hpp"

#include <algorithm>
#include <cstring>

namespace nvdla::model {
namespace {

// After a refusal the bus is asked again at the next boundary of this size, so that what lies
// behind a hole is still reached.
constexpr std::uint64_t kRefusalBytes = 4096;

}  // namespace

void Dma::note_refusal(nvdla_dma client, std::uint64_t address, bool write) noexcept {
  if (refusals_.count++ == 0) {
    refusals_.first_address = address;
    refusals_.first_dma = client;
    refusals_.first_write = write;
  }
}

// `mapping` is what the bus has said of the first bytes.
void Dma::read_on(nvdla_dma client, Ram ram, std::uint64_t address, std::byte* to,
                  std::uint64_t size, Mapping mapping) noexcept {
  while (true) {
    std::uint64_t count = std::min(mapping.size, size);
    if (count != 0) {
      std::memcpy(to, mapping.data, count);
    } else {
      note_refusal(client, address, false);
      count = std::min(size, kRefusalBytes - address % kRefusalBytes);
      std::memset(to, 0xff, count);
    }
    to += count;
    address = (address + count) & address_mask_;
    size -= count;
    if (size == 0) return;
    mapping = bus_.map(ram, address, size, false);
  }
}

void Dma::read(nvdla_dma client, Ram ram, std::uint64_t address, void* to,
               std::uint64_t size) noexcept {
  bus_.client(client);
  if (size == 0) return;
  address &= address_mask_;
  read_on(client, ram, address, static_cast<std::byte*>(to), size,
          bus_.map(ram, address, size, false));
}

const std::byte* Dma::view(nvdla_dma client, Ram ram, std::uint64_t address, std::uint64_t size,
                           std::byte* scratch) noexcept {
  bus_.client(client);
  address &= address_mask_;
  const Mapping mapping = bus_.map(ram, address, size, false);
  if (mapping.size >= size) return mapping.data;
  read_on(client, ram, address, scratch, size, mapping);
  return scratch;
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
      note_refusal(client, address, true);
      count = std::min(size, kRefusalBytes - address % kRefusalBytes);
    }
    in += count;
    address += count;
    size -= count;
  }
}

void Dma::written_lines(Ram ram, std::uint64_t base, std::uint64_t stride, std::uint64_t lines,
                        std::uint64_t bytes) noexcept {
  if (stride <= 2 * bytes) return written(ram, base, (lines - 1) * stride + bytes);
  for (std::uint64_t y = 0; y < lines; ++y) written(ram, base + y * stride, bytes);
}

}  // namespace nvdla::model
