// SPDX-License-Identifier: MIT
//
// Steps in the operators of SDP.
#include "import/operators/epilogue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "nvdla/types/half.hpp"

namespace nvdla::import {
namespace {

constexpr double kLargestHalf = 65504;    // of fp16
constexpr double kLeastNormal = 0x1p-14;  // below it fp16 has fewer bits
// The greatest error of a table that takes the place of a function; see LutReport.
constexpr double kTableError = 0x1p-8;

float to_operand(double value) {
  if (std::isnan(value)) refuse_node("a constant of it is no number (NaN)");
  return static_cast<float>(std::clamp(value, -kLargestHalf, kLargestHalf));
}

// Returns the power of two that brings all factors into the range in which fp16 has all its bits.
int exponent_to_fit(const std::vector<double>& factors) {
  double least = kLargestHalf, greatest = 0;
  for (const double f : factors) {
    if (f == 0 || !std::isfinite(f)) continue;
    least = std::min(least, std::fabs(f));
    greatest = std::max(greatest, std::fabs(f));
  }
  if (greatest > kLargestHalf) return -(std::ilogb(greatest) - 14);
  if (least < kLeastNormal && least < greatest * 2) return -14 - std::ilogb(least);
  return 0;
}

// Makes a scalar step behind a table part of it.
void append_step(Step& table, const Step& step) {
  table.function = [first = table.function, next = step.scalar()](double x) {
    return next(first(x));
  };
  table.jumps = table.jumps || step.jumps;
}

}  // namespace

std::vector<float> operand_values(const Constant& operand, const Dims& dims, const View& view) {
  if (operand.size() == 1) return {to_operand(operand.real(0))};
  const auto roles = roles_in(view, dims);
  if (!roles)
    refuse_node("a constant of {} does not go with {}", dims_text(operand.dims()), dims_text(dims));
  Dims own(dims.size() - operand.dims().size(), 1);
  own.insert(own.end(), operand.dims().begin(), operand.dims().end());
  bool channels = true;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (own[i] == 1) continue;
    if ((*roles)[i] == 'B')
      refuse_node("a constant of {} is another one for each cube of the batch",
                  dims_text(operand.dims()));
    channels = channels && (*roles)[i] == 'C';
  }
  const Shape& s = view.shape;
  const std::size_t positions = channels ? 1 : std::size_t{s.height} * s.width;
  if (s.channels * positions > static_cast<std::size_t>(kMaxFolded))
    refuse_node("a constant of {} has {} different operands for a layer", dims_text(operand.dims()),
                s.channels * positions);
  std::vector<float> values(s.channels * positions);
  // Each element of the result of one cube, in the model's order.
  Dims strides_of_own = strides(own);
  std::vector<std::int64_t> at(dims.size(), 0);
  for (bool more = true; more;) {
    std::int64_t from = 0;
    std::int64_t place[3] = {0, 0, 0};
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (own[i] != 1) from += at[i] * strides_of_own[i];
      const char role = (*roles)[i];
      if (role == 'B') continue;
      std::int64_t& p = place[role == 'C' ? 0 : role == 'H' ? 1 : 2];
      p = p * dims[i] + at[i];
    }
    const std::int64_t to =
        channels ? place[0] : (place[0] * s.height + place[1]) * s.width + place[2];
    values[static_cast<std::size_t>(to)] = to_operand(operand.real(from));
    more = false;
    for (std::size_t i = dims.size(); i-- > 0;) {
      if ((*roles)[i] == 'B' || (channels && (*roles)[i] != 'C')) continue;
      if (++at[i] < dims[i]) {
        more = true;
        break;
      }
      at[i] = 0;
    }
  }
  return values;
}

const std::optional<Lut>& Lowering::fit_table(const Step& step) {
  static const std::optional<Lut> kNone;
  if (step.jumps || !info().has_lut) return kNone;
  // The same function comes often, and a fit takes long: all that a table could depend on is its
  // key.
  std::vector<float> key = {static_cast<float>(step.domain.lo), static_cast<float>(step.domain.hi)};
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const double x = static_cast<double>(from_half(static_cast<std::uint16_t>(bits)));
    if (std::isfinite(x) && x >= step.domain.lo && x <= step.domain.hi) {
      const double y = step.function(x);
      key.push_back(std::isnan(y) ? 0 : static_cast<float>(y));
    }
  }
  const auto [found, added] = options_.tables->try_emplace(std::move(key));
  if (added) {
    Lut lut = Lut::fit(step.function, step.domain, Precision::kFp16);
    if (lut.report().error <= kTableError) found->second = std::move(lut);
  }
  return found->second;
}

