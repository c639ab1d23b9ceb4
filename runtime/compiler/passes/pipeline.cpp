// SPDX-License-Identifier: MIT
#include "compiler/passes/pipeline.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// `Pass` is a rewrite with the name that reports and BuildOptions::disabled_passes use.
template <typename Run>
struct Pass {
  const char* name;
  const char* purpose;
  Run run;
  bool optional = false;  // results are the same without it
  // This option of a convolution may insist on the rewrite.
  Rewrite Convolution::Tuning::*wish = nullptr;
};

constexpr Pass<Graph (*)(Graph, PassContext&)> kGraphPasses[] = {
    {"expand", "layers of the CPU become layers of the device", expand_cpu_layers, true},
    {"padding", "convolutions pad their input themselves", absorb_padding, true},
    {"part-atoms", "parts of concatenations begin atoms", align_parts, true},
    {"winograd", "convolutions are computed in tiles", choose_winograd, true,
     &Convolution::Tuning::winograd},
    {"pixels", "inputs of few channels lie as pixels", read_inputs_as_pixels, true,
     &Convolution::Tuning::pixels},
    {"fold-inputs", "inputs lie folded in width", fold_inputs, true, &Convolution::Tuning::folding},
    {"mark-poolings", "poolings may follow on the fly", mark_flying_poolings, true},
    {"batch", "convolutions take several images", choose_images, true, &Convolution::Tuning::batch},
    {"line-steps", "lines that lie far apart are computed by layers of their own", step_lines},
    {"kernel-lines", "kernel lines of images lie side by side", choose_kernel_lines},
    {"groups", "convolutions of groups become blocks of kernels", cut_groups},
    {"kernels", "kernels that fill the buffer are computed a few at a time", cut_kernels},
    {"views", "tensors lie in others, so that nothing is copied", place_views, true},
    {"layouts", "tensors get strides", lay_out_tensors},
};

constexpr Pass<Schedule (*)(Schedule, const Graph&, PassContext&)> kSchedulePasses[] = {
    {"fuse-poolings", "poolings follow on the fly", fuse_poolings, true},
    {"interleave", "bands of neighbouring convolutions take turns", interleave_bands, true,
     &Convolution::Tuning::interleaving},
    {"columns", "convolutions whose lines do not fit the buffer are cut in width", cut_columns},
    {"bands", "convolutions are cut to fit the buffer", cut_bands},
    {"images", "batches become a layer for each image", cut_images},
    {"stage-weights", "weights wait in SRAM for layers that would wait for them", stage_weights,
     true},
    {"waits", "layers wait for what they read", set_waits},
};

// Throws if a layer insists on a rewrite that is left out.
void check_wishes(const Graph& graph, const char* name, Rewrite Convolution::Tuning::*wish) {
  for (std::uint32_t i = 0; wish != nullptr && i < graph.layers.size(); ++i) {
    const LayerNode& layer = graph.layers[i];
    const auto* conv = std::get_if<ConvNode>(&layer.part);
    if (conv == nullptr || conv->tuning.*wish != Rewrite::kAlways) continue;
    with_error_context(layer_text(i, layer.name), i, [&] {
      throw_invalid_argument(
          "it insists on what the pass '{}' does, which disabled_passes leaves out", name);
    });
  }
}

template <typename List, typename Value, typename... More>
Value run_all(const List& passes, Value value, const PassContext& all,
              std::vector<PassReport>& reports, const More&... graph) {
  for (const auto& pass : passes) {
    const bool enabled = !is_disabled(all.options, pass.name);
    PassContext context = all;
    if (enabled) {
      value = pass.run(std::move(value), graph..., context);
    } else if constexpr (std::is_same_v<Value, Graph>) {
      check_wishes(value, pass.name, pass.wish);
    } else {
      check_wishes(graph..., pass.name, pass.wish);
    }
    reports.push_back({pass.name, pass.purpose, enabled, context.applied,
                       std::move(context.candidates), context.costed, context.cut_short});
  }
  return value;
}

}  // namespace

bool is_disabled(const BuildOptions& options, std::string_view name) noexcept {
  const auto& names = options.disabled_passes;
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_disabled_passes(const BuildOptions& options) {
  std::vector<std::string> optional;
  const auto collect = [&](const auto& passes) {
    for (const auto& pass : passes)
      if (pass.optional) optional.emplace_back(pass.name);
  };
  collect(kGraphPasses);
  collect(kSchedulePasses);
  for (const std::string& name : options.disabled_passes) {
    if (std::find(optional.begin(), optional.end(), name) != optional.end()) continue;
    throw_invalid_argument("disabled_passes: '{}' is no pass that can be left out; those are {}",
                           name, fmt::join(optional, ", "));
  }
}

Graph run_passes(Graph graph, const DeviceInfo& info, const BuildOptions& options,
                 std::vector<PassReport>& reports, SearchBudget* budget) {
  return run_all(kGraphPasses, std::move(graph),
                 {.info = info, .options = options, .budget = budget}, reports);
}

Schedule run_passes(Schedule schedule, const Graph& graph, const DeviceInfo& info,
                    const BuildOptions& options, std::vector<PassReport>& reports,
                    SearchBudget* budget, std::uint64_t alive_in_turns) {
  return run_all(
      kSchedulePasses, std::move(schedule),
      {.info = info, .options = options, .alive_in_turns = alive_in_turns, .budget = budget},
      reports, graph);
}

}  // namespace nvdla::detail
