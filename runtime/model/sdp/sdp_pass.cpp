// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_pass.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

#include "model/core/cube_rows.hpp"
#include "model/core/thread_pool.hpp"
#include "model/simd/unit_kernels.hpp"
#include "support/float.hpp"

namespace nvdla::model {
namespace {

// Nanoseconds of an element, roughly.
constexpr double kStreamTime = 0.15, kMapTime = 0.4, kTileTime = 0.5;

std::uint64_t mixed(std::uint64_t mark, std::uint64_t value) noexcept {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return (mark ^ value) * kOdd;
}

}  // namespace

SdpPass::SdpPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels, unsigned threads)
    : hw_(hw), dma_(dma), kernels_(kernels), passing_(hw, dma, kernels), workers_(threads) {
  constexpr std::size_t kValues = std::size_t{kMostPositions} * kBlock;
  for (Worker& worker : workers_) {
    // The widest column: four bytes for each channel of a block.
    worker.raw.resize(kValues * 4);
    worker.values.resize(kValues);
    worker.out8.resize(kValues);
    worker.out16.resize(kValues);
    for (SdpOperands::Tile& tile : worker.elements) {
      tile.alu.resize(kValues);
      tile.mul.resize(kValues);
      tile.raw.resize(kValues * 4);
    }
  }
}

unsigned SdpPass::lanes(unsigned block) const noexcept {
  return std::min<std::uint32_t>(kBlock, padded_channels_ - block * kBlock);
}

void SdpPass::begin(const SdpLayer& layer, std::uint64_t largest, AtomSink* sink) {
  layer_ = layer;
  sink_ = sink;
  column_ = hw_.atom / precision_bytes(layer.proc);
  padded_channels_ = (layer.channels + column_ - 1) / column_ * column_;
  // The second generation has no batches and ignores the register.
  batches_ = hw_.regmap == NVDLA_REGMAP_NV_FULL ? layer.batches : 1;
  batch_ = 0;
  float_ = layer.proc == Precision::kFp16;
  single_ = layer.width == 1 && layer.height == 1;
  single_output_ = single_ && batches_ == 1;
  for (Worker& worker : workers_) worker.counters = {};
  find_plan(largest);
  for (SdpOperands& operands : plan_->operands) operands.open();
  if (layer.y.lut && float_) lut_.begin_float(layer_.table, *kernels_.units, plan_->plain_operands);
  if (layer.y.lut && !float_) lut_.begin(layer_.table, *kernels_.units, plan_->largest_sum);
  open_windows();
}

void SdpPass::find_plan(std::uint64_t largest) {
  SdpLayer layer = layer_;
  layer.destination = {};
  layer.batch_stride = 0;
  layer.rdma.source = {};
  std::uint64_t generations[3] = {};
  bool keeps = true;
  std::uint64_t mark = mixed(mixed(layer.channels, largest), layer.scale);
  for (unsigned i = 0; i < 3; ++i) {
    OperandDma& dma = layer.rdma.operands[i];
    if (dma.per_element) dma.memory = {};
    const SdpOperands::Range range = SdpOperands::channel_range(layer, i, padded_channels_);
    if (range.size == 0) continue;
    // Asked before the bytes are read, so a change in between is seen next time.
    generations[i] = dma_.generation(range.ram, range.base, range.size);
    keeps &= generations[i] != 0;
    mark = mixed(mark, range.base);
  }
  plan_ = keeps ? known_plan(mark, layer, largest, generations) : nullptr;
  if (plan_ != nullptr) return;
  plan_ = keeps ? &new_plan() : &passing_;
  plan_->mark = mark;
  plan_->layer = layer;
  plan_->largest_input = largest;
  std::copy_n(generations, 3, plan_->generations);
  make_plan(*plan_);
}

SdpPass::SdpPlan* SdpPass::known_plan(std::uint64_t mark, const SdpLayer& layer,
                                      std::uint64_t largest,
                                      const std::uint64_t (&generations)[3]) noexcept {
  const std::size_t at = plan_search_.find([&](std::size_t place) {
    const SdpPlan& plan = *plans_[place];
    return plan.mark == mark && plan.largest_input == largest && plan.layer == layer &&
           std::equal(generations, generations + 3, plan.generations) &&
           (!plan.has_epilogue || epilogue_.resume(plan.epilogue));
  });
  return at == RecurringSearch::kNone ? nullptr : plans_[at].get();
}

