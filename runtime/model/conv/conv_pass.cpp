// SPDX-License-Identifier: MIT
#include "model/conv/conv_pass.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "model/conv/conv_atoms.hpp"
#include "model/conv/conv_walk.hpp"

namespace nvdla::model {
namespace {

// Below this many products an int32 holds every sum of int8 products exactly; a hardware
// accumulator (34 bits) cannot saturate before 524,288.
constexpr std::uint64_t kExactProducts = 131072;
// Weights that stay in a processor's cache while positions go by.
constexpr std::size_t kCachedWeights = std::size_t{384} << 10;

std::vector<std::uint16_t> words(const std::vector<std::byte>& bytes) {
  std::vector<std::uint16_t> values(bytes.size() / 2);
  std::memcpy(values.data(), bytes.data(), values.size() * 2);
  return values;
}

}  // namespace

ConvPass::ConvPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels, const Options& options,
                   ThreadPool& pool)
    : hw_(hw),
      dma_(dma),
      kernels_(kernels),
      quirks_(options.quirks),
      fast_half_(options.fast_half),
      pool_(pool),
      weights_(hw, dma),
      expander_(hw, dma),
      data_(hw, dma, kernels, options.quirks),
      tiles_(pool, kernels),
      scratch_(pool.size()) {}

std::string ConvPass::prepare(const ConvLayer& layer, const ConvStart& start) {
  fetch_ = plan_fetch(layer, cbuf_);
  WeightTurn turn;
  turn.banks_changed =
      cbuf_.data_banks != layer.data_banks || cbuf_.weight_banks != layer.weight_banks;
  turn.fetches = fetch_.weights;
  turn.gated = quirks_ == Quirks::kGated && hw_.regmap != NVDLA_REGMAP_NV_FULL;
  // Ahead of CSC it fetches as far as there is room, and waits.
  turn.fetching = start.fetch_first && !start.ahead;
  std::string fault = cbuf_.weights.run(hw_, layer, turn);
  if (fault.empty() && layer.compressed && fetch_.weights) fault = expander_.expand(layer);
  return fault;
}

const WeightCache::Entry& ConvPass::load_weights(const ConvLayer& layer, const ConvShape& shape,
                                                 ConvCounters& counters) {
  // Weights that earlier layers left in the ring come first, whether or not they were to be kept.
  const RawWeights& before = cbuf_.weights.bytes();
  if (!fetch_.weights) return weights_.kept(before, shape);
  const bool half = layer.proc == Precision::kFp16;
  if (!layer.compressed && !half && before == nullptr)
    return weights_.fetch(layer, shape, WeightRing::leaves_bytes(hw_, layer));

  RawWeights raw;
  if (layer.compressed) {
    raw = expander_.stream();
    counters.weights = expander_.specials();
  } else if (before == nullptr) {
    const WeightCache::Entry& entry = weights_.fetch(layer, shape, true);
    counters.weights = entry.packed->specials;
    raw = entry.raw;
  } else {
    raw = weights_.read(layer);
    if (half) counters.weights = fp::count_specials(words(*raw));
  }
  // The logic flushes NaNs of the weights like those of the data, the reference model does not.
  if (half && layer.flush_nan && quirks_ != Quirks::kCmodel && counters.weights.nan != 0) {
    std::vector<std::uint16_t> values = words(*raw);
    for (std::uint16_t& value : values)
      value = static_cast<std::uint16_t>(fp::flush_nan<fp::Fp16>(value));
    std::vector<std::byte> flushed(*raw);
    std::memcpy(flushed.data(), values.data(), values.size() * 2);
    raw = std::make_shared<const std::vector<std::byte>>(std::move(flushed));
  }
  if (before != nullptr) {
    std::vector<std::byte> all(*before);
    all.insert(all.end(), raw->begin(), raw->end());
    raw = std::make_shared<const std::vector<std::byte>>(std::move(all));
  }
  const WeightCache::Entry& entry = weights_.kept(raw, shape);
  if (layer.compressed && raw == expander_.stream()) expander_.share(entry.raw);
  return entry;
}

