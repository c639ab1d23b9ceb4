// SPDX-License-Identifier: MIT
#include "model/sdp/sdp_epilogue.hpp"

#include <algorithm>
#include <bit>
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
  std::int64_t converted(const Form& form, std::int64_t sum, std::int64_t element) const noexcept {
    for (unsigned i = 0; i < 2; ++i) {
      const Step& step = form.x[i];
      if (!step.active) continue;
      if (step.adds) sum += addend[i];
      if (step.multiplies) sum *= factor[i];
      sum = std::clamp(round_shift(sum, static_cast<int>(step.shift)), step.relu ? 0 : kLow32,
                       kHigh32);
    }
    if (form.adds_elements)
      sum = std::clamp(sum + element, form.relu_behind_elements ? 0 : kLow32, kHigh32);
    const std::int64_t product = (sum - form.offset) * form.scale;
    return round_shift(product, static_cast<int>(form.shift));
  }
  std::int64_t result(const Form& form, std::int64_t sum) const noexcept {
    return std::clamp<std::int64_t>(converted(form, sum, 0), -128, 127);
  }

  // Returns whether no generation's converter counts a result.
  bool uncounted(const Form& form, std::int64_t sum, std::int64_t element = 0) const noexcept {
    const std::int64_t result = converted(form, sum, element);
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
      : operands_(operands), form_(entry.form), entry_(entry), shared_(entry.shared) {}

  bool all() {
    if (!set_shared()) return false;
    if (first_ == kNoStep || form_.x[first_].shift == 0)
      return merged() || channels(EpilogueStep::kPlain);
    return channels(EpilogueStep::kShifted) || channels(EpilogueStep::kWide);
  }

 private:
  // No operator is such a step.
  static constexpr int kNoStep = -1;

  bool set_shared() noexcept {
    if (form_.scale <= 0 || form_.shift > kMaxShift || form_.offset == kLow32) return false;
    if (!choose_steps()) return false;
    const bool converts = form_.scale != 1 || form_.shift != 0;
    shared_.floor = static_cast<std::int32_t>(kLow32);
    second_is_converter_ = second_ == kNoStep && converts;
    if (second_is_converter_) {
      second_shift_ = form_.shift;
      if (form_.relu_behind_elements) shared_.floor = -form_.offset;
    } else {
      shared_.offset = -form_.offset;
      if (form_.relu_behind_elements) shared_.floor = 0;
    }
    if (second_ != kNoStep) {
      const Step& second = form_.x[second_];
      second_shift_ = second.shift;
      // Sums below 0 are at most the least result if the zero point is so large.
      shared_.relu = second.relu || (!converts && form_.offset >= 128);
      if (converts) {
        if (lifted(form_.scale, form_.shift) > kHigh32) return false;
        shared_.converter_factor = static_cast<std::int32_t>(lifted(form_.scale, form_.shift));
        shared_.converter_shift = beyond_32(form_.shift);
      }
    }
    has_second_ = second_ != kNoStep || second_is_converter_;
    // 0 where there is no second step.
    if (has_second_) shared_.second_shift = beyond_32(second_shift_);
    return true;
  }

  // Finds which operator is which step. The converter is the second one where no operator scales.
  bool choose_steps() noexcept {
    const Step &x1 = form_.x[0], &x2 = form_.x[1];
    if (x1.active && x2.active) {
      first_ = 0;
      // Two factors without a shift are one, and the converter scales.
      product_first_ = x1.shift == 0 && x2.shift == 0 && (form_.scale != 1 || form_.shift != 0);
      if (!product_first_) second_ = 1;
      return !x1.relu && !form_.adds_elements && !(product_first_ && x2.relu);
    }
    if (!x1.active && !x2.active) return true;
    const int only = x1.active ? 0 : 1;
    const Step& step = form_.x[only];
    const bool scales = step.multiplies || step.shift != 0;
    (scales && !form_.adds_elements ? second_ : first_) = only;
    relu_before_ = first_ == only && step.relu;
    return !(relu_before_ && form_.adds_elements);
  }

  // Tries to take both steps as one product of 64 bits.
  bool merged() {
    if (!has_second_ || relu_before_ || product_first_ || form_.adds_elements ||
        shared_.converter_factor != 0)
      return false;
    return channels(EpilogueStep::kMerged);
  }

  bool channels(EpilogueStep kind) {
    shared_.first = kind;
    const unsigned shift = first_ == kNoStep ? 0 : form_.x[first_].shift;
    if (shift > (kind == EpilogueStep::kShifted ? 30 : kMaxShift - 1)) return false;
    shared_.shift = static_cast<std::uint8_t>(
        kind == EpilogueStep::kMerged ? std::max(second_shift_, 32U) - 32 : shift);
    shared_.guards = false;
    const std::size_t blocks = (form_.channels + kBlock - 1) / kBlock;
    entry_.numbers.assign(blocks * kArrays * kBlock, 0);
    for (std::uint32_t k = 0; k < form_.channels; ++k)
      if (!channel(k, kind, shift)) return false;
    return true;
  }

  Channel channel_of(std::uint32_t k) const noexcept {
    Channel channel{};
    for (unsigned i = 0; i < 2; ++i) {
      const Step& step = form_.x[i];
      const SdpOperands& operands = operands_of(operands_, form_, i);
      channel.addend[i] = step.adds ? operands.alu_channels()[k] : 0;
      channel.factor[i] = step.multiplies ? operands.mul_channels()[k] : 1;
    }
    return channel;
  }

  // The numbers of a channel in the steps.
  struct Numbers {
    std::int64_t addend = 0, factor = 1, between = 0, second = 1;
    std::uint64_t added = 0;  // between the steps, at most
  };
  Numbers numbers_of(const Channel& channel) const noexcept {
    Numbers n;
    if (first_ != kNoStep) {
      n.addend = channel.addend[first_];
      n.factor = channel.factor[first_];
    }
    if (second_ != kNoStep) {
      n.between = channel.addend[second_];
      n.second = channel.factor[second_];
    } else if (second_is_converter_) {
      n.between = -std::int64_t{form_.offset};
      n.second = form_.scale;
    }
    n.added = magnitude(n.between) + form_.largest_element;
    if (product_first_) {
      const std::int64_t behind = channel.addend[1] * channel.factor[1];
      n.factor *= channel.factor[1];
      n.between += behind;
      n.added += magnitude(behind);
    }
    // Both steps round alike to either side: the first one takes the sign of the second.
    if (n.second < 0) {
      n.factor = -n.factor;
      n.between = -n.between;
      n.second = -n.second;
    }
    return n;
  }

  bool channel(std::uint32_t k, EpilogueStep kind, unsigned shift) noexcept {
    const Channel channel = channel_of(k);
    const Numbers n = numbers_of(channel);
    if (has_second_ && lifted(n.second, second_shift_) > kHigh32) return false;
    const std::int64_t most = largest_product(n, kind, shift);
    if (most < 0) return false;

    // Sums for which 32 bits hold everything.
    std::int64_t low = kLow32, high = kHigh32;
    if (n.factor != 0) {
      const auto reach =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(most) / magnitude(n.factor));
      low = -reach - n.addend;
      high = reach - n.addend;
    }
    if (kind == EpilogueStep::kWide) {
      low = std::max(low, -kHigh32 - n.addend);
      high = std::min(high, kHigh32 - n.addend);
    }
    if (relu_before_) low = std::max(low, -n.addend);
    low = std::clamp(low, kLow32, kHigh32);
    high = std::clamp(high, low, kHigh32);
    const Guard guard = guard_of(channel, low, high);
    if (!guard.possible) return false;
    shared_.guards |= guard.low != kLow32 || guard.high != kHigh32;

    std::int32_t* to = entry_.numbers.data() + k / kBlock * kArrays * kBlock + k % kBlock;
    if (kind == EpilogueStep::kMerged) {
      if (!merges(channel, n, low, high)) return false;
      to[6 * kBlock] = static_cast<std::int32_t>(guard.low);
      to[7 * kBlock] = static_cast<std::int32_t>(guard.high);
      return set_merged(n, entry_.numbers.data() + k / kBlock * kArrays * kBlock, k % kBlock);
    }
    const bool plain = kind == EpilogueStep::kPlain;
    const std::int64_t addend =
        kind == EpilogueStep::kWide ? n.addend : n.addend * n.factor + (plain ? n.between : 0);
    // Sums and products without a shift are exact modulo 2^32.
    for (const std::int64_t value :
         {low, high, n.factor, addend, plain ? 0 : n.between,
          has_second_ ? lifted(n.second, second_shift_) : 0, guard.low, guard.high}) {
      *to = static_cast<std::int32_t>(value);
      to += kBlock;
    }
    return true;
  }

  // Returns whether the product of both steps, without limits and with halves that go up, gives the
  // same results: sums beyond the limits saturate bytes on the side where these sums are, and no
  // half is negative but where nothing below 0 counts.
  bool merges(const Channel& channel, const Numbers& n, std::int64_t low,
              std::int64_t high) const noexcept {
    const auto greatest = static_cast<std::int64_t>(form_.largest);
    const bool falls = n.factor < 0;
    const auto saturates = [&](std::int64_t sum, bool up) {
      const std::int64_t result = channel.result(form_, sum);
      const std::int64_t floor =
          shared_.relu ? std::clamp<std::int64_t>(shared_.offset, -128, 127) : -128;
      return result == (up ? 127 : floor);
    };
    if (low > -greatest && !saturates(low, falls)) return false;
    if (high < std::min(greatest, kHigh32) && !saturates(high, !falls)) return false;
    return shared_.relu || !has_negative_half(n);
  }

  // Returns whether a sum may come to a negative number and a half: sum * factor + addend is an odd
  // multiple of the half for one sum of a period alone.
  bool has_negative_half(const Numbers& n) const noexcept {
    const std::int64_t factor = n.factor * n.second;
    const std::int64_t addend = (n.addend * n.factor + n.between) * n.second;
    if (second_shift_ == 0) return false;
    const std::uint64_t wanted = static_cast<std::uint64_t>(half_of(second_shift_) - addend);
    const unsigned zeros =
        factor == 0 ? 64 : static_cast<unsigned>(std::countr_zero(magnitude(factor)));
    if (zeros >= second_shift_) return true;
    if ((wanted & ((std::uint64_t{1} << zeros) - 1)) != 0) return false;
    // The sum, modulo the period, by the inverse of the odd part of the factor.
    const unsigned bits = second_shift_ - zeros;
    const std::uint64_t odd = static_cast<std::uint64_t>(factor >> zeros);
    std::uint64_t inverse = odd;
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
    const std::uint64_t period = std::uint64_t{1} << bits;
    const auto greatest = static_cast<std::int64_t>(form_.largest);
    if (period <= 2 * static_cast<std::uint64_t>(greatest)) return true;
    const std::uint64_t sum = (wanted >> zeros) * inverse & (period - 1);
    const bool positive = sum <= static_cast<std::uint64_t>(greatest);
    const auto at = static_cast<std::int64_t>(positive ? sum : sum - period);
    return at >= -greatest && at * factor + addend < 0;
  }

  // Numbers of a channel's merged steps, its place in the block being `k`.
  bool set_merged(const Numbers& n, std::int32_t* block, std::uint32_t k) const noexcept {
    const unsigned lift = second_shift_ < 32 ? 32 - second_shift_ : 0;
    const std::int64_t factor = n.factor * n.second * (std::int64_t{1} << lift);
    const arith::Wide addend =
        ((arith::Wide{n.addend} * n.factor + n.between) * n.second + half_of(second_shift_)) *
        (std::int64_t{1} << lift);
    constexpr arith::Wide kRoom = arith::Wide{1} << 62;
    if (magnitude(factor) > kHigh32 || addend > kRoom || addend < -kRoom) return false;
    block[2 * kBlock + k] = static_cast<std::int32_t>(factor);
    const auto bits = static_cast<std::uint64_t>(addend);
    std::int32_t* const to = block + (k % 2 == 0 ? 3 : 4) * kBlock + k / 2 * 2;
    to[0] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    to[1] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32));
    return true;
  }

  // Returns the greatest magnitude of the first step's product, before its shift, with which 32
  // bits hold all that follows; less than 0 if there is none.
  std::int64_t largest_product(const Numbers& n, EpilogueStep kind, unsigned shift) const noexcept {
    const auto offset = static_cast<std::int64_t>(magnitude(shared_.offset));
    const std::int64_t result = largest_before(kHigh32 - offset, second_shift_);
    // A factor of 16 bits leaves so little of 32 bits behind a long shift.
    constexpr std::int64_t kLittle = std::int64_t{1} << 15;
    if (kHigh32 - offset < kLittle || result < 0) return -1;
    const std::int64_t value = n.second == 0 ? kHigh32 : std::min(kHigh32, result / n.second);
    const auto added = static_cast<std::int64_t>(n.added);
    if (added > value) return -1;
    const std::int64_t product = largest_before(value - added, shift);
    return kind == EpilogueStep::kShifted ? std::min(product, kHigh32 - half_of(shift)) : product;
  }

  // Sums between which nothing is counted, and whether the limits of the steps change no result.
  struct Guard {
    bool possible;
    std::int64_t low = kLow32, high = kHigh32;
  };
  Guard guard_of(const Channel& channel, std::int64_t low, std::int64_t high) const noexcept {
    const auto greatest = static_cast<std::int64_t>(form_.largest);
    const std::int64_t top = std::min(greatest, kHigh32);
    const bool within = low <= -greatest && high >= top;
    if (form_.adds_elements) {
      const auto element = static_cast<std::int64_t>(form_.largest_element);
      const auto uncounted = [&](std::int64_t sum) {
        return channel.uncounted(form_, sum, -element) && channel.uncounted(form_, sum, element);
      };
      return {within && (!form_.counts || (uncounted(-greatest) && uncounted(top)))};
    }
    // Results never fall, or never rise, from one sum to the next: those beyond are the same where
    // the farthest one is.
    const bool same =
        (low <= -greatest || channel.result(form_, low) == channel.result(form_, -greatest)) &&
        (high >= top || channel.result(form_, high) == channel.result(form_, top));
    Guard guard{same};
    if (!same || !form_.counts) return guard;
    const bool counts_low = !channel.uncounted(form_, -greatest);
    const bool counts_high = !channel.uncounted(form_, top);
    if (counts_low) guard.low = channel.last_uncounted(form_, 0, -greatest);
    if (counts_high) guard.high = channel.last_uncounted(form_, 0, top);
    guard.possible = !(counts_low || counts_high) || channel.uncounted(form_, 0);
    return guard;
  }

  const SdpOperands (&operands_)[3];
  const Form& form_;
  Entry& entry_;
  EpilogueBlock& shared_;
  int first_ = kNoStep, second_ = kNoStep;  // operators
  bool second_is_converter_ = false, has_second_ = false;
  unsigned second_shift_ = 0;
  bool relu_before_ = false;    // the second step
  bool product_first_ = false;  // of both operators
};

