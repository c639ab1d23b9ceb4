// SPDX-License-Identifier: MIT
//
// What is left of a network once it is built.
#ifndef NVDLA_DEVICE_SESSION_IMPL_HPP
#define NVDLA_DEVICE_SESSION_IMPL_HPP

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "nvdla/error.hpp"
#include "nvdla/network.hpp"

namespace nvdla {

struct Session::Impl {
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
  template <typename T>
  void write(std::string_view name, Layout layout, std::span<const T> source);
  void write_reals(std::string_view name, Layout layout, std::span<const float> source);
  // Calls `unpack(port, map)` with the elements of an output.
  template <typename Unpack>
  void read(std::string_view name, const Unpack& unpack) const;

  // What the state of the session allows; `what` would have been done. The caller holds `mutex`.
  // Nothing may touch the buffers while a run does.
  void check_idle(std::string_view what) const;
  // There was a run, and it ended well.
  void check_ran(std::string_view what) const;

  // A refusal of the bindings, with tensors by name.
  Error named(const Error& error) const;
  // Lets the last run's fence name layers.
  void name_layers();

  // Of everything that changes: bindings, rebound and last.
  mutable std::mutex mutex;

  Device device;
  Program program;
  std::vector<Binding> bindings;
  std::vector<std::string> slot_names;  // what errors call the tensor or constants in each slot
  std::set<std::uint32_t> rebound;      // slots whose buffer the last run did not have
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
  detail::LayerNames layer_names;  // of the layers above, from the first run on
  Fence last;
};

}  // namespace nvdla

#endif  // NVDLA_DEVICE_SESSION_IMPL_HPP
