// SPDX-License-Identifier: MIT
//
// The result of compiling a network. It is immutable.
#ifndef NVDLA_DEVICE_COMPILED_IMPL_HPP
#define NVDLA_DEVICE_COMPILED_IMPL_HPP

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/chain_part.hpp"
#include "device/layer_steps.hpp"
#include "nvdla/compiled_network.hpp"
#include "nvdla/types/error.hpp"
#include "nvdla/types/image_desc.hpp"
#include "nvdla/types/quantization.hpp"
#include "nvdla/types/tensor_desc.hpp"
#include "support/user_layer.hpp"

namespace nvdla {

struct CompiledNetwork::Impl : std::enable_shared_from_this<CompiledNetwork::Impl> {
  struct Port {
    std::string name;
    TensorDesc desc;
    Quantization quantization;
    bool integers_only = false;  // the network sets no quantization
    std::uint32_t slot = 0;
    std::optional<ImageDesc> image;    // instead of desc
    std::optional<nvdla_conv> folded;  // of the convolution; desc is the folded cube
    std::uint64_t offset = 0;          // in its buffer, which other tensors may share
    std::optional<Error> unusable;     // why it can be used neither as tensor nor as image
  };
  struct Layer {
    std::string name;
    std::uint64_t macs = 0;
    std::uint64_t cycles = 0;
    bool cpu = false;          // an operator of the CPU
    std::uint32_t origin = 0;  // the layer of the network that it belongs to
  };

  explicit Impl(const Device& on) : device(on) {}
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Port& port(std::string_view name) const;
  // Throws if the port is an image.
  const Port& tensor(const Port& port) const;
  // Throws if the port has integers without a quantization.
  void check_reals(const Port& port) const;
  // Throws if the port is a tensor.
  const ImageDesc& pixels(const Port& port) const;
  const Port& input(std::string_view name) const;
  // Returns the output of that name, or the input if there is no such output.
  const Port& readable(std::string_view name) const;
  bool is_output(const Port& port) const;
  const Layer& layer(std::uint32_t index) const;
  // Returns the bindings of a new request: constants to the network's buffers, all other slots to
  // new buffers of the request. Throws kNoMemory.
  virtual std::vector<Binding> make_bindings() const;
  // The queues of a request. Its first part goes to `first`, the queue that the request was made
  // for, and takes its turn there. The parts after it go to `later`: in `first` they could be
  // behind jobs that wait for the end of this run.
  struct Queues {
    Queue first, later;
  };
  Queues make_queues(Queue first) const;
  // Starts a run with such bindings. Errors report tensors and layers by their names.
  Fence submit(const Queues& queues, std::span<const Binding> bindings,
               const SubmitOptions& options) const;
  // Returns the steps that run the network layer by layer.
  std::vector<detail::LayerStep> layer_steps(std::span<const Binding> bindings) const;

  Device device;
  bool statistics = false;
  std::vector<detail::ChainPart> parts;  // in the order of execution
  std::vector<nvdla_slot> slots;         // of all parts
  std::vector<Buffer> constants;         // by slot; empty where each request has a buffer
  std::vector<std::string> slot_names;   // by slot, the tensor or constants in it, for errors
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Layer> layers;
  detail::UserNetwork user;  // empty for a loadable
  MemoryUse memory;
  std::vector<PassReport> passes;  // empty for a loadable

 private:
  // Checks the buffers that different programs of a chain share.
  void check_shared_buffers(std::span<const Binding> bindings) const;
};

}  // namespace nvdla

#endif  // NVDLA_DEVICE_COMPILED_IMPL_HPP
