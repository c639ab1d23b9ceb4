// SPDX-License-Identifier: MIT
//
// Which memory of a bare device is where, for devices whose addresses the runtime chooses.
#ifndef NVDLA_BACKEND_REGISTERS_BLOCK_TABLE_HPP
#define NVDLA_BACKEND_REGISTERS_BLOCK_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "backend/inprocess/address_space.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla::detail {

// Thread safe.
class BlockTable {
 public:
  // Host bytes behind a device address, up to the end of their block.
  struct Bytes {
    std::byte* data = nullptr;
    std::uint64_t size = 0;  // 0: there are none
  };

  explicit BlockTable(std::uint32_t address_bits) noexcept : space_(address_bits) {}

  // A free range of the device's addresses: anywhere, or there; nullopt if there is none. It holds
  // no bytes before set().
  std::optional<std::uint64_t> take(std::optional<std::uint64_t> address, std::uint64_t bytes);
  // `memory`: the interface that reaches it, none for both.
  void set(std::uint64_t address, std::byte* data, std::uint64_t bytes,
           std::optional<Memory> memory);
  void give_back(std::uint64_t address) noexcept;

  Bytes find(Memory memory, std::uint64_t address) const noexcept;

 private:
  struct Block {
    std::byte* data;
    std::uint64_t bytes;
    std::optional<Memory> memory;
  };

  AddressSpace space_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Block> blocks_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_REGISTERS_BLOCK_TABLE_HPP
