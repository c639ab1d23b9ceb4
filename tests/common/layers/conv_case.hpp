// SPDX-License-Identifier: MIT
//
// Convolutions in all modes of the first generation, as registers and memory by the description
// alone, and their results worked out one product at a time: images, batches, compressed weights,
// Winograd, fp16. SDP passes the results through.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/layers/conv_pixels.hpp"
#include "common/layers/model_layer.hpp"
#include "firmware/nvdla_hw.h"
#include "model/core/memory.hpp"

namespace nvdla::test {

enum class Number : std::uint8_t { kInt8 = 0, kInt16 = 1, kFp16 = 2 };

struct ConvCase {
  const nvdla_hw* hw = nullptr;
  Number in = Number::kInt8, proc = Number::kInt8, out = Number::kInt16;
  bool image = false, winograd = false, compressed = false;
  unsigned width = 1, height = 1, channels = 1, batches = 1;
  // Winograd: of the 3x3 kernel that folding leaves.
  unsigned kernels = 1, kernel_width = 1, kernel_height = 1;
  unsigned stride_width = 1, stride_height = 1, dilation_width = 1, dilation_height = 1;
  unsigned left = 0, right = 0, top = 0, bottom = 0;
  std::uint16_t pad_value = 0;
  unsigned clip = 0, pra = 0, post = 0;
  // Image.
  unsigned format = 0, x_offset = 0;
  std::string format_name;
  bool sign = false;
  // Converter.
  bool convert = false, mean = false;
  std::int16_t offset = 0, means[4] = {}, scale = 1;
  unsigned truncate = 0;
  bool flush = false;

  std::vector<std::uint16_t> weights;  // as patterns, in the order of the stream

  unsigned bytes() const { return proc == Number::kInt8 ? 1 : 2; }
  unsigned folds() const { return winograd ? stride_width * stride_height : 1; }
  unsigned aligned_channels() const;  // of one position, whole atoms
  unsigned weight_channels() const;   // as CSC counts them
  unsigned ext_width() const { return (left + width + right) / stride_width; }
  unsigned ext_height() const { return (top + height + bottom) / stride_height; }
  unsigned out_width() const;
  unsigned out_height() const;
  unsigned entries() const;
  unsigned group() const { return hw->atomic_k / bytes(); }
  std::size_t kernel_elements() const;

  // Memory.
  Cube input, second, output;
  std::uint64_t batch_stride = 0, out_batch_stride = 0;
};

struct ConvResult {
  // What CACC hands to SDP: [batch][y][x][kernel].
  std::vector<std::int32_t> values;
  std::uint32_t nan_data = 0, inf_data = 0, nan_weights = 0, inf_weights = 0, saturated = 0;
};

// Its sizes, for messages.
std::string describe(const ConvCase& layer);
// Random input, weights and addresses for the sizes that are set.
void finish(ConvCase& layer, Random& random, model::Memory& memory);
void program(const ConvCase& layer, Registers& regs);
void enable(Registers& regs);
// `flush_weights`: as the logic does, not the reference model.
ConvResult reference(const ConvCase& layer, const model::Memory& memory, bool flush_weights);

// Calls place(kernel, row, column or Winograd position, channel) in the order of the stream.
void each_weight(const ConvCase& layer,
                 const std::function<void(unsigned, unsigned, unsigned, unsigned)>& place);

}  // namespace nvdla::test