ConvCounters ConvPass::run(const ConvLayer& layer, SdpPass& sdp) {
  ConvCounters counters;
  const bool half = layer.proc == Precision::kFp16;
  Mac mac = Mac::kBytes;
  if (layer.winograd) {
    mac = half ? Mac::kWinogradHalf : Mac::kWinograd;
  } else if (half) {
    mac = fast_half_ ? Mac::kHalfFast : Mac::kHalf;
  } else if (layer.proc == Precision::kInt16 && kernels_.pieces != nullptr) {
    mac = Mac::kPieces;
  } else if (layer.proc != Precision::kInt8 || layer.products() >= kExactProducts) {
    mac = Mac::kWide;
  }
  ConvShape shape{layer.kernels,
                  layer.weight_channels,
                  layer.kernel_width,
                  layer.kernel_height,
                  layer.dilation_width == 1,
                  mac,
                  precision_bytes(layer.proc),
                  layer.post_lines,
                  kernels_.form.biased,
                  mac == Mac::kBytes || mac == Mac::kPieces ? kernels_.form.step : kKr};
  shape.joined = mac == Mac::kBytes && joins_runs(shape, sdp);
  fetch_data(layer, shape, sdp);
  counters.data = data_.specials();
  const WeightCache::Entry& weights = load_weights(layer, shape, counters);

  const std::int64_t line = static_cast<std::int64_t>(data_.width()) * data_.elements();
  runs_.clear();
  for (std::uint32_t r = 0; r < layer.kernel_height; ++r)
    for (std::uint32_t s = 0; s < (shape.rows ? 1 : layer.kernel_width); ++s)
      runs_.push_back(
          static_cast<std::int32_t>(r * layer.dilation_height * line +
                                    std::int64_t{s} * layer.dilation_width * data_.elements()));

  for (std::uint32_t batch = 0; batch < layer.batches; ++batch) {
    sdp.select_batch(batch);
    switch (mac) {
      case Mac::kBytes:
        run_bytes(layer, shape, *weights.packed, batch, sdp);
        break;
      case Mac::kWide:
        counters.saturated += run_wide(layer, shape, *weights.packed, batch, sdp);
        break;
      case Mac::kPieces:
        counters.saturated += run_pieces(layer, shape, *weights.packed, batch, sdp);
        break;
      case Mac::kHalf:
      case Mac::kHalfFast:
        run_half(layer, shape, *weights.packed, batch, sdp);
        break;
      case Mac::kWinograd:
      case Mac::kWinogradHalf:
        counters.saturated += run_winograd(layer, shape, *weights.packed, sdp);
        break;
    }
  }

  data_.keep(layer, fetch_, cbuf_);
  cbuf_.weights.end(hw_, layer, weights.raw);
  cbuf_.kernels = layer.kernels;
  cbuf_.kernel_bytes = layer.kernel_bytes;
  cbuf_.weight_bytes = layer.weight_bytes;
  cbuf_.wmb_bytes = layer.mask_bytes;
  cbuf_.compressed = layer.compressed;
  return counters;
}

bool ConvPass::input_once(const ConvShape& shape, const SdpPass& sdp) noexcept {
  return shape.block_elements() * sdp.blocks() <= kCachedWeights;
}

bool ConvPass::joins_runs(const ConvShape& shape, const SdpPass& sdp) const noexcept {
  if (kernels_.form.copied_run == 0 || shape.part_count() == 1 || !input_once(shape, sdp))
    return false;
  ConvShape joined = shape;
  joined.joined = true;
  const std::size_t saved = shape.block_elements() - joined.block_elements();
  return saved * shape.blocks() > std::size_t{kernels_.form.copied_run} * shape.part_count();
}

void ConvPass::fetch_data(const ConvLayer& layer, const ConvShape& shape, const SdpPass& sdp) {
  const bool bytes = shape.mac == Mac::kBytes, flipped = bytes && shape.biased;
  if (bytes && !kernels_.form.sign && input_once(shape, sdp)) {
    const std::span<const std::byte> input = data_.open_input(layer, fetch_);
    if (!input.empty() && !sdp.may_write(input)) return data_.open(layer, input, flipped);
  }
  if (bytes) {
    const std::span<const std::byte> input = data_.line_input(layer, fetch_);
    if (!input.empty() && !sdp.may_write(input))
      return data_.open_lines(layer, fetch_, input, flipped);
  }
  data_.fetch(layer, fetch_, cbuf_, flipped);
}

void ConvPass::list_taps(const ConvLayer& layer, const ConvShape& shape) {
  const std::size_t line = std::size_t{data_.width()} * data_.elements();
  taps_.clear();
  for (std::uint32_t r = 0; r < layer.kernel_height; ++r)
    for (std::uint32_t s = 0; s < layer.kernel_width; ++s) {
      const std::size_t place =
          r * layer.dilation_height * line + s * layer.dilation_width * data_.elements();
      // Taps without weight, which fill a quad, read where the tap before them does.
      taps_.resize(shape.tap(r, s), taps_.empty() ? 0 : taps_.back());
      taps_.push_back(static_cast<std::int32_t>(place));
    }
  taps_.resize(std::size_t{shape.quads()} * 4, taps_.back());
}

