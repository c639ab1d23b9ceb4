// SPDX-License-Identifier: MIT
//
// Writing the container: the inverse of parse_container().
#ifndef NVDLA_LOADABLE_WRITE_WRITER_HPP
#define NVDLA_LOADABLE_WRITE_WRITER_HPP

#include <cstddef>
#include <vector>

#include "loadable/format/container.hpp"

namespace nvdla::loadable {

// The file of a container, whose blobs may point anywhere. Checks nothing: what is written can be
// read back by parse_container() only if it is right.
std::vector<std::byte> write_container(const Container& container);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_WRITE_WRITER_HPP
