// SPDX-License-Identifier: MIT
//
// The layers that the loader makes of a file, as text.
#ifndef NVDLA_LOADABLE_READ_LOADABLE_SCHEDULE_HPP
#define NVDLA_LOADABLE_READ_LOADABLE_SCHEDULE_HPP

#include <string>

#include "nvdla/loadable.hpp"

namespace nvdla::loadable {

// Compiles `file` for `device` and prints its layers: see compiler/lower/schedule_text.hpp. Throws
// what Loadable::compile() throws.
std::string schedule_text(const Loadable& file, const Device& device);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_READ_LOADABLE_SCHEDULE_HPP
