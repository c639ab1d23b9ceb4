// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_epilogue.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/integers.hpp"

namespace nvdla::model {
namespace {

using arith::magnitude;
using arith::round_shift;

constexpr std::int64_t kHigh32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLow32 = std::numeric_limits<std::int32_t>::min();
// A product is shifted by this much at least: EpilogueBlock keeps its upper 32 bits alone, and
// rounds these.
constexpr unsigned kMinProductShift = 33;
// Results of 17 bits that are neither at a limit nor beyond it.
constexpr std::int64_t kCounted = 65535;
// Longer ones leave nothing, or reach beyond 64 bits on the way.
constexpr unsigned kMaxShift = 63;

std::int64_t half_of(unsigned shift) noexcept {
  return shift == 0 ? 0 : std::int64_t{1} << (shift - 1);
}

// Returns the largest value that, shifted with rounding, is at most `result`; less than 0 if there
// is none.
std::int64_t largest_before(std::int64_t result, unsigned shift) noexcept {
  constexpr std::int64_t kAny = std::int64_t{1} << 62;
  return shift >= 32 ? kAny : (result << shift) - half_of(shift);
}

// Returns how many bits a factor and its shift both grow so that the shift is long enough.
unsigned lift_of(unsigned shift) noexcept {
  return shift < kMinProductShift ? kMinProductShift - shift : 0;
}

std::int64_t lifted(std::int64_t factor, unsigned shift) noexcept {
  return factor * (std::int64_t{1} << lift_of(shift));
}

// Returns what EpilogueBlock has of such a shift.
std::uint8_t beyond_32(unsigned shift) noexcept {
  return static_cast<std::uint8_t>(shift + lift_of(shift) - 32);
}

void append(std::vector<std::int32_t>& all, std::span<const std::int32_t> values) {
  all.insert(all.end(), values.begin(), values.end());
}

}  // namespace

// The operands of a channel, with what the layer computes of them.
struct SdpEpilogue::Channel {
  std::int64_t addend[2], factor[2];

  // Exactly what the operators and the converter give, before it saturates.
  std::int64_t converted(const Form& form, std::int64_t sum) const noexcept {
    for (unsigned i = 0; i < 2; ++i) {
      const Step& step = form.x[i];
      if (!step.active) continue;
      if (step.adds) sum += addend[i];
      if (step.multiplies) sum *= factor[i];
      sum = std::clamp(round_shift(sum, static_cast<int>(step.shift)), step.relu ? 0 : kLow32,
                       kHigh32);
    }
    const std::int64_t product = (sum - form.offset) * form.scale;
    return round_shift(product, static_cast<int>(form.shift));
  }
  std::int64_t result(const Form& form, std::int64_t sum) const noexcept {
    return std::clamp<std::int64_t>(converted(form, sum), -128, 127);
  }

  // Returns whether no generation's converter counts a result.
  bool uncounted(const Form& form, std::int64_t sum) const noexcept {
    const std::int64_t result = converted(form, sum);
    return result > -kCounted && result < kCounted;
  }
  // The sum farthest from `good` towards `bad` that is not counted, if that of `good` is not:
  // results never fall, or never rise, from one sum to the next.
  std::int64_t last_uncounted(const Form& form, std::int64_t good,
                              std::int64_t bad) const noexcept {
    while (bad - good > 1 || good - bad > 1) {
      const std::int64_t middle = good + (bad - good) / 2;
      (uncounted(form, middle) ? good : bad) = middle;
    }
    return good;
  }
};

// Finds the steps of a layer.
class SdpEpilogue::Fit {
 public:
  Fit(const SdpOperands (&operands)[3], Entry& entry) noexcept
      : operands_(operands), form_(entry.form), entry_(entry) {}

  bool all() {
    if (!set_shared()) return false;
    if (first_ < 0 || form_.x[first_].shift == 0) return channels(EpilogueStep::kPlain);
    return channels(EpilogueStep::kShifted) || channels(EpilogueStep::kWide);
  }

