// SPDX-License-Identifier: MIT
//
// A file with one task of the CPU: one operation from one buffer to another.
#ifndef NVDLA_TESTS_LOADABLE_WITNESS_EMULATED_HPP
#define NVDLA_TESTS_LOADABLE_WITNESS_EMULATED_HPP

#include "container.hpp"
#include "record.hpp"

namespace nvdla::witness {

struct Emulated {
  // A softmax over 40 channels of 1 x 2 in fp16, from memory 3 to memory 4. Memory 5 is SRAM.
  explicit Emulated(bool old = false);

  File file() const;

  Record network, op, source, destination;
};

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_WITNESS_EMULATED_HPP
