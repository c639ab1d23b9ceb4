// SPDX-License-Identifier: MIT
//
// What is left of a network once it is compiled. Nothing of it changes afterwards.
#ifndef NVDLA_DEVICE_COMPILED_IMPL_HPP
#define NVDLA_DEVICE_COMPILED_IMPL_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/error.hpp"

namespace nvdla {

struct CompiledNetwork::Impl {
  struct Port {
    std::string name;
    TensorDesc desc;
    Quantization quantization;
    std::uint32_t slot = 0;
    std::optional<ImageDesc> image;    // instead of desc
    std::optional<nvdla_conv> folded;  // the convolution before, and desc is the folded cube
  };
  struct Layer {
    std::string name;
    std::uint64_t macs = 0;
  };

  explicit Impl(const Device& on) : device(on) {}

  const Port& port(std::string_view name) const;
  // Refuses images.
  const Port& tensor(const Port& port) const;
  const Port& input(std::string_view name) const;
  const Port& output(std::string_view name) const;
  const Layer& layer(std::uint32_t index) const;
  // A refusal of bindings, with tensors by name.
  Error named(const Error& error) const;
  // What each slot is bound to in a request: constants to those of the network, all else to buffers
  // of its own. Throws kNoMemory.
  std::vector<Binding> make_bindings() const;

  Device device;
  Program program;
  std::vector<Buffer> constants;        // by slot; empty where a request has its own
  std::vector<std::string> slot_names;  // what errors call the tensor or constants in each slot
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Layer> layers;
  // What the program was made of; the writer of loadables starts from these.
  std::vector<nvdla_layer> descriptors;
  std::vector<nvdla_slot> slots;
  std::vector<nvdla_lut> luts;
  std::vector<nvdla_transfer> transfers;
  std::vector<std::byte> control;
  MemoryUse memory;
  detail::LayerNames layer_names;  // of the layers above
};

}  // namespace nvdla

#endif  // NVDLA_DEVICE_COMPILED_IMPL_HPP
