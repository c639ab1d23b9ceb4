// SPDX-License-Identifier: MIT
#include "weights.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "files.hpp"

namespace digits {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "nvdla-digits 1";
constexpr int kMaxSize = 8192;  // of any side or channel count, NVDLA's own limit

const Json& member(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object()) {
    fail(where, "is not an object");
  }
  const auto found = object.find(key);
  if (found == object.end()) {
    fail(where, std::string("field '") + key + "' is missing");
  }
  return *found;
}

std::int64_t to_integer(const Json& value, std::int64_t min, std::int64_t max,
                        const std::string& where) {
  const bool whole = value.is_number_unsigned()
                         ? value.get<std::uint64_t>() <=
                               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                         : value.is_number_integer();
  if (!whole || value.get<std::int64_t>() < min || value.get<std::int64_t>() > max) {
    fail(where, "is " + value.dump() + ", expected a whole number from " + std::to_string(min) +
                    " to " + std::to_string(max));
  }
  return value.get<std::int64_t>();
}

int integer(const Json& object, const char* key, int min, int max, const std::string& where) {
  return static_cast<int>(to_integer(member(object, key, where), min, max, where + "." + key));
}

double positive(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0.0) {
    fail(where + "." + key, "is " + value.dump() + ", expected a positive number");
  }
  return value.get<double>();
}

std::string text(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_string()) {
    fail(where + "." + key, "is " + value.dump() + ", expected a string");
  }
  return value.get<std::string>();
}

template <typename T>
std::vector<T> numbers(const Json& object, const char* key, std::size_t count,
                       const std::string& where) {
  const Json& array = member(object, key, where);
  const std::string name = where + "." + key;
  if (!array.is_array() || array.size() != count) {
    fail(name,
         "has " + std::to_string(array.size()) + " numbers, expected " + std::to_string(count));
  }
  std::vector<T> result;
  result.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string element = name + "[" + std::to_string(i) + "]";
    if constexpr (std::is_floating_point_v<T>) {
      if (!array[i].is_number() || !std::isfinite(array[i].get<T>())) {
        fail(element, "is " + array[i].dump() + ", expected a finite number");
      }
      result.push_back(array[i].get<T>());
    } else {
      result.push_back(static_cast<T>(to_integer(array[i], std::numeric_limits<T>::min(),
                                                 std::numeric_limits<T>::max(), element)));
    }
  }
  return result;
}

Shape shape(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  const std::string name = where + "." + key;
  return {integer(value, "channels", 1, kMaxSize, name),
          integer(value, "height", 1, kMaxSize, name), integer(value, "width", 1, kMaxSize, name)};
}

// The output size that the geometry gives; an inexact division is an error on NVDLA.
int outputs(int size, int padding, int kernel, int stride, const std::string& where) {
  const int span = size + padding - kernel;
  if (span < 0 || span % stride != 0) {
    fail(where, "stride " + std::to_string(stride) + " does not divide " + std::to_string(span) +
                    " (input + padding - kernel)");
  }
  return span / stride + 1;
}

