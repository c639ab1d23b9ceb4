// SPDX-License-Identifier: MIT
#include "model/device.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/cdp/cdp.hpp"
#include "model/conv/conv_pass.hpp"
#include "model/core/blocked_list.hpp"
#include "model/core/counters.hpp"
#include "model/core/dma.hpp"
#include "model/core/register_file.hpp"
#include "model/core/thread_pool.hpp"
#include "model/move/bdma.hpp"
#include "model/move/rubik.hpp"
#include "model/pdp/pdp.hpp"
#include "model/predict.hpp"
#include "model/sdp/sdp_pass.hpp"

namespace nvdla::model {
namespace {

constexpr std::array kConvUnits = {NVDLA_UNIT_CDMA, NVDLA_UNIT_CSC, NVDLA_UNIT_CMAC_A,
                                   NVDLA_UNIT_CMAC_B, NVDLA_UNIT_CACC};

// First of a pair of bits in S_INTR_STATUS, one for each group.
constexpr std::uint32_t kSdpDone = NVDLA_GLB_S_INTR_STATUS_SDP_DONE_STATUS0_MASK;
constexpr std::uint32_t kDataDone = NVDLA_GLB_S_INTR_STATUS_CDMA_DAT_DONE_STATUS0_MASK;
constexpr std::uint32_t kWeightDone = NVDLA_GLB_S_INTR_STATUS_CDMA_WT_DONE_STATUS0_MASK;
constexpr std::uint32_t kCaccDone = NVDLA_GLB_S_INTR_STATUS_CACC_DONE_STATUS0_MASK;

}  // namespace

struct Device::Impl {
  Impl(const nvdla_hw& config, Bus& bus, const Options& opts)
      : hw(config),
        options(opts),
        registers(config, opts.posted_writes),
        dma(config, bus),
        counters(hw, opts.memory, registers,
                 hw.regmap == NVDLA_REGMAP_NV_FULL || opts.quirks == Quirks::kCmodel),
        kernels(chosen_kernels()),
        pool(opts.threads, opts.worth_sharing),
        sdp(config, dma, kernels, pool.size()),
        conv(config, dma, kernels, opts, pool),
        pdp(config, registers, dma, *kernels.units, opts.quirks, counters, pool),
        cdp(config, registers, dma, *kernels.units, opts.quirks, counters, pool),
        rubik(registers, dma, *kernels.units, opts.quirks, counters, pool),
        bdma(registers, dma, counters, pool),
        cdma_enable(*unit_base(static_cast<RegisterMap>(config.regmap), NVDLA_UNIT_CDMA) +
                    NVDLA_CDMA_D_OP_ENABLE),
        bdma_window(registers.built(NVDLA_UNIT_BDMA)
                        ? *unit_base(static_cast<RegisterMap>(config.regmap), NVDLA_UNIT_BDMA) /
                              NVDLA_UNIT_WINDOW
                        : UINT32_MAX) {}

  struct Completion {
    std::uint64_t due;
    std::uint32_t interrupts;
  };

  void reset();
  // Does what a write does that is more than to store; apart, so that those that store stay short.
  [[gnu::noinline]] void write(std::uint32_t offset, std::uint32_t value);
  void enable_cdma(std::uint32_t value);
  bool deliver();
  bool run_one();
  bool run_idle_rdma();
  bool run_sdp();
  bool run_conv();
  bool run_others();
  void finish_sdp(const SdpLayer& layer, const SdpCounters& results);
  void complete(std::uint32_t interrupts);
  bool conv_ready() const;
  bool join_pdp(const SdpLayer& layer);
  void list_blocked(BlockedList& list) const;

  nvdla_hw hw;
  Options options;
  RegisterFile registers;
  Dma dma;
  Counters counters;
  const Kernels& kernels;
  ThreadPool pool;
  SdpPass sdp;
  ConvPass conv;
  Pdp pdp;
  Cdp cdp;
  Rubik rubik;
  Bdma bdma;

  std::uint32_t cdma_enable;             // where CDMA's D_OP_ENABLE is
  std::uint32_t bdma_window;             // which one it is; where it is not built, none
  std::array<ConvStart, 2> conv_starts;  // of CDMA's groups

