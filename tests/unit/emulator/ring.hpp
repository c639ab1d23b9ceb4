// SPDX-License-Identifier: MIT
//
// The guest's side of a virtqueue in shared memory, which also writes what no guest should.
#ifndef NVDLA_TESTS_EMULATOR_RING_HPP
#define NVDLA_TESTS_EMULATOR_RING_HPP

#include "emulator/vhost/virtqueue.hpp"
#include "fakes.hpp"

namespace nvdla::emulator {

// Entries of `size` at `at` in a memory whose first byte the guest calls `base`.
class GuestRing {
 public:
  static constexpr std::uint64_t kBytes = 0x400;

  GuestRing(SharedMemory& memory, std::uint64_t base, std::uint64_t at, std::uint16_t size)
      : memory_(memory), base_(base), at_(at), size_(size) {}

  VringAddress addresses(std::uint32_t index) const {
    return {index, base_ + at_, base_ + at_ + 0x300, base_ + at_ + 0x200};
  }

  void describe(std::uint16_t descriptor, std::uint64_t address, std::uint32_t length,
                std::uint16_t flags, std::uint16_t next = 0) {
    const std::uint64_t entry = at_ + 16 * std::uint64_t{descriptor};
    put(entry, address);
    put(entry + 8, length);
    put(entry + 12, flags);
    put(entry + 14, next);
  }
  void offer(std::uint16_t head) {
    put(at_ + 0x204 + 2 * std::uint64_t{available_} % (2 * size_), head);
    put(at_ + 0x202, ++available_);
  }
  void set_available(std::uint16_t index) { put(at_ + 0x202, index); }

  std::uint16_t used() const { return get<std::uint16_t>(at_ + 0x302); }
  // {head, bytes written} of the n-th that came back.
  std::pair<std::uint32_t, std::uint32_t> used_entry(std::uint16_t n) const {
    const std::uint64_t entry = at_ + 0x304 + 8 * (std::uint64_t{n} % size_);
    return {get<std::uint32_t>(entry), get<std::uint32_t>(entry + 4)};
  }

 private:
  template <typename T>
  void put(std::uint64_t offset, T value) {
    std::memcpy(memory_.data() + offset, &value, sizeof(value));
  }
  template <typename T>
  T get(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, memory_.data() + offset, sizeof(value));
    return value;
  }

  SharedMemory& memory_;
  std::uint64_t base_;
  std::uint64_t at_;
  std::uint16_t size_;
  std::uint16_t available_ = 0;
};

}  // namespace nvdla::emulator

#endif  // NVDLA_TESTS_EMULATOR_RING_HPP
