// SPDX-License-Identifier: MIT
//
// The memory that a device model reaches: maps device addresses to host bytes or refuses.
#ifndef NVDLA_MODEL_BUS_HPP
#define NVDLA_MODEL_BUS_HPP

#include <cstddef>
#include <cstdint>

namespace nvdla::model {

// The register encoding of a RAM_TYPE field.
enum class Ram : std::uint8_t { kSecondary = 0, kPrimary = 1 };

// Host bytes behind a device address. `size` counts from the address asked for; 0 is a refusal.
struct Mapping {
  std::byte *data = nullptr;
  std::uint64_t size = 0;
};

class Bus {
 public:
  virtual ~Bus() = default;

  // Contiguous host bytes that start at `address`, for reading or for writing.
  virtual Mapping map(Ram ram, std::uint64_t address, bool write) noexcept = 0;

  // A number that changes whenever bytes of the range may have changed by other hands than the
  // device's, or 0 where that cannot be known. Lets a plan keep repacked weights.
  virtual std::uint64_t generation(Ram ram, std::uint64_t address,
                                   std::uint64_t size) const noexcept = 0;

  // The device wrote the range; called after the bytes are there.
  virtual void written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept = 0;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_BUS_HPP
