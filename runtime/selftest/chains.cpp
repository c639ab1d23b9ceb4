// SPDX-License-Identifier: MIT
//
// Convolutions one after another: what one of them leaves in the convolution buffer, others find.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "selftest/steps.hpp"

namespace nvdla::selftest {
namespace {

// All of a channel's weights of kernel k, in layer i.
std::int8_t weight(std::size_t layer, std::uint32_t kernel) {
  return static_cast<std::int8_t>(static_cast<int>((layer * 5 + kernel * 3) % 23) - 11);
}

// 1x1 kernels over one position: a group of them, over so many channels. The input is 1 in its
// first `kOnes` channels, so that every sum is a small number.
class Chain {
 public:
  static constexpr std::uint32_t kOnes = 8;

  // `kernels` are one group, hw.atomic_k of them at most.
  Chain(const nvdla_hw& hw, std::size_t layers, std::uint32_t channels, std::uint32_t kernels)
      : hw_(hw), channels_(channels), kernels_(kernels) {
    work_.what = layers == 1 ? "a convolution" : fmt::format("{} convolutions", layers);
    output_stride_ = (std::size_t{kernels} + hw.atom - 1) / hw.atom * hw.atom;
    const std::uint32_t surfaces = (channels + hw.atom - 1) / hw.atom;
    const std::size_t align = std::max<std::size_t>(hw.weight_align, kAlignment);
    stride_ = (std::size_t{kernels_} * channels + align - 1) / align * align;
    Bytes input(std::size_t{surfaces} * hw.atom);
    std::fill_n(input.begin(), kOnes, std::uint8_t{1});
    Bytes weights(stride_ * layers);
    for (std::size_t i = 0; i < layers; ++i) {
      work_.layers.push_back(layer(i));
      fill(i, std::span(weights).subspan(i * stride_, stride_));
    }
    work_.regions = {
        {std::move(input)}, {std::move(weights)}, {Bytes(layers * output_stride_, kPoison), true}};
  }

  const Work& work() const noexcept { return work_; }

  // The first layer that is wrong.
  std::optional<std::size_t> wrong(std::span<const std::uint8_t> output) const {
    for (std::size_t i = 0; i < work_.layers.size(); ++i)
      for (std::uint32_t k = 0; k < kernels_; ++k)
        if (static_cast<std::int8_t>(output[i * output_stride_ + k]) != weight(i, k) * int{kOnes})
          return i;
    return std::nullopt;
  }

 private:
  nvdla_layer layer(std::size_t index) const {
    nvdla_layer layer = {};
    layer.kind = NVDLA_LAYER_CONV_SDP;
    nvdla_conv& conv = layer.conv;
    conv.width = conv.height = conv.batch = conv.kernel_width = conv.kernel_height = 1;
    conv.stride_width = conv.stride_height = conv.dilation_width = conv.dilation_height = 1;
    conv.channels = channels_;
    conv.kernels = kernels_;
    conv.data_banks = conv.weight_banks = conv.post_extension = 1;
    conv.input.line_stride = conv.input.surface_stride = hw_.atom;
    conv.weights.slot = 1;
    conv.weights.offset = index * stride_;
    layer.sdp.out_cvt.scale = 1;
    layer.sdp.output.slot = 2;
    layer.sdp.output.offset = index * output_stride_;
    layer.sdp.output.line_stride = layer.sdp.output.surface_stride = hw_.atom;
    return layer;
  }

  // Kernels after one another for each cube of channels.
  void fill(std::size_t index, std::span<std::uint8_t> weights) const {
    std::size_t at = 0;
    for (std::uint32_t first = 0; first < channels_; first += hw_.atomic_c)
      for (std::uint32_t k = 0; k < kernels_; ++k)
        for (std::uint32_t c = first; c < std::min(first + hw_.atomic_c, channels_); ++c)
          weights[at++] = static_cast<std::uint8_t>(weight(index, k));
  }

