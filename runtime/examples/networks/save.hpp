// SPDX-License-Identifier: MIT
//
// A network as files that `nvdla run` takes.
#ifndef NVDLA_EXAMPLES_NETWORKS_SAVE_HPP
#define NVDLA_EXAMPLES_NETWORKS_SAVE_HPP

#include <nvdla/nvdla.hpp>
#include <string>

#include "check.hpp"
#include "numbers.hpp"

namespace networks {

// Writes the loadable, with these options, for the configuration of `info`; `path`.image and
// `path`.result have the elements by channel, line and column. Prints how to run it. Throws
// nvdla::program::OutputError.
void save(const Network& network, nvdla::Precision precision, const nvdla::DeviceInfo& info,
          const nvdla::LoadableOptions& options, const Elements& result, const std::string& path);

}  // namespace networks

#endif  // NVDLA_EXAMPLES_NETWORKS_SAVE_HPP
