// SPDX-License-Identifier: MIT
//
// The jobs of a record on another device: what memory is there afterwards, and from a record in
// which a layer is wrong to one of that layer alone.
#ifndef NVDLA_TOOLS_DIFF_RERUN_HPP
#define NVDLA_TOOLS_DIFF_RERUN_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/replay/dump.hpp"
#include "tools/replay/target.hpp"

namespace nvdla::compare {

// The jobs as a record of `target` would have them: each is played on the memory that the record
// has for it, up to the first that does not end. Throws replay::Error for jobs that cannot be
// played, such as dumps of the driver, and where the target fails.
std::vector<replay::Dump> rerun(const std::vector<replay::Dump>& jobs, std::string_view file,
                                replay::Target& target);

// A job with that layer, the memory that it touches as it was before, and what the record says that
// it wrote and no layer after it did. The layers before it in the job run on `target`, whose memory
// is then taken. A convolution that goes on from what others left in the convolution buffer takes
// them along. Throws replay::Error.
replay::Dump reduce(const std::vector<replay::Dump>& jobs, std::size_t job, std::uint32_t layer,
                    std::string_view file, replay::Target& target);

// The bytes of a record of that job.
std::vector<std::byte> record_bytes(const replay::Dump& job);

}  // namespace nvdla::compare

#endif  // NVDLA_TOOLS_DIFF_RERUN_HPP
