// SPDX-License-Identifier: MIT
#include "loadable/format/cpu_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "host_ops/operation_fields.hpp"
#include "loadable/format/container.hpp"
#include "nvdla/lowlevel/tensors.hpp"
#include "packing/precision.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {
namespace {

constexpr std::string_view kSymbol = "nvdla-cpu:";

// The versions of operations count from 1, each operation for itself. A change of what an
// operation computes, or of its fields, is a new version.
constexpr std::uint32_t kCpuVersion = 1;

static_assert(cpu::kMaxWindow == detail::kMaxSide);

// Calls call(operation) with one of each kind.
template <std::size_t kIndex = 0, typename Call>
void for_each_operation(const Call& call) {
  if constexpr (kIndex < std::variant_size_v<decltype(cpu::Operation::kind)>) {
    cpu::Operation operation;
    operation.kind.emplace<kIndex>();
    call(operation);
    for_each_operation<kIndex + 1>(call);
  }
}

// Numbers have 32 bits, lowest byte first; texts and lists begin with their length.
class Writer {
 public:
  void number(const char*, std::uint32_t value, std::uint32_t = 0, std::uint32_t = 0) {
    put(value, sizeof value);
  }
  void zero_point(const char*, std::int32_t value) {
    number("", static_cast<std::uint32_t>(value));
  }
  void flag(const char*, bool value) { number("", value ? 1 : 0); }
  void rounding(const char*, cpu::Elements::Rounding value) {
    number("", static_cast<std::uint32_t>(value));
  }
  void single(const char*, float value) { number("", std::bit_cast<std::uint32_t>(value)); }
  void real(const char*, double value) { put(std::bit_cast<std::uint64_t>(value), sizeof value); }
  void quantization(const char*, const Quantization& value) {
    single("", value.scale);
    zero_point("", value.zero_point);
  }
  void singles(const char*, const std::vector<float>& values) {
    number("", static_cast<std::uint32_t>(values.size()));
    for (const float value : values) single("", value);
  }
  void table(const char*, const std::shared_ptr<const std::vector<std::byte>>& results) {
    number("", static_cast<std::uint32_t>(results->size()));
    bytes_.insert(bytes_.end(), results->begin(), results->end());
  }
  void text(std::string_view value) {
    number("", static_cast<std::uint32_t>(value.size()));
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
  }
  void cube(const CpuCube& cube) {
    const TensorDesc& d = cube.desc;
    for (const std::uint32_t value :
         {cube.address, cube.offset, static_cast<std::uint32_t>(d.precision), d.shape.batch,
          d.shape.channels, d.shape.height, d.shape.width, d.atom, d.line_stride, d.surface_stride,
          d.batch_stride})
      number("", value);
  }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  void put(std::uint64_t bits, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<std::byte>(bits >> (8 * i) & 0xff));
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string what)
      : bytes_(bytes), what_(std::move(what)) {}

  // Errors call the next fields `what`.
  void begin(std::string what) { what_ = std::move(what); }

  void number(const char* name, std::uint32_t& value, std::uint32_t min, std::uint32_t max) {
    value = word(name);
    if (value < min || value > max)
      throw_in_file("{}, {}: {} is not in {}..{}", what_, name, value, min, max);
  }
  void zero_point(const char* name, std::int32_t& value) {
    constexpr std::int32_t kLow = -32768, kHigh = 32767;
    value = static_cast<std::int32_t>(word(name));
    if (value < kLow || value > kHigh)
      throw_in_file("{}, {}: {} is not in {}..{}", what_, name, value, kLow, kHigh);
  }
  void flag(const char* name, bool& value) {
    std::uint32_t bits = 0;
    number(name, bits, 0, 1);
    value = bits != 0;
  }
  void rounding(const char* name, cpu::Elements::Rounding& value) {
    std::uint32_t bits = 0;
    number(name, bits, 0, 1);
    value = static_cast<cpu::Elements::Rounding>(bits);
  }
  void single(const char* name, float& value) {
    value = std::bit_cast<float>(word(name));
    check_finite(name, double{value});
  }
  void real(const char* name, double& value) {
    value = std::bit_cast<double>(bits(name, sizeof value));
    check_finite(name, value);
  }
  void quantization(const char* name, Quantization& value) {
    value.scale = std::bit_cast<float>(word(name));
    if (!std::isfinite(value.scale) || value.scale <= 0)
      throw_in_file("{}, {}: scale {} is not a positive number", what_, name, value.scale);
    zero_point(name, value.zero_point);
  }
  void singles(const char* name, std::vector<float>& values) {
    values.resize(length(name, sizeof(float)));
    for (float& value : values) single(name, value);
  }
  void table(const char* name, std::shared_ptr<const std::vector<std::byte>>& results) {
    const auto from = take(name, length(name, 1));
    results = std::make_shared<const std::vector<std::byte>>(from.begin(), from.end());
  }
  std::string text(const char* name) {
    std::string value;
    for (const std::byte byte : take(name, length(name, 1))) value += static_cast<char>(byte);
    return value;
  }
  CpuCube cube() {
    CpuCube cube;
    TensorDesc& d = cube.desc;
    constexpr std::uint32_t kAny = UINT32_MAX;
    number("address", cube.address, 1, 32767);
    number("offset", cube.offset, 0, kAny);
    std::uint32_t precision = 0;
    number("precision", precision, 0, static_cast<std::uint32_t>(Precision::kFp16));
    d.precision = static_cast<Precision>(precision);
    number("batch", d.shape.batch, 0, kAny);
    number("channels", d.shape.channels, 0, kAny);
    number("height", d.shape.height, 0, kAny);
    number("width", d.shape.width, 0, kAny);
    number("atom", d.atom, 0, kAny);
    number("line_stride", d.line_stride, 0, kAny);
    number("surface_stride", d.surface_stride, 0, kAny);
    number("batch_stride", d.batch_stride, 0, kAny);
    d = detail::with_error_context("loadable: " + what_, std::nullopt, [&] { return resolve(d); });
    return cube;
  }
  void end() const {
    if (!bytes_.empty()) throw_in_file("{}: {} bytes follow its last field", what_, bytes_.size());
  }

