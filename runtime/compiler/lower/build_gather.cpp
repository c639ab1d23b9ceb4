// SPDX-License-Identifier: MIT
//
// Channels that begin inside of atoms, put side by side: by a convolution of one position whose
// weights are ones, which is exact for integers. In fp16 it would lose the sign of zeros and spread
// NaN, so Rubik makes planes of the channels, and a cube of those.
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "compiler/lower/builder.hpp"
#include "compiler/lower/rubik_layer.hpp"
#include "layout/cbuf.hpp"

namespace nvdla::detail {
namespace {

Kernels ones(std::size_t count, Precision precision) {
  if (precision == Precision::kInt8) return std::vector<std::int8_t>(count, 1);
  return std::vector<std::int16_t>(count, 1);
}

}  // namespace

void Builder::add_gather(const LayerNode& node, const Scratch& from, const std::vector<Run>& runs,
                         std::uint32_t first, const std::string& name) {
  const Precision precision = from.desc.precision;
  const std::uint32_t lanes = from.desc.elements_per_atom();
  nvdla_surface to = surface(node.output);
  to.offset += std::uint64_t{first / lanes} * to.surface_stride;
  if (precision == Precision::kFp16) return add_plane_gather(node, from, runs, to, name);
  SparseKernels sparse;
  for (const Run& run : runs)
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
  ConstantPool blob = begin_constants();
  SdpNode pass;
  pass.processing = precision;
  nvdla_sdp sdp = sdp_part(descs_[node.output].shape, precision, pass, blob);
  sdp.output = to;
  ConvRole role{.name = name, .macs = 0, .whole = false, .after = {}};
  if (!layers_.empty()) role.after = static_cast<std::uint32_t>(layers_.size() - 1);
  add_sparse(node, gather, ones(sparse.first.size(), precision), sparse, sdp, std::move(blob), role,
             "");
}

void Builder::add_plane_gather(const LayerNode& node, const Scratch& from,
                               const std::vector<Run>& runs, const nvdla_surface& to,
                               const std::string& name) {
  if (!info_.has_rubik) {
    refuse(ErrorCode::kNotAvailable,
           "in fp16 channels that begin inside of an atom of {} take Rubik, which {} does not have",
           from.desc.elements_per_atom(), info_.configuration);
  }
  const std::uint32_t lanes = from.desc.elements_per_atom();
  // Channels before the first one that share its atom.
  const std::uint32_t before = runs[0].first % lanes;
  std::uint32_t channels = 0;
  for (const Run& run : runs) channels += run.channels;
  Shape shape = from.desc.shape;
  shape.channels = before + channels;
  const Scratch planes = add_scratch(shape, from.desc.precision, true);
  const auto plane = [&](std::uint32_t index) {
    nvdla_surface surface = planes.surface;
    surface.offset += std::uint64_t{index} * surface.surface_stride;
    return surface;
  };
  std::optional<std::uint32_t> after;
  if (!layers_.empty()) after = static_cast<std::uint32_t>(layers_.size() - 1);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::uint32_t skipped = runs[i].first % lanes;
    nvdla_layer split = rubik_layer(NVDLA_RUBIK_SPLIT, from.desc, skipped + runs[i].channels);
    split.rubik.input = from.surface;
    split.rubik.input.offset +=
        std::uint64_t{runs[i].first / lanes} * split.rubik.input.surface_stride;
    split.rubik.output = plane(next);
    next += skipped + runs[i].channels;
    if (after) add_wait(split, *after);
    commit(node, split, fmt::format("{} planes {}/{}", name, i + 1, runs.size()), 0);
  }
  nvdla_layer merge = rubik_layer(NVDLA_RUBIK_MERGE, from.desc, channels);
  merge.rubik.input = plane(before);
  merge.rubik.output = to;
  add_wait(merge, static_cast<std::uint32_t>(layers_.size() - 1));
  commit(node, merge, name, 0);
}

}  // namespace nvdla::detail