void ConvPass::run_bytes(const ConvLayer& layer, const ConvShape& shape,
                         const PackedWeights& weights, std::uint32_t batch, SdpPass& sdp) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(data_.batch(batch));
  const ConvWalk walk(layer, data_);
  const std::size_t block_bytes = shape.block_elements();
  const ClipShift shift(layer.clip, quirks_);
  const bool depthwise = !weights.depthwise.empty();
  const bool nonnegative =
      kernels_.form.sign && !depthwise && !data_.opens_lines() && data_.nonnegative(batch);
  const std::size_t quads = shape.quads();
  if (depthwise) list_taps(layer, shape);
  const unsigned row_step =
      shape.rows_of_three() && layer.dilation_width == 1 ? data_.elements() : 0;
  const bool joins = shape.joined && !depthwise;
  // The distance between positions in a strip, if tiles use one; else 0.
  const std::size_t pitch = data_.is_open() ? data_.pixel_bytes()
                            : joins         ? std::size_t{shape.run_steps()} * kKr
                                            : 0;
  static constexpr std::int32_t kJoinedRun = 0;
  const std::int32_t* const runs = joins ? &kJoinedRun : runs_.data();
  if (pitch != 0)
    for (Scratch& scratch : scratch_) {
      const std::size_t size = kMostPositions * pitch + ConvData::kSlack;
      scratch.strip.resize(std::max(scratch.strip.size(), size));
      scratch.strip_first = UINT32_MAX;
    }

  // Returns true if a tile has no negative inputs, where the kernels make use of that.
  const auto ensure_lines_fetched = [&](const ConvTile& tile) {
    if (!data_.opens_lines()) return nonnegative;
    const TileReach reach = walk.reach(tile.first, tile.count);
    return !data_.need(layer, batch, reach.first, reach.end) && kernels_.form.sign;
  };
  // Finds the inputs of a tile's positions, from a channel on.
  const auto find_bases = [&](unsigned thread, const ConvTile& tile, std::uint32_t channel,
                              std::uint32_t count, const std::uint8_t** bases) {
    if (pitch == 0) return walk.bases(tile.first, count, data + channel, bases);
    Scratch& scratch = scratch_[thread];
    if (scratch.strip_first != tile.first) {
      if (joins) {
        const std::uint8_t* positions[kMostPositions];
        walk.bases(tile.first, tile.count, data, positions);
        join_runs({positions, tile.count, runs_.data(), runs_.size(), shape.part_elements(),
                   scratch.strip.data(), pitch});
      } else {
        data_.gather(layer, tile.first, tile.count, scratch.strip.data());
      }
    }
    scratch.strip_first = tile.first;
    const auto* const strip = reinterpret_cast<const std::uint8_t*>(scratch.strip.data());
    for (unsigned i = 0; i < count; ++i) bases[i] = strip + i * pitch + channel;
  };
  const auto mac_tile = [&](unsigned thread, const ConvTile& tile, const std::uint8_t** bases,
                            std::int32_t* sums) {
    const bool sees_nonnegative = ensure_lines_fetched(tile);
    find_bases(thread, tile, 0, kernels_.form.lines ? 1 : tile.count, bases);
    return MacTile{bases,
                   tile.count,
                   runs,
                   joins ? 1 : static_cast<unsigned>(runs_.size()),
                   shape.run_steps(),
                   weights.bytes.data() + tile.block * block_bytes,
                   weights.starts.data() + std::size_t{tile.block} * kBlock,
                   sums,
                   sees_nonnegative,
                   pitch != 0 ? TileLines{0, tile.count, pitch, 0} : walk.lines(tile.first)};
  };
  const auto compute = [&](unsigned thread, const ConvTile& tile, std::int32_t* values) {
    const std::uint8_t* bases[kMostPositions];
    if (depthwise) {
      ensure_lines_fetched(tile);
      find_bases(thread, tile, weights.depthwise_channels[tile.block], tile.count, bases);
      kernels_.depthwise({bases, tile.count, taps_.data(), static_cast<unsigned>(quads),
                          weights.depthwise.data() + tile.block * quads * 4 * kBlock,
                          weights.starts.data() + std::size_t{tile.block} * kBlock, values,
                          row_step});
    } else {
      kernels_.mac(mac_tile(thread, tile, bases, values));
    }
    if (shift.dropped != 0)
      for (std::size_t i = 0; i < std::size_t{tile.count} * kBlock; ++i)
        values[i] >>= shift.dropped;
    kernels_.clip(values, tile.count, shift.rounded);
  };
  const auto finish = [&](unsigned thread, const ConvTile& tile) {
    const std::uint8_t* bases[kMostPositions];
    const MacTile sums = mac_tile(thread, tile, bases, nullptr);
    if (sdp.merges())
      return sdp.merged_tile(tile.block, tile.first, tile.count, thread,
                             [&](const EpilogueBlock& block, std::int8_t* out) {
                               kernels_.mac_epilogue(sums, block, out);
                             });
    sdp.finish_tile(
        tile.block, tile.first, tile.count, thread,
        [&](const SdpFinish& pass, std::int8_t* out) { kernels_.mac_finish(sums, pass, out); });
  };
  const bool finishes = ((kernels_.mac_finish != nullptr && sdp.finishes()) ||
                         (kernels_.mac_epilogue != nullptr && sdp.merges())) &&
                        layer.clip == 0 && !depthwise;

  const auto order =
      input_once(shape, sdp) ? ConvTiles::Order::kBlocksFirst : ConvTiles::Order::kPositionsFirst;
  const auto products = static_cast<double>(depthwise ? quads * 4 * kBlock : block_bytes);
  // Few positions wait for the weights, each of which is a product of every position.
  const double rate = std::min<double>(depthwise ? kDepthwiseRate : kernels_.form.rate,
                                       kWeightRate * walk.positions());
  // Activations come in while threads compute, once.
  const double fetched = data_.opens_lines() || data_.is_open()
                             ? static_cast<double>(data_.batch_bytes()) / kFetchRate
                             : 0;
  const double outputs = static_cast<double>(walk.positions()) * sdp.blocks();
  tiles_.run(
      sdp,
      {walk.positions(), depthwise ? SdpPass::kPositions : walk.tile_positions(kernels_), order},
      products / rate + fetched / outputs, std::ref(compute),
      finishes ? ConvTiles::Finish(std::ref(finish)) : ConvTiles::Finish());
}

