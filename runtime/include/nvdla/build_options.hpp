// SPDX-License-Identifier: MIT
//
/// @file
/// Options and progress of compiling a network or a loadable.
#ifndef NVDLA_BUILD_OPTIONS_HPP
#define NVDLA_BUILD_OPTIONS_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvdla/types/export.hpp"
#include "nvdla/types/memory_speed.hpp"

namespace nvdla {

/// A build goes step by step: layer after layer, then the memory, programs and constants of all of
/// them; that of a loadable task after task, then its constants. Steps do not take equally long.
struct BuildProgress {
  /// The step that begins: "layer 3 'conv2'", "memory", ...; valid during the call.
  std::string_view step = {};
  std::uint32_t done = 0;   ///< steps before this one
  std::uint32_t steps = 0;  ///< of the whole build
};

/// `Optimise` names what the compiler looks for where it chooses.
enum class Optimise {
  kSpeed,   ///< The fewest predicted cycles.
  kMemory,  ///< The least memory of a request and of constants, then the fewest cycles.
};

/// Options of Network::compile() and Loadable::compile().
struct BuildOptions {
  /// Count for every layer; Request::statistics() has the numbers.
  bool statistics = false;
  /// Inputs may lie folded in width where Convolution::Tuning::folding asks for it. Without, they
  /// lie as everybody expects; kAlways is then refused as kNotAvailable.
  bool fold_inputs = true;
  /// Tensors between layers lie where others were before, as soon as nothing touches those any
  /// more. Without, each has a buffer of its own.
  bool share_memory = true;
  /// Bytes of secondary memory (DeviceInfo::has_sram) that tensors between layers may take in each
  /// request, beside those that Network::place() has put there: then they come and go without the
  /// memory that inputs, outputs and weights go through. The tensors that layers touch most often
  /// while they are alive are chosen; MemoryUse tells which. Without secondary memory it is refused
  /// as kNotAvailable.
  std::uint64_t sram_bytes = 0;
  /// Called by the thread that compiles, before each step. What it throws ends the build and
  /// reaches who asked for it; nothing of the network stays behind.
  std::function<void(const BuildProgress&)> progress = {};
  /// Names of passes of the compiler that are left out, of those that can be; others are refused as
  /// kInvalidArgument with their names. Results stay what they are, but that of
  /// Convolution::Tuning::winograd in fp16, which rounds by another way; speed and memory may not.
  /// CompiledNetwork::passes() lists all passes. A layer that insists on a rewrite (kAlways) which
  /// is left out is refused.
  std::vector<std::string> disabled_passes = {};
  /// The memory that the compiler predicts with; without, DeviceInfo::memory. Give it for a device
  /// that cannot tell.
  std::optional<MemorySpeed> memory = {};
  /// All convolutions may be computed in another way whose results are rounded or saturate
  /// elsewhere, where that is predicted to be faster: Convolution::Tuning::winograd, and
  /// Arithmetic::any_order in fp16.
  bool allow_rounding = false;
  /// Each says what layers of a name have to be or may not be, "LAYER:CHOICE". CHOICE is pixels,
  /// folding, winograd, batch or turns, or one of these behind "no-": it sets the member of
  /// Convolution::Tuning of the same name (turns: interleaving) to kAlways or kNever. What is no
  /// choice, or names no convolution, is refused as kInvalidArgument.
  std::vector<std::string> choices = {};
  /// Speed, or memory. Layers whose bands take turns, several images at once and Winograd are
  /// faster and take more memory. Results are the same.
  Optimise optimise = Optimise::kSpeed;
  /// Bytes that all buffers of a request and of constants may take together (MemoryUse), each in
  /// whole pages of 4 KiB; 0: as many as the fastest layers need. With fewer, the compiler gives up
  /// what memory makes faster, as little as it can. Where not even that fits it is refused as
  /// kNotAvailable, with the bytes that are needed at least.
  std::uint64_t memory_limit = 0;
  /// Forms of layers whose cycles the compiler predicts at most, to choose from (PassReport::costed
  /// counts them); 0: all that there are. When they are spent, the layers that are left take no
  /// turns and have no other form that would have to be chosen, unless one insists on it, and
  /// PassReport::cut_short is true for the passes that this met. It counts forms, never time, so
  /// the layers are the same on every machine. Results are the same with any number.
  std::uint64_t search_budget = 0;
};

/// `Candidate` is a form that the compiler considered for a layer, or for neighbours together.
struct Candidate {
  std::string layers;        ///< name of the layer, or "first..last"
  std::string form;          ///< what it would be: "pixels", "3 bands in turns"
  std::uint64_t cycles = 0;  ///< predicted; 0 if it cannot be
  bool chosen = false;       ///< of those of the same layers
};

/// `PassReport` lists what a pass of the compiler did with a network.
struct PassReport {
  std::string name;           ///< as BuildOptions::disabled_passes has it
  std::string purpose;        ///< what it does, in a clause: "inputs lie folded in width"
  bool enabled = true;        ///< false if it was left out
  std::uint32_t applied = 0;  ///< layers, tensors or waits that it changed
  /// A pass that chooses by predicted cycles lists what it chose from, and what that would cost.
  std::vector<Candidate> candidates = {};
  std::uint64_t costed = 0;  ///< forms whose cycles it predicted, of BuildOptions::search_budget
  bool cut_short = false;    ///< true if that budget was spent before it had seen all of them
};

}  // namespace nvdla

#endif  // NVDLA_BUILD_OPTIONS_HPP
