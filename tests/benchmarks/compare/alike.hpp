// SPDX-License-Identifier: MIT
//
// Whether the model and its peer computed the same.
#pragma once

#include <span>

namespace nvdla::bench {

// Throws std::runtime_error naming the first element that is further from the peer's than
// `tolerance` and than `part` of that.
void expect_alike(std::span<const float> ours, std::span<const float> peers, double tolerance,
                  double part = 0);

}  // namespace nvdla::bench
