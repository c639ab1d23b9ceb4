// SPDX-License-Identifier: MIT
//
// Layers of SDP from memory to memory that do the same to each element, in 32 bits: their surfaces
// go through a kernel from the first operator to the store, without a tile between them.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "model/sdp/sdp_pass.hpp"
#include "model/simd/unit_kernels.hpp"
#include "support/integers.hpp"

namespace nvdla::model {
namespace {

using arith::magnitude;

constexpr std::uint64_t kMostStreamed = INT32_MAX, kMostOfWord = INT16_MAX;
// The least magnitude of a result that the converter may count.
constexpr std::uint64_t kCountedResult = 65535;

constexpr StepKind alu_step(Alu algorithm) noexcept {
  return algorithm == Alu::kMax   ? StepKind::kMax
         : algorithm == Alu::kMin ? StepKind::kMin
                                  : StepKind::kAdd;
}

// Returns true for 0, a finite fp16 number, or half of its last place.
bool is_like_half(std::int32_t bits) noexcept {
  const float magnitude = std::abs(std::bit_cast<float>(bits));
  return magnitude == 0 || (magnitude >= 0x1p-24F && magnitude <= 65504 && (bits & 0x1fff) == 0);
}

// Returns the offset of a line in a cube.
std::uint64_t offset_of(const Surface& memory, std::uint64_t surface, std::uint64_t y) noexcept {
  return surface * memory.surface + y * memory.line;
}

}  // namespace

// `StreamPlan` derives the steps of the layer, and the greatest magnitude after each.
class SdpPass::StreamPlan {
 public:
  StreamPlan(const SdpPass& pass, std::uint64_t largest) noexcept
      : pass_(pass),
        real_(pass.float_),
        most_(largest),
        words_(pass.layer_.proc == Precision::kInt8) {}

  // Returns true if 16 bits hold all values. Operands of two bytes may be -32768 and do not fit.
  bool fits_words() const noexcept { return words_; }
  std::uint64_t largest() const noexcept { return most_; }

  bool add_operators(SdpStreamSteps& steps) {
    for (unsigned i = 0; i < 2; ++i) {
      const OperatorX& x = pass_.layer_.x[i];
      if (!x.active) continue;
      if (!add_alu(steps, i, x.algorithm)) return false;
      if (x.mul.active && !add_mul(steps, i, x.prelu, x.mul_shift)) return false;
      if (!x.mul.active && !real_ && x.mul_shift != 0 && !add_scale(steps, {0, 1, 0}, x.mul_shift))
        return false;
      if (!x.relu) continue;
      // Rounding halves up changes only results that are 0 or negative, which ReLU sets to 0.
      if (x.mul.active) steps.step[steps.count - 1].product.up = true;
      steps.add({.kind = StepKind::kRelu});
    }
    const OperatorY& y = pass_.layer_.y;
    if (y.active) {
      if (y.mul.active && !add_mul(steps, 2, y.prelu, y.truncate)) return false;
      if (!add_alu(steps, 2, y.algorithm)) return false;
    }
    return true;
  }

  // Adds (x - offset) * scale >> shift, for integers.
  bool add_scale(SdpStreamSteps& steps, StepScale scale, unsigned shift) {
    const std::uint64_t sum = most_ + magnitude(scale.offset);
    const WordProduct product = word_product(sum, magnitude(scale.scale), shift);
    if (!scales(sum, magnitude(scale.scale), shift)) return false;
    scale.shift = static_cast<std::uint8_t>(shift);
    steps.add({.kind = StepKind::kScale, .scale = scale, .product = product});
    return true;
  }

 private:
  // Multiplies and rounds the greatest magnitude; false if 32 bits do not hold it.
  bool scales(std::uint64_t value, std::uint64_t factor, unsigned shift) noexcept {
    if (value > kMostStreamed || shift > 30) return false;
    const std::uint64_t product = value * factor + ((std::uint64_t{1} << shift) >> 1) + 1;
    if (product > kMostStreamed) return false;
    most_ = product >> shift;
    words_ &= most_ <= kMostOfWord;
    return true;
  }

