// SPDX-License-Identifier: MIT
//
/// @file
/// The use of memory by a compiled network and a request of it.
#ifndef NVDLA_TYPES_MEMORY_USE_HPP
#define NVDLA_TYPES_MEMORY_USE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "nvdla/types/export.hpp"
#include "nvdla/types/memory.hpp"

namespace nvdla {

/// A buffer and what lies in it, one after the other.
struct BufferUse {
  /// A tensor, or the constants of a layer.
  struct Tenant {
    std::string name;  ///< "input 'image'", "the output of layer 3 'conv'", "the constants of ..."
    std::uint64_t bytes = 0;  ///< bytes that it takes
    bool always = false;      ///< constants, and what the application writes or reads
    /// Layers of the network, from the first to the last that touches it. Where tensors share a
    /// buffer, all that touch one have ended before any that touches the next one starts.
    std::uint32_t first_layer = 0;
    std::uint32_t last_layer = 0;  ///< included
  };

  Memory memory = Memory::kDram;  ///< memory that the buffer is in
  std::uint64_t bytes = 0;        ///< size of the buffer
  bool shared = false;            ///< constants: one for all requests; of all else each has its own
  std::vector<Tenant> tenants;    ///< all that lie in it at some time
};

/// The use of all buffers of a network and one request.
struct MemoryUse {
  std::vector<BufferUse> buffers;  ///< all buffers
  std::uint64_t total = 0;         ///< of all buffers
  std::uint64_t shared =
      0;  ///< of those that all requests share: a further one takes the rest again
  std::uint64_t apart = 0;  ///< what the same would take if nothing was shared
  std::uint64_t peak = 0;   ///< of all that is in use at once, if layers run one by one: no plan
                            ///< needs less
};

/// Returns a table, a line for each tenant: where, from which layer to which, how many bytes; what
/// shares a buffer stands together. Ends with total, peak, what it would be without sharing, and
/// what a further request takes.
NVDLA_API std::string to_text(const MemoryUse& use);

}  // namespace nvdla

#endif  // NVDLA_TYPES_MEMORY_USE_HPP
