// SPDX-License-Identifier: MIT
#include "emulator/vhost/virtqueue.hpp"

#include <fmt/format.h>
// Only its structures are C++.
#define VIRTIO_RING_NO_LEGACY
#include <linux/virtio_ring.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace nvdla::emulator {
namespace {

constexpr std::uint32_t kMostEntries = 32768;

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Indices are what the guest and the device tell each other that entries are complete by.
std::atomic_ref<std::uint16_t> index_of(std::byte* ring) {
  return std::atomic_ref(*reinterpret_cast<std::uint16_t*>(ring + sizeof(std::uint16_t)));
}

}  // namespace

std::size_t Virtqueue::Chain::room() const noexcept {
  std::size_t sum = 0;
  for (const std::span<std::byte> part : write) sum += part.size();
  return sum;
}

void Virtqueue::Chain::fill(std::span<const unsigned char> data) const noexcept {
  for (const std::span<std::byte> part : write) {
    const std::size_t count = std::min(part.size(), data.size());
    std::memcpy(part.data(), data.data(), count);
    data = data.subspan(count);
  }
}

void Virtqueue::set_size(std::uint32_t entries) {
  if (!std::has_single_bit(entries) || entries > kMostEntries)
    throw ProtocolError(fmt::format("SET_VRING_NUM: {} entries, a power of two up to {} is right",
                                    entries, kMostEntries));
  stop();
  size_ = entries;
}

void Virtqueue::set_rings(const VringAddress& rings) {
  stop();
  addresses_ = rings;
}

void Virtqueue::set_next(std::uint32_t index) {
  if (index > 0xffff)
    throw ProtocolError(fmt::format("SET_VRING_BASE: {}, indices have 16 bits", index));
  stop();
  next_available_ = next_used_ = static_cast<std::uint16_t>(index);
}

std::byte* Virtqueue::ring(const char* name, std::uint64_t address, std::size_t size,
                           std::size_t alignment) {
  const model::Mapping mapping = memory_.map(model::Ram::kPrimary, address, size, true);
  if (mapping.size < size)
    throw ProtocolError(fmt::format("queue {}: {} at {:#x} has {} bytes of {} in memory",
                                    addresses_.index, name, address, mapping.size, size));
  // Here, too: where a region begins is the guest's choice.
  if (address % alignment != 0 || std::bit_cast<std::uintptr_t>(mapping.data) % alignment != 0)
    throw ProtocolError(fmt::format("queue {}: {} at {:#x}, a multiple of {} is right",
                                    addresses_.index, name, address, alignment));
  return mapping.data;
}

void Virtqueue::start() {
  if (size_ == 0)
    throw ProtocolError(
        "SET_VRING_ENABLE: the size of the queue is not known, SET_VRING_NUM first");
  descriptors_ = ring("descriptors", addresses_.descriptors, sizeof(vring_desc) * size_, 16);
  available_ = ring("available ring", addresses_.available, 6 + 2 * std::size_t{size_}, 2);
  used_ = ring("used ring", addresses_.used, 6 + sizeof(vring_used_elem) * size_, 4);
  started_ = true;
}

void Virtqueue::add_buffer(Chain& chain, std::uint64_t address, std::uint32_t length, bool write) {
  if (length > kMaxChainBytes - std::max(chain.read.size(), chain.room()))
    throw ProtocolError(
        fmt::format("queue {}: a chain of more than {} bytes", addresses_.index, kMaxChainBytes));
  while (length != 0) {
    const model::Mapping part = memory_.map(model::Ram::kPrimary, address, length, write);
    if (part.size == 0)
      throw ProtocolError(fmt::format("queue {}: a buffer at {:#x}, where there is no memory",
                                      addresses_.index, address));
    if (write) {
      chain.write.emplace_back(part.data, part.size);
    } else {
      const auto* bytes = reinterpret_cast<const unsigned char*>(part.data);
      chain.read.insert(chain.read.end(), bytes, bytes + part.size);
    }
    address += part.size;
    length -= static_cast<std::uint32_t>(part.size);
  }
}

std::optional<Virtqueue::Chain> Virtqueue::take() {
  if (!started_) return std::nullopt;
  const auto waiting = static_cast<std::uint16_t>(
      index_of(available_).load(std::memory_order_acquire) - next_available_);
  if (waiting == 0) return std::nullopt;
  if (waiting > size_)
    throw ProtocolError(fmt::format("queue {}: {} chains are available in a queue of {}",
                                    addresses_.index, waiting, size_));
  const std::size_t slot = next_available_ % size_;
  Chain chain;
  chain.head = load<std::uint16_t>(available_ + 4 + 2 * slot);
  std::uint32_t index = chain.head;
  for (std::uint32_t length = 1;; ++length) {
    if (index >= size_)
      throw ProtocolError(
          fmt::format("queue {}: descriptor {} of a queue of {}", addresses_.index, index, size_));
    if (length > size_)
      throw ProtocolError(fmt::format("queue {}: the chain of descriptor {} has no end",
                                      addresses_.index, chain.head));
    const auto part = load<vring_desc>(descriptors_ + sizeof(vring_desc) * index);
    if ((part.flags & VRING_DESC_F_INDIRECT) != 0)
      throw ProtocolError(
          fmt::format("queue {}: descriptor {} is indirect, which the device does not offer",
                      addresses_.index, index));
    add_buffer(chain, part.addr, part.len, (part.flags & VRING_DESC_F_WRITE) != 0);
    if ((part.flags & VRING_DESC_F_NEXT) == 0) break;
    index = part.next;
  }
  ++next_available_;
  return chain;
}

void Virtqueue::give_back(const Chain& chain, std::size_t written) {
  const vring_used_elem element{chain.head, static_cast<std::uint32_t>(written)};
  std::memcpy(used_ + 4 + sizeof(element) * (next_used_ % size_), &element, sizeof(element));
  ++next_used_;
  index_of(used_).store(next_used_, std::memory_order_release);
}

}  // namespace nvdla::emulator
