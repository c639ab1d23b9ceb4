// SPDX-License-Identifier: MIT
//
// How much memory something needs while it runs.
#pragma once

#include <functional>

namespace nvdla::bench {

// Mebibytes by which the pages that the process has in memory grow at most while `run` runs. What
// was freed before is given back to the system first. Throws std::runtime_error where the kernel
// does not tell (/proc/self/clear_refs and status).
double memory_growth(const std::function<void()>& run);

}  // namespace nvdla::bench
