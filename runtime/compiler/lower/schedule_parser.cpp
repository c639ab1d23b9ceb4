// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/graph/kind_names.hpp"
#include "compiler/graph/node_parser.hpp"
#include "compiler/lower/schedule_fields.hpp"
#include "compiler/lower/schedule_text.hpp"

namespace nvdla::detail {
namespace {

// `ScheduleParser` reads the lines of a schedule.
class ScheduleParser {
 public:
  ScheduleParser(std::string_view text, const text::ParseOptions& options)
      : cursor_(text), options_(options), budget_(options.max_bytes) {}

  ScheduleWithLuts parse() {
    cursor_.at_end();
    if (!cursor_.accept_word("schedule")) cursor_.fail_expected("'schedule'");
    cursor_.end_line();
    while (!cursor_.at_end()) {
      line_ = cursor_.position();
      if (cursor_.accept('-')) {
        parse_start();
      } else {
        parse_line(cursor_.word("a line of a schedule"));
      }
    }
    check_places();
    return std::move(out_);
  }

 private:
  void parse_line(std::string_view word) {
    if (word == "lut") return parse_lut();
    if (word == "allocation") return parse_allocation();
    if (word == "transfer") return parse_transfer();
    if (word == "control") return parse_control();
    if (word == "layer") return parse_layer();
    cursor_.fail_at(line_,
                    fmt::format("unknown line '{}': there are lut, allocation, transfer, control, "
                                "layer, and --- before a segment",
                                word));
  }

  void parse_start() {
    cursor_.expect('-');
    cursor_.expect('-');
    cursor_.end_line();
    schedule_.segment_starts.insert(static_cast<std::uint32_t>(schedule_.layers.size()));
  }

  // Reads the number of an element, which is that of the next one.
  void number(std::string_view kind, std::size_t next) {
    const std::size_t position = cursor_.position();
    if (cursor_.digits(fmt::format("the number of the {}", kind), 0, UINT32_MAX) != next)
      cursor_.fail_at(position,
                      fmt::format("expected {} {}: they are numbered in order", kind, next));
  }

  void parse_lut() {
    number("lut", out_.luts.size());
    lut_text().parse(cursor_, &out_.luts.emplace_back(), options_);
    cursor_.end_line();
  }

  void parse_transfer() {
    number("transfer", schedule_.transfers.size());
    transfer_text_fields().parse(cursor_, &schedule_.transfers.emplace_back(), options_);
    cursor_.end_line();
  }

  void parse_allocation() {
    number("allocation", schedule_.allocations.size());
    Allocation& allocation = schedule_.allocations.emplace_back();
    allocation.name = cursor_.quoted("the name of the allocation, in quotation marks");
    // Its fields, then what the slot does not have.
    const text::DescriptorText& fields = slot_text_fields();
    std::vector<bool> given(fields.size());
    while (cursor_.at_word()) {
      const std::size_t position = cursor_.position();
      const std::string_view name = cursor_.word("a field");
      const auto item = fields.find(name);
      if (name == "dedicated") {
        allocation.dedicated = true;
      } else if (name == "contents") {
        cursor_.expect('=');
        allocation.contents = parse_omitted();
      } else if (!item) {
        cursor_.fail_at(position, fmt::format("unknown field '{}': the fields here are size, "
                                              "alignment, memory, access, pad, dedicated, contents",
                                              name));
      } else {
        if (given[*item])
          cursor_.fail_at(position, fmt::format("the field '{}' is there twice", name));
        given[*item] = true;
        cursor_.expect('=');
        fields.parse(*item, cursor_, &allocation.slot, options_);
      }
    }
    cursor_.end_line();
  }

  void parse_control() {
    schedule_.control = parse_omitted();
    cursor_.end_line();
  }

  // Whatever the values are, they are read as zeros.
  std::vector<std::byte> parse_omitted() {
    text::ParseOptions fill = options_;
    fill.fill_omitted = true;
    const auto list = text::parse_list_of<std::uint8_t>(cursor_, fill);
    if (list.kind != text::List<std::int64_t>::Kind::kOmitted)
      cursor_.fail_at(list.position, "contents are not in the text: expected omitted(count, hash)");
    return text::make_values<std::byte>(list, 0, cursor_, budget_);
  }

  void parse_layer() {
    const auto index = static_cast<std::uint32_t>(schedule_.layers.size());
    number("layer", index);
    nvdla_layer& layer = schedule_.layers.emplace_back();
    Operation& operation = schedule_.operations.emplace_back();
    if (cursor_.at('"')) operation.name = cursor_.quoted("a name");
    const text::DescriptorText& fields = layer_text_fields();
    const std::size_t position = cursor_.position();
    const bool cpu = cursor_.accept_word("cpu");
    if (!cpu) fields.parse(*fields.find("kind"), cursor_, &layer, options_);
    if (layer.kind == Schedule::kCpu) cursor_.fail_at(position, "expected 'cpu' for this kind");
    const std::uint32_t kind = cpu ? Schedule::kCpu : layer.kind;
    if (cursor_.accept_word("waits")) parse_waits(layer, index);
    fields.parse(cursor_, &layer, options_);
    layer.kind = kind;
    cursor_.end_line();
    if (!cursor_.at_end() && cursor_.accept_word("operation")) parse_operation(operation);
    while (!cursor_.at_end() && parse_section(layer)) {
    }
    if (cpu) parse_work(index);
  }

