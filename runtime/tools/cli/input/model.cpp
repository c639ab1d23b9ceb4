// SPDX-License-Identifier: MIT
#include "tools/cli/input/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "backend/info.hpp"
#include "backend/name/device_name.hpp"
#include "nvdla/types/error.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/input/inputs.hpp"
#include "tools/common/print.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

using program::UsageError;

// Reads "NAME=1x3x224x224"; the name may have any character.
InputShape parse_shape(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const auto wrong = [&] {
    return UsageError(fmt::format("--shape {}: expected NAME=1x3x224x224 or the like", text));
  };
  if (equals == std::string::npos || equals == 0) throw wrong();
  InputShape shape{text.substr(0, equals), {}};
  std::int64_t size = 0;
  bool digits = false;
  for (const char c : text.substr(equals + 1) + "x") {
    if (c == 'x' && digits) {
      shape.sizes.push_back(size);
      size = 0;
      digits = false;
    } else if (c >= '0' && c <= '9' && size < 100'000'000) {
      size = size * 10 + (c - '0');
      digits = true;
    } else {
      throw wrong();
    }
  }
  return shape;
}

// A number of protobuf, seven bits a byte.
void append_varint(std::vector<std::byte>& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<std::byte>(value | 0x80));
  bytes.push_back(static_cast<std::byte>(value));
}

// A type of elements that a constant may have, with ONNX's number.
struct ConstantType {
  std::string_view name;
  std::uint64_t number;
  bool real;
  std::size_t bytes;
};

constexpr ConstantType kConstantTypes[] = {
    {"float", 1, true, 4},  {"uint8", 2, false, 1}, {"int8", 3, false, 1},
    {"int32", 6, false, 4}, {"int64", 7, false, 8}, {"bool", 9, false, 1},
};

// Appends an element of a constant in the byte order of files, the lowest byte first.
void append_element(std::vector<std::byte>& bytes, const ConstantType& type, double value) {
  const std::uint64_t bits = type.real
                                 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                 : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  for (std::size_t i = 0; i < type.bytes; ++i)
    bytes.push_back(static_cast<std::byte>(bits >> (8 * i) & 0xff));
}

// Reads "NAME=16000" or "NAME=1,2,3" for one of the inputs.
InputValue parse_constant(const std::string& text, const std::vector<ImportedTensor>& inputs) {
  const std::size_t equals = text.rfind('=');
  const std::string name = text.substr(0, equals == std::string::npos ? 0 : equals);
  const auto input = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const ImportedTensor& t) { return t.name == name; });
  if (input == inputs.end())
    throw UsageError(fmt::format("--constant {}: expected NAME=NUMBER,... of an input", text));
  const auto type = std::find_if(std::begin(kConstantTypes), std::end(kConstantTypes),
                                 [&](const ConstantType& t) { return t.name == input->type; });
  if (type == std::end(kConstantTypes))
    throw UsageError(
        fmt::format("--constant {}: the input is {}, which it cannot be", text, input->type));
  std::vector<std::byte> elements;
  std::uint64_t count = 0, expected = 1;
  std::stringstream list(text.substr(equals + 1));
  for (std::string word; std::getline(list, word, ','); ++count) {
    std::size_t used = 0;
    double value = 0;
    try {
      value = std::stod(word, &used);
    } catch (const std::logic_error&) {
      used = 0;
    }
    constexpr double kLimit = 0x1p53;  // integers below it are doubles, too
    if (used == 0 || used != word.size() || !(std::fabs(value) < kLimit) ||
        (!type->real && value != std::floor(value)))
      throw UsageError(
          fmt::format("--constant {}: '{}' is no number of {}", text, word, input->type));
    append_element(elements, *type, value);
  }
  for (const std::int64_t size : input->sizes) expected *= static_cast<std::uint64_t>(size);
  if (count != expected)
    throw UsageError(
        fmt::format("--constant {}: {} numbers; the input has {}", text, count, expected));
  // dims, data_type and raw_data of ONNX's TensorProto.
  InputValue constant{name, {}};
  for (const std::int64_t size : input->sizes) {
    append_varint(constant.tensor, 1 << 3);
    append_varint(constant.tensor, static_cast<std::uint64_t>(size));
  }
  append_varint(constant.tensor, 2 << 3);
  append_varint(constant.tensor, type->number);
  append_varint(constant.tensor, 9 << 3 | 2);
  append_varint(constant.tensor, elements.size());
  constant.tensor.insert(constant.tensor.end(), elements.begin(), elements.end());
  return constant;
}

std::optional<Precision> parse_precision(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text == "int8" ? Precision::kInt8 : text == "int16" ? Precision::kInt16 : Precision::kFp16;
}

// Mean and deviation are of pixels in 0..1, unless one of them says that they are not.
std::optional<InputPixels> parse_pixels(const ModelOptions& options) {
  if (options.pixels.empty() && options.mean.empty() && options.deviation.empty())
    return std::nullopt;
  constexpr float kGreatestOfUnit = 2, kGreatestPixel = 255;
  InputPixels pixels;
  pixels.mean = options.mean;
  pixels.deviation = options.deviation;
  pixels.reversed = options.pixels == "bgr";
  const auto is_of_unit = [](const std::vector<float>& list) {
    return std::all_of(list.begin(), list.end(),
                       [](float v) { return std::fabs(v) <= kGreatestOfUnit; });
  };
  if (pixels.mean.empty() && pixels.deviation.empty()) return pixels;
  if (!is_of_unit(pixels.mean) || !is_of_unit(pixels.deviation)) return pixels;
  if (pixels.deviation.empty()) pixels.deviation = {1};
  for (float& v : pixels.mean) v *= kGreatestPixel;
  for (float& v : pixels.deviation) v *= kGreatestPixel;
  return pixels;
}

