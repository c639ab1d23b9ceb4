// SPDX-License-Identifier: MIT
//
// `MemoryImage` follows the contents of memory through the jobs of a record.
#ifndef NVDLA_TOOLS_DIFF_MEMORY_IMAGE_HPP
#define NVDLA_TOOLS_DIFF_MEMORY_IMAGE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tools/replay/dump.hpp"

namespace nvdla::compare {

class MemoryImage {
 public:
  // Sets the contents at the start of a job.
  void begin(const replay::Dump& job) {
    for (const replay::DumpBuffer& buffer : job.buffers)
      buffers_[buffer.info.memory][buffer.info.address] = buffer.bytes;
  }

  // Applies the results of the job, if the record has them.
  void end(const replay::Dump& job) {
    for (const replay::DumpBuffer& written : job.written) {
      const std::span<std::byte> bytes =
          find(written.info.memory, written.info.address, written.info.size);
      std::copy_n(written.bytes.begin(), bytes.size(), bytes.begin());
    }
  }

  // Returns the whole range; empty if the record does not have all of it.
  std::span<std::byte> find(std::uint32_t memory, std::uint64_t address, std::uint64_t size) {
    const auto next = buffers_[memory].upper_bound(address);
    if (next == buffers_[memory].begin()) return {};
    auto& [start, bytes] = *std::prev(next);
    const std::uint64_t offset = address - start;
    if (offset > bytes.size() || size > bytes.size() - offset) return {};
    return std::span(bytes).subspan(offset, size);
  }

  // Returns the buffers of a memory, by address.
  const std::map<std::uint64_t, std::vector<std::byte>>& buffers(std::uint32_t memory) const {
    return buffers_[memory];
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> buffers_[2];
};

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_MEMORY_IMAGE_HPP
