// SPDX-License-Identifier: MIT
//
// What the CPU does between two programs, as a network keeps it.
#ifndef NVDLA_NETWORK_CPU_NODE_HPP
#define NVDLA_NETWORK_CPU_NODE_HPP

#include <cstddef>
#include <functional>
#include <span>

#include "device/chain_part.hpp"
#include "nvdla/network.hpp"
#include "nvdla/tensor.hpp"

namespace nvdla::detail {

struct CpuNode {
  // The bytes of a cube from its first one on.
  struct From {
    TensorDesc desc;
    std::span<const std::byte> bytes;
  };
  struct To {
    TensorDesc desc;
    std::span<std::byte> bytes;
  };

  std::function<void(std::span<const From> from, const To& to)> run;
  CpuForm form;
  // Adds layers that do the same on devices with int16 and operator Y, if there are any, to a
  // network that has the input; returns their output.
  std::function<Tensor(Network::Impl& net, Tensor input)> on_device = {};
};

}  // namespace nvdla::detail

#endif  // NVDLA_NETWORK_CPU_NODE_HPP