Layer read_layer(const Json& value, const std::string& place) {
  Layer layer;
  layer.name = text(value, "name", place);
  const std::string where = place + " '" + layer.name + "'";
  layer.input = shape(value, "input", where);
  layer.output = shape(value, "output", where);

  const Json& kernel = member(value, "kernel", where);
  layer.kernel_height = integer(kernel, "height", 1, 32, where + ".kernel");
  layer.kernel_width = integer(kernel, "width", 1, 32, where + ".kernel");
  if (integer(kernel, "count", 1, kMaxSize, where + ".kernel") != layer.output.channels) {
    fail(where + ".kernel.count", "differs from output.channels");
  }
  if (integer(kernel, "channels", 1, kMaxSize, where + ".kernel") != layer.input.channels) {
    fail(where + ".kernel.channels", "differs from input.channels");
  }

  const Json& stride = member(value, "stride", where);
  layer.stride_width = integer(stride, "x", 1, 8, where + ".stride");
  layer.stride_height = integer(stride, "y", 1, 8, where + ".stride");
  const Json& padding = member(value, "padding", where);
  layer.pad_left = integer(padding, "left", 0, 31, where + ".padding");
  layer.pad_top = integer(padding, "top", 0, 31, where + ".padding");
  layer.pad_right = integer(padding, "right", 0, 63, where + ".padding");
  layer.pad_bottom = integer(padding, "bottom", 0, 63, where + ".padding");
  layer.pad_value = integer(padding, "value", -128, 127, where + ".padding");

  const Shape expected{layer.output.channels,
                       outputs(layer.input.height, layer.pad_top + layer.pad_bottom,
                               layer.kernel_height, layer.stride_height, where + ".stride.y"),
                       outputs(layer.input.width, layer.pad_left + layer.pad_right,
                               layer.kernel_width, layer.stride_width, where + ".stride.x")};
  if (layer.output != expected) {
    fail(where + ".output", "is " + std::to_string(layer.output.height) + " x " +
                                std::to_string(layer.output.width) + ", the geometry gives " +
                                std::to_string(expected.height) + " x " +
                                std::to_string(expected.width));
  }

  const Json& relu = member(value, "relu", where);
  if (!relu.is_boolean()) {
    fail(where + ".relu", "is " + relu.dump() + ", expected true or false");
  }
  layer.relu = relu.get<bool>();
  layer.input_scale = positive(value, "input_scale", where);
  layer.output_scale = positive(value, "output_scale", where);
  layer.bias_shift = integer(value, "bias_shift", 0, 16, where);
  const Json& converter = member(value, "output_converter", where);
  const std::string converter_name = where + ".output_converter";
  layer.out_offset = integer(converter, "offset", std::numeric_limits<std::int32_t>::min(),
                             std::numeric_limits<std::int32_t>::max(), converter_name);
  layer.out_scale = static_cast<std::int16_t>(
      integer(converter, "scale", 1, std::numeric_limits<std::int16_t>::max(), converter_name));
  layer.out_shift = integer(converter, "shift", 0, 63, converter_name);

  const auto kernels = static_cast<std::size_t>(layer.output.channels);
  const std::size_t count = kernels * static_cast<std::size_t>(layer.input.channels) *
                            static_cast<std::size_t>(layer.kernel_height) *
                            static_cast<std::size_t>(layer.kernel_width);
  const Json& real = member(value, "float", where);
  layer.float_weights = numbers<float>(real, "weights", count, where + ".float");
  layer.float_bias = numbers<float>(real, "bias", kernels, where + ".float");
  const Json& whole = member(value, "int8", where);
  layer.weights = numbers<std::int8_t>(whole, "weights", count, where + ".int8");
  layer.bias = numbers<std::int16_t>(whole, "bias", kernels, where + ".int8");
  return layer;
}

}  // namespace

Weights load_weights(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Json root = read_json(path);
  if (const std::string format = text(root, "format", file); format != kFormat) {
    fail(file, "format is '" + format + "', expected '" + kFormat + "'");
  }
  Weights weights;
  weights.input = shape(root, "input", file);
  const Json& input = member(root, "input", file);
  // Every pixel 0..255 must give an int8 value.
  weights.input_offset = integer(input, "offset", 128, 128, file + ": input");
  weights.input_scale = positive(input, "scale", file + ": input");

  const Json& classes = member(root, "classes", file);
  const Json& layers = member(root, "layers", file);
  if (!classes.is_array() || !layers.is_array() || layers.empty()) {
    fail(file, "'classes' and 'layers' must be arrays, 'layers' not empty");
  }
  for (const Json& name : classes) {
    if (!name.is_string()) {
      fail(file, "classes contains " + name.dump() + ", expected strings");
    }
    weights.classes.push_back(name.get<std::string>());
  }
  Shape next = weights.input;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string place = file + ": layer " + std::to_string(i);
    Layer layer = read_layer(layers[i], place);
    if (layer.input != next) {
      fail(place + " '" + layer.name + "'.input",
           i == 0 ? "differs from the input of the network" : "differs from the output before it");
    }
    next = layer.output;
    weights.layers.push_back(std::move(layer));
  }
  if (next != Shape{static_cast<int>(weights.classes.size()), 1, 1}) {
    fail(file, "the last layer does not end in one score for each of " +
                   std::to_string(weights.classes.size()) + " classes");
  }
  return weights;
}

}  // namespace digits