 private:
  std::uint32_t word(const char* name) { return static_cast<std::uint32_t>(bits(name, 4)); }
  std::uint64_t bits(const char* name, std::size_t bytes) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const std::byte byte : take(name, bytes)) {
      value |= static_cast<std::uint64_t>(byte) << shift;
      shift += 8;
    }
    return value;
  }
  // Reads the length of a list of elements of so many bytes.
  std::size_t length(const char* name, std::size_t bytes) {
    const std::size_t count = word(name);
    if (count > bytes_.size() / bytes)
      throw_in_file("{}, {}: {} of {} bytes each do not fit the {} bytes that are left", what_,
                    name, count, bytes, bytes_.size());
    return count;
  }
  std::span<const std::byte> take(const char* name, std::size_t bytes) {
    if (bytes > bytes_.size())
      throw_in_file("{}, {}: {} bytes are left; it takes {}", what_, name, bytes_.size(), bytes);
    const auto taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }
  void check_finite(const char* name, double value) const {
    if (!std::isfinite(value))
      throw_in_file("{}, {}: {} is not a finite number", what_, name, value);
  }

  std::span<const std::byte> bytes_;
  std::string what_;
};

std::string text_of(const Shape& s) {
  return fmt::format("{}x{}x{}x{}", s.batch, s.channels, s.height, s.width);
}

// Holds the fields of an operation to its cubes.
class Checker {
 public:
  Checker(const CpuTask& task, const std::string& what)
      : task_(task), what_(what), in_(task.inputs[0].desc), out_(task.output.desc) {}