Epilogue::Slot* Epilogue::open_slot() { return used_ == 0 ? nullptr : &slots_[used_ - 1]; }

bool Epilogue::add_slot(Slot slot) {
  if (used_ == slots_.size()) return false;
  slots_[used_++] = std::move(slot);
  return true;
}

std::vector<float> Epilogue::values(const Step& step) const {
  return operand_values(step.operand, dims_, view_);
}

void Epilogue::add_channels(const Constant& bias) {
  Slot slot;
  slot.alu = NVDLA_ALU_SUM;
  for (const double v : bias.doubles()) slot.alu_values.push_back(to_operand(v));
  add_slot(std::move(slot));
}

bool Epilogue::add_scale(const Step& step) {
  const bool prelu = step.kind == StepKind::kPrelu;
  if (const int exponent = exponent_to_fit(step.operand.doubles()); exponent != 0 && !prelu) {
    std::vector<double> scaled = step.operand.doubles();
    for (double& v : scaled) v = std::ldexp(v, exponent);
    if (exponent_to_fit(scaled) != 0)
      refuse_node("its factors are too far from each other, or from 1, for fp16");
    const std::size_t before = used_;
    // The larger of two factors is first, so that nothing underflows between them.
    const Step one = make_step(StepKind::kScale,
                               Constant::of_doubles(Type::kDouble, step.operand.dims(), scaled));
    const Step two = make_step(StepKind::kScale, std::ldexp(1.0, -exponent));
    if (add_scale(one) && add_scale(two)) return true;
    used_ = before;
    return false;
  }
  std::vector<float> factors = values(step);
  Slot* const open = open_slot();
  if (open != nullptr && !open->relu && !open->tensor && open->mul == NVDLA_MUL_NONE &&
      open->alu != NVDLA_ALU_NONE && open->alu_values.size() == factors.size()) {
    open->mul = prelu ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
    open->mul_values = std::move(factors);
    return true;
  }
  Slot slot;
  slot.mul = prelu ? NVDLA_MUL_PRELU : NVDLA_MUL_MUL;
  slot.mul_values = std::move(factors);
  return add_slot(std::move(slot));
}

bool Epilogue::add_tensor(const Step& step) {
  if (used_ == slots_.size()) return false;
  Slot slot;
  const bool product = step.kind == StepKind::kMulTensor;
  if (product)
    slot.mul = NVDLA_MUL_MUL;
  else
    slot.alu = step.kind == StepKind::kAddTensor   ? NVDLA_ALU_SUM
               : step.kind == StepKind::kMaxTensor ? NVDLA_ALU_MAX
                                                   : NVDLA_ALU_MIN;
  slot.tensor = lowering_.operand(step.tensor, dims_, view_, true);
  return add_slot(std::move(slot));
}

bool Epilogue::is_per_channel(const Step& step) const {
  switch (step.kind) {
    case StepKind::kRelu:
    case StepKind::kTable:
      return true;
    case StepKind::kScale:
    case StepKind::kPrelu:
    case StepKind::kShift:
    case StepKind::kMax:
    case StepKind::kMin:
      return values(step).size() <= view_.shape.channels;
    default:
      return false;
  }
}

bool Epilogue::add(const Step& step) {
  if (table_) {
    // A scalar step behind a table becomes part of it.
    if (!step.is_scalar()) return false;
    append_step(*table_, step);
    return true;
  }
  if (per_channel_ && !is_per_channel(step)) return false;
  switch (step.kind) {
    case StepKind::kScale:
    case StepKind::kPrelu:
      return add_scale(step);
    case StepKind::kRelu: {
      Slot* const open = open_slot();
      if (open != nullptr && open->mul != NVDLA_MUL_PRELU) {
        open->relu = true;
        return true;
      }
      Slot slot;
      slot.relu = true;
      return add_slot(std::move(slot));
    }
    case StepKind::kShift:
    case StepKind::kMax:
    case StepKind::kMin: {
      Slot slot;
      slot.alu = step.kind == StepKind::kShift ? NVDLA_ALU_SUM
                 : step.kind == StepKind::kMax ? NVDLA_ALU_MAX
                                               : NVDLA_ALU_MIN;
      slot.alu_values = values(step);
      return add_slot(std::move(slot));
    }
    case StepKind::kTable:
      table_ = step;
      return true;
    default:
      return add_tensor(step);
  }
}

