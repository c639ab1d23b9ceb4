// SPDX-License-Identifier: MIT
//
// `Virtqueue` is the device's side of a split virtqueue: it takes chains of buffers that the guest
// made available, and returns them as used. It validates everything that it reads from the guest's
// memory: an invalid index, address or chain is a ProtocolError.
#ifndef NVDLA_EMULATOR_VIRTQUEUE_HPP
#define NVDLA_EMULATOR_VIRTQUEUE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/device/guest_memory.hpp"
#include "emulator/vhost/vhost_message.hpp"

namespace nvdla::emulator {

// The limit on the bytes of one chain, to be read and to be written.
inline constexpr std::size_t kMaxChainBytes = 64 * 1024;

class Virtqueue {
 public:
  explicit Virtqueue(GuestMemory& memory) noexcept : memory_(memory) {}

  // Set what the guest reports before it starts the queue. Throw ProtocolError.
  void set_size(std::uint32_t entries);
  void set_rings(const VringAddress& rings);
  void set_next(std::uint32_t index);
  void start();
  void stop() noexcept { started_ = false; }

  struct Chain {
    std::uint16_t head = 0;
    std::vector<unsigned char> read;          // a copy, since the guest may keep writing
    std::vector<std::span<std::byte>> write;  // in the guest's memory
    std::size_t room() const noexcept;        // bytes in `write`
    void fill(std::span<const unsigned char> data) const noexcept;  // writes as much as fits
  };
  // Takes the next chain; nothing if there is none, or if the queue is not started. Throws
  // ProtocolError.
  std::optional<Chain> take();
  void give_back(const Chain& chain, std::size_t written);

 private:
  std::byte* ring(const char* name, std::uint64_t address, std::size_t size, std::size_t alignment);
  void add_buffer(Chain& chain, std::uint64_t address, std::uint32_t length, bool write);

  GuestMemory& memory_;
  VringAddress addresses_;
  std::uint32_t size_ = 0;
  std::uint16_t next_available_ = 0;
  std::uint16_t next_used_ = 0;
  bool started_ = false;
  std::byte* descriptors_ = nullptr;
  std::byte* available_ = nullptr;
  std::byte* used_ = nullptr;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_EMULATOR_VIRTQUEUE_HPP
