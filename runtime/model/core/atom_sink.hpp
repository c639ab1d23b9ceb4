// SPDX-License-Identifier: MIT
//
// Takes what SDP hands on instead of writing it to memory.
#ifndef NVDLA_MODEL_CORE_ATOM_SINK_HPP
#define NVDLA_MODEL_CORE_ATOM_SINK_HPP

#include <cstdint>

namespace nvdla::model {

class AtomSink {
 public:
  virtual ~AtomSink() = default;

  // `count` atoms of line `y` of a surface, from column `x` on; valid during the call.
  virtual void take(std::uint64_t surface, std::uint32_t y, std::uint32_t x, const void* atoms,
                    unsigned count) = 0;
};

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_CORE_ATOM_SINK_HPP