  std::uint64_t now = 0;
  std::vector<Completion> completions;  // first due first
  // Why the layer at CONSUMER of a unit will never end; for ever, until reset.
  std::string sdp_stuck, rdma_stuck, conv_stuck;
  // Hardware is busy clearing the convolution buffer for a moment after reset.
  bool flushing = true;
};

void Device::Impl::reset() {
  registers.reset();
  conv.reset();
  conv_starts = {};
  completions.clear();
  sdp_stuck.clear();
  rdma_stuck.clear();
  conv_stuck.clear();
  pdp.reset();
  cdp.reset();
  rubik.reset();
  bdma.reset();
  flushing = true;
}

void Device::Impl::write(std::uint32_t offset, std::uint32_t value) {
  if (offset == cdma_enable) {
    enable_cdma(value);
  } else {
    registers.write(offset, value);
  }
  if (offset / NVDLA_UNIT_WINDOW == bdma_window) bdma.written(offset % NVDLA_UNIT_WINDOW, value);
}

void Device::Impl::enable_cdma(std::uint32_t value) {
  const auto enabled = [&](unsigned group) { return registers.enabled(NVDLA_UNIT_CDMA, group); };
  const bool before[2] = {enabled(0), enabled(1)};
  registers.write(cdma_enable, value);
  for (unsigned group = 0; group < 2; ++group) {
    if (before[group] || !enabled(group)) continue;
    const unsigned next = registers.consumer(NVDLA_UNIT_CDMA);
    const unsigned of_csc = group ^ next ^ registers.consumer(NVDLA_UNIT_CSC);
    conv_starts[group] = {.fetch_first = !registers.enabled(NVDLA_UNIT_CSC, of_csc),
                          .ahead = group != next};
  }
}

void Device::Impl::complete(std::uint32_t interrupts) {
  if (options.completion_delay == 0) {
    registers.raise(interrupts);
    bdma.delivered(interrupts);
  } else {
    completions.push_back({now + options.completion_delay, interrupts});
  }
}

bool Device::Impl::deliver() {
  bool delivered = false;
  while (!completions.empty() && completions.front().due <= now) {
    registers.raise(completions.front().interrupts);
    bdma.delivered(completions.front().interrupts);
    completions.erase(completions.begin());
    delivered = true;
  }
  return delivered;
}

bool Device::Impl::run_idle_rdma() {
  // With every DMA off it has nothing to hand over and ends at once, whatever SDP does.
  if (!rdma_stuck.empty() || !registers.running(NVDLA_UNIT_SDP_RDMA)) return false;
  if (!reads_nothing(read_sdp_rdma(registers.view(NVDLA_UNIT_SDP_RDMA)))) return false;
  registers.finish(NVDLA_UNIT_SDP_RDMA);
  return true;
}

void Device::Impl::finish_sdp(const SdpLayer& layer, const SdpCounters& results) {
  const auto latch = [&](std::uint32_t offset, bool counted, std::uint64_t value) {
    // They stop at all ones.
    constexpr std::uint64_t kMost = UINT32_MAX;
    registers.set_statistic(NVDLA_UNIT_SDP, offset,
                            counted ? static_cast<std::uint32_t>(std::min(value, kMost)) : 0);
  };
  latch(NVDLA_SDP_D_STATUS, true, results.unequal ? 1 : 0);
  latch(NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM, layer.count_specials, results.nan_out);
  latch(NVDLA_SDP_D_PERF_OUT_SATURATION, layer.count_saturation, results.saturated);
  latch(NVDLA_SDP_D_PERF_LUT_UFLOW, layer.count_lut, results.lut.underflow);
  latch(NVDLA_SDP_D_PERF_LUT_OFLOW, layer.count_lut, results.lut.overflow);
  latch(NVDLA_SDP_D_PERF_LUT_HYBRID, layer.count_lut, results.lut.hit);
  latch(NVDLA_SDP_D_PERF_LUT_LE_HIT, layer.count_lut, results.lut.le_hit);
  latch(NVDLA_SDP_D_PERF_LUT_LO_HIT, layer.count_lut, results.lut.lo_hit);
  if (layer.has_rdma) {
    rdma_stuck = unconsumed_operand(layer);
    if (rdma_stuck.empty()) {
      registers.set_statistic(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM,
                              results.nan_in);
      registers.set_statistic(NVDLA_UNIT_SDP_RDMA, NVDLA_SDP_RDMA_D_STATUS_INF_INPUT_NUM,
                              results.infinite_in);
      registers.finish(NVDLA_UNIT_SDP_RDMA);
    }
  }
  const unsigned group = registers.consumer(NVDLA_UNIT_SDP);
  registers.finish(NVDLA_UNIT_SDP);
  complete(kSdpDone << group);
  if (layer.to_pdp) complete(pdp.end());
}

// SDP's layer goes to PDP's: false, and both are stuck, if they do not fit.
bool Device::Impl::join_pdp(const SdpLayer& layer) {
  const std::string fault = pdp.join(layer);
  if (fault.empty()) return true;
  sdp_stuck = "waits for PDP: " + fault;
  return false;
}

bool Device::Impl::run_sdp() {
  if (!sdp_stuck.empty() || !registers.running(NVDLA_UNIT_SDP)) return false;
  const SdpLayer layer = read_sdp(registers);
  if (layer.flying) return false;
  // A stuck SDP_RDMA still holds an older layer's operands.
  if (!layer.has_rdma || !rdma_stuck.empty()) return false;
  sdp_stuck = sdp_fault(hw, layer);
  if (!sdp_stuck.empty()) return false;
  if (layer.to_pdp && (!pdp.takes_sdp() || !join_pdp(layer))) return false;
  sdp.begin(layer, layer.rdma.largest_input(), layer.to_pdp ? &pdp.begin() : nullptr);
  sdp.run_from_memory(pool);
  counters.count_sdp([&] {
    return predict_sdp(counters.machine(), counters.memory(), layer,
                       layer.to_pdp ? &pdp.flying() : nullptr);
  });
  finish_sdp(layer, sdp.end());
  return true;
}

bool Device::Impl::conv_ready() const {
  for (const Unit unit : kConvUnits)
    if (!registers.running(unit)) return false;
  return true;
}

bool Device::Impl::run_conv() {
  if (!conv_stuck.empty() || !sdp_stuck.empty() || !conv_ready()) return false;
  if (!registers.running(NVDLA_UNIT_SDP)) return false;
  const SdpLayer post = read_sdp(registers);
  if (!post.flying) return false;
  if (post.needs_rdma && (!post.has_rdma || !rdma_stuck.empty())) return false;
  if (post.to_pdp && !pdp.takes_sdp()) return false;
  const ConvLayer layer = read_conv(registers);
  conv_stuck = conv_fault(hw, options.quirks, layer, conv.cbuf(), post);
  if (conv_stuck.empty()) {
    sdp_stuck = sdp_fault(hw, post);
    conv_stuck = sdp_stuck;
  } else {
    sdp_stuck = "waits for the convolution: " + conv_stuck;
  }
  if (conv_stuck.empty() && post.to_pdp && !join_pdp(post)) conv_stuck = "SDP " + sdp_stuck;
  if (!conv_stuck.empty()) return false;
  const ConvFetch fetch = plan_fetch(layer, conv.cbuf());
  conv_stuck = conv.prepare(layer, conv_starts[registers.consumer(NVDLA_UNIT_CDMA)]);
  if (!conv_stuck.empty()) {
    sdp_stuck = "waits for the convolution: " + conv_stuck;
    return false;
  }

  sdp.begin(post, layer.largest_sum(), post.to_pdp ? &pdp.begin() : nullptr);
  const ConvCounters counted = conv.run(layer, sdp);
  counters.count_conv([&] {
    return predict_conv(counters.machine(), counters.memory(), layer, fetch.data, fetch.weights,
                        post, post.to_pdp ? &pdp.flying() : nullptr);
  });
  registers.set_statistic(NVDLA_UNIT_CACC, NVDLA_CACC_D_OUT_SATURATION, counted.saturated);
  registers.set_statistic(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_NAN_INPUT_DATA_NUM, counted.data.nan);
  registers.set_statistic(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_INF_INPUT_DATA_NUM, counted.data.infinite);
  registers.set_statistic(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM, counted.weights.nan);
  registers.set_statistic(NVDLA_UNIT_CDMA, NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM,
                          counted.weights.infinite);
  const unsigned cdma = registers.consumer(NVDLA_UNIT_CDMA);
  const unsigned cacc = registers.consumer(NVDLA_UNIT_CACC);
  for (const Unit unit : kConvUnits) registers.finish(unit);
  complete(kDataDone << cdma | kWeightDone << cdma | kCaccDone << cacc);
  finish_sdp(post, sdp.end());
  return true;
}

// Units that work alone.
bool Device::Impl::run_others() {
  std::uint32_t interrupts = 0;
  const bool ran =
      pdp.run(interrupts) || cdp.run(interrupts) || rubik.run(interrupts) || bdma.run(interrupts);
  if (interrupts != 0) complete(interrupts);
  return ran;
}

bool Device::Impl::run_one() { return run_conv() || run_sdp() || run_idle_rdma() || run_others(); }

void Device::Impl::list_blocked(BlockedList& list) const {
  pdp.list_blocked(list);
  cdp.list_blocked(list);
  rubik.list_blocked(list);
  bdma.list_blocked(list);

  for (const Unit unit : kConvUnits) list.add_waiting_group(unit);
  list.add_waiting_group(NVDLA_UNIT_SDP_RDMA);
  list.add_waiting_group(NVDLA_UNIT_SDP);

  const bool sdp_runs = registers.running(NVDLA_UNIT_SDP);
  const SdpLayer layer = sdp_runs ? read_sdp(registers) : SdpLayer{};
  std::string conv_reason = conv_stuck;
  std::string sdp_reason = sdp_stuck;
  if (conv_reason.empty()) {
    for (const Unit unit : kConvUnits)
      if (!registers.running(unit) && conv_reason.empty())
        conv_reason = "waits for " + std::string(unit_name(unit)) + " to be enabled";
    if (conv_reason.empty() && !sdp_runs) conv_reason = "waits for SDP to be enabled";
    if (conv_reason.empty() && !layer.flying) conv_reason = "waits for SDP on the fly";
  }
  if (sdp_runs && sdp_reason.empty()) {
    if (layer.needs_rdma && !layer.has_rdma) sdp_reason = "waits for SDP_RDMA to be enabled";
    if (layer.needs_rdma && !rdma_stuck.empty()) sdp_reason = "waits for SDP_RDMA: " + rdma_stuck;
    if (layer.to_pdp && sdp_reason.empty() && !pdp.takes_sdp())
      sdp_reason = "waits for PDP on the fly to be enabled";
    if (layer.flying && sdp_reason.empty() && !conv_ready())
      sdp_reason = "waits for the convolution pipeline to be enabled";
    if (layer.flying && conv_reason.empty() && !sdp_reason.empty())
      conv_reason = "SDP " + sdp_reason;
  }
  if (!conv_reason.empty())
    for (const Unit unit : kConvUnits) list.add(unit, conv_reason);
  if (!sdp_reason.empty()) list.add(NVDLA_UNIT_SDP, sdp_reason);
  if (registers.running(NVDLA_UNIT_SDP_RDMA)) {
    if (!rdma_stuck.empty()) {
      list.add(NVDLA_UNIT_SDP_RDMA, rdma_stuck);
    } else if (layer.has_rdma && !sdp_reason.empty()) {
      list.add(NVDLA_UNIT_SDP_RDMA, "waits for SDP: " + sdp_reason);
    } else if (!layer.has_rdma &&
               !reads_nothing(read_sdp_rdma(registers.view(NVDLA_UNIT_SDP_RDMA)))) {
      list.add(NVDLA_UNIT_SDP_RDMA, "waits for an SDP layer that takes what it brings");
    }
  }
}

Device::Device(const nvdla_hw& hw, Bus& bus, const Options& options)
    : impl_(std::make_unique<Impl>(hw, bus, options)) {
  if (hw.atom == 0 || kBlock % hw.atom != 0 || hw.regmap >= NVDLA_REGMAP_COUNT)
    throw std::invalid_argument(std::string("no model of configuration ") + hw.name + ": atom " +
                                std::to_string(hw.atom) + " must divide " + std::to_string(kBlock));
}

Device::~Device() = default;

std::uint32_t Device::read(std::uint32_t offset) { return impl_->registers.read(offset); }

void Device::write(std::uint32_t offset, std::uint32_t value) {
  if (!impl_->registers.store(offset, value)) impl_->write(offset, value);
}

void Device::write(std::span<const nvdla_reg_write> writes) {
  while (true) {
    writes = writes.subspan(impl_->registers.store(writes));
    if (writes.empty()) return;
    impl_->write(writes.front().offset, writes.front().value);
    writes = writes.subspan(1);
  }
}

bool Device::interrupt() const { return impl_->registers.interrupt(); }

bool Device::settle() { return impl_->registers.settle_line(); }

bool Device::step() {
  Impl& impl = *impl_;
  ++impl.now;
  const bool flushed = std::exchange(impl.flushing, false);
  if (flushed) impl.registers.flush_done();
  const bool arrived = impl.registers.settle_line();
  if (impl.deliver() || impl.run_one() || flushed || arrived) return true;
  // Nothing happens but time.
  return !impl.completions.empty();
}

bool Device::idle() const {
  if (!impl_->completions.empty() || !impl_->bdma.idle()) return false;
  for (const UnitInfo& info : units())
    for (unsigned group = 0; group < info.groups; ++group)
      if (impl_->registers.enabled(info.unit, group)) return false;
  return true;
}

std::vector<Blocked> Device::blocked() const {
  BlockedList list(impl_->registers);
  impl_->list_blocked(list);
  return list.take();
}

Refusals Device::refusals() const { return impl_->dma.refusals(); }
void Device::clear_refusals() { impl_->dma.clear_refusals(); }
void Device::reset() { impl_->reset(); }
const nvdla_hw& Device::hw() const { return impl_->hw; }

}  // namespace nvdla::model
