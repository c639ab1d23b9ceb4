// SPDX-License-Identifier: MIT
//
// `nvdla lut plot`: a look-up table against its function.
#include "nvdla/lowlevel/lut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "backend/info.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "lut/lut_eval.hpp"
#include "nvdla/types/half.hpp"
#include "nvdla/types/precision.hpp"
#include "support/float.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/load.hpp"
#include "tools/cli/pictures/pictures.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/numbers.hpp"
#include "tools/common/print.hpp"
#include "tools/files/files.hpp"

namespace nvdla::cli {
namespace {

struct LutOptions {
  std::string function;
  std::string precision = "int8";
  std::string range;
  double input_scale = 0;
  double output_scale = 0;
  std::string loadable;
  std::uint32_t table = 0;
  std::string svg;
  std::string json;
};

struct NamedFunction {
  std::string_view name, formula;
  Lut (*fit)(const LutFormat& format, const Range& range);
  double (*value)(double x);
};

constexpr NamedFunction kFunctions[] = {
    {"sigmoid", "1 / (1 + e^-x)", lut::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"tanh", "tanh x", lut::tanh, [](double x) { return std::tanh(x); }},
    {"exp", "e^x", lut::exp, [](double x) { return std::exp(x); }},
    {"softplus", "ln(1 + e^x)", lut::softplus,
     [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"swish", "x / (1 + e^-x)", lut::swish, [](double x) { return x / (1 + std::exp(-x)); }},
};

// More than columns of the picture.
constexpr int kPoints = 1441;

const NamedFunction& find_function(const std::string& name) {
  std::string names;
  for (const NamedFunction& function : kFunctions) {
    if (function.name == name) return function;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", function.name);
  }
  throw UsageError(fmt::format("no function is called '{}'; there are {}", name, names));
}

Range parse_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto number = [&](const std::string& part) {
    std::size_t used = 0;
    double value = NAN;
    try {
      value = std::stod(part, &used);
    } catch (const std::exception&) {
      used = std::string::npos;
    }
    if (used != part.size() || !std::isfinite(value)) {
      throw UsageError(fmt::format("--range {}: '{}' is no number; expected LOW:HIGH", text, part));
    }
    return value;
  };
  if (colon == text.npos) {
    throw UsageError(fmt::format("--range {}: expected two numbers, LOW:HIGH", text));
  }
  const Range range = {number(text.substr(0, colon)), number(text.substr(colon + 1))};
  if (!(range.lo < range.hi)) {
    throw UsageError(fmt::format("--range {}: {} is not less than {}", text, range.lo, range.hi));
  }
  return range;
}

// The least power of two with which everything in the range can be held.
double scale_for(const NamedFunction& function, const Range& range, Precision precision) {
  double greatest = 0;
  for (int i = 0; i < kPoints; ++i)
    greatest = std::max(
        greatest, std::abs(function.value(range.lo + (range.hi - range.lo) * i / (kPoints - 1))));
  const double most = precision == Precision::kInt8 ? 127 : 32767;
  return std::exp2(std::ceil(std::log2(std::max(greatest, 1e-9) / most)));
}

nlohmann::ordered_json json_of(const LutCurves& curves, const nlohmann::ordered_json& facts) {
  nlohmann::ordered_json json = {{"title", curves.title}, {"about", curves.about}};
  json.update(facts);
  for (const LutPoint& point : curves.points) {
    nlohmann::ordered_json entry = {{"x", point.x}, {"result", point.result}};
    if (point.wanted) {
      entry["wanted"] = *point.wanted;
      entry["error_steps"] = point.error;
    }
    json["points"].push_back(std::move(entry));
  }
  return json;
}

// `facts` are what `summary` says.
void finish(const LutOptions& options, const LutCurves& curves, const std::string& summary,
            const nlohmann::ordered_json& facts) {
  if (!options.json.empty()) {
    if (program::is_standard_output(options.svg))
      throw UsageError(
          "--json and the picture would both go to standard output; expected one there");
    program::print_json(json_of(curves, facts), options.json);
  } else {
    std::FILE* const stream = program::is_standard_output(options.svg) ? stderr : stdout;
    program::print(stream, "{}\n{}\n{}", curves.title, program::Lines{curves.about},
                   program::Lines{summary});
  }
  if (options.svg.empty()) return;
  const std::string picture = lut_picture(curves);
  program::write_file(options.svg, std::as_bytes(std::span(picture)));
}

int plot_function(const LutOptions& options) {
  const NamedFunction& function = find_function(options.function);
  const Range range = parse_range(options.range.empty() ? "-8:8" : options.range);
  LutFormat format;
  format.precision = options.precision == "int8"    ? Precision::kInt8
                     : options.precision == "int16" ? Precision::kInt16
                                                    : Precision::kFp16;
  const bool real = format.precision == Precision::kFp16;
  if (real && (options.input_scale != 0 || options.output_scale != 0)) {
    throw UsageError("fp16 has no scales: expected none of --input-scale and --output-scale");
  }
  if (!real) {
    format.input.scale =
        options.input_scale != 0 ? static_cast<float>(options.input_scale) : 1 / 4096.0F;
    format.output.scale = static_cast<float>(options.output_scale != 0
                                                 ? options.output_scale
                                                 : scale_for(function, range, format.precision));
  }
  const Lut lut = function.fit(format, range);
  // A step of fp16, of numbers from 1 to 2; of greater ones in proportion.
  const double step = real ? std::ldexp(1, -10) : double{format.output.scale};
  const double least =
      real ? -65504 : (format.precision == Precision::kInt8 ? -128 : -32768) * step;
  const double most = real ? 65504 : (format.precision == Precision::kInt8 ? 127 : 32767) * step;
  const auto point = [&](double at) {
    LutPoint p;
    p.x = real ? double{from_half(to_half(at))}
               : std::round(at / format.input.scale) * format.input.scale;
    p.result = lut.result(p.x);
    p.wanted = std::clamp(function.value(p.x), least, most);
    p.error = (p.result - *p.wanted) / step / (real ? std::max(1.0, std::abs(*p.wanted)) : 1.0);
    return p;
  };

  LutCurves curves;
  curves.title = fmt::format("{}: {} in {}", function.name, function.formula, options.precision);
  curves.about =
      real ? fmt::format(
                 "fitted from {:g} to {:g}; a step is 2^-10 of the result, or of 1 if that "
                 "is less",
                 range.lo, range.hi)
           : fmt::format("fitted from {:g} to {:g}; inputs in steps of {:g}, results of {:g}",
                         range.lo, range.hi, format.input.scale, format.output.scale);
  curves.x_label = "x";
  curves.y_label = std::string(function.name);
  curves.error_label = "error in steps (LSB)";
  for (int i = 0; i < kPoints; ++i) {
    const LutPoint p = point(range.lo + (range.hi - range.lo) * i / (kPoints - 1));
    if (curves.points.empty() || p.x > curves.points.back().x) curves.points.push_back(p);
  }
  if (curves.points.size() < 2) {
    throw UsageError(fmt::format("--range {}: fewer than two inputs lie there", options.range));
  }
  const LutReport& report = lut.report();
  curves.worst = point(report.input);
  finish(options, curves,
         fmt::format("largest error: {:.3g}, {:.2f} LSB, at x = {:g}{}\n", report.error,
                     report.error / step, report.input,
                     report.every_input ? " (every input was tried)" : ""),
         {{"error", report.error},
          {"error_steps", report.error / step},
          {"error_at", report.input},
          {"every_input", report.every_input}});
  return kSuccess;
}

// A table of a loadable, with the layer that uses it.
struct FoundTable {
  nvdla_lut lut = {};
  bool real = false;
  std::string user;  // the first layer
};

FoundTable find_table(const LutOptions& options) {
  const Loadable file = load_loadable(options.loadable);
  if (file.configurations() == 0) {
    throw UsageError(options.loadable + ": no configuration runs it, so its tables mean nothing");
  }
  const nvdla_hw& hw = *detail::find_configuration(file.configuration(0));
  std::uint32_t count = 0;
  std::size_t steps = 0;  // of earlier tasks
  for (const loadable::Task& task : file.impl().tasks) {
    if (!task.of_hardware()) {
      steps += task.cpu_operations();
      continue;
    }
    const auto program = loadable::convert_task(file.impl().container, task, hw);
    if (options.table >= count + program.luts.size()) {
      count += static_cast<std::uint32_t>(program.luts.size());
      steps += program.layers.size();
      continue;
    }
    FoundTable found;
    found.lut = program.luts[options.table - count];
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      const nvdla_layer& layer = program.layers[i];
      if (layer.lut != options.table - count + 1) continue;
      found.user = file.impl().step_name(steps + i, program.names[i]);
      found.real = (found.lut.unit == NVDLA_LUT_SDP ? layer.sdp.proc_precision
                                                    : layer.cdp.precision) == NVDLA_PRECISION_FP16;
      break;
    }
    return found;
  }
  throw UsageError(fmt::format("{}: it has {} look-up table{}; no table {}", options.loadable,
                               count, count == 1 ? "" : "s", options.table));
}

double number_of(bool real, std::int64_t bits) {
  return real ? double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))}
              : static_cast<double>(bits);
}