 private:
  // Finds which operator is which step; the converter is the second one where no operator scales.
  bool set_shared() noexcept {
    const Step &x1 = form_.x[0], &x2 = form_.x[1];
    EpilogueBlock& shared = entry_.shared;
    const bool converts = form_.scale != 1 || form_.shift != 0;
    if (form_.scale <= 0 || form_.shift > kMaxShift) return false;
    if (x1.active && x2.active) {
      if (x1.relu) return false;
      first_ = 0;
      second_ = 1;
    } else if (x1.active || x2.active) {
      const int only = x1.active ? 0 : 1;
      const bool scales = form_.x[only].multiplies || form_.x[only].shift != 0;
      (scales ? second_ : first_) = only;
    }
    if (second_ < 0) {
      second_shift_ = form_.shift;
      relu_before_ = first_ >= 0 && form_.x[first_].relu;
    } else {
      const Step& second = form_.x[second_];
      second_shift_ = second.shift;
      shared.relu = second.relu;
      if (form_.offset == kLow32) return false;
      shared.offset = -form_.offset;
      // Nothing below 0 is more than the least result.
      shared.relu |= !converts && form_.offset >= 128;
      if (converts) {
        if (lifted(form_.scale, form_.shift) > kHigh32) return false;
        shared.converter_factor = static_cast<std::int32_t>(lifted(form_.scale, form_.shift));
        shared.converter_shift = beyond_32(form_.shift);
      }
    }
    shared.second_shift = beyond_32(second_shift_);
    return true;
  }

  bool channels(EpilogueStep kind) {
    EpilogueBlock& shared = entry_.shared;
    shared.first = kind;
    const unsigned shift = first_ < 0 ? 0 : form_.x[first_].shift;
    if (kind == EpilogueStep::kShifted && shift > 30) return false;
    shared.shift =
        kind == EpilogueStep::kWide ? beyond_32(shift) : static_cast<std::uint8_t>(shift);
    const std::size_t blocks = (form_.channels + kBlock - 1) / kBlock;
    shared.guards = false;
    entry_.numbers.assign(blocks * kArrays * kBlock, 0);
    for (std::uint32_t k = 0; k < form_.channels; ++k)
      if (!channel(k, kind, shift)) return false;
    return true;
  }

  Channel channel_of(std::uint32_t k) const noexcept {
    Channel channel{};
    for (unsigned i = 0; i < 2; ++i) {
      const Step& step = form_.x[i];
      channel.addend[i] = step.adds ? operands_[i].alu_channels()[k] : 0;
      channel.factor[i] = step.multiplies ? operands_[i].mul_channels()[k] : 1;
    }
    return channel;
  }

  bool channel(std::uint32_t k, EpilogueStep kind, unsigned shift) noexcept {
    const Channel channel = channel_of(k);
    std::int64_t addend = first_ < 0 ? 0 : channel.addend[first_];
    std::int64_t factor = first_ < 0 ? 1 : channel.factor[first_];
    std::int64_t between = second_ < 0 ? -std::int64_t{form_.offset} : channel.addend[second_];
    std::int64_t second = second_ < 0 ? form_.scale : channel.factor[second_];
    // Both steps round alike to either side: the first one takes the sign of the second.
    if (second < 0) {
      factor = -factor;
      between = -between;
      second = -second;
    }
    if (lifted(second, second_shift_) > kHigh32) return false;
    const std::int64_t most = largest_product(between, second, kind, shift);
    if (most < 0) return false;

    // Sums for which 32 bits hold everything.
    std::int64_t low = kLow32, high = kHigh32;
    if (factor != 0) {
      const auto reach =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(most) / magnitude(factor));
      low = -reach - addend;
      high = reach - addend;
    }
    if (kind == EpilogueStep::kWide) {
      if (magnitude(lifted(factor, shift)) > kHigh32) return false;
      low = std::max(low, -kHigh32 - addend);
      high = std::min(high, kHigh32 - addend);
    }
    if (relu_before_) low = std::max(low, -addend);
    low = std::clamp(low, kLow32, kHigh32);
    high = std::clamp(high, low, kHigh32);
    // Results never fall, or never rise, from one sum to the next: those beyond are the same where
    // the farthest one is.
    const auto greatest = static_cast<std::int64_t>(form_.largest);
    const std::int64_t top = std::min(greatest, kHigh32);
    const bool same =
        (low <= -greatest || channel.result(form_, low) == channel.result(form_, -greatest)) &&
        (high >= top || channel.result(form_, high) == channel.result(form_, top));
    if (!same) return false;

    std::int64_t least = kLow32, most_sum = kHigh32;
    if (form_.counts) {
      const bool guards_low = !channel.uncounted(form_, -greatest);
      const bool guards_high = !channel.uncounted(form_, top);
      if ((guards_low || guards_high) && !channel.uncounted(form_, 0)) return false;
      if (guards_low) least = channel.last_uncounted(form_, 0, -greatest);
      if (guards_high) most_sum = channel.last_uncounted(form_, 0, top);
      entry_.shared.guards |= guards_low || guards_high;
    }

