// SPDX-License-Identifier: MIT
#include "tools/cli/layers.hpp"

#include <fmt/format.h>

#include "nvdla/types/error.hpp"
#include "tools/cli/layer_files.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {

using program::UsageError;

void check_reference_name(const std::string& name) {
  try {
    check_device_name(name);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--compare: {}", error.what()));
  }
}

Device open_reference(const std::string& name, const Device& device) {
  const DeviceInfo& info = device.info();
  std::string full = name;
  if (name == "model" || name.starts_with("model,")) {
    full = fmt::format("model:{}{}", info.configuration, name.substr(5));
    const bool mended =
        configuration_info(info.configuration).has_weight_gating && !info.has_weight_gating;
    if (mended && name.find("gating=") == name.npos) full += ",gating=off";
  }
  Device reference = Device::open(full, program::open_options());
  if (reference.info().configuration != info.configuration) {
    throw UsageError(fmt::format(
        "--compare {}: that is {}, and the device that runs the loadable {}; expected a "
        "device of the same configuration, such as model:{}",
        name, reference.info().configuration, info.configuration, info.configuration));
  }
  return reference;
}

std::optional<LayerDifference> look_at_layers(const Loadable& file, const Request& request,
                                              const Device& device, const Device* reference,
                                              const std::string& folder) {
  std::optional<LayerFiles> files;
  if (!folder.empty()) {
    files.emplace(folder);
    for (std::uint32_t i = 0; i < file.inputs(); ++i) files->add_input(request, file.input(i));
  }
  const auto visit = [&](const LayerTensor& tensor) {
    if (files) files->add(tensor);
  };
  std::optional<LayerDifference> difference;
  if (reference != nullptr) {
    difference = request.compare_layers(*reference, visit);
  } else {
    request.visit_layers(visit);
  }
  if (files) {
    files->write_index(request, device, difference.has_value());
    if (const auto others = files->others(); !others.empty())
      program::print(stderr,
                     "nvdla: --dump-layers {}: {} file{} there {} not of this run, such as {}; "
                     "index.json lists those of this run\n",
                     folder, others.size(), others.size() == 1 ? "" : "s",
                     others.size() == 1 ? "is" : "are", others.front());
  }
  return difference;
}

nlohmann::ordered_json difference_json(const LayerDifference& d) {
  nlohmann::ordered_json json = {{"layer_name", d.layer_name},
                                 {"unit", d.unit},
                                 {"tensor", d.tensor},
                                 {"found", d.found},
                                 {"expected", d.expected}};
  if (d.layer != LayerTensor::kNoLayer) json["layer"] = d.layer;
  switch (d.kind) {
    case LayerDifference::Kind::kElement:
      json["at"] = {d.n, d.c, d.h, d.w};
      // JSON has no NaN and no infinity: null.
      json["found_value"] = d.found_value;
      json["expected_value"] = d.expected_value;
      json["different"] = d.different;
      json["elements"] = d.elements;
      break;
    case LayerDifference::Kind::kOutside:
      json["byte"] = d.offset;
      json["different"] = d.different;
      break;
    case LayerDifference::Kind::kVerdict:
      break;
  }
  json["text"] = describe(d);
  return json;
}

}  // namespace nvdla::cli
