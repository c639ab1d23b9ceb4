// SPDX-License-Identifier: MIT
#include "save.hpp"

#include <vector>

#include "describe.hpp"
#include "tools/common/print.hpp"
#include "tools/files/files.hpp"

namespace networks {
namespace {

// Channel by channel, as raw files have them.
std::vector<std::byte> by_channel(const auto& elements, const Shape& shape,
                                  nvdla::Precision precision) {
  std::vector<std::byte> bytes;
  for (std::size_t c = 0; c < shape.channels; ++c) {
    for (std::size_t i = c; i < elements.size(); i += shape.channels) {
      if (precision == nvdla::Precision::kInt8) {
        bytes.push_back(static_cast<std::byte>(static_cast<std::int8_t>(elements[i])));
      } else {
        const std::uint16_t half = nvdla::to_half(elements[i]);
        bytes.push_back(static_cast<std::byte>(half & 0xff));
        bytes.push_back(static_cast<std::byte>(half >> 8));
      }
    }
  }
  return bytes;
}

}  // namespace

void save(const Network& network, nvdla::Precision precision, const nvdla::DeviceInfo& info,
          const nvdla::LoadableOptions& options, const Elements& result, const std::string& path) {
  const std::vector<Layer>& layers = network.graph.layers();
  const std::vector<Value> shown = {static_cast<Value>(layers.size() - 1)};
  nvdla::program::write_file(
      path, nvdla::make_loadable(describe(network, precision, shown), info.configuration, options));
  nvdla::program::write_file(path + ".image",
                             by_channel(network.results[0], layers.front().shape, precision));
  nvdla::program::write_file(path + ".result", by_channel(result, layers.back().shape, precision));
  nvdla::program::print(
      "{0}: the network for {1}; run it with\n"
      "  nvdla run {0} --input {0}.image --output {0}.found && cmp {0}.found {0}.result\n",
      path, info.configuration);
}

}  // namespace networks
