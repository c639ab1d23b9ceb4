// SPDX-License-Identifier: MIT
//
// Tells an application how far a build is.
#ifndef NVDLA_DEVICE_BUILD_STEPS_HPP
#define NVDLA_DEVICE_BUILD_STEPS_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nvdla/build_options.hpp"

namespace nvdla::detail {

// Lives no longer than the options.
class BuildSteps {
 public:
  explicit BuildSteps(const BuildOptions& options, std::size_t steps = 0)
      : options_(options), steps_(static_cast<std::uint32_t>(steps)) {}

  // Says how many there are, where that was not known before; none has begun.
  void expect(std::size_t steps) { steps_ = static_cast<std::uint32_t>(steps); }

  void begin(std::string_view step) {
    if (options_.progress) options_.progress({step, done_, steps_});
    ++done_;
  }

 private:
  const BuildOptions& options_;
  std::uint32_t done_ = 0, steps_;
};

}  // namespace nvdla::detail

#endif  // NVDLA_DEVICE_BUILD_STEPS_HPP
