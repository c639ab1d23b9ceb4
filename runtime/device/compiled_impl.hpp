// SPDX-License-Identifier: MIT
//
// What is left of a network once it is compiled. Nothing of it changes afterwards.
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
    bool integers_only = false;  // nobody said what integers stand for
    std::uint32_t slot = 0;
    std::optional<ImageDesc> image;    // instead of desc
    std::optional<nvdla_conv> folded;  // the convolution before, and desc is the folded cube
    std::uint64_t offset = 0;          // in its buffer, where more may lie
    std::optional<Error> unusable;     // why it is neither a tensor nor an image
  };
  struct Layer {
    std::string name;
    std::uint64_t macs = 0;
    std::uint64_t cycles = 0;
    bool cpu = false;          // an operator of the CPU
    std::uint32_t origin = 0;  // the layer of the network that it works for
  };

  explicit Impl(const Device& on) : device(on) {}
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  const Port& port(std::string_view name) const;
  // Refuses images.
  const Port& tensor(const Port& port) const;
  // Refuses integers of which nobody said what they stand for.
  void check_reals(const Port& port) const;
  // Refuses tensors.
  const ImageDesc& pixels(const Port& port) const;
  const Port& input(std::string_view name) const;
  // Returns the output of that name, or the input if there is no such output.
  const Port& readable(std::string_view name) const;
  bool is_output(const Port& port) const;
  const Layer& layer(std::uint32_t index) const;
  // What each slot is bound to in a request: constants to those of the network, all else to buffers
  // of its own. Throws kNoMemory.
  virtual std::vector<Binding> make_bindings() const;
  // Where the programs of a request go: the first of all parts to the queue that it was made for,
  // where it takes its turn. What comes after the CPU, or after another program, must not wait
  // behind jobs there that wait for its end.
  struct Queues {
    Queue first, later;
  };
  Queues make_queues(Queue first) const;
  // Starts a run with such bindings. Refusals have tensors by name, the fence has layers by theirs.
  Fence submit(const Queues& queues, std::span<const Binding> bindings,
               const SubmitOptions& options) const;
  // The same layer by layer.
  std::vector<detail::LayerStep> layer_steps(std::span<const Binding> bindings) const;

  Device device;
  bool statistics = false;
  std::vector<detail::ChainPart> parts;  // in the order in which they run
  std::vector<nvdla_slot> slots;         // of all parts
  std::vector<Buffer> constants;         // by slot; empty where a request has its own
  std::vector<std::string> slot_names;   // what errors call the tensor or constants in each slot
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Layer> layers;
  detail::UserNetwork user;  // of a network that was described here, not of a loadable
  MemoryUse memory;
  std::vector<PassReport> passes;  // empty for a loadable

 private:
  // Of a chain, whose programs see some of the buffers each.
  void check_shared_buffers(std::span<const Binding> bindings) const;
};

}  // namespace nvdla

#endif  // NVDLA_DEVICE_COMPILED_IMPL_HPP