int plot_table(const LutOptions& options) {
  const FoundTable found = find_table(options);
  const nvdla_lut& lut = found.lut;
  double low = std::min(number_of(found.real, lut.le_start), number_of(found.real, lut.lo_start));
  double high = std::max(number_of(found.real, lut.le_end), number_of(found.real, lut.lo_end));
  // Some of what follows from the slopes.
  const double beyond = std::max((high - low) / 10, 1.0);
  low -= beyond;
  high += beyond;
  if (!options.range.empty()) {
    const Range range = parse_range(options.range);
    low = range.lo;
    high = range.hi;
  }
  LutCurves curves;
  curves.title = fmt::format("table {} of {}", options.table, options.loadable);
  curves.about = fmt::format("of {}, used by '{}', {}", lut.unit == NVDLA_LUT_SDP ? "SDP" : "CDP",
                             found.user, found.real ? "fp16" : "integers");
  curves.x_label = found.real ? "what goes into the table" : "what goes into the table, as integer";
  curves.y_label = found.real ? "result" : "result before the converter";
  for (int i = 0; i < kPoints; ++i) {
    double x = low + (high - low) * i / (kPoints - 1);
    x = found.real ? double{static_cast<float>(x)} : std::round(x);
    if (!curves.points.empty() && x <= curves.points.back().x) continue;
    const std::int64_t raw = found.real ? std::bit_cast<std::uint32_t>(static_cast<float>(x))
                                        : static_cast<std::int64_t>(x);
    std::int64_t result = detail::lut_evaluate(lut, found.real, raw);
    if (found.real && lut.unit == NVDLA_LUT_CDP)
      result = fp::fp17_to_fp32(static_cast<std::uint32_t>(result));
    curves.points.push_back({x, number_of(found.real, result), std::nullopt, 0});
  }
  if (curves.points.size() < 2) {
    throw UsageError(fmt::format("--range {}: fewer than two inputs lie there", options.range));
  }
  const auto [least, most] =
      std::minmax_element(curves.points.begin(), curves.points.end(),
                          [](const LutPoint& a, const LutPoint& b) { return a.result < b.result; });
  finish(options, curves,
         fmt::format("LE from {:g} to {:g}, LO from {:g} to {:g}\nresults from {:g} to {:g}\n",
                     number_of(found.real, lut.le_start), number_of(found.real, lut.le_end),
                     number_of(found.real, lut.lo_start), number_of(found.real, lut.lo_end),
                     least->result, most->result),
         {{"le", {number_of(found.real, lut.le_start), number_of(found.real, lut.le_end)}},
          {"lo", {number_of(found.real, lut.lo_start), number_of(found.real, lut.lo_end)}},
          {"unit", lut.unit == NVDLA_LUT_SDP ? "SDP" : "CDP"},
          {"layer", found.user}});
  return kSuccess;
}