    const bool plain = kind == EpilogueStep::kPlain;
    if (kind == EpilogueStep::kWide) {
      factor = lifted(factor, shift);
    } else {
      addend = addend * factor + (plain ? between : 0);
    }
    std::int32_t* to = entry_.numbers.data() + k / kBlock * kArrays * kBlock + k % kBlock;
    // Sums and products without a shift are exact modulo 2^32.
    for (const std::int64_t value : {low, high, factor, addend, plain ? 0 : between,
                                     lifted(second, second_shift_), least, most_sum}) {
      *to = static_cast<std::int32_t>(value);
      to += kBlock;
    }
    return true;
  }

  // Returns the greatest magnitude of the first step's product, before its shift, with which 32
  // bits hold all that follows; less than 0 if there is none.
  std::int64_t largest_product(std::int64_t between, std::int64_t second, EpilogueStep kind,
                               unsigned shift) const noexcept {
    const auto offset = static_cast<std::int64_t>(magnitude(entry_.shared.offset));
    const std::int64_t result = largest_before(kHigh32 - offset, second_shift_);
    // A factor of 16 bits leaves so little of 32 bits behind a long shift.
    constexpr std::int64_t kLittle = std::int64_t{1} << 15;
    if (kHigh32 - offset < kLittle || result < 0) return -1;
    const std::int64_t value = second == 0 ? kHigh32 : std::min(kHigh32, result / second);
    const auto added = static_cast<std::int64_t>(magnitude(between));
    if (added > value) return -1;
    const std::int64_t product = largest_before(value - added, shift);
    return kind == EpilogueStep::kShifted ? std::min(product, kHigh32 - half_of(shift)) : product;
  }

  const SdpOperands (&operands_)[3];
  const Form& form_;
  Entry& entry_;
  int first_ = -1, second_ = -1;  // operators; none: nothing happens, or the converter does
  unsigned second_shift_ = 0;
  bool relu_before_ = false;  // the second step
};

bool SdpEpilogue::begin(const SdpLayer& layer, const SdpOperands (&operands)[3],
                        std::uint64_t largest, std::uint32_t channels) {
  if (layer.proc == Precision::kFp16 || layer.out != Precision::kInt8 || layer.y.active)
    return false;
  Form form;
  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer.x[i];
    if (!x.active) continue;
    if (operands[i].per_element() || x.prelu || x.mul_shift > kMaxShift ||
        (x.algorithm != Alu::kSum && x.algorithm != Alu::kNone))
      return false;
    form.x[i] = {true, x.algorithm == Alu::kSum, x.mul.active, x.relu, x.mul_shift};
  }
  form.offset = layer.offset;
  form.scale = layer.scale;
  form.shift = layer.shift;
  form.counts = layer.count_saturation;
  form.largest = std::min<std::uint64_t>(largest, -kLow32);
  form.channels = channels;
  if (const Entry* const entry = find(form, operands); entry != nullptr) return entry->exact;

  if (channels_ + channels > kMostChannels) {
    entries_.clear();
    channels_ = 0;
  }
  channels_ += channels;
  current_ = entries_.size();
  Entry& entry = entries_.emplace_back();
  entry.form = form;
  for (unsigned i = 0; i < 2; ++i) {
    append(entry.operands, operands[i].alu_channels());
    append(entry.operands, operands[i].mul_channels());
  }
  entry.exact = Fit(operands, entry).all();
  if (!entry.exact) entry.numbers = {};
  return entry.exact;
}

SdpEpilogue::Entry* SdpEpilogue::find(const Form& form, const SdpOperands (&operands)[3]) noexcept {
  const auto same_operands = [&](const Entry& entry) {
    const std::int32_t* known = entry.operands.data();
    std::size_t left = entry.operands.size();
    for (unsigned i = 0; i < 2; ++i)
      for (const std::span<const std::int32_t> values :
           {operands[i].alu_channels(), operands[i].mul_channels()}) {
        if (values.size() > left ||
            (!values.empty() && std::memcmp(known, values.data(), values.size_bytes()) != 0))
          return false;
        known += values.size();
        left -= values.size();
      }
    return left == 0;
  };
  for (std::size_t i = 1; i <= entries_.size(); ++i) {
    const std::size_t at = (current_ + i) % entries_.size();
    if (entries_[at].form != form || !same_operands(entries_[at])) continue;
    current_ = at;
    return &entries_[at];
  }
  return nullptr;
}

EpilogueBlock SdpEpilogue::block(unsigned number) const noexcept {
  const Entry& entry = entries_[current_];
  EpilogueBlock block = entry.shared;
  const std::int32_t* numbers = entry.numbers.data() + std::size_t{number} * kArrays * kBlock;
  for (const std::int32_t** array :
       {&block.low, &block.high, &block.factors, &block.addends, &block.between,
        &block.second_factors, &block.least, &block.greatest}) {
    *array = numbers;
    numbers += kBlock;
  }
  return block;
}

}  // namespace nvdla::model
