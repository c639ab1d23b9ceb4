// SPDX-License-Identifier: MIT
//
// The dump of a tensor that the old runtime wrote and golden files hold.
#ifndef NVDLA_LOADABLE_FORMAT_DIMG_HPP
#define NVDLA_LOADABLE_FORMAT_DIMG_HPP

#include <cstddef>
#include <span>
#include <vector>

#include "nvdla/loadable.hpp"

namespace nvdla::loadable {

// Header and elements by channel, line, column, of a tensor in its buffer. Elements are fetched as
// the old runtime did: always from atoms of 32 bytes, also where the device has smaller ones, which
// gives a scrambled but repeatable view, unless the tensor says that its atoms are of 8. Throws
// kNotAvailable for types other than int8, int16 and fp16, for images, planes and batches;
// kInvalidArgument if elements lie outside the buffer.
std::vector<std::byte> make_dimg(const LoadableTensor& tensor, std::span<const std::byte> buffer);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_DIMG_HPP
