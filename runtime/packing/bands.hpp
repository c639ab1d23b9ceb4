// SPDX-License-Identifier: MIT
//
// A convolution that takes more than the convolution buffer is cut into several: into bands of
// lines, and where weights have to stay in the buffer into parts of the kernels, too.
#ifndef NVDLA_PACKING_BANDS_HPP
#define NVDLA_PACKING_BANDS_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

// Some lines and kernels of the output and what makes them.
struct Band {
  // Height, vertical paddings and kernels of the band, banks chosen, what it takes of the band
  // before and keeps for the next.
  nvdla_conv conv = {};
  std::uint32_t input_line = 0;   // first line read
  std::uint32_t output_line = 0;  // first line written
  std::uint32_t output_lines = 0;
  std::uint32_t first_kernel = 0;  // of a kernel group
};

// The most kernels, up to a kernel group, that fit beside a band of the input; 0 if not even one.
std::uint32_t kernels_that_fit(const DeviceInfo& info, const nvdla_conv& conv);

// Returns the bands in the order in which they run, from the top; one where everything fits. Bands
// have the same banks: where all weights fit beside the data, they stay in the buffer from band to
// band; with `keep_data` what two bands have in common of the input does, too. Returns nothing if
// the lines of a single output line do not fit beside a kernel group.
std::optional<std::vector<Band>> find_bands(const DeviceInfo& info, const nvdla_conv& conv,
                                            bool keep_data);

// Returns the bands that find_bands() finds; throws kNotAvailable where it finds none, with what
// does not fit.
std::vector<Band> split_conv(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data);

// Returns bands as split_conv() does, for weights that all have to stay in the buffer until the
// next convolution starts: each band has whole kernel groups, all of whose weights fit the banks.
// Of several ways it takes the one that fetches least. Returns none if not even one group fits
// beside a band.
std::vector<Band> split_resident(const DeviceInfo& info, const nvdla_conv& conv, bool keep_data);

}  // namespace nvdla::detail

#endif  // NVDLA_PACKING_BANDS_HPP
