// SPDX-License-Identifier: MIT
//
// Running a case, and judging its outputs.
//
// The tolerance follows from the arithmetic. Inputs are rounded to fp16, by 2^-11 of each at most,
// and so are results. Operators that only choose or move elements add nothing. Each node of others
// adds 2^-11, and sums of several terms 2^-8 in all, of the result or of the greatest one of the
// case, which is taken as 1 if it is more. Tables are accepted up to 2^-8, relative above 1.
//
// In int8 the inputs of the case are the samples. Results are compared with those of the rounded
// inputs, in floats: each node may add a step of the output, and weights of 8 bits 2^-7 of the
// greatest result.
#include "import/case.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <span>

#include "import/case_files.hpp"
#include "import/case_reference.hpp"
#include "import/graph/refusal.hpp"
#include "nvdla/nvdla.hpp"

namespace nvdla::import_test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeconds = 60;

// Returns true if rounding to fp16 changes an input by more than a quarter: functions of it may
// then have any result.
bool is_beyond_fp16(const Case& c) {
  for (const auto& input : c.inputs) {
    if (is_integer(input.data_type())) continue;
    for (const double v : values_of(input))
      if (std::isfinite(v) && std::fabs(static_cast<double>(from_half(to_half(v))) - v) > 0.25)
        return true;
  }
  return false;
}

// Returns what is wrong with an output; empty if nothing is.
std::string judge(const Case& c, std::size_t index, const std::vector<double>& got) {
  const std::vector<double> expected = values_of(c.outputs[index]);
  if (got.size() != expected.size())
    return fmt::format("{} has {} elements, expected {}", c.output_names[index], got.size(),
                       expected.size());
  double greatest = 0;
  for (const double v : expected)
    if (std::isfinite(v)) greatest = std::max(greatest, std::fabs(v));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double right = expected[i], g = got[i];
    double tolerance = std::ldexp(std::fabs(right), -10) + 0x1p-24;
    if (!c.exact) {
      const double scale = c.arithmetic ? std::min(greatest, 1.0) : 1.0;
      tolerance =
          (std::ldexp(1, -8) + std::ldexp(c.nodes, -11)) * std::max(std::fabs(right), scale);
    }
    // Near its poles a tangent magnifies what rounding has made of its argument.
    if (c.op == "Tan") tolerance += std::ldexp(2 * (1 + right * right), -11);
    if (is_integer(c.outputs[index].data_type())) tolerance = 0;
    if (std::isnan(right) && (std::isnan(g) || g == 0)) continue;
    if (std::fabs(right) > 65504 && g * right > 0 && std::fabs(g) >= 65504) continue;
    if (!(std::fabs(g - right) <= tolerance))
      return fmt::format("{}[{}] is {}, expected {} within {:.3g}", c.output_names[index], i, g,
                         right, tolerance);
  }
  return {};
}

// Returns the inputs as the network sees them: rounded to multiples of their scales.
std::vector<std::vector<double>> rounded_inputs(const Case& c, const ImportedModel& model) {
  auto inputs = inputs_of(c);
  for (const ImportedTensor& t : model.inputs)
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (c.input_names[i] != t.name || !t.quantization) continue;
      const auto [scale, zero] = *t.quantization;
      for (double& v : inputs[i]) {
        const auto steps = static_cast<double>(std::nearbyint(static_cast<float>(v) / scale));
        v = (std::clamp(steps + zero, -128.0, 127.0) - zero) * static_cast<double>(scale);
      }
    }
  return inputs;
}

// Returns what is wrong with an output in int8; empty if nothing is.
std::string judge_integers(const Case& c, const ImportedTensor& t, double input_step,
                           const std::vector<float>& right, const std::vector<double>& got) {
  if (got.size() != right.size())
    return fmt::format("{} has {} elements, expected {}", t.name, got.size(), right.size());
  double greatest = 0;
  for (const float v : right) greatest = std::max(greatest, std::fabs(static_cast<double>(v)));
  const double step = t.quantization ? static_cast<double>(t.quantization->scale) : 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const auto expected = static_cast<double>(right[i]);
    double tolerance = step * (c.nodes + 1) + (c.exact ? 0 : greatest / 128);
    // Near its poles a tangent magnifies a tie that was rounded the other way.
    if (c.op == "Tan") tolerance += input_step * (1 + expected * expected);
    if (!(std::fabs(got[i] - expected) <= tolerance))
      return fmt::format("{}[{}] is {}, expected {} within {:.3g}", t.name, i, got[i], expected,
                         tolerance);
  }
  return {};
}

// Elements without a sign are 128 less in int8.
int shift_of(const ImportedTensor& t) { return t.type == "uint8" ? 128 : 0; }

bool is_integers(const ImportedTensor& t) {
  return t.precision == Precision::kInt8 && (t.type == "uint8" || t.type == "int8");
}

void write_values(Request& request, const ImportedTensor& t, const std::vector<double>& values) {
  if (is_integers(t)) {
    std::vector<std::int8_t> elements;
    for (const double v : values)
      elements.push_back(static_cast<std::int8_t>(static_cast<int>(v) - shift_of(t)));
    request.write(t.name, t.layout, std::span<const std::int8_t>(elements));
    return;
  }
  const std::vector<float> floats(values.begin(), values.end());
  request.write(t.name, t.layout, std::span<const float>(floats));
}

std::vector<double> read_values(const Request& request, const ImportedTensor& t) {
  std::vector<double> out;
  if (is_integers(t)) {
    std::vector<std::int8_t> got(t.shape.elements());
    request.read(t.name, t.layout, std::span<std::int8_t>(got));
    for (const std::int8_t v : got) out.push_back(v + shift_of(t));
    return out;
  }
  std::vector<float> got(t.shape.elements());
  request.read(t.name, t.layout, std::span<float>(got));
  return {got.begin(), got.end()};
}

