// SPDX-License-Identifier: MIT
//
// The memory that a device model reaches: maps device addresses to host bytes or refuses.
#ifndef NVDLA_MODEL_CORE_BUS_HPP
#define NVDLA_MODEL_CORE_BUS_HPP

#include <cstddef>
#include <cstdint>

namespace nvdla::model {

// The register encoding of a RAM_TYPE field.
enum class Ram : std::uint8_t { kSecondary = 0, kPrimary = 1 };

// Host bytes behind a device address. `size` counts from the address asked for; 0 is a refusal.
struct Mapping {
  std::byte* data = nullptr;
  std::uint64_t size = 0;
};

class Bus {
 public:
  virtual ~Bus() = default;

  // Contiguous host bytes behind `address`, for reading or for writing. `size` is what the device
  // is about to touch, exactly, so a bus can check or record it. The mapping may be shorter (the
  // device asks again for the rest) or longer (the device ignores the surplus); it is used before
  // the next call of any member and not kept.
  virtual Mapping map(Ram ram, std::uint64_t address, std::uint64_t size, bool write) noexcept = 0;

  // Host bytes behind all of a range, where they lie together and stay there until the layer ends:
  // any of them may be touched, in any order and by several threads at once, without another word.
  // nullptr where there are none, and where the bus has to see each access.
  virtual std::byte* window(Ram /*ram*/, std::uint64_t /*address*/, std::uint64_t /*size*/,
                            bool /*write*/) noexcept {
    return nullptr;
  }

  // The accesses that follow are of this client, enum nvdla_dma; for buses that record.
  virtual void client([[maybe_unused]] std::uint32_t dma) noexcept {}

  // A number that changes whenever bytes of the range may have changed, by whatever hands (the
  // device's own writes are announced by written()), or 0 where that cannot be known. Lets a plan
  // keep repacked weights without reading them again.
  virtual std::uint64_t generation(Ram ram, std::uint64_t address,
                                   std::uint64_t size) const noexcept = 0;

  // The device wrote within the range; called after the bytes are there.
  virtual void written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept = 0;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_BUS_HPP
