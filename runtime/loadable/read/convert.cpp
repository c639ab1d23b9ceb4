// SPDX-License-Identifier: MIT
#include "loadable/read/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loadable/read/order.hpp"
#include "loadable/read/task_converter.hpp"
#include "support/check.hpp"

namespace nvdla::loadable {

TaskConverter::TaskConverter(const Container& c, const Task& task, const nvdla_hw& hw)
    : c_(c), entry_(c.tasks[task.index]), dla_(std::get<DlaTask>(task.work)), hw_(hw) {
  what_ = fmt::format("task {}", task.index);
}

void TaskConverter::fail(ErrorCode code, const std::string& text) const {
  throw Error(code, fmt::format("loadable: {}: {}", what_, text));
}

void TaskConverter::need(std::uint32_t feature, const char* name) const {
  if ((hw_.features & feature) != 0) return;
  fail(ErrorCode::kNotAvailable, fmt::format("needs {}, which {} does not have", name, hw_.name));
}

ConvertedProgram TaskConverter::run() {
  const std::vector<LayerGroup> order = order_operations(dla_, what_);
  if (order.size() > NVDLA_MAX_LAYERS) {
    throw_error("{} layers exceed {}", order.size(), NVDLA_MAX_LAYERS);
  }
  check_atom();
  choose_banks(order);
  find_reuse(order);
  for (const LayerGroup& group : order) add_layer(group);
  if (!program_.control.empty()) add_control_slot();
  return std::move(program_);
}

void TaskConverter::check_atom() const {
  if (const auto atom = implied_atom(dla_); atom && *atom != hw_.atom) {
    fail(ErrorCode::kNotAvailable,
         fmt::format("its surfaces lie in atoms of {} bytes, those of {} have {}", *atom, hw_.name,
                     hw_.atom));
  }
}

void TaskConverter::add_layer(const LayerGroup& group) {
  nvdla_layer layer = {};
  if (group.waits.size() > NVDLA_MAX_WAITS) {
    throw_error("{} waits for {} layers; {} at most", group_name(dla_, group), group.waits.size(),
                NVDLA_MAX_WAITS);
  }
  layer.num_waits = static_cast<std::uint32_t>(group.waits.size());
  std::copy(group.waits.begin(), group.waits.end(), layer.waits);

  const std::string task_name = what_;
  layer_ = static_cast<std::uint32_t>(program_.layers.size());
  std::uint32_t kind = 0;
  const ConvPart* conv = nullptr;
  const SdpPart* sdp = nullptr;
  for (std::size_t i = 0; i < group.operations.size(); ++i) {
    const Operation& op = operation(group, i);
    op_name_ = fmt::format("operation {} ({})", group.operations[i], op_type_name(op.type()));
    what_ = task_name + ", " + op_name_;
    switch (op.type()) {
      case kConv:
        conv = &std::get<ConvPart>(op.part);
        kind = NVDLA_LAYER_CONV_SDP;
        convert(*conv, layer.conv);
        break;
      case kSdp:
        sdp = &std::get<SdpPart>(op.part);
        if (conv == nullptr) kind = NVDLA_LAYER_SDP;
        convert(*sdp, conv, layer);
        break;
      case kPdp:
        kind = conv != nullptr  ? NVDLA_LAYER_CONV_SDP_PDP
               : sdp != nullptr ? NVDLA_LAYER_SDP_PDP
                                : NVDLA_LAYER_PDP;
        convert(std::get<PdpPart>(op.part), sdp != nullptr, layer.pdp);
        break;
      case kCdp:
        kind = NVDLA_LAYER_CDP;
        convert(std::get<CdpPart>(op.part), layer);
        break;
      case kRubik:
        kind = NVDLA_LAYER_RUBIK;
        convert(std::get<RubikPart>(op.part), layer.rubik);
        break;
      default:
        kind = NVDLA_LAYER_BDMA;
        convert(std::get<BdmaPart>(op.part), layer.bdma);
        break;
    }
  }
  what_ = task_name;
  layer.kind = kind;
  program_.layers.push_back(layer);
  program_.names.push_back(group_name(dla_, group));
}

std::uint32_t TaskConverter::precision(std::uint8_t code, const char* field) const {
  if (code == NVDLA_PRECISION_INT16) need(NVDLA_HW_INT16, "int16");
  if (code == NVDLA_PRECISION_FP16) need(NVDLA_HW_FP16, "fp16");
  if (code > NVDLA_PRECISION_FP16) {
    throw_error("{} {} is not 0 (int8), 1 (int16) or 2 (fp16)", field, code);
  }
  return code;
}

// The registers have no switch beside the numbers, so `enable` turns nothing off: only where there
// are no numbers does nothing happen.
nvdla_convert TaskConverter::converter(const CvtParam& p) {
  nvdla_convert convert = {};
  convert.offset = p.offset;
  convert.scale = p.scale;
  convert.truncate = p.truncate;
  if (p.enable == 0 && p.offset == 0 && p.scale == 0 && p.truncate == 0) convert.scale = 1;
  return convert;
}

void TaskConverter::expect(const RegField& where, std::uint32_t count, const char* field) {
  program_.derived.push_back({layer_, where, count - 1, op_name_ + ", " + field});
}

ConvertedProgram convert_task(const Container& c, const Task& task, const nvdla_hw& hw) {
  return TaskConverter(c, task, hw).run();
}

}  // namespace nvdla::loadable
