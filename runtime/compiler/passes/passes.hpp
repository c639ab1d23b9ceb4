// SPDX-License-Identifier: MIT
//
// The passes of the compiler. Each is a function from a graph or a schedule to another one, in a
// file of its own; pipeline.cpp lists them in their order.
#ifndef NVDLA_COMPILER_PASSES_PASSES_HPP
#define NVDLA_COMPILER_PASSES_PASSES_HPP

#include <drm/nvdla_layer.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/graph.hpp"
#include "compiler/lower/schedule.hpp"
#include "nvdla/build_options.hpp"
#include "nvdla/types/device_info.hpp"

namespace nvdla::detail {

inline constexpr auto kAnyBytes = std::numeric_limits<std::uint64_t>::max();

// `SearchBudget` is how many forms passes may predict, all of one build together.
class SearchBudget {
 public:
  explicit SearchBudget(std::uint64_t forms = 0) : left_(forms == 0 ? kAnyForms : forms) {}

  // Takes one form; returns false if none is left.
  bool take() noexcept {
    if (left_ == 0) return false;
    if (left_ != kAnyForms) --left_;
    return true;
  }

 private:
  static constexpr auto kAnyForms = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t left_;
};

// `PassContext` is what a pass knows beside what it rewrites, and where it counts.
struct PassContext {
  const DeviceInfo& info;
  const BuildOptions& options;
  // While layers take turns no more bytes of tensors are alive, unless somebody insists on turns.
  std::uint64_t alive_in_turns = kAnyBytes;
  std::uint32_t applied = 0;               // layers or tensors that the pass has changed
  std::vector<Candidate> candidates = {};  // what it chose from
  SearchBudget* budget = nullptr;          // none: it may predict any number of forms
  std::uint64_t costed = 0;                // forms that it has predicted
  bool cut_short = false;                  // it could not predict another one

  // Returns true if the pass may predict another form, which counts; else the layer stays as it is.
  bool may_predict() noexcept {
    if (budget != nullptr && !budget->take()) {
      cut_short = true;
      return false;
    }
    ++costed;
    return true;
  }
  // Adds a candidate; `cycles` is nothing if it cannot be.
  void consider(std::string layers, std::string form, std::optional<std::uint64_t> cycles,
                bool chosen) {
    candidates.push_back({std::move(layers), std::move(form), cycles.value_or(0), chosen});
  }
};

// Returns true if BuildOptions::disabled_passes leaves a pass out.
bool is_disabled(const BuildOptions& options, std::string_view name) noexcept;

// Over the graph. Layers and tensors keep their indices but in expand_cpu_layers(), which keeps
// those of tensors.

// Replaces layers of the CPU by layers that do the same on a device with int16 and operator Y.
Graph expand_cpu_layers(Graph graph, PassContext& context);
// Makes padding layers paddings of the convolution behind them.
Graph absorb_padding(Graph graph, PassContext& context);
// Lets each part of a concatenation begin an atom, with gaps between the parts, where that is
// predicted to be faster than gathering their channels.
Graph align_parts(Graph graph, PassContext& context);
// Chooses convolutions in Winograd mode: where the layer insists, or allows it and is predicted to
// be faster. Throws if a layer insists on Winograd and cannot have it.
Graph choose_winograd(Graph graph, PassContext& context);
// Lets inputs that only one convolution reads lie as pixels where it is predicted to be faster so.
// Throws if a layer insists and cannot have it.
Graph read_inputs_as_pixels(Graph graph, PassContext& context);
// Lets inputs that only one convolution reads lie folded in width where that pays. Throws if a
// layer insists and cannot have it.
Graph fold_inputs(Graph graph, PassContext& context);
// Marks poolings that can take their input on the fly.
Graph mark_flying_poolings(Graph graph, PassContext& context);
// Chooses how many images of a batch a convolution takes at once. Throws if a layer insists on
// several and cannot have them.
Graph choose_images(Graph graph, PassContext& context);
// Lets a layer compute every so many-th line of a convolution of which no band fits the convolution
// buffer, since the lines of its kernels lie far apart.
Graph step_lines(Graph graph, PassContext& context);
// Chooses how many kernel lines of a convolution of an image lie side by side in an atom.
Graph choose_kernel_lines(Graph graph, PassContext& context);
// Cuts convolutions of groups into blocks of kernels.
Graph cut_groups(Graph graph, PassContext& context);
// Cuts convolutions of which not even one kernel group fits the convolution buffer. Throws where
// the results of the parts could not be put together.
Graph cut_kernels(Graph graph, PassContext& context);
// Puts parts of concatenations, insides of paddings and slices where they belong, so that nothing
// is copied.
Graph place_views(Graph graph, PassContext& context);
// Describes how each tensor lies in memory.
Graph lay_out_tensors(Graph graph, PassContext& context);

// Over the schedule. `graph` is the one that it was made of.

// Lets marked poolings follow the layer that makes their input, as part of it.
Schedule fuse_poolings(Schedule schedule, const Graph& graph, PassContext& context);
// Cuts convolutions into bands that take turns, of one layer or of several neighbours, where that
// is predicted to be faster.
Schedule interleave_bands(Schedule schedule, const Graph& graph, PassContext& context);
// Cuts convolutions in width of which no band of whole lines fits the convolution buffer.
Schedule cut_columns(Schedule schedule, const Graph& graph, PassContext& context);
// Returns true if cut_columns() would cut a convolution.
bool fits_in_columns(const DeviceInfo& info, const nvdla_conv& conv);
// Cuts convolutions into bands that fit the convolution buffer. Throws where none does.
Schedule cut_bands(Schedule schedule, const Graph& graph, PassContext& context);
// Makes a layer for each image of a batch, or for as many as a convolution takes at once.
Schedule cut_images(Schedule schedule, const Graph& graph, PassContext& context);
// Copies weights to secondary memory under layers that leave time for it, before layers that would
// wait for them, where that is predicted to be faster.
Schedule stage_weights(Schedule schedule, const Graph& graph, PassContext& context);
// Writes into each descriptor what it waits for; a layer that ends with the same unit as a later
// one that is waited for needs no wait.
Schedule set_waits(Schedule schedule, const Graph& graph, PassContext& context);

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_PASSES_PASSES_HPP
