// SPDX-License-Identifier: MIT
//
// Runs one SDP layer tile by tile: operands, the three operators, the output converter, the write
// to memory. A producer (memory or the convolution pipeline) fills a tile of 32-bit values and
// hands it over while the tile is in cache.
#ifndef NVDLA_MODEL_SDP_SDP_PASS_HPP
#define NVDLA_MODEL_SDP_SDP_PASS_HPP

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/core/dma.hpp"
#include "model/core/recurring_search.hpp"
#include "model/sdp/sdp_epilogue.hpp"
#include "model/sdp/sdp_finishing.hpp"
#include "model/sdp/sdp_float.hpp"
#include "model/sdp/sdp_layer.hpp"
#include "model/sdp/sdp_lut.hpp"
#include "model/sdp/sdp_operands.hpp"
#include "model/simd/unit_kernels.hpp"

namespace nvdla::model {

class ThreadPool;

// The counters that a layer latches.
struct SdpCounters {
  std::uint32_t saturated = 0;
  std::uint32_t nan_in = 0, infinite_in = 0;  // fp16 from memory
  std::uint32_t nan_out = 0;
  bool unequal = false;
  SdpLutCounters lut;

  SdpCounters& operator+=(const SdpCounters& other) noexcept {
    saturated += other.saturated;
    nan_in += other.nan_in;
    infinite_in += other.infinite_in;
    nan_out += other.nan_out;
    unequal |= other.unequal;
    lut += other.lut;
    return *this;
  }
};

// A step of a stream, for any surface of the layer.
struct SdpStreamStep {
  StepKind kind = StepKind::kRelu;
  unsigned operand = 0;  // of BS, BN or EW: of its ALU or of its multiplier
  bool alu = false;
  bool per_element = false;
  std::uint8_t shift = 0;
  bool converts = false;
  StepScale scale = {};
  WordProduct product = {}, conversion = {};
};

struct SdpStreamSteps {
  SdpStreamStep step[SdpStream::kMostSteps];
  unsigned count = 0;
  bool words = false;  // as UnitKernels::sdp_words says

  void add(const SdpStreamStep& next) noexcept { step[count++] = next; }
};

// The results of a layer for each pattern of an element, kept for later layers.
struct SdpMap {
  std::vector<std::byte> key;  // all that decides
  std::uint64_t seen = 0;      // elements of such layers
  bool made = false;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint16_t> words;
  // The counters to which each pattern adds, if the layer counts, as bits: saturated (lowest),
  // underflow, overflow, le_hit, lo_hit.
  std::vector<std::uint8_t> flags;
  bool flags_alike = false;
};

class SdpPass {
 public:
  // Output positions per tile: a few register tiles of the convolution. A set of kernels may use up
  // to kMostPositions.
  static constexpr unsigned kPositions = 4 * kMr;

  static constexpr std::uint64_t kAnyInteger = std::uint64_t{1} << 31;

  SdpPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels, unsigned threads = 1);

  // Begins a layer and reads its per-channel operands. Positions are numbered in raster order, y *
  // width + x. `sink` takes the output of a layer to PDP. No integer that tile() gets has a greater
  // magnitude than `largest`.
  void begin(const SdpLayer& layer, std::uint64_t largest = kAnyInteger, AtomSink* sink = nullptr);

  unsigned blocks() const noexcept { return (padded_channels_ + kBlock - 1) / kBlock; }
  // Returns the lanes that exist in a block, including the padded ones of the last atom.
  unsigned lanes(unsigned block) const noexcept;

  // Selects the cube of the batch for the tiles that follow; begin() selects the first one.
  void select_batch(unsigned batch) noexcept { batch_ = batch; }

  // Returns true if threads may process different tiles at the same time, in any order.
  bool shareable() const noexcept { return shareable_; }

  // Returns true if tiles, or PDP behind them, may write to these host bytes.
  bool may_write(std::span<const std::byte> bytes) const noexcept;

  // Processes the values [count][kBlock] of positions from `first` on, and destroys them. In fp16
  // processing they are patterns of fp32. Winograd's output comes in raster order like any other.
  void tile(std::int32_t* values, unsigned block, std::uint32_t first, unsigned count,
            unsigned thread = 0);

  // Returns true if an SdpFinish of its input is all that a tile needs.
  bool finishes() const noexcept { return plan_->finishes; }
  // Replaces tile() if finishes(): calls `finish(pass, out)`, which leaves [count][kBlock] in
  // `out`.
  template <typename Finish>
  void finish_tile(unsigned block, std::uint32_t first, unsigned count, unsigned thread,
                   Finish finish);

  // Returns true if an epilogue of merged steps that guard nothing is all that a tile needs.
  bool merges() const noexcept { return plan_->has_epilogue && epilogue_.merges(); }
  // Replaces tile() if merges(): calls `finish(block, out)`, which leaves [count][kBlock] in `out`.
  template <typename Finish>
  void merged_tile(unsigned block, std::uint32_t first, unsigned count, unsigned thread,
                   Finish finish);

  // Runs a whole layer from memory. Several threads share it if they may share tiles and
  // Bus::window() maps the source, which must not overlap the output unless it is in the same
  // place.
  void run_from_memory(ThreadPool& pool);

  // Announces the written memory to the bus, and returns the counters.
  SdpCounters end();

 private:
  // The state of one thread.
  struct Worker {
    SdpOperands::Tile elements[3];
    std::vector<std::byte> raw;
    std::vector<std::int32_t> values;
    std::vector<std::int8_t> out8;
    std::vector<std::int16_t> out16;
    SdpCounters counters;
  };

  class StreamPlan;