bool SdpEpilogue::take_y(const SdpLayer& layer, const SdpOperands (&operands)[3],
                         Form& form) noexcept {
  const OperatorY& y = layer.y;
  if (!y.active) return true;
  if (y.lut || y.equal || y.prelu) return false;
  if (operands[2].per_element()) return !y.mul.active && y.algorithm == Alu::kSum;
  if (!y.mul.active || y.algorithm != Alu::kNone || layer.x[1].active ||
      operands[0].per_element() || y.truncate > kMaxShift)
    return false;
  form.second_is_y = true;
  form.x[1] = {true, false, true, false, y.truncate};
  return true;
}

// The adder is the last operator.
bool SdpEpilogue::take_adder(const SdpLayer& layer, const SdpOperands (&operands)[3],
                             Form& form) noexcept {
  adder_ = kNone;
  if (layer.y.active && !form.second_is_y) adder_ = 2;
  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer.x[i];
    if (!x.active || !operands[i].per_element()) continue;
    const bool last = adder_ == kNone && (i == 1 || !layer.x[1].active);
    if (!last || x.mul.active || x.mul_shift != 0 || x.algorithm != Alu::kSum) return false;
    adder_ = i;
    form.relu_behind_elements = x.relu;
  }
  if (adder_ == kNone) return true;
  form.adds_elements = true;
  form.largest_element = operands[adder_].largest_alu();
  return true;
}

