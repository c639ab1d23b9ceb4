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

}  // namespace

SdpPass::SdpPass(const nvdla_hw& hw, Dma& dma, const Kernels& kernels, unsigned threads)
    : hw_(hw),
      dma_(dma),
      kernels_(kernels),
      operands_{{hw, dma, kernels}, {hw, dma, kernels}, {hw, dma, kernels}},
      workers_(threads) {
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
  // The second generation has no batches, whatever the register says.
  batches_ = hw_.regmap == NVDLA_REGMAP_NV_FULL ? layer.batches : 1;
  batch_ = 0;
  float_ = layer.proc == Precision::kFp16;
  single_ = layer.width == 1 && layer.height == 1;
  single_output_ = single_ && batches_ == 1;
  for (Worker& worker : workers_) worker.counters = {};
  for (unsigned i = 0; i < 3; ++i) operands_[i].begin(layer_, i, padded_channels_);
  largest_ = largest;
  // Registers hold fp32 as it was written; all else is made of fp16.
  const auto plain = [](const OperandPart& part) {
    return !part.active || part.from_memory ||
           fp::is_regular<fp::Fp32>(static_cast<std::uint32_t>(part.value));
  };
  plain_operands_ = plain(layer.y.alu) && plain(layer.y.mul);
  finishes_ =
      kernels_.finish != nullptr && finishing_.begin(layer_, operands_, largest_, padded_channels_);
  has_epilogue_ = !finishes_ && kernels_.epilogue != nullptr &&
                  epilogue_.begin(layer_, operands_, largest_, padded_channels_);
  bound();
  if (layer.y.lut && float_) lut_.begin_float(layer_.table, *kernels_.units, plain_operands_);
  if (layer.y.lut && !float_) lut_.begin(layer_.table, *kernels_.units, largest_);
  open_windows();
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
  for (const SdpOperands& operands : operands_)
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

// What the stream can be behind each operator, and where 32 bits hold it on the way.
void SdpPass::bound() {
  constexpr std::uint64_t kMost = INT32_MAX;
  constexpr unsigned kNarrowShift = 32;
  std::uint64_t most = std::min(largest_, kMost + 1);
  const auto add = [](Alu algorithm, std::uint64_t value, std::uint64_t operand) {
    if (algorithm == Alu::kNone) return value;
    return algorithm == Alu::kSum ? value + operand : std::max(value, operand);
  };
  const auto multiply = [&](unsigned i, std::uint64_t value, unsigned shift, bool prelu) {
    if (shift > kNarrowShift) return kMost + 1;
    const std::uint64_t half = (std::uint64_t{1} << shift) >> 1;
    const std::uint64_t result = (value * operands_[i].largest_mul() + half) >> shift;
    return prelu ? std::max(value, result) : result;
  };
  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer_.x[i];
    if (!x.active) continue;
    const std::uint64_t sum = add(x.algorithm, most, operands_[i].largest_alu());
    most = x.mul.active ? multiply(i, sum, x.mul_shift, x.prelu) : sum;
    fits_[i] = sum <= kMost && most <= kMost;
    most = std::min(most, kMost + 1);
  }
  const OperatorY& y = layer_.y;
  if (y.active && y.mul.active) {
    const std::uint64_t result = multiply(2, most, y.truncate, y.prelu);
    fits_[2] = most <= kMost && result <= kMost;
    most = std::min(result, kMost + 1);
  }
  if (y.active) most = std::min(add(y.algorithm, most, operands_[2].largest_alu()), kMost + 1);
  largest_ = most;
}

void SdpPass::fetch_elements(unsigned block, std::uint32_t first, unsigned count, Worker& worker) {
  for (unsigned i = 0; i < 3; ++i)
    if (operands_[i].per_element())
      operands_[i].fetch(block, lanes(block) / column_, first, count, worker.elements[i]);
}

void SdpPass::tile(std::int32_t* values, unsigned block, std::uint32_t first, unsigned count,
                   unsigned thread) {
  if (finishes_)
    return finish_tile(block, first, count, thread, [&](const SdpFinish& pass, std::int8_t* out) {
      kernels_.finish(values, count, pass, out);
    });
  Worker& worker = workers_[thread];
  fetch_elements(block, first, count, worker);
  if (has_epilogue_) {
    const unsigned adder = epilogue_.adder();
    const SdpOperand elements = adder == SdpEpilogue::kNone
                                    ? SdpOperand{nullptr, 0}
                                    : operands_[adder].alu(block, worker.elements[adder]);
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
                    operands_[i].alu(block, worker.elements[i]),
                    operands_[i].mul(block, worker.elements[i]),
                    fits_[i]};
    float_ ? units.sdp_float_x(values, count, unit) : kernels_.sdp_x(values, count, used, unit);
  }
  if (layer_.y.active) {
    const OperatorY& y = layer_.y;
    const SdpOperand alu = operands_[2].alu(block, worker.elements[2]);
    const SdpY unit{true,
                    y.mul.active,
                    y.prelu,
                    static_cast<std::uint16_t>(y.truncate),
                    y.algorithm,
                    alu,
                    operands_[2].mul(block, worker.elements[2]),
                    fits_[2]};
    if (!float_) {
      kernels_.sdp_y(values, count, used, unit);
    } else if (plain_operands_) {
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
      announce_lines(dma_, memory.ram,
                     memory.base + batch * layer_.batch_stride + surface * memory.surface,
                     memory.line, layer_.height, cube_.line_bytes);
}

}  // namespace nvdla::model
