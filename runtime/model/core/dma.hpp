// SPDX-License-Identifier: MIT
//
// `Dma` has the memory clients of the model: it moves runs of bytes over the bus, in as many pieces
// as the bus maps. A refused read returns ones, a refused write is dropped, and both are recorded;
// NVDLA itself sees no bus errors.
#ifndef NVDLA_MODEL_CORE_DMA_HPP
#define NVDLA_MODEL_CORE_DMA_HPP

#include <cstddef>
#include <cstdint>

#include "firmware/nvdla_hw.h"
#include "model/core/bus.hpp"
#include "model/core/options.hpp"

namespace nvdla::model {

class Dma {
 public:
  Dma(const nvdla_hw& hw, Bus& bus) noexcept
      : bus_(bus),
        address_mask_(hw.address_bits >= 64 ? ~std::uint64_t{0}
                                            : (std::uint64_t{1} << hw.address_bits) - 1) {}

  void read(nvdla_dma client, Ram ram, std::uint64_t address, void* to,
            std::uint64_t size) noexcept;
  void write(nvdla_dma client, Ram ram, std::uint64_t address, const void* from,
             std::uint64_t size) noexcept;
  // Returns the bytes that read() returns: in place if they are contiguous, else in `scratch`.
  // Valid until the next access.
  const std::byte* view(nvdla_dma client, Ram ram, std::uint64_t address, std::uint64_t size,
                        std::byte* scratch) noexcept;

  // Returns an address as the bus sees it.
  std::uint64_t wrapped(std::uint64_t address) const noexcept { return address & address_mask_; }

  // Bus::window() of a range that does not wrap.
  std::byte* window(Ram ram, std::uint64_t address, std::uint64_t size, bool write) noexcept {
    address &= address_mask_;
    if (size == 0 || size - 1 > address_mask_ - address) return nullptr;
    return bus_.window(ram, address, size, write);
  }

  // Tells the bus that a range was written; writers call it once for many writes.
  void written(Ram ram, std::uint64_t address, std::uint64_t size) noexcept {
    bus_.written(ram, address & address_mask_, size);
  }
  // Does the same for `lines` lines of `bytes`, in one call unless they lie far apart.
  void written_lines(Ram ram, std::uint64_t base, std::uint64_t stride, std::uint64_t lines,
                     std::uint64_t bytes) noexcept;
  std::uint64_t generation(Ram ram, std::uint64_t address, std::uint64_t size) const noexcept {
    return bus_.generation(ram, address & address_mask_, size);
  }

  const Refusals& refusals() const noexcept { return refusals_; }
  void clear_refusals() noexcept { refusals_ = {}; }

 private:
  void read_on(nvdla_dma client, Ram ram, std::uint64_t address, std::byte* to, std::uint64_t size,
               Mapping mapping) noexcept;
  void note_refusal(nvdla_dma client, std::uint64_t address, bool write) noexcept;

  Bus& bus_;
  std::uint64_t address_mask_;
  Refusals refusals_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_DMA_HPP