  void operator()(const cpu::SoftmaxOperation& op) const {
    same_shape();
    check_rounding(op.rounding, op.input, op.output, true);
  }
  void operator()(const cpu::PowerOperation& op) const {
    same_shape();
    check_rounding(op.rounding, op.input, op.output, false);
  }
  void operator()(const cpu::TableOperation& op) const {
    same_shape();
    const std::size_t bytes = in_.element_bytes(), all = bytes << (8 * bytes);
    if (op.results->size() != all)
      throw_in_file("{}: {} bytes of results; those of {} have {}", what_, op.results->size(),
                    text(in_.precision), all);
  }
  void operator()(const cpu::NormalizationFields& op) const {
    same_shape();
    check_zero_points(op.input, op.output);
    if (op.epsilon < 0) throw_in_file("{}: epsilon {} is less than 0", what_, op.epsilon);
    for (const auto& [values, name] : {std::pair(&op.gamma, "gamma"), {&op.beta, "beta"}})
      if (!values->empty() && values->size() != in_.shape.channels)
        throw_in_file("{}: {} values of {} for {} channels; expected as many, or none", what_,
                      values->size(), name, in_.shape.channels);
  }
  void operator()(const cpu::ProductOperation& op) const {
    const TensorDesc& b = task_.inputs[1].desc;
    same_precision(in_, b, "the second input");
    same_precision(in_, out_, "the output");
    check_zero_point("a_zero_point", op.a_zero_point);
    check_zero_point("b_zero_point", op.b_zero_point);
    check_zero_point("output_zero_point", op.output_zero_point);
    const std::uint32_t positions = b.shape.height * b.shape.width, channels = b.shape.channels;
    if (in_.shape.channels != (op.transposed ? channels : positions))
      throw_in_file("{}: the first input has {} channels, but the second one {} {}", what_,
                    in_.shape.channels, op.transposed ? channels : positions,
                    op.transposed ? "channels" : "positions");
    if (in_.shape.batch != b.shape.batch)
      throw_in_file("{}: the first input has {} cubes, the second one {}", what_, in_.shape.batch,
                    b.shape.batch);
    Shape out = in_.shape;
    out.channels = op.transposed ? positions : channels;
    expect_shape(out);
  }
  void operator()(const cpu::ArgmaxOperation&) const {
    if (out_.precision == Precision::kFp16)
      throw_in_file("{}: the output is fp16; channels are numbered in int8 or int16", what_);
    if (out_.precision == Precision::kInt8 && in_.shape.channels > 128)
      throw_in_file("{}: int8 has numbers for 128 channels, the input has {}", what_,
                    in_.shape.channels);
    Shape out = in_.shape;
    out.channels = 1;
    expect_shape(out);
  }
  void operator()(const cpu::AverageOperation& op) const {
    const cpu::AverageWindow& w = op.window;
    same_precision(in_, out_, "the output");
    Shape out = in_.shape;
    out.height = out_.shape.height;
    out.width = out_.shape.width;
    expect_shape(out);
    check_axis("height", in_.shape.height, out.height, w.height, w.stride_height, w.pad_top);
    check_axis("width", in_.shape.width, out.width, w.width, w.stride_width, w.pad_left);
    if (w.pad_value) check_pad(*w.pad_value);
    if (!w.scale) return;
    if (in_.precision != Precision::kInt8)
      throw_in_file("{}: it has scales, which are for int8; the input is {}", what_,
                    text(in_.precision));
    check_zero_points(w.scale->input, w.scale->output);
  }
  void operator()(const cpu::ReshapeOperation&) const {
    same_precision(in_, out_, "the output");
    if (in_.shape.batch != out_.shape.batch || in_.shape.elements() != out_.shape.elements())
      throw_in_file("{}: the output is {}, which are not the {} elements of each cube of the input",
                    what_, text_of(out_.shape), in_.shape.elements() / in_.shape.batch);
  }
  void operator()(const cpu::TransposeOperation& op) const {
    same_precision(in_, out_, "the output");
    const std::array sizes = {in_.shape.channels, in_.shape.height, in_.shape.width};
    for (std::size_t i = 0; i < 3; ++i)
      if (std::count(op.order.begin(), op.order.end(), op.order[i]) != 1)
        throw_in_file("{}: its axes are {} {} {}; expected each of 0, 1, 2 once", what_,
                      op.order[0], op.order[1], op.order[2]);
    expect_shape({sizes[op.order[0]], sizes[op.order[1]], sizes[op.order[2]], in_.shape.batch});
  }

 private:
  static const char* text(Precision precision) { return detail::precision_name(precision); }

  void same_precision(const TensorDesc& a, const TensorDesc& b, const char* name) const {
    if (a.precision != b.precision)
      throw_in_file("{}: {} is {}, the input {}", what_, name, text(b.precision),
                    text(a.precision));
  }
  void expect_shape(const Shape& expected) const {
    if (!(out_.shape == expected))
      throw_in_file("{}: the output is {}, expected {}", what_, text_of(out_.shape),
                    text_of(expected));
  }
  void same_shape() const {
    same_precision(in_, out_, "the output");
    expect_shape(in_.shape);
  }
  void check_zero_point(const char* name, std::int32_t zero_point) const {
    const std::int32_t low = in_.precision == Precision::kInt8    ? -128
                             : in_.precision == Precision::kInt16 ? -32768
                                                                  : 0;
    const std::int32_t high = low == 0 ? 0 : -low - 1;
    if (zero_point < low || zero_point > high)
      throw_in_file("{}, {}: zero point {} of {} is not in {}..{}", what_, name, zero_point,
                    text(in_.precision), low, high);
  }
  void check_zero_points(const Quantization& input, const Quantization& output) const {
    check_zero_point("input", input.zero_point);
    check_zero_point("output", output.zero_point);
  }
  // The rounding of the standard form knows no int16, no zero point, and no scale of fp16.
  void check_rounding(cpu::Elements::Rounding rounding, const Quantization& input,
                      const Quantization& output, bool any_zero_point) const {
    check_zero_points(input, output);
    if (rounding != cpu::Elements::Rounding::kLoadable) return;
    if (in_.precision == Precision::kInt16)
      throw_in_file("{}: its rounding is that of the standard form, which has no int16", what_);
    for (const Quantization* q : {&input, &output}) {
      const bool free = any_zero_point && q == &input;
      if ((q->zero_point != 0 && !free) || (in_.precision == Precision::kFp16 && q->scale != 1))
        throw_in_file("{}: its rounding is that of the standard form, which has no {}", what_,
                      q->zero_point != 0 && !free ? "zero point" : "scale of fp16");
    }
  }
  // Every window has an element of the input.
  void check_axis(const char* name, std::uint32_t size, std::uint32_t outputs, std::uint32_t kernel,
                  std::uint32_t stride, std::uint32_t before) const {
    if (before >= kernel)
      throw_in_file("{}: {} elements of padding before the {}, whose kernel has {}; expected fewer",
                    what_, before, name, kernel);
    const std::uint32_t last = (outputs - 1) * stride;
    if (last >= before + size)
      throw_in_file(
          "{}: the last window of the {} begins at {}, behind the {} elements of the input", what_,
          name, last, before + size);
  }
  void check_pad(std::int32_t value) const {
    const std::int32_t low = in_.precision == Precision::kInt8    ? -128
                             : in_.precision == Precision::kInt16 ? -32768
                                                                  : -2048;
    const std::int32_t high = in_.precision == Precision::kFp16 ? 2048 : -low - 1;
    if (value < low || value > high)
      throw_in_file("{}, pad_value: {} of {} is not in {}..{}", what_, value, text(in_.precision),
                    low, high);
  }

