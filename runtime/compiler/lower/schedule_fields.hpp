// SPDX-License-Identifier: MIT
//
// The parts of a schedule that its printer and its parser have in common: the structures that are
// printed field by field.
#ifndef NVDLA_COMPILER_LOWER_SCHEDULE_FIELDS_HPP
#define NVDLA_COMPILER_LOWER_SCHEDULE_FIELDS_HPP

#include <cstddef>
#include <string_view>
#include <vector>

#include "compiler/graph/node_fields.hpp"
#include "compiler/lower/schedule.hpp"
#include "compiler/text/descriptor_text.hpp"

namespace nvdla::detail {

// `LayerSection` is a part of nvdla_layer with fields of its own, and where it lies there.
struct LayerSection {
  std::string_view name;
  std::size_t offset;
  text::DescriptorText fields;
};

inline const std::vector<LayerSection>& layer_sections() {
  static const std::vector<LayerSection> sections = {
      {"conv", offsetof(nvdla_layer, conv), {NVDLA_OBJECT_LAYER, "conv."}},
      {"sdp", offsetof(nvdla_layer, sdp), {NVDLA_OBJECT_LAYER, "sdp."}},
      {"pdp", offsetof(nvdla_layer, pdp), {NVDLA_OBJECT_LAYER, "pdp."}},
      {"cdp", offsetof(nvdla_layer, cdp), {NVDLA_OBJECT_LAYER, "cdp."}},
      {"rubik", offsetof(nvdla_layer, rubik), {NVDLA_OBJECT_LAYER, "rubik."}},
      {"bdma", offsetof(nvdla_layer, bdma), {NVDLA_OBJECT_LAYER, "bdma."}}};
  return sections;
}

// kind, flags, waits and lut.
inline const text::DescriptorText& layer_text_fields() {
  static const text::DescriptorText text(NVDLA_OBJECT_LAYER, "");
  return text;
}
inline const text::DescriptorText& slot_text_fields() {
  static const text::DescriptorText text(NVDLA_OBJECT_SLOT, "");
  return text;
}
inline const text::DescriptorText& transfer_text_fields() {
  static const text::DescriptorText text(NVDLA_OBJECT_TRANSFER, "");
  return text;
}

// The name of the layer stands before these.
template <typename Visitor, typename Node>
void visit_fields(Visitor& v, Node& n, const Operation& base) {
  v.value("suffix", n.suffix, base.suffix);
  v.value("macs", n.macs, base.macs);
  v.value("origin", n.origin, base.origin);
  v.value("images", n.images, base.images);
  v.value("whole", n.whole, base.whole);
  v.value("cut", n.cut, base.cut);
  v.value("after", n.after, base.after);
  v.value("fused", n.fused, base.fused);
}

// A place of the CPU is printed as the source of a transfer is.
inline std::size_t place_item() { return *transfer_text_fields().find("source"); }

// Waits are a list of that many, and nothing behind.
inline bool has_plain_waits(const nvdla_layer& layer) {
  if (layer.num_waits > NVDLA_MAX_WAITS) return false;
  for (std::uint32_t i = layer.num_waits; i < NVDLA_MAX_WAITS; ++i)
    if (layer.waits[i] != 0) return false;
  return true;
}

}  // namespace nvdla::detail

#endif  // NVDLA_COMPILER_LOWER_SCHEDULE_FIELDS_HPP