  // `SdpPlan` has the results of begin() for a layer, except for the addresses of its tensors.
  struct SdpPlan {
    SdpPlan(const nvdla_hw& hw, Dma& dma, const Kernels& kernels)
        : operands{{hw, dma, kernels}, {hw, dma, kernels}, {hw, dma, kernels}} {}

    std::uint64_t mark = 0;  // a hash, to find the plan
    SdpLayer layer;          // without tensors
    std::uint64_t largest_input = 0;
    std::uint64_t generations[3] = {};  // of the per-channel operands
    SdpOperands operands[3];
    bool plain_operands = false;  // no operand of Y is the pattern of an infinity or a denormal
    SdpFinishing finishing;
    bool finishes = false;          // an SdpFinish does a tile
    bool has_epilogue = false;      // an SdpEpilogue does a tile
    SdpEpilogue::Mark epilogue;     // which one
    bool fits[3] = {};              // SdpX::fits and SdpY::fits
    std::uint64_t largest_sum = 0;  // of what comes out of the operators
  };

  // Finds or makes the plan of a layer. Plans are kept if the bus reports changes of operands.
  void find_plan(std::uint64_t largest);
  SdpPlan* known_plan(std::uint64_t mark, const SdpLayer& layer, std::uint64_t largest,
                      const std::uint64_t (&generations)[3]) noexcept;
  SdpPlan& new_plan();
  void make_plan(SdpPlan& plan);
  static void bound(const SdpLayer& layer, SdpPlan& plan) noexcept;
  void open_windows();
  // Functions for layers that are streams, and for their lines.
  bool open_source();
  bool plan_stream();
  void stream(const LineTasks::Lines& lines, unsigned thread);
  // Functions for layers whose results depend on one element only, and for their lines.
  bool plan_map(std::uint64_t elements);
  void add_map_key();
  SdpMap& find_map();
  void make_map();
  void make_flags();
  void count_patterns(const std::byte* from, std::size_t size, SdpCounters& counters) const;
  void map(const LineTasks::Lines& lines, unsigned thread);
  void load_tile(unsigned block, std::uint32_t first, unsigned count, Worker& worker);
  void announce();
  void count_input(const std::byte* raw, unsigned count, SdpCounters& counters) const;
  void fetch_elements(unsigned block, std::uint32_t first, unsigned count, Worker& worker);
  // Returns the place of a tile [count][kBlock] of int8 in memory, if memory has that layout; else
  // null.
  std::int8_t* place(unsigned block, std::uint32_t first) const noexcept;
  bool operate(std::int32_t* values, unsigned block, unsigned count, unsigned used, Worker& worker);
  void convert(std::int32_t* values, unsigned count, unsigned used, Worker& worker);
  template <typename Element>
  void gather_atoms(const Element* from, unsigned count, std::byte* to) const noexcept;
  template <typename Element>
  void store(const Element* elements, unsigned block, std::uint32_t first, unsigned count,
             Worker& worker);

  const nvdla_hw& hw_;
  Dma& dma_;
  const Kernels& kernels_;
  SdpLayer layer_;
  AtomSink* sink_ = nullptr;
  unsigned column_ = 0;  // channels of a processing atom
  std::uint32_t padded_channels_ = 0;
  bool float_ = false;          // fp16 processing
  bool single_ = false;         // 1x1: strides are ignored
  bool single_output_ = false;  // but a batch of them uses the output's
  unsigned batches_ = 1;
  unsigned batch_ = 0;
  SdpPlan* plan_ = &passing_;
  SdpPlan passing_;  // the plan of a layer that is not kept
  // All plans are dropped when there are more than this.
  static constexpr std::size_t kMaxPlans = 4096;
  std::vector<std::unique_ptr<SdpPlan>> plans_;
  RecurringSearch plan_search_;
  SdpEpilogue epilogue_;
  SdpLut lut_;
  SdpCube cube_;  // of the output
  std::byte* window_ = nullptr;
  bool shareable_ = false;
  const std::byte* source_ = nullptr;  // where threads may read it
  SdpStreamSteps stream_;
  // Networks have one or several functions of bytes, each with a few scales.
  static constexpr std::size_t kMostByteMaps = 64;
  std::vector<std::byte> map_key_;
  std::vector<SdpMap> byte_maps_;
  SdpMap word_map_;
  SdpMap* map_ = nullptr;  // of the layer
  std::vector<Worker> workers_;
};

template <typename Finish>
void SdpPass::merged_tile(unsigned block, std::uint32_t first, unsigned count, unsigned thread,
                          Finish finish) {
  const EpilogueBlock steps = epilogue_.block(block, {nullptr, 0});
  if (std::int8_t* const out = place(block, first); out != nullptr) return finish(steps, out);
  Worker& worker = workers_[thread];
  finish(steps, worker.out8.data());
  store(worker.out8.data(), block, first, count, worker);
}

template <typename Finish>
void SdpPass::finish_tile(unsigned block, std::uint32_t first, unsigned count, unsigned thread,
                          Finish finish) {
  static const SdpOperands::Tile kNoElements;
  Worker& worker = workers_[thread];
  fetch_elements(block, first, count, worker);
  const unsigned adder = plan_->finishing.adder();
  const SdpFinish pass = plan_->finishing.block(
      block, plan_->operands, adder == SdpFinishing::kNone ? kNoElements : worker.elements[adder]);
  if (std::int8_t* const out = place(block, first); out != nullptr) return finish(pass, out);
  finish(pass, worker.out8.data());
  store(worker.out8.data(), block, first, count, worker);
}

}  // namespace nvdla::model

#endif  // NVDLA_MODEL_SDP_SDP_PASS_HPP