  // Chooses the form of a rounded product of 16-bit values, from the magnitudes.
  WordProduct word_product(std::uint64_t value, std::uint64_t factor, unsigned shift) noexcept {
    words_ &= value <= kMostOfWord && factor <= kMostOfWord;
    WordProduct product{};
    if (!words_ || shift == 0) return product;
    constexpr unsigned kBits = 15;
    if (shift > kBits) {
      product.bits = WordBits::kUpper;
      // Magnitudes have no sign, which leaves one more bit.
      product.left = 1;
      product.right = static_cast<std::uint8_t>(shift - kBits);
      return product;
    }
    const auto room = [](std::uint64_t number) {
      return kBits - static_cast<unsigned>(std::bit_width(number));
    };
    // Shifts the factor first, since it may be a channel's and is then shifted only once.
    const unsigned left = kBits - shift, of_factor = std::min(left, room(factor));
    words_ = left - of_factor <= room(value);
    product.bits = WordBits::kFrom15;
    product.left = static_cast<std::uint8_t>(left - of_factor);
    product.factor_left = static_cast<std::uint8_t>(of_factor);
    return product;
  }

  bool add_alu(SdpStreamSteps& steps, unsigned i, Alu algorithm) {
    if (algorithm == Alu::kNone) return true;
    SdpStreamStep step{.kind = alu_step(algorithm), .operand = i, .alu = true};
    if (!find_operand(step)) return false;
    steps.add(step);
    if (real_) return true;
    const std::uint64_t operand = pass_.plan_->operands[i].largest_alu();
    most_ = algorithm == Alu::kSum ? most_ + operand : std::max(most_, operand);
    words_ &= most_ <= kMostOfWord;
    return most_ <= kMostStreamed;
  }

  bool add_mul(SdpStreamSteps& steps, unsigned i, bool prelu, unsigned shift) {
    SdpStreamStep step{.kind = prelu ? StepKind::kPrelu : StepKind::kMultiply, .operand = i};
    if (!find_operand(step)) return false;
    step.shift = static_cast<std::uint8_t>(shift);
    const std::uint64_t factor = pass_.plan_->operands[i].largest_mul();
    step.product = word_product(most_, factor, shift);
    steps.add(step);
    if (real_) return true;
    const std::uint64_t passes = prelu ? most_ : 0;
    if (!scales(most_, factor, shift)) return false;
    most_ = std::max(most_, passes);
    return true;
  }

  // Finds the source of a step's operand; false if a stream cannot use it.
  bool find_operand(SdpStreamStep& step) noexcept {
    const SdpOperands& operands = pass_.plan_->operands[step.operand];
    const OperatorY& y = pass_.layer_.y;
    const OperatorX& x = pass_.layer_.x[step.operand & 1];
    const bool of_y = step.operand == 2;
    const OperandPart& part = step.alu ? (of_y ? y.alu : x.alu) : (of_y ? y.mul : x.mul);
    if (!part.from_memory || !operands.per_element()) {
      if (!real_) return true;
      const std::span<const std::int32_t> values =
          step.alu ? operands.alu_channels() : operands.mul_channels();
      return std::all_of(values.begin(), values.end(), is_like_half);
    }
    step.per_element = true;
    if (!operands.in_window() || operands.parts() != 1) return false;
    if (real_) return true;
    // Repeats the conversion of SdpOperands.
    const OperandConverter& converter = step.alu ? y.alu_converter : y.mul_converter;
    if (of_y && !converter.bypass) {
      const std::uint64_t sum = operands.element_limit() + magnitude(converter.offset);
      const std::uint64_t factor = std::max<std::uint64_t>(magnitude(converter.scale), 1);
      if (converter.truncate > 30 || sum > kMostStreamed || sum * factor >= std::uint64_t{1} << 30)
        return false;
      step.converts = true;
      step.scale = {converter.offset, converter.scale,
                    static_cast<std::uint8_t>(converter.truncate)};
      step.conversion = word_product(sum, magnitude(converter.scale), converter.truncate);
    } else if (!of_y && step.alu && x.alu_shift != 0) {
      if (x.alu_shift > 14) return false;
      step.converts = true;
      step.scale = {0, 1 << x.alu_shift, 0};
    }
    return true;
  }