SdpPass::SdpPlan& SdpPass::new_plan() {
  if (plans_.size() == kMaxPlans) {
    plans_.clear();
    plan_search_.clear();
  }
  plans_.push_back(std::make_unique<SdpPlan>(hw_, dma_, kernels_));
  plan_search_.append();
  return *plans_.back();
}

// Operands refer to the layer of this run.
void SdpPass::make_plan(SdpPlan& plan) {
  for (unsigned i = 0; i < 3; ++i) plan.operands[i].begin(layer_, i, padded_channels_);
  // Registers hold fp32 as it was written; all else is made of fp16.
  const auto plain = [](const OperandPart& part) {
    return !part.active || part.from_memory ||
           fp::is_regular<fp::Fp32>(static_cast<std::uint32_t>(part.value));
  };
  plan.plain_operands = plain(layer_.y.alu) && plain(layer_.y.mul);
  plan.finishes = kernels_.finish != nullptr &&
                  plan.finishing.begin(layer_, plan.operands, plan.largest_input, padded_channels_);
  plan.has_epilogue = !plan.finishes && kernels_.epilogue != nullptr &&
                      epilogue_.begin(layer_, plan.operands, plan.largest_input, padded_channels_);
  plan.epilogue = epilogue_.mark();
  bound(layer_, plan);
}

// Threads share a layer where all that it touches lies open, and nothing is written that another
// tile reads or writes.
void SdpPass::open_windows() {
  window_ = nullptr;
  shareable_ = sink_ == nullptr;
  const bool writes = sink_ == nullptr && !layer_.y.equal;
  if (writes) {
    cube_ = {.memory = layer_.destination,
             .surfaces = padded_channels_ / (hw_.atom / precision_bytes(layer_.out)),
             .height = layer_.height,
             .line_bytes = std::uint64_t{layer_.width} * hw_.atom,
             .single = single_output_,
             .batches = batches_,
             .batch_stride = layer_.batch_stride};
    window_ = dma_.window(cube_.memory.ram, cube_.memory.base, cube_.extent(), true);
    shareable_ = window_ != nullptr && cube_.apart();
  }
  for (const SdpOperands& operands : plan_->operands)
    if (operands.per_element())
      shareable_ &= operands.in_window() && !(writes && cube_.meets(operands.cube()));
}

bool SdpPass::may_write(std::span<const std::byte> bytes) const noexcept {
  if (sink_ != nullptr) return true;
  if (layer_.y.equal) return false;
  const std::less<> before;
  return window_ == nullptr || (before(bytes.data(), window_ + cube_.extent()) &&
                                before(window_, bytes.data() + bytes.size()));
}

// Bounds the values after each operator, and finds the operators at which 32 bits hold them.
void SdpPass::bound(const SdpLayer& layer, SdpPlan& plan) noexcept {
  constexpr std::uint64_t kMost = INT32_MAX;
  constexpr unsigned kNarrowShift = 32;
  std::uint64_t most = std::min(plan.largest_input, kMost + 1);
  const auto add = [](Alu algorithm, std::uint64_t value, std::uint64_t operand) {
    if (algorithm == Alu::kNone) return value;
    return algorithm == Alu::kSum ? value + operand : std::max(value, operand);
  };
  const auto multiply = [&](unsigned i, std::uint64_t value, unsigned shift, bool prelu) {
    if (shift > kNarrowShift) return kMost + 1;
    const std::uint64_t half = (std::uint64_t{1} << shift) >> 1;
    const std::uint64_t result = (value * plan.operands[i].largest_mul() + half) >> shift;
    return prelu ? std::max(value, result) : result;
  };
  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer.x[i];
    if (!x.active) continue;
    const std::uint64_t sum = add(x.algorithm, most, plan.operands[i].largest_alu());
    most = x.mul.active ? multiply(i, sum, x.mul_shift, x.prelu) : sum;
    plan.fits[i] = sum <= kMost && most <= kMost;
    most = std::min(most, kMost + 1);
  }
  const OperatorY& y = layer.y;
  if (y.active && y.mul.active) {
    const std::uint64_t result = multiply(2, most, y.truncate, y.prelu);
    plan.fits[2] = most <= kMost && result <= kMost;
    most = std::min(result, kMost + 1);
  }
  if (y.active) most = std::min(add(y.algorithm, most, plan.operands[2].largest_alu()), kMost + 1);
  plan.largest_sum = most;
}