bool SdpEpilogue::begin(const SdpLayer& layer, const SdpOperands (&operands)[3],
                        std::uint64_t largest, std::uint32_t channels) {
  if (layer.proc == Precision::kFp16 || layer.out != Precision::kInt8) return false;
  Form form;
  if (!take_y(layer, operands, form) || !take_adder(layer, operands, form)) return false;
  for (unsigned i = 0; i < 2; ++i) {
    const OperatorX& x = layer.x[i];
    if (!x.active || i == adder_) continue;
    if (x.prelu || x.mul_shift > kMaxShift ||
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
    ++forgotten_;
  }
  channels_ += channels;
  current_ = entries_.size();
  Entry& entry = entries_.emplace_back();
  entry.form = form;
  for (unsigned i = 0; i < 2; ++i) {
    append(entry.operands, operands_of(operands, form, i).alu_channels());
    append(entry.operands, operands_of(operands, form, i).mul_channels());
  }
  entry.exact = Fit(operands, entry).all();
  if (!entry.exact) entry.numbers = {};
  return entry.exact;
}

bool SdpEpilogue::resume(const Mark& mark) noexcept {
  if (mark.forgotten != forgotten_) return false;
  current_ = mark.entry;
  adder_ = mark.adder;
  return true;
}

SdpEpilogue::Entry* SdpEpilogue::find(const Form& form, const SdpOperands (&operands)[3]) noexcept {
  const auto same_operands = [&](const Entry& entry) {
    const std::int32_t* known = entry.operands.data();
    std::size_t left = entry.operands.size();
    for (unsigned i = 0; i < 2; ++i)
      for (const std::span<const std::int32_t> values :
           {operands_of(operands, form, i).alu_channels(),
            operands_of(operands, form, i).mul_channels()}) {
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

EpilogueBlock SdpEpilogue::block(unsigned number, const SdpOperand& elements) const noexcept {
  const Entry& entry = entries_[current_];
  EpilogueBlock block = entry.shared;
  const std::int32_t* numbers = entry.numbers.data() + std::size_t{number} * kArrays * kBlock;
  for (const std::int32_t** array :
       {&block.low, &block.high, &block.factors, &block.addends, &block.between,
        &block.second_factors, &block.least, &block.greatest}) {
    *array = numbers;
    numbers += kBlock;
  }
  if (block.second_shift == 0) block.second_factors = nullptr;
  block.elements = elements;
  return block;
}

}  // namespace nvdla::model