int plot(const LutOptions& options) {
  if (options.loadable.empty() == options.function.empty()) {
    throw UsageError("expected either a function or --loadable FILE");
  }
  return options.loadable.empty() ? plot_function(options) : plot_table(options);
}

}  // namespace

Run add_lut(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<LutOptions>();
  command = app.add_subcommand("lut", "Look-up tables");
  command->require_subcommand(1);
  CLI::App* const plot_command =
      command->add_subcommand("plot", "Show a look-up table against its function");
  plot_command->add_option("FUNCTION", options->function,
                           "sigmoid, tanh, exp, softplus or swish: a table is fitted to it");
  plot_command
      ->add_option("--precision,-p", options->precision, "Of the results: int8, int16 or fp16")
      ->check(CLI::IsMember({"int8", "int16", "fp16"}).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  plot_command
      ->add_option("--range", options->range,
                   "Arguments that the table is fitted for and shown with; -8:8, or all of a table "
                   "of a loadable")
      ->type_name("LOW:HIGH");
  plot_command
      ->add_option("--input-scale", options->input_scale,
                   "What a unit of the integers that go in is worth; 1/4096")
      ->type_name("NUMBER")
      ->check(program::positive_number());
  plot_command
      ->add_option("--output-scale", options->output_scale,
                   "What a unit of the results is worth; the least power of two that holds all")
      ->type_name("NUMBER")
      ->check(program::positive_number());
  plot_command->add_option("--loadable", options->loadable, "Show a table of this file instead")
      ->type_name("FILE");
  plot_command->add_option("--table", options->table, "Which of its tables, from 0 on")
      ->check(program::whole_number(0, 65535))
      ->type_name("NUMBER")
      ->capture_default_str();
  plot_command->add_option("--svg", options->svg, "Draw it; - for standard output")
      ->type_name("FILE");
  program::add_json_option(*plot_command, options->json);
  const char* const examples =
      "Examples:\n"
      "  nvdla lut plot sigmoid --svg sigmoid.svg\n"
      "  nvdla lut plot tanh --precision fp16 --range -4:4\n"
      "  nvdla lut plot --loadable network.nvdla --table 0 --svg table.svg";
  command->footer(examples);
  plot_command->footer(examples);
  return [options] { return plot(*options); };
}

}  // namespace nvdla::cli