void SdpPass::fetch_elements(unsigned block, std::uint32_t first, unsigned count, Worker& worker) {
  for (unsigned i = 0; i < 3; ++i)
    if (plan_->operands[i].per_element())
      plan_->operands[i].fetch(block, lanes(block) / column_, first, count, worker.elements[i]);
}

void SdpPass::tile(std::int32_t* values, unsigned block, std::uint32_t first, unsigned count,
                   unsigned thread) {
  if (plan_->finishes)
    return finish_tile(block, first, count, thread, [&](const SdpFinish& pass, std::int8_t* out) {
      kernels_.finish(values, count, pass, out);
    });
  Worker& worker = workers_[thread];
  fetch_elements(block, first, count, worker);
  if (plan_->has_epilogue) {
    const unsigned adder = epilogue_.adder();
    const SdpOperand elements = adder == SdpEpilogue::kNone
                                    ? SdpOperand{nullptr, 0}
                                    : plan_->operands[adder].alu(block, worker.elements[adder]);
    std::int8_t* const out = place(block, first);
    if (kernels_.epilogue(values, count, epilogue_.block(block, elements),
                          out != nullptr ? out : worker.out8.data())) {
      if (out == nullptr) store(worker.out8.data(), block, first, count, worker);
      return;
    }
  }
  const unsigned used = lanes(block);
  if (!operate(values, block, count, used, worker)) return;
  convert(values, count, used, worker);
  layer_.out == Precision::kInt8 ? store(worker.out8.data(), block, first, count, worker)
                                 : store(worker.out16.data(), block, first, count, worker);
}

// The three operators; false if nothing is written.
bool SdpPass::operate(std::int32_t* values, unsigned block, unsigned count, unsigned used,
                      Worker& worker) {
  const UnitKernels& units = *kernels_.units;
  if (float_ && layer_.flush_nan) units.sdp_float_flush(values, count);

  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer_.x[i];
    if (!x.active) continue;
    const SdpX unit{true,
                    x.algorithm,
                    x.mul.active,
                    x.prelu,
                    x.relu,
                    static_cast<std::uint8_t>(x.mul_shift),
                    plan_->operands[i].alu(block, worker.elements[i]),
                    plan_->operands[i].mul(block, worker.elements[i]),
                    plan_->fits[i]};
    float_ ? units.sdp_float_x(values, count, unit) : kernels_.sdp_x(values, count, used, unit);
  }
  if (layer_.y.active) {
    const OperatorY& y = layer_.y;
    const SdpOperand alu = plan_->operands[2].alu(block, worker.elements[2]);
    const SdpY unit{true,
                    y.mul.active,
                    y.prelu,
                    static_cast<std::uint16_t>(y.truncate),
                    y.algorithm,
                    alu,
                    plan_->operands[2].mul(block, worker.elements[2]),
                    plan_->fits[2]};
    if (!float_) {
      kernels_.sdp_y(values, count, used, unit);
    } else if (plan_->plain_operands) {
      units.sdp_float_y(values, count, unit);
    } else {
      sdp_y_float(values, count, used, unit);
    }
    if (y.equal) {
      for (unsigned position = 0; position < count; ++position)
        for (unsigned lane = 0; lane < used; ++lane)
          worker.counters.unequal |= values[position * kBlock + lane] !=
                                     alu.values[std::size_t{position} * alu.stride + lane];
      return false;
    }
    if (y.lut) lut_.look_up(values, count, used, layer_.count_lut, worker.counters.lut);
  }
  return true;
}

std::int8_t* SdpPass::place(unsigned block, std::uint32_t first) const noexcept {
  const Surface& memory = layer_.destination;
  if (window_ == nullptr || hw_.atom != kBlock || single_output_ ||
      memory.line != std::uint64_t{layer_.width} * kBlock)
    return nullptr;
  return reinterpret_cast<std::int8_t*>(window_ + batch_ * layer_.batch_stride +
                                        block * memory.surface + std::uint64_t{first} * kBlock);
}

