// SPDX-License-Identifier: MIT
//
/// @file
/// Models of frameworks: an ONNX file becomes a network. It is in a library of its own,
/// libnvdla-import, so that libnvdla needs no protobuf.
///
/// @code
///   nvdla::Device device = nvdla::Device::open("model:nv_full");
///   nvdla::ImportedModel model = nvdla::import_model("mobilenet.onnx", device.info());
///   nvdla::Request request = model.network.compile(device).create_request();
///   request.write(model.inputs[0].name, model.inputs[0].layout, pixels);
///   request.run();
///   request.read(model.outputs[0].name, model.outputs[0].layout, scores);
/// @endcode
#ifndef NVDLA_IMPORT_HPP
#define NVDLA_IMPORT_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvdla/build_options.hpp"
#include "nvdla/network.hpp"
#include "nvdla/types/device_info.hpp"
#include "nvdla/types/export.hpp"

namespace nvdla {

/// The operators that the CPU may compute.
enum class CpuUse {
  kNone,  ///< none
  /// softmax and argmax behind which the device computes nothing, and averages of int8 that the
  /// device does not have: above 32 lines or columns without int16
  kTail,
  kAll,  ///< all that nvdla/operators/cpu_operators.hpp has
};

/// The size of an input that the model leaves open, or that is to be another.
struct InputShape {
  std::string name;                 ///< name of the input
  std::vector<std::int64_t> sizes;  ///< all of its sizes, in the model's order
};

/// Elements that make a constant of an input of the model.
struct InputValue {
  std::string name;               ///< name of the input
  std::vector<std::byte> tensor;  ///< an ONNX TensorProto, serialised
};

/// Elements of all inputs of a model for one run: a list for each input, in the model's order of
/// inputs and elements. Integers are given as floats, too.
using Sample = std::vector<std::vector<float>>;

/// Says that an input is a picture: pixels p of 0..255 go in as they are, and the model gets (p -
/// mean) / deviation of each of its channels. The axis of channels is the second of four, or the
/// last one.
struct InputPixels {
  std::string name = {};              ///< name of the input; empty: the only one
  std::vector<float> mean = {};       ///< one for each channel, or one for all; empty: 0
  std::vector<float> deviation = {};  ///< likewise, above 0; empty: 1
  bool reversed = false;              ///< the model has its channels in the opposite order: BGR
};

/// Options of import_model().
struct ImportOptions {
  /// Precision of a model of real numbers: kFp16, or kInt8 or kInt16 with scales that `samples`
  /// give, which are needed then unless `check` is true. Nothing: kInt8 where there are samples,
  /// else kFp16. A model that has scales of its own (QuantizeLinear) is in int8, and takes neither.
  /// In int16 (DeviceInfo::has_int16) zero points are 0, but those of `pixels` the mean.
  std::optional<Precision> precision = {};
  /// Inputs by which scales are chosen: from the least to the greatest number that each value
  /// takes, and for each kernel its greatest weight. The same samples give the same network on
  /// every machine. Those of `pixels` are of 0..255, too.
  std::vector<Sample> samples = {};
  std::vector<InputPixels> pixels = {};  ///< Inputs that are pictures.
  bool measure = false;  ///< True: measure the noise of integers with up to four samples.
  std::vector<InputShape> shapes = {};     ///< Sizes of inputs; a batch left open is 1 otherwise.
  std::vector<InputValue> constants = {};  ///< Inputs that become constants.
  std::vector<std::string> outputs = {};   ///< Values that the graph is cut at; empty: its own.
  CpuUse cpu = CpuUse::kTail;              ///< The operators that the CPU may compute.
  /// True: inputs and outputs may have their channels last, where ImportedTensor::layout describes
  /// that; false: the CPU puts them in the order of the model, where the network has another.
  bool channels_last = false;
  /// Called by the thread that imports, before a sample is computed or its noise is measured, and
  /// before a node gets its layers; each of these three counts steps of its own. What it throws
  /// ends the import and reaches who asked for it.
  std::function<void(const BuildProgress&)> progress = {};
  std::string name = "model";  ///< Name of a model in memory, for messages.
  /// Folder of a model in memory, in which data outside of it lies; empty: there is none.
  std::string folder = {};
  /// True: describe every node, and refuse none by an error: reasons are in ImportedModel::nodes.
  /// The network is empty then if there is a reason. Else compiling it tells whether the device has
  /// room for its layers; without samples its scales are no more than a stand-in.
  bool check = false;
  /// True: in fp16 a picture of `pixels` is an input of int8 with scale 1 and zero point -128, so
  /// that it takes half of the bytes, where only a convolution reads it that can take bytes; what
  /// the model computes of each channel before becomes part of that layer. False: it is fp16.
  bool bytes = true;
};

/// An input or output of an imported model.
struct ImportedTensor {
  std::string name;                 ///< name in model and network
  std::string type;                 ///< type of the elements in the model: "float", "uint8"
  std::vector<std::int64_t> sizes;  ///< sizes in the model
  Layout layout = Layout::kNchw;    ///< order in which Request takes the elements of the model
  Shape shape;                      ///< shape in the network
  Precision precision = Precision::kFp16;    ///< precision in the network
  std::optional<Quantization> quantization;  ///< scale and zero point of integers
};

/// The place of a node of the model.
struct ImportedNode {
  std::string name;    ///< name of the node, or of its first output
  std::string op;      ///< its operator
  std::string place;   ///< "device", "CPU", "constant", "moved" or "fused"; empty: not possible
  std::string reason;  ///< why it is not possible; empty if it is
  std::string remedy;  ///< what to do then; may be empty
};

/// A value of the model that got a scale by samples. Noise is what integers change: the ratio of
/// the squares of its numbers and of their changes, over the first samples, in decibels.
struct ImportedScale {
  std::string name;           ///< name of the value
  std::string node;           ///< name of the node behind whose layer it is, or of an input
  Quantization quantization;  ///< its scale and zero point
  float low = 0;              ///< least number in all samples, at most 0
  float high = 0;             ///< greatest one, at least 0
  double saturated = 0;       ///< share of its numbers beyond what the integers hold
  double alone = 0;           ///< noise of this layer, with exact inputs
  double until = 0;           ///< noise of all layers up to this one
};

/// A model that was imported.
struct ImportedModel {
  Network network;                      ///< what to compile
  std::vector<ImportedTensor> inputs;   ///< in the model's order
  std::vector<ImportedTensor> outputs;  ///< in the model's order
  std::vector<std::string> notices;     ///< what the importer chose without being asked
  std::vector<ImportedNode> nodes;      ///< each node of the model
  std::size_t samples = 0;              ///< samples that gave scales
  std::vector<ImportedScale> scales;    ///< of ImportOptions::measure, in the order of the nodes
};

/// Reads an ONNX model and makes a network for a configuration. Throws kInvalidArgument for a file
/// that is damaged, naming it and the node or value; kNotAvailable listing all nodes that cannot
/// be, with reasons.
NVDLA_API ImportedModel import_model(std::string_view path, const DeviceInfo& info,
                                     const ImportOptions& options = {});
/// The same of a model in memory, which is copied.
NVDLA_API ImportedModel import_model(std::span<const std::byte> model, const DeviceInfo& info,
                                     const ImportOptions& options = {});

/// Describes the inputs of a model, in its order, as `options` fix their sizes: name, type and
/// sizes are set. Throws as import_model() does.
NVDLA_API std::vector<ImportedTensor> read_model_inputs(std::string_view path,
                                                        const ImportOptions& options = {});

/// The same of a model in memory.
NVDLA_API std::vector<ImportedTensor> read_model_inputs(std::span<const std::byte> model,
                                                        const ImportOptions& options = {});

}  // namespace nvdla

#endif  // NVDLA_IMPORT_HPP