bool Epilogue::add_all(const std::vector<Step>& steps, const std::vector<Step>& behind) {
  const auto slots = slots_;
  const auto used = used_;
  const auto table = table_;
  for (const Step& step : steps) {
    if (add(step)) continue;
    slots_ = slots;
    used_ = used;
    table_ = table;
    return false;
  }
  // A table behind something else has to be one that the device has.
  if (table_ && (used_ != 0 || behind_sums_)) {
    if (!behind.empty()) {
      // The table is looked up again once it is whole.
      Step whole = *table_;
      for (const Step& step : behind) append_step(whole, step);
      lut_.reset();
      if (lowering_.fit_table(whole)) return true;
    }
    lut_ = lowering_.fit_table(*table_);
    if (!lut_) {
      slots_ = slots;
      used_ = used;
      table_ = table;
      return false;
    }
  }
  return true;
}

void Epilogue::set_slot(const Slot& slot, Operator& op) {
  // In the order of Operator: no values of integers and no shifts.
  op = {slot.alu, slot.mul, {}, {}, slot.alu_values, slot.mul_values, slot.tensor, 0, 0, slot.relu};
}

void Epilogue::set_table(OperatorY& y) {
  if (!table_) return;
  if (!lut_) lut_ = lowering_.fit_table(*table_);
  if (!lut_) refuse_node("no table is close enough to its function");
  y.lut = &lut_->table();
}

Tensor Lowering::function(Tensor x, const Step& step) {
  if (const auto& lut = fit_table(step)) {
    const std::string layer = name();
    Pointwise p{.name = layer};
    p.y.lut = &lut->table();
    return network_.pointwise(x, p);
  }
  use_cpu("a function that no table is close enough to");
  const std::string layer = name();
  return network_.apply(x, {.name = layer, .function = [f = step.function](double v) {
                              const double r = f(v);
                              return r;
                            }});
}

namespace {

// Returns true for a factor that fp16 does not have.
bool is_beyond_half(const Step& step) {
  return step.kind == StepKind::kScale && exponent_to_fit(step.operand.doubles()) != 0;
}

// Returns the numbers of fp16 for which scalar steps give arguments of a table.
Range domain_before(const std::vector<Step>& steps, const Range& domain) {
  std::vector<Function> functions;
  for (const Step& step : steps) functions.push_back(step.scalar());
  Range found{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const double x = static_cast<double>(from_half(static_cast<std::uint16_t>(bits)));
    if (!std::isfinite(x)) continue;
    double y = x;
    for (const Function& function : functions) y = function(y);
    if (!(y >= domain.lo && y <= domain.hi)) continue;
    found.lo = std::min(found.lo, x);
    found.hi = std::max(found.hi, x);
  }
  return found.lo <= found.hi ? found : domain;
}

// Makes one table of the scalar steps in front of one, where a factor among them would take their
// results beyond the numbers of fp16.
std::vector<Step> without_overflows(const std::vector<Step>& steps) {
  std::vector<Step> out, before;
  const auto flush = [&] {
    out.insert(out.end(), before.begin(), before.end());
    before.clear();
  };
  for (const Step& step : steps) {
    const bool table = step.kind == StepKind::kTable;
    if (!table && step.is_scalar()) {
      before.push_back(step);
      continue;
    }
    if (table && std::any_of(before.begin(), before.end(), is_beyond_half)) {
      Step whole = make_table(before[0].scalar());
      for (std::size_t i = 1; i < before.size(); ++i) append_step(whole, before[i]);
      append_step(whole, step);
      whole.domain = domain_before(before, step.domain);
      before.clear();
      out.push_back(std::move(whole));
      continue;
    }
    flush();
    out.push_back(step);
  }
  flush();
  return out;
}

}  // namespace

Tensor Lowering::compute(Tensor x, const View& view, const Dims& dims,
                         const std::vector<Step>& all) {
  const std::vector<Step> steps = without_overflows(all);
  std::size_t next = 0;
  while (next < steps.size()) {
    Epilogue epilogue(*this, dims, view);
    const std::size_t first = next;
    while (next < steps.size() && epilogue.add_all({steps[next]})) ++next;
    if (next == first) refuse_node("a step of it does not fit into a layer");
    if (const Step* const table = epilogue.only_table()) {
      x = function(x, *table);
      continue;
    }
    const std::string layer = name();
    Pointwise p{.name = layer};
    epilogue.set(p);
    x = network_.pointwise(x, p);
  }
  return x;
}

}  // namespace nvdla::import