// To the elements of the output, the worker's.
void SdpPass::convert(std::int32_t* values, unsigned count, unsigned used, Worker& worker) {
  const bool to_fp16 = layer_.out == Precision::kFp16;
  if (float_) {
    if (to_fp16) {
      const HalfCounts counts =
          kernels_.units->sdp_float_to_half(values, count, used, worker.out16.data());
      worker.counters.nan_out += counts.nan;
      worker.counters.saturated += counts.largest;
    } else {
      kernels_.units->sdp_float_to_int16(values, count, worker.out16.data());
    }
    return;
  }
  const bool identity = layer_.offset == 0 && layer_.scale == 1 && layer_.shift == 0;
  const SdpConverter converter{layer_.offset, layer_.scale, static_cast<std::uint8_t>(layer_.shift),
                               layer_.count_saturation && !to_fp16,
                               hw_.regmap == NVDLA_REGMAP_NV_FULL};
  if (layer_.out == Precision::kInt8 && !identity && !layer_.count_saturation) {
    kernels_.convert_to_int8(values, count, converter, worker.out8.data());
    return;
  }
  // Narrowing saturates by itself; without the counter an identity converter changes nothing. To
  // fp16 the 17 bits matter, and what is counted are its results.
  if (!identity || layer_.count_saturation || to_fp16)
    worker.counters.saturated += kernels_.sdp_convert(values, count, used, converter);
  if (to_fp16) {
    worker.counters.saturated +=
        kernels_.units->sdp_int_to_half(values, count, used, worker.out16.data()).largest;
  } else if (layer_.out == Precision::kInt8) {
    kernels_.to_int8(values, count, worker.out8.data());
  } else {
    kernels_.to_int16(values, count, worker.out16.data());
  }
}

// Atoms of a column of [position][kBlock] side by side.
template <typename Element>
void SdpPass::gather_atoms(const Element* from, unsigned count, std::byte* to) const noexcept {
  const auto copy = [&]<std::size_t kAtom>(std::integral_constant<std::size_t, kAtom>) {
    for (unsigned i = 0; i < count; ++i)
      std::memcpy(to + i * kAtom, from + std::size_t{i} * kBlock, kAtom);
  };
  switch (hw_.atom) {
    case 32:
      return copy(std::integral_constant<std::size_t, 32>{});
    case 16:
      return copy(std::integral_constant<std::size_t, 16>{});
    case 8:
      return copy(std::integral_constant<std::size_t, 8>{});
    default:
      for (unsigned i = 0; i < count; ++i)
        std::memcpy(to + std::size_t{i} * hw_.atom, from + std::size_t{i} * kBlock, hw_.atom);
  }
}

template <typename Element>
void SdpPass::store(const Element* elements, unsigned block, std::uint32_t first, unsigned count,
                    Worker& worker) {
  const Surface& memory = layer_.destination;
  const unsigned atom_elements = hw_.atom / sizeof(Element);
  const unsigned atoms = lanes(block) / atom_elements;
  const bool packed = sink_ == nullptr && memory.line == std::uint64_t{layer_.width} * hw_.atom;
  for (unsigned atom = 0; atom < atoms; ++atom) {
    const std::uint64_t surface = block * (kBlock / atom_elements) + atom;
    for_each_row(
        layer_.width, packed, first, count,
        [&](std::uint32_t y, std::uint32_t x, unsigned at, unsigned part) {
          const std::uint64_t offset =
              batch_ * layer_.batch_stride +
              (single_output_
                   ? surface * hw_.atom
                   : surface * memory.surface + y * memory.line + std::uint64_t{x} * hw_.atom);
          const Element* from = elements + std::size_t{at} * kBlock + atom * atom_elements;
          const std::size_t bytes = std::size_t{part} * hw_.atom;
          if (atom_elements != kBlock) {
            gather_atoms(from, part, window_ != nullptr ? window_ + offset : worker.raw.data());
            from = reinterpret_cast<const Element*>(worker.raw.data());
          } else if (window_ != nullptr) {
            std::memcpy(window_ + offset, from, bytes);
          }
          if (sink_ != nullptr) {
            sink_->take(surface, y, x, from, part);
          } else if (window_ == nullptr) {
            dma_.write(NVDLA_DMA_SDP_WDMA, memory.ram, memory.base + offset, from, bytes);
          }
        });
  }
}

void SdpPass::count_input(const std::byte* raw, unsigned count, SdpCounters& counters) const {
  std::uint16_t elements[kBlock];
  for (unsigned at = 0; at < count; at += kBlock) {
    const unsigned part = std::min(kBlock, count - at);
    std::memcpy(elements, raw + std::size_t{at} * 2, std::size_t{part} * 2);
    const fp::Specials specials = fp::count_specials({elements, part});
    counters.nan_in += specials.nan;
    counters.infinite_in += specials.infinite;
  }
}

