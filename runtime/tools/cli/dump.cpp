// SPDX-License-Identifier: MIT
//
// `nvdla dump`: everything that a loadable says, as text or JSON.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "host_ops/operation_fields.hpp"
#include "loadable/format/note.hpp"
#include "loadable/read/compiled_loadable.hpp"
#include "loadable/read/convert.hpp"
#include "loadable/read/loadable_impl.hpp"
#include "loadable/read/order.hpp"
#include "model/core/machine.hpp"
#include "nvdla/types/error.hpp"
#include "support/printable.hpp"
#include "tools/cli/input/commands.hpp"
#include "tools/cli/input/configuration.hpp"
#include "tools/cli/input/load.hpp"
#include "tools/cli/pictures/network_shape.hpp"
#include "tools/cli/pictures/pictures.hpp"
#include "tools/common/json_output.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/files/files.hpp"
#include "tools/profile/layer_profile.hpp"
#include "tools/profile/plan.hpp"

namespace nvdla::cli {
namespace {

using Json = nlohmann::ordered_json;
using namespace loadable;

// Walks a descriptor into JSON, field by field in its order.
struct JsonWalker {
  Revision revision;
  Json out = Json::object();

  template <typename T>
  Json value(T& field) {
    if constexpr (std::is_arithmetic_v<T>) {
      return field;
    } else {
      JsonWalker inner{revision};
      field.walk(inner);
      return std::move(inner.out);
    }
  }
  template <typename T>
  void operator()(std::string_view name, T& field) {
    out[name] = value(field);
  }
  template <typename T, std::size_t N>
  void operator()(std::string_view name, std::array<T, N>& fields) {
    Json list = Json::array();
    for (T& field : fields) list.push_back(value(field));
    out[name] = std::move(list);
  }
};

template <typename T>
Json descriptor(T value, Revision revision) {
  JsonWalker walker{revision};
  value.walk(walker);
  return std::move(walker.out);
}

std::string version(const Version& v) {
  return fmt::format("{}.{}.{}", v.major_version, v.minor_version, v.sub_minor_version);
}

Json operation(const Operation& op, Revision revision) {
  Json out;
  out["type"] = op_type_name(op.type());
  out["common"] = descriptor(op.common, revision);
  std::visit(
      [&](const auto& part) {
        out["op"] = descriptor(part.op, revision);
        out["surface"] = descriptor(part.surface, revision);
      },
      op.part);
  return out;
}

Json emu_buffer(const EmuBuffer& b) {
  return {{"address", b.address},
          {"offset", b.offset},
          {"size", b.size},
          {"format", b.format},
          {"width", b.width},
          {"height", b.height},
          {"channel", b.channel},
          {"line_stride", b.line_stride},
          {"surf_stride", b.surf_stride}};
}

Json work(const DlaTask& dla, std::uint16_t index, const Loadable::Impl& impl, std::size_t& steps) {
  Json out;
  out["data_cube"] = dla.revision == Revision::kOld ? "0.10 and 0.11, without an offset" : "0.12";
  out["network"] = descriptor(dla.network, dla.revision);
  for (const Operation& op : dla.operations) {
    out["operations"].push_back(operation(op, dla.revision));
  }
  for (const LutParam& lut : dla.luts) out["luts"].push_back(descriptor(lut, dla.revision));
  try {
    for (const LayerGroup& group : order_operations(dla, fmt::format("task {}", index))) {
      const std::string operations = group_name(dla, group);
      Json one = {{"name", impl.step_name(steps++, operations)}, {"waits", group.waits}};
      if (one["name"] != operations) one["operations"] = operations;
      out["layers"].push_back(std::move(one));
    }
  } catch (const Error& error) {
    // The rest is still worth seeing.
    out["layers_error"] = error.what();
  }
  return out;
}

Json work(const EmuTask& emu, std::uint16_t, const Loadable::Impl& impl, std::size_t& steps) {
  Json out;
  for (const EmuOperation& op : emu.operations) {
    Json entry;
    const std::string type = op.type == kPower ? "power" : "softmax";
    entry["name"] = impl.step_name(steps++, type);
    entry["type"] = type;
    entry["input_scale"] = op.input_scale;
    entry["output_scale"] = op.output_scale;
    if (op.type == kPower) {
      entry["power"] = op.power;
      entry["scale"] = op.scale;
      entry["shift"] = op.shift;
    } else {
      entry["axis"] = op.axis;
    }
    entry["source"] = emu_buffer(op.source);
    entry["destination"] = emu_buffer(op.destination);
    out["operations"].push_back(std::move(entry));
  }
  return out;
}

// Walks the fields of an operation of our own into JSON.
struct CpuFieldsWalker {
  Json out = Json::object();

