// SPDX-License-Identifier: MIT
//
// `SdpOperands` has the operands of BS, BN or EW: from registers or memory, for each channel or
// each element, shifted and converted for the operator.
#ifndef NVDLA_MODEL_SDP_SDP_OPERANDS_HPP
#define NVDLA_MODEL_SDP_SDP_OPERANDS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/core/cube_rows.hpp"
#include "model/core/dma.hpp"
#include "model/sdp/sdp_layer.hpp"
#include "model/simd/kernels.hpp"

namespace nvdla::model {

class SdpOperands {
 public:
  // The per-element operands of one tile, [position][kBlock].
  struct Tile {
    std::vector<std::int32_t> alu, mul;
    std::vector<std::byte> raw;
  };

  SdpOperands(const nvdla_hw& hw, Dma& dma, const Kernels& kernels)
      : hw_(hw), dma_(dma), kernels_(kernels) {}

  // Reads per-channel operands; `index` is 0 to 2. `layer` must stay in place until the next call.
  void begin(const SdpLayer& layer, unsigned index, std::uint32_t padded_channels);
  // Locates the per-element operands, after begin() or before another run of a layer that differs
  // only in the addresses of its tensors.
  void open();

  // `Range` is the memory of the per-channel operands; none if its size is 0.
  struct Range {
    Ram ram = Ram::kPrimary;
    std::uint64_t base = 0, size = 0;
  };
  static Range channel_range(const SdpLayer& layer, unsigned index,
                             std::uint32_t padded_channels) noexcept;

  // Returns true if operands are per element and fetched tile by tile.
  bool per_element() const noexcept { return dma_layer_ != nullptr && dma_layer_->per_element; }
  // The cube of the per-element operands, and whether Bus::window() maps it, so that threads may
  // fetch at the same time.
  const SdpCube& cube() const noexcept { return cube_; }
  bool in_window() const noexcept { return window_ != nullptr; }
  // Fetches operands of the first `columns` processing atoms of a block, for positions in raster
  // order.
  void fetch(unsigned block, unsigned columns, std::uint32_t first, unsigned count, Tile& tile);

  // `tile` must have been fetched if operands are per element.
  SdpOperand alu(unsigned block, const Tile& tile) const noexcept {
    return operand(alu_, has_alu_, tile.alu, block);
  }
  SdpOperand mul(unsigned block, const Tile& tile) const noexcept {
    return operand(mul_, has_mul_, tile.mul, block);
  }

  // Return per-channel operands, padded to whole blocks, and the window of per-element ones, laid
  // out as cube() describes.
  std::span<const std::int32_t> alu_channels() const noexcept { return alu_; }
  std::span<const std::int32_t> mul_channels() const noexcept { return mul_; }
  const std::byte* window() const noexcept { return window_; }
  // Returns the number of values per element: one for the ALU or the multiplier, or two for both.
  unsigned parts() const noexcept { return has_alu_ && has_mul_ ? 2 : 1; }
  std::uint8_t element_bytes() const noexcept { return dma_layer_->two_bytes ? 2 : 1; }
  // Returns the greatest magnitude of a value of two bytes or one.
  std::int32_t element_limit() const noexcept { return dma_layer_->two_bytes ? 32768 : 128; }

  // Return the greatest magnitude of an integer operand.
  std::uint64_t largest_alu() const noexcept { return largest_alu_; }
  std::uint64_t largest_mul() const noexcept { return largest_mul_; }

 private:
  unsigned position_bytes() const noexcept {
    return column_ * parts() * (dma_layer_->two_bytes ? 2 : 1);
  }
  SdpOperand operand(const std::vector<std::int32_t>& channels, bool in_memory,
                     const std::vector<std::int32_t>& elements, unsigned block) const noexcept;
  // Loads elements without conversion, in fp16 as fp32.
  void load(const SdpElements& from, std::int32_t* to) const;
  // Apply the operand's shift or converter to `count` loaded values.
  void finish_alu(std::int32_t* values, unsigned count) const;
  void finish_mul(std::int32_t* values, unsigned count) const;
  void convert(std::int32_t* values, unsigned count, const OperandConverter& converter) const;

  const nvdla_hw& hw_;
  Dma& dma_;
  const Kernels& kernels_;
  const SdpLayer* layer_ = nullptr;
  const OperandDma* dma_layer_ = nullptr;  // null unless from memory
  unsigned index_ = 0;
  std::uint32_t padded_channels_ = 0;
  unsigned column_ = 0;  // channels of a processing atom
  bool float_ = false;
  bool has_alu_ = false, has_mul_ = false;  // from memory
  SdpCube cube_;                            // of per-element operands
  const std::byte* window_ = nullptr;
  unsigned alu_shift_ = 0;
  // Per-channel operands, padded to whole blocks.
  std::vector<std::int32_t> alu_, mul_;
  std::uint64_t largest_alu_ = 0, largest_mul_ = 0;
  std::vector<std::byte> raw_;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_OPERANDS_HPP