void SdpPass::load_tile(unsigned block, std::uint32_t first, unsigned count, Worker& worker) {
  const Surface& memory = layer_.rdma.source;
  const unsigned bytes = precision_bytes(layer_.rdma.in);
  const unsigned atom_elements = hw_.atom / bytes;
  const bool packed = memory.line == std::uint64_t{layer_.width} * hw_.atom;
  for (unsigned atom = 0; atom < lanes(block) / atom_elements; ++atom) {
    const std::uint64_t surface = block * (kBlock / atom_elements) + atom;
    for_each_row(
        layer_.width, packed, first, count,
        [&](std::uint32_t y, std::uint32_t x, unsigned at, unsigned part) {
          const std::uint64_t offset =
              single_ ? surface * hw_.atom
                      : surface * memory.surface + y * memory.line + std::uint64_t{x} * hw_.atom;
          const std::byte* raw =
              source_ != nullptr ? source_ + offset
                                 : dma_.view(NVDLA_DMA_SDP_RDMA, memory.ram, memory.base + offset,
                                             std::uint64_t{part} * hw_.atom, worker.raw.data());
          if (layer_.rdma.count_specials && layer_.rdma.in == Precision::kFp16)
            count_input(raw, part * atom_elements, worker.counters);
          const SdpElements from{raw, part, atom_elements, 1, 0, bytes == 2};
          std::int32_t* to = worker.values.data() + std::size_t{at} * kBlock + atom * atom_elements;
          // NaNs are flushed later, together with those of a convolution.
          float_ ? kernels_.units->sdp_load_half(from, to, false) : kernels_.sdp_widen(from, to);
        });
  }
}

void SdpPass::run_from_memory(ThreadPool& pool) {
  const bool shared = open_source();
  const std::uint64_t elements = std::uint64_t{layer_.width} * layer_.height * padded_channels_;
  if (shared && plan_stream()) {
    const double time = kStreamTime * static_cast<double>(elements);
    const std::uint64_t bytes = elements * precision_bytes(layer_.proc);
    const LineTasks tasks(cube_.surfaces, layer_.height, cube_.line_bytes,
                          pool.shares(time) ? bytes / pool.in_flight() : bytes);
    auto execute = [&](unsigned thread, std::size_t task) { stream(tasks.at(task), thread); };
    return run_tasks(pool, tasks.count(), time, execute);
  }
  if (shared && plan_map(elements)) {
    const double time = kMapTime * static_cast<double>(elements);
    const std::uint64_t bytes = elements * precision_bytes(layer_.proc);
    const LineTasks tasks(cube_.surfaces, layer_.height, cube_.line_bytes,
                          pool.shares(time) ? bytes / pool.in_flight() : bytes);
    auto execute = [&](unsigned thread, std::size_t task) { map(tasks.at(task), thread); };
    return run_tasks(pool, tasks.count(), time, execute);
  }
  const std::uint32_t positions = layer_.width * layer_.height;
  const std::uint32_t steps = (positions + kPositions - 1) / kPositions;
  auto execute = [&](unsigned thread, std::size_t task) {
    const auto block = static_cast<unsigned>(task / steps);
    const auto first = static_cast<std::uint32_t>(task % steps) * kPositions;
    const unsigned count = std::min<std::uint32_t>(kPositions, positions - first);
    Worker& worker = workers_[thread];
    load_tile(block, first, count, worker);
    tile(worker.values.data(), block, first, count, thread);
  };
  const std::size_t tasks = std::size_t{blocks()} * steps;
  if (shared) return run_tasks(pool, tasks, kTileTime * static_cast<double>(elements), execute);
  for (std::size_t task = 0; task < tasks; ++task) execute(0, task);
}

SdpCounters SdpPass::end() {
  announce();
  SdpCounters sum;
  for (const Worker& worker : workers_) sum += worker.counters;
  return sum;
}

void SdpPass::announce() {
  if (layer_.y.equal || sink_ != nullptr) return;
  const Surface& memory = cube_.memory;
  if (single_output_) return dma_.written(memory.ram, memory.base, cube_.extent());
  for (std::uint64_t batch = 0; batch < batches_; ++batch)
    for (std::uint64_t surface = 0; surface < cube_.surfaces; ++surface)
      dma_.written_lines(memory.ram,
                         memory.base + batch * layer_.batch_stride + surface * memory.surface,
                         memory.line, layer_.height, cube_.line_bytes);
}

}  // namespace nvdla::model