  void number(const char* name, std::uint32_t value, std::uint32_t, std::uint32_t) {
    add(name, value);
  }
  void zero_point(const char* name, std::int32_t value) { add(name, value); }
  void flag(const char* name, bool value) { add(name, value); }
  void rounding(const char* name, cpu::Elements::Rounding value) {
    add(name, value == cpu::Elements::Rounding::kLoadable ? "of the standard form" : "nearest");
  }
  void single(const char* name, float value) { add(name, value); }
  void real(const char* name, double value) { add(name, value); }
  void quantization(const char* name, const Quantization& value) {
    add(fmt::format("{}_scale", name), value.scale);
    add(fmt::format("{}_zero_point", name), value.zero_point);
  }
  void singles(const char* name, const std::vector<float>& values) { add(name, values); }
  void table(const char* name, const std::shared_ptr<const std::vector<std::byte>>& results) {
    add(fmt::format("{}_bytes", name), results->size());
  }

 private:
  // A name that comes again makes a list.
  void add(const std::string& name, Json value) {
    if (!out.contains(name)) {
      out[name] = std::move(value);
      return;
    }
    if (!repeated_.contains(name)) out[name] = Json::array({out[name]});
    repeated_.insert(name);
    out[name].push_back(std::move(value));
  }

  std::set<std::string> repeated_;
};

Json cpu_cube(const CpuCube& cube) {
  const TensorDesc& d = cube.desc;
  return {{"address", cube.address},
          {"offset", cube.offset},
          {"precision", static_cast<std::uint32_t>(d.precision)},
          {"batch", d.shape.batch},
          {"channels", d.shape.channels},
          {"height", d.shape.height},
          {"width", d.shape.width},
          {"atom", d.atom},
          {"line_stride", d.line_stride},
          {"surface_stride", d.surface_stride},
          {"batch_stride", d.batch_stride}};
}

Json work(const CpuTask& own, std::uint16_t, const Loadable::Impl& impl, std::size_t& steps) {
  const std::string type(operation_name(own.operation));
  Json entry = {{"name", impl.step_name(steps++, type)}, {"type", type}};
  cpu::Operation operation = own.operation;
  CpuFieldsWalker fields;
  std::visit([&](auto& kind) { walk_fields(fields, kind); }, operation.kind);
  entry.update(fields.out);
  for (const CpuCube& input : own.inputs) entry["inputs"].push_back(cpu_cube(input));
  entry["output"] = cpu_cube(own.output);
  Json out;
  out["operations"].push_back(std::move(entry));
  return out;
}

Json lists(const Container& c) {
  Json out;
  out["version"] = version(c.version);
  if (const std::string_view device = loadable::device_of(c); !device.empty())
    out["device"] = detail::printable(std::string(device));
  if (const std::string_view note = note_of(c); !note.empty())
    out["note"] = detail::printable(std::string(note));
  for (std::size_t i = 0; i < c.submits.size(); ++i) out["submits"].push_back(c.submits[i]);
  for (const MemoryEntry& m : c.memories) {
    Json entry = {{"domain", m.domain == kDomainSram ? "sram" : "system"},
                  {"flags", m.flags},
                  {"size", m.size},
                  {"alignment", m.alignment},
                  {"bind_id", m.bind_id},
                  {"tensor", m.tensor},
                  {"contents", Json::array()}};
    for (const Content& content : m.contents) {
      entry["contents"].push_back(
          {{"blob", c.blobs[content.blob].name}, {"offset", content.offset}});
    }
    if (!m.needs.empty()) entry["needs"] = m.needs;
    out["memories"].push_back(std::move(entry));
  }
  for (const AddressEntry& a : c.addresses) {
    out["addresses"].push_back({{"memory", a.memory}, {"offset", a.offset}, {"size", a.size}});
  }
  for (const Blob& b : c.blobs) {
    out["blobs"].push_back({{"name", b.name},
                            {"size", b.data.size()},
                            {"interface", b.interface},
                            {"sub_interface", b.sub_interface},
                            {"version", version(b.version)}});
  }
  for (const TensorEntry& t : c.tensors) {
    out["tensors"].push_back({{"name", t.name},
                              {"id", t.id},
                              {"memory", t.memory},
                              {"offset", t.offset},
                              {"size", t.size},
                              {"n", t.n},
                              {"c", t.c},
                              {"h", t.h},
                              {"w", t.w},
                              {"data_format", t.data_format},
                              {"data_type", t.data_type},
                              {"data_category", t.data_category},
                              {"pixel_format", t.pixel_format},
                              {"pixel_format_name", pixel_format_name(t.pixel_format)},
                              {"pixel_mapping", t.pixel_mapping},
                              {"strides", t.stride}});
    if (t.quantization) {
      out["tensors"].back()["scale"] = t.quantization->scale;
      out["tensors"].back()["zero_point"] = t.quantization->zero_point;
    }
  }
  for (const EventEntry& e : c.events) {
    out["events"].push_back({{"id", e.id},
                             {"type", e.type},
                             {"target", e.target},
                             {"value", e.value},
                             {"op", e.op == 0 ? "wait" : "signal"}});
  }
  for (const RelocEntry& r : c.relocs) {
    out["relocations"].push_back({{"address", r.address},
                                  {"write", r.write},
                                  {"offset", r.offset},
                                  {"interface", r.interface},
                                  {"sub_interface", r.sub_interface},
                                  {"type", r.type}});
  }
  return out;
}

Json shape_json(const Shape& shape) {
  return Json::array({shape.batch, shape.channels, shape.height, shape.width});
}

// The layers of the user, and the layers that run.
Json user_network(const UserTable& table) {
  Json out = Json::array();
  for (const detail::UserLayer& layer : table.network.layers) {
    Json one = {{"name", layer.name}, {"about", about(layer)}, {"kind", layer.kind}};
    if (layer.kernel_height != 0) {
      one["kernel"] = {layer.kernel_height, layer.kernel_width};
      one["stride"] = {layer.stride_height, layer.stride_width};
    }
    one["input"] = shape_json(layer.input);
    one["output"] = layer.silent ? Json() : shape_json(layer.output);
    one["layers"] = Json::array();
    for (const std::uint32_t step : layer.layers) one["layers"].push_back(table.names[step]);
    one["sources"] = Json::array();
    for (const std::uint32_t source : layer.sources) {
      const std::uint32_t input = source & ~detail::UserLayer::kInput;
      one["sources"].push_back(input != source ? fmt::format("input {}", input)
                                               : fmt::format("layer {}", source));
    }
    out.push_back(std::move(one));
  }
  return out;
}

Json describe(const Loadable& file) {
  const Loadable::Impl& impl = file.impl();
  Json out = lists(impl.container);
  out["configurations"] = impl.made_for();
  if (impl.user) out["network"] = user_network(*impl.user);
  out["tasks"] = Json::array();
  // Files of this library run their tasks in this order; no others have names.
  std::size_t steps = 0;
  for (const Task& task : impl.tasks) {
    const TaskEntry& entry = impl.container.tasks[task.index];
    Json one;
    one["interface"] = entry.interface == kInterfaceDla   ? "DLA1"
                       : entry.interface == kInterfaceEmu ? "EMU1"
                                                          : "CPU1";
    one["instance"] = entry.instance;
    one["addresses"] = entry.addresses;
    one["pre_actions"] = entry.pre_actions;
    one["post_actions"] = entry.post_actions;
    one.update(
        std::visit([&](const auto& w) { return work(w, task.index, impl, steps); }, task.work));
    out["tasks"].push_back(std::move(one));
  }
  return out;
}

bool plain(const Json& value) {
  if (!value.is_structured()) return true;
  for (const auto& inner : value) {
    if (inner.is_structured()) return false;
  }
  return value.is_array() || value.size() <= 5;
}

std::string scalar(const Json& value) {
  return value.is_string() ? detail::printable(value.get_ref<const std::string&>()) : value.dump();
}

std::string inline_text(const Json& value) {
  if (!value.is_structured()) return scalar(value);
  std::string text;
  if (value.is_array()) {
    for (const auto& inner : value) text += (text.empty() ? "" : " ") + scalar(inner);
    return text.empty() ? "-" : text;
  }
  for (const auto& [key, inner] : value.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, scalar(inner));
  }
  return text;
}

// The indentation of the second and later lines of a long value.
constexpr std::size_t kHanging = 2;

// Prints a simple value in one line, others as a paragraph with more indentation.
void print(const std::string& name, const Json& value, int depth) {
  if (plain(value)) {
    const std::size_t indent = static_cast<std::size_t>(depth) * 2;
    program::print(
        "{:{}}{}\n", "", indent,
        program::Lines{program::wrap(name + ": " + inline_text(value), indent + kHanging)});
    return;
  }
  if (value.is_array()) {
    // "memories" are memory 0, memory 1, ...
    std::string one = name.ends_with("ies")         ? name.substr(0, name.size() - 3) + "y"
                      : name.ends_with("addresses") ? "address"
                      : name.ends_with("s")         ? name.substr(0, name.size() - 1)
                                                    : name;
    std::size_t i = 0;
    for (const auto& inner : value) print(fmt::format("{} {}", one, i++), inner, depth);
    return;
  }
  program::print("{:{}}{}:\n", "", depth * 2, name);
  for (const auto& [key, inner] : value.items()) print(key, inner, depth + 1);
}

void check_has_configuration(const Loadable& file, const std::string& path) {
  if (file.configurations() == 0)
    throw UsageError(path + ": no configuration runs it, so its layers do not say what they read");
}

// The first configuration that runs the file.
std::string configuration_of(const Loadable& file, const std::string& path) {
  check_has_configuration(file, path);
  return std::string(file.configuration(0));
}

void draw(const Loadable& file, const std::string& path, const std::string& svg, bool hardware) {
  const std::string from = program::is_standard_input(path) ? "standard input" : path;
  if (file.impl().user && !hardware) {
    const std::string picture = network_picture(user_shape(file), program::elide(from, 60));
    program::write_file(svg, std::as_bytes(std::span(picture)));
    return;
  }
  const std::string configuration = configuration_of(file, path);
  const std::string picture =
      network_picture(network_shape(file, *nvdla_hw_find(configuration.c_str())),
                      fmt::format("{} for {}", program::elide(from, 60), configuration));
  program::write_file(svg, std::as_bytes(std::span(picture)));
}

struct DumpOptions {
  std::string path;
  std::string json;
  std::string svg;
  std::string device;
  bool hardware = false;
  bool schedule = false;
  bool plan = false, csv = false;
};

// A cycle is drawn as a nanosecond.
void draw_plan(const Loadable& file, const DumpOptions& options, const std::string& device,
               std::span<const program::LayerProfile> profile) {
  const Device model = Device::open(device);
  const CompiledNetwork compiled = file.compile(model);
  std::vector<nvdla_layer_stats> times(compiled.layers());
  auto next = profile.begin();
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    const bool on_cpu = compiled.layer_on_cpu(i);
    times[i].start_ns = on_cpu ? before : next->start();
    times[i].end_ns = on_cpu ? before : next->cycles.total;
    before = std::max<std::uint64_t>(before, times[i].end_ns);
    if (!on_cpu) ++next;
  }
  const std::string from =
      program::is_standard_input(options.path) ? "standard input" : options.path;
  const std::string picture =
      profile_picture(program_shape(file, model), times,
                      fmt::format("{}: predicted for {}, a cycle as a nanosecond",
                                  program::elide(from, 60), device));
  program::write_file(options.svg, std::as_bytes(std::span(picture)));
}

