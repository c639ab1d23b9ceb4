// SPDX-License-Identifier: MIT
//
// From real numbers to integers: QuantizeLinear and DequantizeLinear are put between the nodes,
// with scales that samples give.
#ifndef NVDLA_IMPORT_CALIBRATION_QUANTIZE_GRAPH_HPP
#define NVDLA_IMPORT_CALIBRATION_QUANTIZE_GRAPH_HPP

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/calibration/ranges.hpp"
#include "import/graph/graph.hpp"
#include "import/nodes/byte_pixels.hpp"
#include "nvdla/import.hpp"

namespace nvdla::import {

// A value that got a scale.
struct QuantizedValue {
  ValueId number = kNoValue;   // what is computed
  ValueId rounded = kNoValue;  // the same from integers, which other nodes take
  std::string node;            // that computes it, or the name of an input
  Quantization quantization;
  NumberRange range;
  Precision precision = Precision::kInt8;
};

// Makes a graph of int8 or int16 of one of real numbers, whose sizes are known and whose constants
// are folded. `pixels` are the inputs that are pictures. Without samples all scales are nominal:
// enough to check what a device has. Throws Error for samples that do not go with the inputs, and
// nodes that cannot be computed in floats. Returns the values that got a scale, in the order in
// which they are computed.
std::vector<QuantizedValue> quantize_graph(Graph& graph, const DeviceInfo& info,
                                           Precision precision, const std::vector<Sample>& samples,
                                           const std::map<ValueId, PixelInput>& pixels,
                                           std::vector<std::string>& notices,
                                           const Progress& progress = {});

// Describes values that got a scale. With samples each has the noise that integers bring.
// `floats` is the graph before it got scales, `integers` behind.
std::vector<ImportedScale> describe_scales(const Graph& floats, const Graph& integers,
                                           const std::vector<QuantizedValue>& values,
                                           const std::vector<Sample>& samples,
                                           const std::map<ValueId, PixelInput>& pixels,
                                           const Progress& progress = {});

// Makes inputs of the graph the pixels that `options.pixels` describe, and returns these. Where the
// model is to be in integers and all channels have one mean and deviation, the input keeps its
// numbers, whose scale becomes that of the pixels; in int16 pixels are the elements, so that the
// mean has to be whole.
std::map<ValueId, PixelInput> take_pixels(Graph& graph, const ImportOptions& options);

// Takes products with constants, sums with constants and batch normalisations behind sums of
// products into these, where their input has at most so many channels.
void absorb_affine(Graph& graph,
                   std::int64_t most_channels = std::numeric_limits<std::int64_t>::max());
// Pixels have up to four components.
inline constexpr std::int64_t kPixelChannels = 4;

// Takes what happens to each channel before a convolution into its weights and bias. `in_fp16` does
// so for inputs of few channels alone, also with what adds to one that zeros pad. What reads `kept`
// stays.
void absorb_forward(Graph& graph, bool in_fp16, const std::set<ValueId>& kept = {});
// Returns those of the pictures that a convolution of fp16 may read as bytes.
std::set<ValueId> byte_inputs(const Graph& graph, const std::map<ValueId, PixelInput>& pictures,
                              bool channels_last);
// Lets convolutions read such pictures themselves, and returns what was computed of these before.
std::map<ValueId, BytePixels> take_bytes(Graph& graph,
                                         const std::map<ValueId, PixelInput>& pictures,
                                         bool channels_last);
// Makes operators with a scale behind each of a LogSoftmax and of norms.
void expand_normalizations(Graph& graph);
// Makes products with reciprocals of quotients of two tensors.
void expand_quotients(Graph& graph);
// Makes averages of whole planes above 32 lines or columns averages of averages of blocks.
void split_averages(Graph& graph);

}  // namespace nvdla::import

#endif  // NVDLA_IMPORT_CALIBRATION_QUANTIZE_GRAPH_HPP
