// SPDX-License-Identifier: MIT
//
// oneDNN as the operations here share it.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "nvdla/types/shape.hpp"
#include "peer/operation.hpp"

namespace nvdla::bench {

struct Operation::Impl {
  struct Step {
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
  };

  void add(const dnnl::primitive& primitive,
           const std::unordered_map<int, dnnl::memory>& arguments) {
    steps.push_back({primitive, arguments});
  }

  std::vector<Step> steps;
  dnnl::memory result;
  dnnl::memory keep;  // what arguments are views of
  std::string name;
};

dnnl::engine& peer_engine();
dnnl::stream& peer_stream();

dnnl::memory::dims dims_of(const Shape& shape);
// Memory with these numbers; `shape` is theirs, slowest first.
dnnl::memory filled(const dnnl::memory::desc& desc, const dnnl::memory::dims& shape,
                    std::span<const float> values);
dnnl::memory filled(const dnnl::memory::desc& desc, const dnnl::memory::dims& shape,
                    std::span<const std::int8_t> values);
// The numbers of a memory, in the order of its dimensions.
std::vector<float> values_of(dnnl::memory memory);

}  // namespace nvdla::bench
