// SPDX-License-Identifier: MIT
#include "catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/common/text.hpp"
#include "tools/files/status.hpp"

namespace networks {

std::span<const Entry> catalogue() {
  static constexpr std::array kEntries = {
      Entry{"lenet5", "two convolutions, three fully connected layers", lenet5},
      Entry{"alexnet", "local response normalisation, large kernels", alexnet},
      Entry{"alexnet-groups", "the same with groups, as it was published", alexnet_groups},
      Entry{"resnet18", "residual blocks", resnet18},
      Entry{"resnet50", "residual bottlenecks", resnet50},
      Entry{"resnet152", "the same, three times as deep", resnet152},
      Entry{"squeezenet", "1.1: concatenations", squeezenet},
      Entry{"googlenet", "four branches side by side, normalisation", googlenet},
      Entry{"mobilenetv1", "depthwise convolutions", mobilenetv1},
      Entry{"mobilenetv2", "the same in inverted residual blocks", mobilenetv2},
      Entry{"efficientnet-b0", "swish by table, squeeze and excitation", efficientnet_b0,
            efficientnet_b0_without_tables,
            "ReLU stands for swish and a hard sigmoid for the sigmoid"},
      Entry{"vgg16", "the most arithmetic and weights", vgg16},
      Entry{"vgg19", "more: on nv_small two programs", vgg19},
      Entry{"densenet121", "concatenations of concatenations", densenet121},
      Entry{"yolo", "a detector: leaky ReLU, 416 x 416", yolo},
      Entry{"unet", "deconvolutions, concatenations", unet},
      Entry{"transformer", "an encoder block of BERT-base, partly on the CPU", transformer}};
  return kEntries;
}

const Entry& find_entry(const std::string& name) {
  std::vector<std::string> names;
  for (const Entry& entry : catalogue()) {
    if (name == entry.name) return entry;
    names.emplace_back(entry.name);
  }
  const std::string_view meant = nvdla::program::closest(name, names);
  throw nvdla::program::UsageError(
      fmt::format("no network is called '{}'; {}", name,
                  meant.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", meant)));
}

}  // namespace networks
