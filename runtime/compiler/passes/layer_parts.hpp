// SPDX-License-Identifier: MIT
//
// Layers of a schedule are cut into parts that compute some lines of one image each.
#ifndef NVDLA_COMPILER_PASSES_LAYER_PARTS_HPP
#define NVDLA_COMPILER_PASSES_LAYER_PARTS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <vector>

#include "nvdla/types/device_info.hpp"
#include "packing/bands.hpp"

namespace nvdla::detail {

// `Part` is a layer that computes some lines of one image of another layer.
struct Part {
  nvdla_layer layer = {};
  std::uint32_t image = 0, band = 0;
  std::uint32_t read_end = 0;               // the line of the input behind the last that it reads
  std::uint32_t first_line = 0, lines = 0;  // of the output
};

// Layers of these kinds can be cut: convolutions with SDP behind them, and PDP and CDP from memory.
bool is_conv(const nvdla_layer& layer) noexcept;
const nvdla_surface& input_of(const nvdla_layer& layer) noexcept;
const nvdla_surface& output_of(const nvdla_layer& layer) noexcept;
std::uint32_t output_lines(const nvdla_layer& layer);

// Returns the parts that compute the bands of a convolution.
std::vector<Part> parts_of(const DeviceInfo& info, const nvdla_layer& whole,
                           const std::vector<Band>& bands);
// Returns so many parts, of about as many lines; none if the layer cannot be cut so. Banks of
// convolutions are left as they were.
std::vector<Part> cut_layer(const DeviceInfo& info, const nvdla_layer& whole, std::uint32_t count);
// Returns the parts of each of so many images, one image after another.
std::vector<Part> repeat(const std::vector<Part>& parts, std::uint32_t images);

// Returns true if the lines that a surface is written in are those that another is read in.
bool has_same_lines(const nvdla_surface& written, const nvdla_surface& read) noexcept;

// Returns the layer that computes a band of `whole`.
nvdla_layer layer_of(const DeviceInfo& info, const nvdla_layer& whole, const Band& band);

// Makes a layer that works on a batch one that works on one image of it.
void select_image(nvdla_layer& layer, std::uint32_t image);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_LAYER_PARTS_HPP
