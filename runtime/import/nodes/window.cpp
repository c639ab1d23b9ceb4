// SPDX-License-Identifier: MIT
//
// Windows from attributes.
#include "import/nodes/window.hpp"

#include <algorithm>

namespace nvdla::import {
namespace {

constexpr std::int64_t kMaxWindowNumber = std::int64_t{1} << 24;

void check_number(const char* what, std::int64_t value, std::int64_t least) {
  if (value < least || value > kMaxWindowNumber) refuse_node("{} {} is out of range", what, value);
}

std::vector<std::int64_t> window_list(const Operation& op, const char* name, std::size_t count,
                                      std::int64_t missing) {
  auto values = op.integers(name, std::vector<std::int64_t>(count, missing));
  if (values.size() != count)
    refuse_node("{} has {} entries; expected {}", name, values.size(), count);
  return values;
}

// The size of a result; `extra` rounds up.
std::int64_t pooled(const WindowAxis& a, bool round_up) {
  const std::int64_t span = (a.kernel - 1) * a.dilation + 1;
  const std::int64_t room = a.input + a.before + a.after - span;
  if (room < 0)
    refuse_node("the window is larger than the padded input, {}", a.input + a.before + a.after);
  std::int64_t size = room / a.stride + 1;
  // A window that begins in the padding behind the input does not count.
  if (round_up && room % a.stride != 0 && size * a.stride < a.input + a.before) ++size;
  return size;
}

void set_transposed(const Operation& op, WindowAxis& a, std::size_t i, const std::string& automatic,
                    std::int64_t extra) {
  const std::int64_t span = (a.kernel - 1) * a.dilation + 1;
  const std::int64_t whole = (a.input - 1) * a.stride + span + extra;
  const auto wanted = op.integers("output_shape");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (wanted.empty() && !same) {
    a.output = whole - a.before - a.after;
    a.after -= extra;
  } else {
    // The last sizes are those of the axes of the window.
    const std::size_t axes = op.dims(0).size() - 2;
    if (!wanted.empty() && wanted.size() < axes)
      refuse_node("output_shape has {} entries", wanted.size());
    a.output = wanted.empty() ? a.input * a.stride : wanted[wanted.size() - axes + i];
    const std::int64_t total = whole - a.output;
    const std::int64_t half = total >= 0 ? total / 2 : -((-total + 1) / 2);
    a.before = automatic == "SAME_UPPER" ? half : total - half;
    if (total < 0) a.before = 0;
    a.after = total - a.before - extra;
  }
  if (a.output < 1) refuse_node("the result has {} lines or columns", a.output);
}

}  // namespace

std::vector<WindowAxis> read_window(const Operation& op, const std::vector<std::int64_t>& kernel,
                                    bool transposed) {
  const Dims& in = op.dims(0);
  const std::size_t count = kernel.size();
  if (in.size() != count + 2)
    refuse_node("a window of {} axes on a tensor of {}", count, dims_text(in));
  const auto strides = window_list(op, "strides", count, 1);
  const auto dilations = window_list(op, "dilations", count, 1);
  const auto pads = window_list(op, "pads", 2 * count, 0);
  const auto extra = window_list(op, "output_padding", count, 0);
  const std::string automatic = op.attribute("auto_pad", "NOTSET");
  const bool round_up = op.attribute("ceil_mode", std::int64_t{0}) != 0;
  if (automatic != "NOTSET" && automatic != "VALID" && automatic != "SAME_UPPER" &&
      automatic != "SAME_LOWER")
    refuse_node("auto_pad is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER");
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < count; ++i) {
    check_number("kernel size", kernel[i], 1);
    check_number("stride", strides[i], 1);
    check_number("dilation", dilations[i], 1);
    check_number("padding", pads[i], 0);
    check_number("padding", pads[i + count], 0);
    check_number("output_padding", extra[i], 0);
    check_number("size", in[i + 2], 1);
    WindowAxis a{in[i + 2], kernel[i], strides[i], dilations[i], 0, 0, 1};
    if (automatic == "NOTSET") {
      a.before = pads[i];
      a.after = pads[i + count];
    }
    if (transposed) {
      set_transposed(op, a, i, automatic, extra[i]);
    } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      a.output = (a.input + a.stride - 1) / a.stride;
      const std::int64_t total = std::max<std::int64_t>(
          (a.output - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 - a.input, 0);
      a.before = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      a.after = total - a.before;
    } else {
      a.output = pooled(a, round_up);
    }
    axes.push_back(a);
  }
  return axes;
}

Window two_axes(const std::vector<WindowAxis>& axes) {
  if (axes.size() == 1) return {WindowAxis{}, axes[0]};
  if (axes.size() == 2) return {axes[0], axes[1]};
  refuse_node("a window of {} axes; the device has two", axes.size());
}

void check_no_dilation(const Window& window) {
  if (window.y.dilation != 1 || window.x.dilation != 1)
    refuse_node("its window has gaps (dilations)");
}

const char* window_roles(std::size_t axes) { return axes == 1 ? "BCW" : "BCHW"; }

}  // namespace nvdla::import
