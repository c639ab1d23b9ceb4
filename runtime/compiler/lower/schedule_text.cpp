// SPDX-License-Identifier: MIT
#include "compiler/lower/schedule_text.hpp"

#include <fmt/format.h>

#include <cstring>

#include "compiler/graph/kind_names.hpp"
#include "compiler/graph/node_printer.hpp"
#include "compiler/lower/schedule_fields.hpp"
#include "support/check.hpp"

namespace nvdla::detail {
namespace {

// `SchedulePrinter` prints the lines of a schedule.
class SchedulePrinter {
 public:
  SchedulePrinter(const ScheduleWithLuts& with_luts, const text::PrintOptions& options)
      : luts_(with_luts.luts), schedule_(with_luts.schedule), options_(options) {}

  std::string print() {
    out_ = "schedule\n";
    const nvdla_lut no_lut = {};
    const nvdla_transfer no_transfer = {};
    for (std::size_t i = 0; i < luts_.size(); ++i)
      out_ += fmt::format("lut {}{}\n", i, lut_text().text(&luts_[i], &no_lut, options_));
    for (std::size_t i = 0; i < schedule_.allocations.size(); ++i) print_allocation(i);
    for (std::size_t i = 0; i < schedule_.transfers.size(); ++i)
      out_ +=
          fmt::format("transfer {}{}\n", i,
                      transfer_text_fields().text(&schedule_.transfers[i], &no_transfer, options_));
    if (!schedule_.control.empty())
      out_ += "control " + text::omitted_text(schedule_.control) + "\n";
    for (std::uint32_t i = 0; i < schedule_.layers.size(); ++i) print_layer(i);
    print_start(static_cast<std::uint32_t>(schedule_.layers.size()));
    return std::move(out_);
  }

 private:
  void print_allocation(std::size_t index) {
    const Allocation& allocation = schedule_.allocations[index];
    const nvdla_slot none = {};
    out_ += fmt::format("allocation {} {}{}", index, text::quote(allocation.name),
                        slot_text_fields().text(&allocation.slot, &none, options_));
    if (allocation.dedicated) out_ += " dedicated";
    if (!allocation.contents.empty())
      out_ += " contents=" + text::omitted_text(allocation.contents);
    out_ += "\n";
  }
  void print_start(std::uint32_t layer) {
    if (schedule_.segment_starts.contains(layer)) out_ += "---\n";
  }
  void print_layer(std::uint32_t index) {
    const nvdla_layer& layer = schedule_.layers[index];
    print_start(index);
    out_ += fmt::format("layer {}", index);
    const Operation operation =
        index < schedule_.operations.size() ? schedule_.operations[index] : Operation{};
    if (!operation.name.empty()) out_ += " " + text::quote(operation.name);
    // Fields that have words of their own here are not printed as fields.
    nvdla_layer header = layer, none = {};
    const auto& kinds = layer_text_fields();
    if (layer.kind == Schedule::kCpu) {
      out_ += " cpu";
    } else {
      out_ += " " + kinds.text(*kinds.find("kind"), &layer, options_);
    }
    header.kind = 0;
    if (has_plain_waits(layer)) {
      for (std::uint32_t i = 0; i < layer.num_waits; ++i)
        out_ += fmt::format("{} {}", i == 0 ? " waits" : ",", layer.waits[i]);
      header.num_waits = 0;
      std::memset(header.waits, 0, sizeof header.waits);
    }
    out_ += kinds.text(&header, &none, options_) + "\n";
    const TensorNode no_tensor;
    const NodeContext context = {&no_tensor, nullptr};
    const std::string known = FieldPrinter(context, options_).text(operation, Operation{});
    if (!known.empty()) out_ += fmt::format("  operation{}\n", known);
    for (const LayerSection& section : layer_sections()) {
      const std::string fields =
          section.fields.text(reinterpret_cast<const char*>(&layer) + section.offset,
                              reinterpret_cast<const char*>(&none) + section.offset, options_);
      if (!fields.empty()) out_ += fmt::format("  {}{}\n", section.name, fields);
    }
    const auto cpu = schedule_.cpu.find(index);
    if (cpu != schedule_.cpu.end()) print_work(cpu->second);
  }
  void print_work(const CpuWork& work) {
    TensorNode input;
    if (!work.sources.empty()) {
      input.precision = work.sources[0].desc.precision;
      input.shape = work.sources[0].desc.shape;
    }
    const NodeContext context = {&input, nullptr};
    out_ += fmt::format("  {}{}\n", operation_name(work.node.operation),
                        FieldPrinter(context, options_).text(work.node, CpuNode{}));
    for (const CpuPlace& source : work.sources) print_place("source", source);
    print_place("destination", work.destination);
  }
  void print_place(const char* name, const CpuPlace& place) {
    TensorDesc base;
    base.shape = place.desc.shape;
    base.precision = place.desc.precision;
    nvdla_transfer transfer = {};
    transfer.source = place.surface;
    const TensorNode none;
    const NodeContext context = {&none, nullptr};
    out_ += fmt::format("  {} {} : {} {}{}\n", name,
                        transfer_text_fields().text(place_item(), &transfer, options_),
                        text::value_text(place.desc.precision), text::value_text(place.desc.shape),
                        FieldPrinter(context, options_).text(place.desc, base));
  }

