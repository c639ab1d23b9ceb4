// SPDX-License-Identifier: MIT
//
// `BlockTable` maps device addresses to host memory, for bare devices whose addresses the runtime
// chooses.
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
  // The host bytes at a device address, up to the end of their block.
  struct Bytes {
    std::byte* data = nullptr;
    std::uint64_t size = 0;  // 0: there are none
  };

  explicit BlockTable(std::uint32_t address_bits) noexcept : space_(address_bits) {}

  // Reserves a free range of device addresses, anywhere or at `address`; nullopt if there is none.
  // The range has no bytes before set().
  std::optional<std::uint64_t> take(std::optional<std::uint64_t> address, std::uint64_t bytes);
  // `memory` is the interface that reaches the block; none: both do.
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