std::uint32_t ConvPass::run_wide(const ConvLayer& layer, const ConvShape& shape,
                                 const PackedWeights& weights, std::uint32_t batch, SdpPass& sdp) {
  const WideWeights& wide = weights.wide;
  const std::byte* const bytes = data_.batch(batch);
  const std::size_t elements =
      data_.batch_bytes() / precision_bytes(layer.proc) + ConvData::kSlack / 2;
  wide_data_.resize(std::max(wide_data_.size(), elements));
  if (layer.proc == Precision::kInt8) {
    for (std::size_t i = 0; i < elements; ++i) wide_data_[i] = static_cast<std::int8_t>(bytes[i]);
  } else {
    std::memcpy(wide_data_.data(), bytes, elements * 2);
  }
  if (!wide.upper.empty()) {
    upper_data_.resize(std::max(upper_data_.size(), elements));
    std::transform(wide_data_.data(), wide_data_.data() + elements, upper_data_.data(),
                   biased_upper_byte);
  }
  // Kernels cannot be long enough to saturate before their last product, so it is enough to look at
  // the end.
  for (Scratch& scratch : scratch_) scratch.saturated = 0;
  const ConvWalk walk(layer, data_);
  const std::size_t block_elements = shape.block_elements();
  const WideClip clip = wide_clip(layer, quirks_);
  const auto compute = [&](unsigned thread, const ConvTile& tile, std::int32_t* values) {
    std::int64_t* const sums = scratch_[thread].sums.data();
    const std::size_t first_weight = tile.block * block_elements;
    for (unsigned done = 0; done < tile.count; done += kMr) {
      std::size_t bases[kMr];
      const unsigned part = std::min(kMr, tile.count - done);
      walk.bases(tile.first + done, part, std::size_t{0}, bases);
      kernels_.wide({wide_data_.data(), upper_data_.data(), bases, part, runs_.data(),
                     static_cast<unsigned>(runs_.size()), shape.run_steps(),
                     wide.words.data() + first_weight, wide.upper_from(first_weight),
                     wide.nudges_of(tile.block), static_cast<unsigned>(wide.chunk), sums});
      scratch_[thread].saturated +=
          kernels_.wide_clip(sums, part, clip, values + std::size_t{done} * kBlock);
    }
  };
  tiles_.run(sdp, {walk.positions(), SdpPass::kPositions},
             static_cast<double>(block_elements) / kWideRate, std::ref(compute));
  std::uint32_t saturated = 0;
  for (const Scratch& scratch : scratch_) saturated += scratch.saturated;
  return saturated;
}

}  // namespace nvdla::model