  const std::vector<nvdla_lut>& luts_;
  const Schedule& schedule_;
  const text::PrintOptions& options_;
  std::string out_;
};

// The first item in which two structures differ.
std::string fields_difference(const text::DescriptorText& fields, const void* a, const void* b) {
  for (std::size_t item = 0; item < fields.size(); ++item)
    if (!fields.equal(item, a, b)) return fields.name(item);
  return {};
}

std::string place_difference(const CpuPlace& a, const CpuPlace& b) {
  if (std::memcmp(&a.surface, &b.surface, sizeof a.surface) != 0) return "place";
  if (!(a.desc.shape == b.desc.shape)) return "shape";
  if (a.desc.precision != b.desc.precision) return "precision";
  return FieldComparer::difference(a.desc, b.desc);
}

std::string work_difference(const CpuWork& a, const CpuWork& b) {
  std::string difference = FieldComparer::difference(a.node, b.node);
  if (!difference.empty()) return difference;
  if (a.sources.size() != b.sources.size()) return "sources";
  for (std::size_t i = 0; i < a.sources.size(); ++i) {
    difference = place_difference(a.sources[i], b.sources[i]);
    if (!difference.empty()) return fmt::format("source {}: {}", i, difference);
  }
  difference = place_difference(a.destination, b.destination);
  return difference.empty() ? difference : "destination: " + difference;
}

std::string allocation_difference(const Allocation& a, const Allocation& b) {
  if (a.name != b.name) return "name";
  if (a.dedicated != b.dedicated) return "dedicated";
  if (a.contents != b.contents) return "contents";
  return fields_difference(slot_text_fields(), &a.slot, &b.slot);
}

std::string layer_difference_at(const Schedule& a, const Schedule& b, std::uint32_t layer) {
  const auto operation = [layer](const Schedule& schedule) {
    return layer < schedule.operations.size() ? schedule.operations[layer] : Operation{};
  };
  if (operation(a).name != operation(b).name) return "name";
  const std::string known = FieldComparer::difference(operation(a), operation(b));
  if (!known.empty()) return known;
  const auto* one = reinterpret_cast<const char*>(&a.layers[layer]);
  const auto* other = reinterpret_cast<const char*>(&b.layers[layer]);
  std::string difference = fields_difference(layer_text_fields(), one, other);
  if (!difference.empty()) return difference;
  for (const LayerSection& section : layer_sections()) {
    difference = fields_difference(section.fields, one + section.offset, other + section.offset);
    if (!difference.empty()) return fmt::format("{}.{}", section.name, difference);
  }
  const auto of_a = a.cpu.find(layer), of_b = b.cpu.find(layer);
  const bool has_a = of_a != a.cpu.end(), has_b = of_b != b.cpu.end();
  if (has_a != has_b) return "cpu";
  return has_a ? work_difference(of_a->second, of_b->second) : std::string();
}

}  // namespace

std::string print_schedule(const ScheduleWithLuts& schedule, const text::PrintOptions& options) {
  return SchedulePrinter(schedule, options).print();
}

std::string schedule_difference(const ScheduleWithLuts& with_a, const ScheduleWithLuts& with_b) {
  const Schedule &a = with_a.schedule, &b = with_b.schedule;
  if (a.segment_starts != b.segment_starts) return "segment starts";
  if (a.control != b.control) return "control";
  const auto sizes = [](const ScheduleWithLuts& s) {
    return fmt::format("{} layers, {} transfers, {} allocations, {} luts", s.schedule.layers.size(),
                       s.schedule.transfers.size(), s.schedule.allocations.size(), s.luts.size());
  };
  if (sizes(with_a) != sizes(with_b)) return sizes(with_a) + ", and " + sizes(with_b);
  for (std::size_t i = 0; i < with_a.luts.size(); ++i) {
    const std::string difference = fields_difference(lut_text(), &with_a.luts[i], &with_b.luts[i]);
    if (!difference.empty()) return fmt::format("lut {}: {}", i, difference);
  }
  for (std::size_t i = 0; i < a.allocations.size(); ++i) {
    const std::string difference = allocation_difference(a.allocations[i], b.allocations[i]);
    if (!difference.empty()) return fmt::format("allocation {}: {}", i, difference);
  }
  for (std::size_t i = 0; i < a.transfers.size(); ++i) {
    const std::string difference =
        fields_difference(transfer_text_fields(), &a.transfers[i], &b.transfers[i]);
    if (!difference.empty()) return fmt::format("transfer {}: {}", i, difference);
  }
  for (std::uint32_t i = 0; i < a.layers.size(); ++i) {
    const std::string difference = layer_difference_at(a, b, i);
    const std::string name = i < a.operations.size() ? full_name(a.operations[i]) : std::string();
    if (!difference.empty()) return fmt::format("{}: {}", layer_text(i, name), difference);
  }
  return {};
}

}  // namespace nvdla::detail
