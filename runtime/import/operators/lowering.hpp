// SPDX-License-Identifier: MIT
//
// From a graph, node by node, to a network.
#ifndef NVDLA_IMPORT_OPERATORS_LOWERING_HPP
#define NVDLA_IMPORT_OPERATORS_LOWERING_HPP

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/nodes/byte_pixels.hpp"
#include "import/nodes/operation.hpp"
#include "import/nodes/view.hpp"
#include "import/operators/step.hpp"
#include "nvdla/import.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/quantization.hpp"

namespace nvdla::import {

// Tables that were fitted, by the values of their functions.
using Tables = std::map<std::vector<float>, std::optional<Lut>>;

struct LoweringOptions {
  DeviceInfo info;
  CpuUse cpu = CpuUse::kTail;
  bool has_batch = true;       // the first axis of tensors is the batch, where they have several
  bool channels_last = false;  // inputs and outputs may lie so
  Tables* tables = nullptr;
  Precision integers = Precision::kInt8;                 // of tensors with a scale
  const std::map<ValueId, BytePixels>* bytes = nullptr;  // inputs that go in as bytes
};

// A value of the model as a tensor of the network.
struct Placed {
  Tensor tensor;
  View view;
};

// An entry of a matrix that moves elements: output `to` gets input `from` times `weight`.
struct MapEntry {
  std::int64_t to = 0;
  std::int64_t from = 0;
  double weight = 1;
};

// `Lowering` adds layers to a network. Operators ask it for their inputs, as they lie or in a view
// that they need, and leave their outputs with it.
class Lowering {
 public:
  Lowering(const Graph& graph, Network& network, const LoweringOptions& options);

  // Lowers the node, and those behind it that became part of its layer.
  void lower(std::size_t node);
  // Returns true if the node is part of the layer of another one.
  bool is_done(std::size_t node) const { return done_[node]; }
  // Names the outputs of the network, after all nodes.
  void finish(std::vector<ImportedTensor>& inputs, std::vector<ImportedTensor>& outputs);

  const Graph& graph() const noexcept { return graph_; }
  Network& network() noexcept { return network_; }
  const DeviceInfo& info() const noexcept { return options_.info; }
  // Returns the precision of tensors with a scale: int8 or int16.
  Precision integers() const noexcept { return options_.integers; }
  const char* integers_name() const noexcept {
    return options_.integers == Precision::kInt16 ? "int16" : "int8";
  }
  bool has_batch() const noexcept { return options_.has_batch; }

  // Returns how a value lies. An input that nothing has read yet gets its default view.
  const View& view(ValueId id);
  Tensor tensor(ValueId id);
  // Returns the value in a view, after a reshape, a transposition or both if it lies otherwise.
  Tensor tensor(ValueId id, const View& wanted);
  void put(ValueId id, Tensor tensor, const View& view);
  // Gives a value that was refused a tensor, so that nodes behind it can be checked: of integers
  // with a quantisation, else in fp16.
  void put_placeholder(ValueId id, const std::optional<Quantization>& quantization);
  // Returns true if a value has a placeholder in fp16.
  bool is_placeholder(ValueId id) const { return placeholders_.contains(id); }
  // Returns the same tensor in a buffer of its own.
  Tensor copy(Tensor x);
  // Returns the roles of a value's axes, in its own view or in the default one.
  std::string roles(ValueId id);
  // Returns the view of a graph input where the layer that reads it first wants none: the default
  // one, that with channels last which a Transpose behind it expects, or that of a Reshape behind
  // it where an axis is longer than the device's.
  View input_view(ValueId id) const;
  // Returns a view of a value in which the axes from `first` to `last` are channels, and all others
  // are none: its own one if that is so there.
  View channel_view(ValueId id, const Dims& dims, std::size_t first, std::size_t last);
  // Returns true if a value is a graph input that no layer reads yet: any view costs nothing.
  bool is_free(ValueId id) const;

  // Adds an input of the network, of integers.
  void add_quantized_input(ValueId id, const View& view, const Quantization& quantization);
  // Returns what is computed of a tensor that is an input of bytes; nullptr if it is none.
  const BytePixels* bytes_of(Tensor tensor) const;
  // Returns true if a value is a tensor of integers, other than the bytes of a picture.
  bool is_quantized(ValueId id) const;

  // Returns a name for a layer of the current node that no other layer has.
  std::string name(std::string_view suffix = {});
  // Records that the CPU computes something of the current node, or throws Refusal naming what.
  void use_cpu(std::string_view what);
  // The same for averages of int8 that the device has not, which CpuUse::kTail allows anywhere.
  void use_cpu_for_average(std::string_view what);
  // Returns true if use_cpu() would not throw.
  bool may_use_cpu() const;
  // Records what was chosen for the current node, for the user.
  void note(std::string notice) { notices_.push_back(std::move(notice)); }
  const std::vector<std::string>& notices() const { return notices_; }
  // Returns "CPU" if the CPU computes something of the current node.
  const std::set<std::string>& places() const { return places_; }

  // Moves and adds elements by a matrix, as a fully connected layer and a deconvolution. `to` is
  // the view of the result. Of integers its weights must be exact (exact.hpp), and it has scale and
  // zero point `output`, or those of the input.
  Tensor map_elements(Tensor x, const View& from, const View& to, const std::vector<MapEntry>& map,
                      std::optional<Quantization> output = {});
  // Moves elements from one view to another without a change of their order in the model.
  Tensor change_view(Tensor x, const View& from, const View& to);
  // Computes steps on a tensor, which has the sizes `dims` in the model.
  Tensor compute(Tensor x, const View& view, const Dims& dims, const std::vector<Step>& steps);
  // Returns the tensor of an operand as large as `dims`, in `view` or as one position.
  Tensor operand(ValueId id, const Dims& dims, const View& view, bool one_position);
  // Repeats a tensor along axes where it has size 1.
  Tensor expand(ValueId id, const Dims& dims, const View& view);
  // Repeats lines, columns and channels of which there is one.
  Tensor repeat(Tensor x, Shape now, const Shape& goal);
  // Computes a function of each element, with a table or on the CPU.
  Tensor function(Tensor x, const Step& step);

  // Returns the table of a function; nothing if none is right enough, or the device has none.
  const std::optional<Lut>& fit_table(const Step& step);

  // Returns the node that alone reads a value, or nullptr.
  const Node* next(ValueId id) const;
  // Takes nodes that follow the current one and read nothing but `id` as long as `accept` returns
  // true, and returns the value that the last one computes.
  ValueId follow(ValueId id, const std::function<bool(const Operation&, ValueId)>& accept);

 private:
  Tensor reshape(Tensor x, const View& from, const View& to);
  Tensor transpose(Tensor x, const View& from, const View& to);
  std::optional<std::size_t> only_reader(ValueId id) const;
  const Node* first_reader(ValueId id, std::string_view op) const;
  bool is_tail(const Node& node) const;
  void add_input(ValueId id, const View& view);

  const Graph& graph_;
  Network& network_;
  LoweringOptions options_;
  std::vector<std::optional<Placed>> placed_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<bool> is_output_;
  std::vector<bool> done_;
  std::map<std::string, int> names_;
  std::set<std::string> places_;
  std::vector<std::string> notices_;
  std::map<ValueId, View> inputs_;
  std::set<ValueId> placeholders_;
  bool has_scales_ = false;  // the graph has nodes of quantisation
  const Node* node_ = nullptr;
  Node end_ = {};  // stands for the application, behind all nodes
};

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_OPERATORS_LOWERING_HPP