  const CpuTask& task_;
  const std::string& what_;
  const TensorDesc &in_, &out_;
};

std::size_t inputs_of(const cpu::Operation& operation) {
  return std::holds_alternative<cpu::ProductOperation>(operation.kind) ? 2 : 1;
}

// The operation of that name, with its fields to be read.
cpu::Operation find_operation(const std::string& name, std::uint32_t version,
                              const std::string& what) {
  const std::string symbol = fmt::format("{}{}/{}", kSymbol, name, version);
  std::optional<cpu::Operation> found;
  for_each_operation([&](const cpu::Operation& operation) {
    if (cpu_symbol(operation_name(operation)) == symbol) found = operation;
  });
  if (found) return *found;
  throw Error(
      ErrorCode::kNotAvailable,
      fmt::format("loadable: {}: the CPU has no operation '{}' of version {} here; it has {}", what,
                  name, version, known_cpu_operations()));
}

}  // namespace

std::string cpu_symbol(std::string_view operation) {
  return fmt::format("{}{}/{}", kSymbol, operation, kCpuVersion);
}

bool is_cpu_symbol(std::string_view name) { return name.starts_with(kSymbol); }

bool knows_cpu_symbol(std::string_view name) {
  bool known = false;
  for_each_operation([&](const cpu::Operation& operation) {
    known = known || cpu_symbol(operation_name(operation)) == name;
  });
  return known;
}

std::string known_cpu_operations() {
  std::vector<std::string> names;
  for_each_operation([&](const cpu::Operation& operation) {
    names.push_back(fmt::format("{}/{}", operation_name(operation), kCpuVersion));
  });
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::byte> pack_cpu_task(const CpuTask& task) {
  Writer writer;
  writer.text(operation_name(task.operation));
  writer.number("", kCpuVersion);
  writer.number("", static_cast<std::uint32_t>(task.inputs.size()));
  for (const CpuCube& input : task.inputs) writer.cube(input);
  writer.cube(task.output);
  cpu::Operation operation = task.operation;
  std::visit([&](auto& kind) { walk_fields(writer, kind); }, operation.kind);
  return std::move(writer).take();
}

CpuTask read_cpu_task(std::span<const std::byte> bytes, const std::string& what) {
  Reader reader(bytes, what);
  CpuTask task;
  const std::string name = reader.text("operation");
  std::uint32_t version = 0, inputs = 0;
  reader.number("version", version, 0, UINT32_MAX);
  task.operation = find_operation(name, version, what);
  const std::string operation = fmt::format("{} ({})", what, name);
  reader.begin(operation);
  const auto expected = static_cast<std::uint32_t>(inputs_of(task.operation));
  reader.number("inputs", inputs, expected, expected);
  for (std::uint32_t i = 0; i < inputs; ++i) {
    reader.begin(fmt::format("{}, input {}", operation, i));
    task.inputs.push_back(reader.cube());
  }
  reader.begin(operation + ", output");
  task.output = reader.cube();
  reader.begin(operation);
  std::visit([&](auto& kind) { walk_fields(reader, kind); }, task.operation.kind);
  reader.end();
  std::visit(Checker(task, operation), task.operation.kind);
  return task;
}

}  // namespace nvdla::loadable