void print_plan(const Loadable& file, const DumpOptions& options) {
  std::string device = options.device;
  if (device == "auto" || device.empty()) {
    check_has_configuration(file, options.path);
    device = cli::model_for(file);
  }
  const nvdla_hw& hw = cli::configuration_of(device);
  const cost::MemoryTiming memory = program::memory_of(device);
  const auto profile = program::profile_layers(file, hw, memory, {});
  if (!options.svg.empty()) return draw_plan(file, options, device, profile);
  const auto plan = program::plan_of(file, profile, model::machine_of(hw), memory);
  if (!options.json.empty()) return program::print_json(program::plan_json(plan), options.json);
  program::print("{}",
                 program::Lines{options.csv ? program::plan_csv(plan) : program::plan_table(plan)});
}

}  // namespace

Run add_dump(CLI::App& app, CLI::App*& command) {
  auto options = std::make_shared<DumpOptions>();
  command = app.add_subcommand("dump", "Print everything that a loadable says");
  command->add_option("LOADABLE", options->path, "File to read, - for standard input")->required();
  CLI::Option* const svg =
      command
          ->add_option(
              "--svg", options->svg,
              "Draw the network instead: layers, what they hand on, what the CPU does; - for "
              "standard output")
          ->type_name("FILE");
  command
      ->add_flag("--hardware", options->hardware,
                 "Draw the layers of the hardware, also of a file that has those of its user")
      ->needs(svg);
  program::add_json_option(*command, options->json);
  svg->excludes(command->get_option("--json"));
  command
      ->add_flag("--schedule", options->schedule,
                 "Print the layers that the loader makes of it instead, with their descriptors, on "
                 "the first configuration that the loadable was made for")
      ->excludes(svg)
      ->excludes(command->get_option("--json"));
  CLI::Option* const plan =
      command
          ->add_flag(
              "--plan", options->plan,
              "Print what each layer of the network became and its predicted cycles instead; "
              "with --svg draw units over time")
          ->excludes(command->get_option("--schedule"))
          ->excludes(command->get_option("--hardware"));
  command->add_flag("--csv", options->csv, "Print the plan as CSV")
      ->needs(plan)
      ->excludes(svg)
      ->excludes(command->get_option("--json"));
  program::add_device_option(*command, options->device,
                             "Whose memory the plan is predicted with; auto takes the model of the "
                             "first configuration that the loadable was made for");
  command->footer(
      "A box is a layer of the network that the loadable was made of, with its kind,\n"
      "window and stride; below it is the shape of its output. Grey ones are operations\n"
      "of the CPU. Hovering over a box shows the layers of the hardware that it became.\n"
      "With --hardware, and of a file that does not have its network, such as one of\n"
      "NVIDIA's compiler, boxes are these, with their units, connected by what they\n"
      "read and write in memory, on the first configuration that the loadable was made\n"
      "for.\n"
      "\n"
      "With --schedule a line begins each layer, with its kind and the layers that it\n"
      "waits for; below it are the fields of its descriptor that are not zero. @2+64 is\n"
      "byte 64 of allocation 2, and --- begins a program. Constants are counts and\n"
      "hashes.\n"
      "\n"
      "With --plan a line is a layer of the network: what computes it, in how many\n"
      "steps, when it begins and ends in cycles, what its steps take alone, and what\n"
      "they would take with all multipliers, or the memory, busy. Layers overlap.\n"
      "\n"
      "Examples:\n"
      "  nvdla dump digits.nvdla\n"
      "  nvdla dump digits.nvdla --plan -d model:nv_full,bandwidth=10\n"
      "  nvdla dump digits.nvdla --schedule\n"
      "  nvdla dump digits.nvdla --svg digits.svg\n"
      "  nvdla dump digits.nvdla --svg steps.svg --hardware\n"
      "  nvdla dump --json=pretty digits.nvdla");
  return [options] {
    const Loadable file = load_loadable(options->path);
    if (options->plan) {
      print_plan(file, *options);
      return kSuccess;
    }
    if (!options->svg.empty()) {
      draw(file, options->path, options->svg, options->hardware);
      return kSuccess;
    }
    if (options->schedule) {
      const Device device = Device::open("model:" + configuration_of(file, options->path));
      program::print("{}", program::Lines{loadable::schedule_text(file, device)});
      return kSuccess;
    }
    const Json all = describe(file);
    if (!options->json.empty()) {
      program::print_json(all, options->json);
      return kSuccess;
    }
    for (const auto& [key, value] : all.items()) print(key, value, 0);
    return kSuccess;
  };
}

}  // namespace nvdla::cli