  const SdpPass& pass_;
  const bool real_;
  std::uint64_t most_;
  bool words_;
};

// Maps the source. Returns true if Bus::window() maps source and destination, they are disjoint or
// the same, and no operand is written.
bool SdpPass::open_source() {
  source_ = nullptr;
  if (window_ == nullptr || !shareable_ || single_) return false;
  SdpCube source = cube_;
  source.memory = layer_.rdma.source;
  source.surfaces = padded_channels_ / (hw_.atom / precision_bytes(layer_.rdma.in));
  const Surface &in = source.memory, &out = cube_.memory;
  const bool same = in.ram == out.ram && in.base == out.base && in.line == out.line &&
                    in.surface == out.surface && source.surfaces == cube_.surfaces;
  if (same || !source.meets(cube_)) source_ = dma_.window(in.ram, in.base, source.extent(), false);
  return source_ != nullptr;
}

bool SdpPass::plan_stream() {
  const SdpLayer& layer = layer_;
  stream_.count = 0;
  const bool plain = layer.rdma.in == layer.proc && layer.out == layer.proc && !layer.y.equal &&
                     !layer.y.lut && !(float_ && layer.rdma.count_specials);
  if (!plain) return false;
  StreamPlan plan(*this, layer.rdma.largest_input());
  if (!plan.add_operators(stream_)) return false;
  const bool identity = layer.offset == 0 && layer.scale == 1 && layer.shift == 0;
  if (!float_ && !identity && !plan.add_scale(stream_, {layer.offset, layer.scale, 0}, layer.shift))
    return false;
  stream_.words = plan.fits_words();
  // Results that cannot saturate need not be looked at; those of fp16 are counted anyway.
  return float_ || !layer.count_saturation || plan.largest() < kCountedResult;
}

void SdpPass::stream(const LineTasks::Lines& lines, unsigned thread) {
  const std::uint64_t surface = lines.surface;
  const std::uint32_t height = lines.end - lines.begin;
  const unsigned atom = hw_.atom / precision_bytes(layer_.proc);
  SdpStream stream{};
  stream.format = float_                             ? StreamFormat::kHalf
                  : layer_.proc == Precision::kInt16 ? StreamFormat::kInt16
                                                     : StreamFormat::kInt8;
  stream.flush_nan = layer_.flush_nan;
  stream.steps = stream_.count;
  std::int32_t channels[SdpStream::kMostSteps][kBlock];
  bool packed =
      layer_.rdma.source.line == cube_.line_bytes && layer_.destination.line == cube_.line_bytes;
  for (unsigned i = 0; i < stream_.count; ++i) {
    const SdpStreamStep& from = stream_.step[i];
    SdpStep& step = stream.step[i];
    step = {from.kind,     from.shift, nullptr,      nullptr,        0,
            from.converts, from.scale, from.product, from.conversion};
    if (from.kind == StepKind::kRelu || from.kind == StepKind::kScale) continue;
    const SdpOperands& operands = plan_->operands[from.operand];
    if (from.per_element) {
      step.bytes = operands.element_bytes();
      packed &= operands.cube().memory.line == operands.cube().line_bytes;
      continue;
    }
    const std::int32_t* values =
        (from.alu ? operands.alu_channels() : operands.mul_channels()).data() + surface * atom;
    for (unsigned lane = 0; lane < kBlock; ++lane) channels[i][lane] = values[lane % atom];
    step.channels = channels[i];
  }
  SdpCounters& counters = workers_[thread].counters;
  for (std::uint32_t y = lines.begin; y < lines.end; y += packed ? height : 1) {
    for (unsigned i = 0; i < stream_.count; ++i)
      if (const SdpStreamStep& from = stream_.step[i]; from.per_element)
        stream.step[i].elements =
            plan_->operands[from.operand].window() +
            offset_of(plan_->operands[from.operand].cube().memory, surface, y);
    const std::size_t count = std::size_t{packed ? height : 1} * layer_.width * atom;
    const std::byte* in = source_ + offset_of(layer_.rdma.source, surface, y);
    std::byte* out = window_ + offset_of(layer_.destination, surface, y);
    if (stream_.words && kernels_.units->sdp_words != nullptr) {
      kernels_.units->sdp_words(stream, in, count, out);
      continue;
    }
    const HalfCounts counts = kernels_.units->sdp_stream(stream, in, count, out);
    counters.nan_out += counts.nan;
    counters.saturated += counts.largest;
  }
}

}  // namespace nvdla::model