  const nvdla_hw& hw_;
  std::uint32_t channels_;
  std::uint32_t kernels_;
  std::size_t stride_ = 0;
  std::size_t output_stride_ = 0;
  Work work_;
};

constexpr const char* kLeftOver =
    "left-over weights: more entries of the convolution buffer are fetched than read, and the "
    "next layer reads what is left; WEIGHT_BYTES has to be a multiple of the entry's width and no "
    "more";
constexpr const char* kGate =
    "clock gating: CDMA loses the weights that are freed while its clock is gated (a fault of the "
    "second generation's logic); load the driver with weight_gating=1, its default, name the "
    "device without gating=off, or have the clock override pin high";

std::optional<Finding> run_chain(Runner& runner, const Chain& chain, const char* cause) {
  const auto load = runner.load(chain.work());
  auto found = run(*load, chain.work().what);
  if (found) {
    found->causes.insert(found->causes.begin(), cause);
  } else if (const auto layer = chain.wrong(load->bytes(2))) {
    found = Finding{fmt::format("{}: the results of layer {} are wrong", chain.work().what, *layer),
                    "every layer's weights are its own",
                    {cause, cause::kConfiguration}};
  }
  return found;
}

// Half of a weight bank in each layer of one job: the third one waits for room that was lost.
Chain large_chain(const nvdla_hw& hw) {
  const std::uint32_t bank = hw.cbuf_entries * hw.cbuf_entry_bytes;
  return {hw, 12, bank / 2 / hw.atomic_k, hw.atomic_k};
}

// A layer whose weights fill their bank, and a small one that finds no room if that was lost.
std::array<Chain, 2> bank_and_more(const nvdla_hw& hw) {
  constexpr std::uint32_t kMaxChannels = 8192;
  const std::uint32_t bank = hw.cbuf_entries * hw.cbuf_entry_bytes;
  const std::uint32_t kernels = (bank + kMaxChannels - 1) / kMaxChannels;
  return {Chain(hw, 1, bank / kernels, kernels), Chain(hw, 1, Chain::kOnes, hw.atomic_k)};
}

// Runs jobs of one layer each, one after another has ended. CDMA has nothing left to fetch and is
// idle when such a layer frees its weights, whatever the latency of memory is; in a chain that
// depends on it.
std::optional<Finding> run_jobs(Runner& runner, const nvdla_hw& hw, const char* cause) {
  for (unsigned round = 0; round < 2; ++round)
    for (const Chain& job : bank_and_more(hw))
      if (auto found = run_chain(runner, job, cause)) return found;
  return std::nullopt;
}

}  // namespace

// Weights that are kept until the next layer go as a whole, left-overs included, so this is for
// layers that free them: as on logic that is mended. Too few to fill a bank where it is not, but
// such logic takes them for used until a reset, and they add up with each test.
Result check_left_over(Bench& bench) {
  if (bench.bare && (bench.hw.features & NVDLA_HW_WEIGHT_GATING) != 0 && !bench.can_reset()) {
    return Result::left_out(
        "without a reset: where a clock gate loses what layers free of the weight banks, their "
        "room would be lost for good (gating=off in the device's name: the logic is mended)");
  }
  nvdla_hw hw = bench.hw;
  hw.features &= ~static_cast<u32>(NVDLA_HW_WEIGHT_GATING);
  const Chain chain(hw, 8, Chain::kOnes, hw.atomic_k);
  if (!bench.bare) {
    if (auto found = run_chain(bench.runner, chain, kLeftOver))
      return Result::failed(std::move(*found));
    return Result::passed(fmt::format("{}, each right", chain.work().what));
  }
  BareRunner runner(bench.bare->device(), hw, bench.limit);
  bench.bare->forget();
  if (auto found = run_chain(runner, chain, kLeftOver)) return Result::failed(std::move(*found));
  return Result::passed(fmt::format("{}, each right", chain.work().what));
}

Result check_gating(Bench& bench) {
  const Chain chain = large_chain(bench.hw);
  if (auto found = run_chain(bench.runner, chain, kGate)) return Result::failed(std::move(*found));
  if (auto found = run_jobs(bench.runner, bench.hw, kGate))
    return Result::failed(std::move(*found));
  const std::string ran = fmt::format("{} and 4 jobs of one, each right", chain.work().what);
  if (!bench.bare || (bench.hw.features & NVDLA_HW_WEIGHT_GATING) == 0) return Result::passed(ran);

  // The same as on mended logic: a hang shows that this is not. It takes a reset.
  if (!bench.can_reset())
    return Result::passed(ran + "; whether the logic has the fault is not tried without a reset");
  nvdla_hw mended = bench.hw;
  mended.features &= ~static_cast<u32>(NVDLA_HW_WEIGHT_GATING);
  BareRunner runner(bench.bare->device(), mended, bench.limit);
  const bool shown = run_jobs(runner, mended, kGate) || run_chain(runner, chain, kGate);
  bench.bare->forget();
  if (const auto wrong = bench.bare->start())
    return Result::failed({fmt::format("after {} in a row: {}", chain.work().what, *wrong),
                           "a reset ends what hangs",
                           {cause::kNoAnswer}});
  return Result::passed(ran + (shown ? "; the logic has the fault of its clock gate, which is "
                                       "worked around: leave weight_gating=1"
                                     : "; the fault of the clock gate is not shown, which does "
                                       "not prove that the logic is without it"));
}

}  // namespace nvdla::selftest