// Makes the inputs of the case a sample of them, unless the model has scales of its own.
void add_sample(const Case& c, const std::set<std::size_t>& constants, ImportOptions& options) {
  if (c.model.find("QuantizeLinear") != std::string::npos ||
      c.model.find("QLinear") != std::string::npos || c.model.find("Integer") != std::string::npos)
    return;
  Sample sample;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    if (constants.contains(i)) continue;
    const auto values = values_of(c.inputs[i]);
    sample.emplace_back(values.begin(), values.end());
  }
  if (!sample.empty()) options.samples.push_back(std::move(sample));
}

Outcome attempt(const Case& c, const std::string& name, CpuUse cpu,
                const std::set<std::size_t>& constants) {
  Outcome outcome;
  outcome.op = c.op;
  const Device device = Device::open(name);
  ImportOptions options;
  options.cpu = cpu;
  options.channels_last = true;
  for (const std::size_t i : constants) {
    const auto bytes = std::as_bytes(std::span(c.input_bytes[i]));
    options.constants.push_back({c.input_names[i], {bytes.begin(), bytes.end()}});
  }
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    if (!constants.contains(i) && c.inputs[i].dims_size() > 0)
      options.shapes.push_back(
          {c.input_names[i], {c.inputs[i].dims().begin(), c.inputs[i].dims().end()}});
  std::optional<ImportedModel> model;
  const bool integers = !device.info().has_fp16;
  try {
    if (integers) add_sample(c, constants, options);
    model = import_model(std::as_bytes(std::span(c.model)), device.info(), options);
  } catch (const Error& error) {
    outcome.verdict = Verdict::kRefused;
    outcome.text = error.what();
    if (outcome.text.find("is a constant") != std::string::npos &&
        outcome.text.find("(output)") != std::string::npos)
      outcome.verdict = Verdict::kFolded;
    return outcome;
  }
  try {
    const CompiledNetwork compiled = model->network.compile(device);
    for (std::uint32_t i = 0; cpu == CpuUse::kNone && i < compiled.layers(); ++i)
      if (compiled.layer_on_cpu(i))
        return {Verdict::kWrong, fmt::format("the CPU computes '{}'", compiled.layer_name(i)),
                c.op};
    Request request = compiled.create_request();
    for (const ImportedTensor& t : model->inputs)
      for (std::size_t i = 0; i < c.inputs.size(); ++i)
        if (c.input_names[i] == t.name) {
          const auto values = values_of(c.inputs[i]);
          write_values(request, t, values);
        }
    request.run();
    outcome.verdict = constants.empty() ? Verdict::kRight : Verdict::kConstant;
    const auto right = integers ? compute_in_floats(c, rounded_inputs(c, *model))
                                : std::map<std::string, std::vector<float>>();
    for (std::size_t i = 0; i < model->outputs.size(); ++i) {
      const ImportedTensor& t = model->outputs[i];
      const std::vector<double> got = read_values(request, t);
      const bool scaled = integers && t.quantization && right.contains(c.output_names[i]);
      outcome.text =
          scaled ? judge_integers(c, t,
                                  static_cast<double>(
                                      model->inputs[0].quantization.value_or(Quantization{}).scale),
                                  right.at(c.output_names[i]), got)
                 : judge(c, i, got);
      if (outcome.text.empty()) continue;
      outcome.verdict = is_beyond_fp16(c) ? Verdict::kBeyond : Verdict::kWrong;
      return outcome;
    }
  } catch (const Error& error) {
    outcome.verdict = Verdict::kRefused;
    outcome.text = std::string("compile: ") + error.what();
  } catch (const import::Refusal& refusal) {
    outcome.verdict = Verdict::kRefused;
    outcome.text = std::string("in floats: ") + refusal.what();
  }
  return outcome;
}

}  // namespace

Outcome run_case(const fs::path& folder, const std::string& device, CpuUse cpu) {
  try {
    const Case c = load_case(folder);
    const Outcome first = attempt(c, device, cpu, {});
    if (first.verdict != Verdict::kRefused || c.inputs.size() < 2) return first;
    std::set<std::size_t> constants;
    for (std::size_t i = 1; i < c.inputs.size(); ++i) constants.insert(i);
    Outcome second = attempt(c, device, cpu, constants);
    if (second.verdict != Verdict::kRefused) return second;
    // A condition, or whatever else is no real number, may be the first input.
    constants.clear();
    for (std::size_t i = 0; i < c.inputs.size(); ++i)
      if (is_integer(c.inputs[i].data_type())) constants.insert(i);
    if (constants.empty() || constants.size() == c.inputs.size()) return second;
    const Outcome third = attempt(c, device, cpu, constants);
    return third.verdict != Verdict::kRefused ? third : second;
  } catch (const std::exception& error) {
    return {Verdict::kCrashed, error.what(), ""};
  }
}

Outcome run_apart(const fs::path& folder, const std::string& device, CpuUse cpu) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    const Outcome outcome = run_case(folder, device, cpu);
    const std::string text =
        fmt::format("{}\n{}\n{}", static_cast<int>(outcome.verdict), outcome.op, outcome.text);
    (void)!write(ends[1], text.data(), std::min<std::size_t>(text.size(), 4000));
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const std::size_t a = text.find('\n'), b = text.find('\n', a + 1);
  if (status != 0 || b == std::string::npos)
    return {Verdict::kCrashed, fmt::format("status {}", status), ""};
  return {static_cast<Verdict>(std::stoi(text)), text.substr(b + 1), text.substr(a + 1, b - a - 1)};
}

}  // namespace nvdla::import_test