  void parse_operation(Operation& operation) {
    FieldParser fields = field_parser();
    fields.parse(operation);
    cursor_.end_line();
  }

  void parse_waits(nvdla_layer& layer, std::uint32_t index) {
    do {
      const std::size_t position = cursor_.position();
      const std::uint32_t wait = cursor_.digits("a layer", 0, UINT32_MAX);
      if (wait >= index)
        cursor_.fail_at(position,
                        fmt::format("layer {} waits for layer {}, which is not an earlier "
                                    "one",
                                    index, wait));
      if (layer.num_waits == NVDLA_MAX_WAITS)
        cursor_.fail_at(position,
                        fmt::format("a layer waits for {} others at most", NVDLA_MAX_WAITS));
      layer.waits[layer.num_waits++] = wait;
    } while (cursor_.accept(','));
  }

  // Reads a part of the descriptor; returns false if none follows.
  bool parse_section(nvdla_layer& layer) {
    for (const LayerSection& section : layer_sections()) {
      if (!cursor_.accept_word(section.name)) continue;
      section.fields.parse(cursor_, reinterpret_cast<char*>(&layer) + section.offset, options_);
      cursor_.end_line();
      return true;
    }
    return false;
  }

  void parse_work(std::uint32_t index) {
    CpuWork& work = schedule_.cpu[index];
    cursor_.at_end();
    const std::size_t position = cursor_.position();
    const std::string_view name = cursor_.word("an operation of the CPU");
    if (!text::make_operation(name, work.node.operation))
      cursor_.fail_at(position, fmt::format("unknown operation '{}': there are {}", name,
                                            text::operation_names()));
    FieldParser fields = field_parser();
    fields.parse(work.node);
    cursor_.end_line();
    while (!cursor_.at_end() && cursor_.accept_word("source"))
      work.sources.push_back(parse_place());
    if (!cursor_.accept_word("destination")) cursor_.fail_expected("a source or destination");
    work.destination = parse_place();
    if (work.sources.empty()) cursor_.fail_at(position, "the operation has no source");
    TensorNode input;
    input.precision = work.sources[0].desc.precision;
    input.shape = work.sources[0].desc.shape;
    const NodeContext context = {&input, nullptr};
    FieldResolver resolver(fields.given(), context, cursor_, budget_);
    resolver.set_line(position);
    visit_fields(resolver, work.node, CpuNode{});
  }

  FieldParser field_parser() {
    return {cursor_, options_, [this]() -> std::uint32_t { cursor_.fail_expected("no tensor"); }};
  }

  // "@2+64 : int8 3x32x32 atom=32"
  CpuPlace parse_place() {
    CpuPlace place;
    nvdla_transfer transfer = {};
    transfer_text_fields().parse(place_item(), cursor_, &transfer, options_);
    place.surface = transfer.source;
    cursor_.expect(':');
    text::parse_value(cursor_, "a precision", place.desc.precision);
    text::parse_value(cursor_, "a shape", place.desc.shape);
    FieldParser fields = field_parser();
    fields.parse(place.desc);
    TensorDesc base;
    base.precision = place.desc.precision;
    base.shape = place.desc.shape;
    const TensorNode none;
    const NodeContext context = {&none, nullptr};
    FieldResolver resolver(fields.given(), context, cursor_, budget_);
    visit_fields(resolver, place.desc, base);
    cursor_.end_line();
    return place;
  }

  // Transfers that are not there would be read as if they were.
  void check_places() {
    const std::size_t end = cursor_.position();
    const std::size_t transfers = schedule_.transfers.size();
    for (std::uint32_t i = 0; i < schedule_.layers.size(); ++i) {
      const nvdla_layer& layer = schedule_.layers[i];
      if (layer.kind != NVDLA_LAYER_BDMA) continue;
      if (std::uint64_t{layer.bdma.first_transfer} + layer.bdma.num_transfers > transfers)
        cursor_.fail_at(
            end, fmt::format(
                     "layer {} has transfers {}..{}, the text has {}", i, layer.bdma.first_transfer,
                     std::uint64_t{layer.bdma.first_transfer} + layer.bdma.num_transfers - 1,
                     transfers));
    }
    if (schedule_.allocations.empty()) return;
    for (std::uint32_t i = 0; i < schedule_.layers.size(); ++i)
      for_each_use(std::as_const(schedule_), i, [&](const auto& place, bool) {
        if (place.slot >= schedule_.allocations.size())
          cursor_.fail_at(end, fmt::format("layer {} names @{}, the text has {} allocations", i,
                                           place.slot, schedule_.allocations.size()));
      });
  }

  text::Cursor cursor_;
  const text::ParseOptions& options_;
  text::Budget budget_;
  ScheduleWithLuts out_;
  Schedule& schedule_ = out_.schedule;
  std::size_t line_ = 0;  // where the line begins
};

}  // namespace

ScheduleWithLuts parse_schedule(std::string_view text, const text::ParseOptions& options) {
  return ScheduleParser(text, options).parse();
}

}  // namespace nvdla::detail