CpuUse parse_cpu(const std::string& text) {
  return text == "all" ? CpuUse::kAll : text == "none" ? CpuUse::kNone : CpuUse::kTail;
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option("--shape", options.shapes,
                  "Sizes of an input that the model leaves open: data=1x3x224x224; a batch alone "
                  "is 1 otherwise")
      ->type_name("NAME=SIZES")
      ->allow_extra_args(false);
  command
      .add_option("--constant", options.constants,
                  "Makes a constant of an input, such as a rate: rate=16000, or sizes=1,2,3")
      ->type_name("NAME=NUMBER,...")
      ->allow_extra_args(false);
  command
      .add_option("--outputs", options.outputs,
                  "Values of the model that become the outputs, in place of its own; nodes behind "
                  "them are left out")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option(
          "--cpu", options.cpu,
          "What the CPU may compute: none; tail, a softmax or argmax at the end, and averages "
          "of int8 that the device does not have; all")
      ->check(CLI::IsMember({"none", "tail", "all"}).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--precision", options.precision,
                  "Of the arithmetic: int8 or int16, whose scales --samples give; fp16. A model "
                  "with scales "
                  "of its own (QuantizeLinear) is in int8, others are in fp16 without samples")
      ->check(CLI::IsMember({"int8", "int16", "fp16"}).description(""))
      ->type_name("NAME");
  command
      .add_option(
          "--samples", options.samples,
          "Inputs that are typical, some dozen of them: pictures, NumPy arrays (.npy) of one "
          "or of many, archives (.npz) with an array for each input, or folders of these; "
          "NAME=FILE or NAME=FOLDER for one of several inputs")
      ->type_name("[NAME=]FILE|FOLDER");
  command
      .add_option("--mean", options.mean,
                  "The input is a picture, from whose pixels the model expects this to be "
                  "subtracted: one number, or one for each channel; of pixels in 0..1, or in "
                  "0..255 if a number of --mean or --std is above 2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("R,G,B");
  command
      .add_option("--std", options.deviation,
                  "What the pixels are divided by behind that; without it 1")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("R,G,B");
  command
      .add_option("--pixels", options.pixels,
                  "Order in which the model has the channels of a picture: rgb, bgr")
      ->check(CLI::IsMember({"rgb", "bgr"}).description(""))
      ->type_name("NAME");
}

bool ModelOptions::any() const {
  return !shapes.empty() || !constants.empty() || !outputs.empty() || cpu != "tail" ||
         !precision.empty() || !samples.empty() || !mean.empty() || !deviation.empty() ||
         !pixels.empty();
}

const nvdla_hw& model_configuration(const std::string& device) {
  if (device_text(device) == "auto") return *detail::find_configuration("nv_full");
  return configuration_of(device);
}

LoadableOptions loadable_options(const nvdla_hw& hw, const std::string& device) {
  const detail::DeviceName name = detail::choose_device_name(device_text(device));
  LoadableOptions options;
  options.memory = detail::memory_speed(name.options.memory);
  options.sram_bytes = name.options.sram_bytes;
  if (name.mmio.sram) options.sram_bytes = name.mmio.sram->size;
  options.revision = hw.revision;
  options.weight_gating = (hw.features & NVDLA_HW_WEIGHT_GATING) != 0;
  return options;
}

ImportedModel load_model(const std::string& path, const std::string& configuration,
                         const ModelOptions& options, const std::string& resize,
                         const std::function<void(const BuildProgress&)>& progress, bool check,
                         bool measure) {
  ImportOptions import;
  for (const std::string& shape : options.shapes) import.shapes.push_back(parse_shape(shape));
  import.outputs = options.outputs;
  import.cpu = parse_cpu(options.cpu);
  import.check = check;
  import.measure = measure;
  import.channels_last = true;
  import.bytes = options.bytes;
  import.progress = progress;
  import.precision = parse_precision(options.precision);
  if (const auto pixels = parse_pixels(options)) import.pixels = {*pixels};
  try {
    if (!options.constants.empty()) {
      const auto inputs = read_model_inputs(path, import);
      for (const std::string& text : options.constants)
        import.constants.push_back(parse_constant(text, inputs));
    }
    if (!options.samples.empty())
      read_samples(options.samples, read_model_inputs(path, import), resize, import);
    return import_model(path, configuration_info(configuration), import);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

std::vector<ModelSizes> sizes_of(const ImportedModel& model) {
  std::vector<ModelSizes> all;
  for (const auto* tensors : {&model.inputs, &model.outputs})
    for (const ImportedTensor& t : *tensors) all.push_back({t.name, t.sizes, t.layout});
  return all;
}

void print_notices(const ImportedModel& model) {
  for (const std::string& notice : model.notices) program::print(stderr, "nvdla: {}\n", notice);
  const auto tell_order = [](const char* what, const ImportedTensor& t) {
    if (t.layout == Layout::kNhwc)
      program::print(stderr,
                     "nvdla: {} '{}': the model has its channels last, and so have arrays (.npy); "
                     "raw files have them first\n",
                     what, t.name);
  };
  for (const ImportedTensor& t : model.inputs) tell_order("input", t);
  for (const ImportedTensor& t : model.outputs) tell_order("output", t);
}

}  // namespace nvdla::cli
