// SPDX-License-Identifier: MIT
//
// A sparse memory behind the model's bus: zero until written, allocated page by page. For players
// of register traces and cases, and for tests; it never refuses an address.
#ifndef NVDLA_MODEL_CORE_MEMORY_HPP
#define NVDLA_MODEL_CORE_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/core/bus.hpp"

namespace nvdla::model {

class Memory final : public Bus {
 public:
  enum class Spaces : std::uint8_t {
    kShared,    // both RAM types reach the same bytes
    kSeparate,  // each RAM type has its own
  };

  explicit Memory(Spaces spaces = Spaces::kShared) noexcept : spaces_(spaces) {}

  // Host access; addresses wrap at 2^64.
  void load(Ram ram, std::uint64_t address, std::span<const std::byte> bytes);
  void fill(Ram ram, std::uint64_t address, std::uint64_t size, std::byte value);
  void read(Ram ram, std::uint64_t address, std::span<std::byte> bytes) const;
  std::vector<std::byte> read(Ram ram, std::uint64_t address, std::uint64_t size) const;

  // CRC-32 of zlib.
  std::uint32_t crc(Ram ram, std::uint64_t address, std::uint64_t size) const;

  // Forgets everything.
  void clear() noexcept;

  Mapping map(Ram ram, std::uint64_t address, std::uint64_t size, bool write) noexcept override;
  std::byte* window(Ram ram, std::uint64_t address, std::uint64_t size,
                    bool write) noexcept override {
    const Mapping mapping = map(ram, address, size, write);
    return mapping.size >= size ? mapping.data : nullptr;
  }
  std::uint64_t generation(Ram ram, std::uint64_t address,
                           std::uint64_t size) const noexcept override;
  void written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept override;

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  struct Page {
    std::unique_ptr<std::byte, Free> bytes;
    std::uint64_t generation = 0;
  };
  using Space = std::unordered_map<std::uint64_t, Page>;

  Space& space(Ram ram) noexcept;
  const Space& space(Ram ram) const noexcept;
  Page* page(Ram ram, std::uint64_t number);
  void touched(Ram ram, std::uint64_t address, std::uint64_t size);

  Spaces spaces_;
  Space pages_[2];
  std::uint64_t clock_ = 1;
};

// CRC-32 of zlib; `seed` continues an earlier result.
std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t seed = 0) noexcept;

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_MEMORY_HPP
