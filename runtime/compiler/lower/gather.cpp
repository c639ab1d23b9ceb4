// SPDX-License-Identifier: MIT
//
// Channels that begin inside of atoms, put side by side: by a convolution of one position whose
// weights are ones, which is exact for integers. In fp16 it would lose the sign of zeros and spread
// NaN, so Rubik makes planes of the channels, and a cube of those.
#include <optional>
#include <utility>

#include "compiler/lower/conv.hpp"
#include "compiler/lower/copy.hpp"
#include "compiler/lower/lowering.hpp"
#include "compiler/lower/sdp.hpp"
#include "nvdla/lowlevel/descriptors.hpp"
#include "packing/cbuf.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

Kernels ones(std::size_t count, Precision precision) {
  if (precision == Precision::kInt8) return std::vector<std::int8_t>(count, 1);
  return std::vector<std::int16_t>(count, 1);
}

void add_plane_gather(Lowering& lowering, const LayerNode& node, const Scratch& from,
                      const std::vector<ChannelRun>& runs, const nvdla_surface& to,
                      const std::string& name) {
  if (!lowering.info().has_rubik) {
    throw_error(
        ErrorCode::kNotAvailable,
        "in fp16 channels that begin inside of an atom of {} take Rubik, which {} does not have",
        from.desc.elements_per_atom(), lowering.info().configuration);
  }
  const std::uint32_t lanes = from.desc.elements_per_atom();
  // Channels before the first one that share its atom.
  const std::uint32_t before = runs[0].first % lanes;
  std::uint32_t channels = 0;
  for (const ChannelRun& run : runs) channels += run.channels;
  Shape shape = from.desc.shape;
  shape.channels = before + channels;
  const Scratch planes = lowering.add_scratch(shape, from.desc.precision, true);
  const auto plane = [&](std::uint32_t index) {
    nvdla_surface surface = planes.surface;
    surface.offset += std::uint64_t{index} * surface.surface_stride;
    return surface;
  };
  const std::optional<std::uint32_t> after = lowering.last();
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::uint32_t skipped = runs[i].first % lanes;
    nvdla_layer split = rubik_layer(NVDLA_RUBIK_SPLIT, from.desc, skipped + runs[i].channels);
    split.rubik.input = from.surface;
    split.rubik.input.offset +=
        std::uint64_t{runs[i].first / lanes} * split.rubik.input.surface_stride;
    split.rubik.output = plane(next);
    next += skipped + runs[i].channels;
    Operation operation{.name = fmt::format("{} planes {}/{}", name, i + 1, runs.size())};
    if (after) operation.after = {*after};
    lowering.emit(node, split, std::move(operation));
  }
  nvdla_layer merge = rubik_layer(NVDLA_RUBIK_MERGE, from.desc, channels);
  merge.rubik.input = plane(before);
  merge.rubik.output = to;
  lowering.emit(node, merge, {.name = name, .after = {*lowering.last()}});
}

}  // namespace

void add_gather(Lowering& lowering, const LayerNode& node, const Scratch& from,
                const std::vector<ChannelRun>& runs, std::uint32_t first, const std::string& name) {
  const Precision precision = from.desc.precision;
  const std::uint32_t lanes = from.desc.elements_per_atom();
  nvdla_surface to = lowering.surface(node.output);
  to.offset += std::uint64_t{first / lanes} * to.surface_stride;
  if (precision == Precision::kFp16) return add_plane_gather(lowering, node, from, runs, to, name);
  SparseKernels sparse;
  for (const ChannelRun& run : runs)
    for (std::uint32_t c = 0; c < run.channels; ++c) sparse.first.push_back(run.first + c);
  TensorDesc input = from.desc;
  input.shape.batch = 1;  // one cube a layer
  input.batch_stride = 0;
  WeightsDesc weights;
  weights.kernels = static_cast<std::uint32_t>(sparse.first.size());
  weights.channels = input.shape.channels;
  weights.precision = precision;
  nvdla_conv gather = make_conv(input, weights);
  gather.input = from.surface;
  ConstantPool pool = lowering.begin_constants();
  SdpNode pass;
  pass.processing = precision;
  nvdla_sdp sdp = lower_sdp(lowering, lowering.desc(node.output).shape, precision, pass, pool);
  sdp.output = to;
  Operation operation{.name = name};
  if (const auto last = lowering.last()) operation.after = {*last};
  add_sparse(lowering, node, gather, ones(sparse.first.size(), precision), sparse,
             choose_blocks(lowering.info(), gather, sparse), sdp, std::move(pool), operation, "");
}

}  // namespace nvdla::detail
