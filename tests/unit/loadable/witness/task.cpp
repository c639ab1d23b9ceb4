// SPDX-License-Identifier: MIT
#include "task.hpp"

#include <stdexcept>
#include <utility>

namespace nvdla::witness {
namespace {

constexpr const char* kOpNames[] = {"dla_bdma_op_desc", "dla_conv_op_desc", "dla_sdp_op_desc",
                                    "dla_pdp_op_desc",  "dla_cdp_op_desc",  "dla_rubik_op_desc"};
constexpr const char* kSurfaceNames[] = {"dla_bdma_surface_desc", "dla_conv_surface_desc",
                                         "dla_sdp_surface_desc",  "dla_pdp_surface_desc",
                                         "dla_cdp_surface_desc",  "dla_rubik_surface_desc"};
constexpr int kTypes = 6;
// Distance of the entries of the lists.
constexpr std::size_t kOpBytes = 116, kSurfaceBytes = 644;
constexpr int kCompleted = 1, kProgrammed = 2, kEnabled = 3;
constexpr std::uint64_t kMemoryAlloc = 1, kMemorySet = 2, kOutput = 8;

std::string indexed(const std::string& name, std::int64_t i, const std::string& rest = "") {
  return name + "[" + std::to_string(i) + "]" + rest;
}

std::string without_head(const std::string& field) { return field.substr(field.find('.') + 1); }

void append(std::vector<std::byte>& list, const Record& record, std::size_t stride) {
  const std::size_t end = list.size() + stride;
  list.insert(list.end(), record.bytes().begin(), record.bytes().end());
  list.resize(end);
}

}  // namespace

const Record& Operation::record(const std::string& field) const {
  const std::string head = field.substr(0, field.find('.'));
  if (head == "common") return common;
  if (head == "op") return op;
  if (head == "surface") return surface;
  throw std::out_of_range("no descriptor " + field);
}

void Operation::set(const std::string& field, std::int64_t value) {
  const_cast<Record&>(record(field)).set(without_head(field), value);
}

std::int64_t Operation::get(const std::string& field) const {
  return record(field).get(without_head(field));
}

bool Operation::has(const std::string& field) const {
  return record(field).has(without_head(field));
}

std::vector<std::string> Operation::fields() const {
  std::vector<std::string> all;
  for (const auto& [name, place] : op.fields()) all.push_back("op." + name);
  for (const auto& [name, place] : surface.fields()) all.push_back("surface." + name);
  return all;
}

Task::Task(std::array<std::uint8_t, 3> revision)
    : interface(revision), network("dla_network_desc", old()) {
  for (const char* field :
       {"lut_data_index", "roi_array_index", "surface_index", "stat_list_index"}) {
    network.set(field, -1);
  }
  network.set("dependency_graph_index", kGraph);
  network.set("operation_desc_index", kOps);
  network.set("surface_desc_index", kSurfaces);
  network.set("num_rois", 1);
  network.set("num_addresses", kFurtherResult + 1);
  for (int t = 0; t < kTypes; ++t) network.set(indexed("op_head", t), -1);
}

Operation& Task::add(Type type) {
  const auto index = static_cast<std::int64_t>(operations_.size());
  operations_.push_back({Record("dla_common_op_desc", old()), Record(kOpNames[type], old()),
                         Record(kSurfaceNames[type], old())});
  Operation& added = operations_.back();
  added.set("common.index", index);
  added.set("common.op_type", type);
  for (int t = 0; t < kTypes; ++t) added.set(indexed("common.consumers", t, ".index"), -1);
  added.set("common.fused_parent.index", -1);
  // Cubes are in no memory until somebody says where.
  for (const auto& [name, place] : layout(kSurfaceNames[type], old()).places) {
    const std::size_t dot = name.find("_data.type");
    if (dot == std::string::npos) continue;
    added.set("surface." + name, 2);
    added.set("surface." + name.substr(0, dot) + "_data.address", -1);
  }
  network.set("num_operations", index + 1);
  const std::int64_t last = std::exchange(last_of_[type], index);
  if (last < 0) {
    network.set(indexed("op_head", type), index);
  } else {
    tell(static_cast<std::size_t>(last), static_cast<std::size_t>(index), kProgrammed);
  }
  return added;
}

void Task::tell(std::size_t from, std::size_t to, int event) {
  Operation& target = operations_.at(to);
  const std::string consumer = indexed("common.consumers", target.get("common.op_type"));
  operations_.at(from).set(consumer + ".index", static_cast<std::int64_t>(to));
  operations_.at(from).set(consumer + ".event", event);
  target.set("common.dependency_count", target.get("common.dependency_count") + 1);
}

void Task::fuse(std::size_t parent, std::size_t child) {
  tell(parent, child, kProgrammed);
  operations_.at(child).set("common.fused_parent.index", static_cast<std::int64_t>(parent));
  operations_.at(child).set("common.fused_parent.event", kEnabled);
  Operation& up = operations_.at(parent);
  up.set("common.dependency_count", up.get("common.dependency_count") + 1);
}

void Task::wait(std::size_t from, std::size_t to) { tell(from, to, kCompleted); }

Record& Task::add_table() {
  tables_.emplace_back("dla_lut_param", old());
  network.set("num_luts", static_cast<std::int64_t>(tables_.size()));
  network.set("lut_data_index", kTables);
  return tables_.back();
}

File Task::file() const {
  std::vector<std::byte> graph, ops, surfaces, tables(1);
  for (const Operation& o : operations_) {
    append(graph, o.common, o.common.bytes().size());
    append(ops, o.op, kOpBytes);
    append(surfaces, o.surface, kSurfaceBytes);
  }
  if (!tables_.empty()) tables.clear();
  for (const Record& table : tables_) append(tables, table, table.bytes().size());

  File file;
  const std::pair<const char*, const std::vector<std::byte>*> memories[] = {
      {"net", &network.bytes()}, {"data", &data}, {"", nullptr},
      {"graph", &graph},         {"ops", &ops},   {"surfaces", &surfaces},
      {"tables", &tables},       {"", nullptr}};
  for (const auto& [name, contents] : memories) {
    const std::uint64_t id = file.lists["memory_list"].size();
    const std::uint64_t bytes = contents != nullptr ? contents->size() : kDataBytes;
    Entry memory;
    memory.numbers = {{"id", id}, {"size", bytes}, {"alignment", 4096}, {"flags", kMemoryAlloc}};
    if (id == kResult) memory.numbers["flags"] = kMemoryAlloc | kOutput;
    if (id == kSram) memory.numbers["domain"] = 1;
    if (contents != nullptr) {
      memory.numbers["flags"] = kMemoryAlloc | kMemorySet;
      memory.names["contents"] = {name};
      memory.lists["offsets"] = {0};
      Entry blob;
      blob.texts["name"] = name;
      blob.numbers["size"] = bytes;
      blob.bytes["data"] = *contents;
      blob.versions["version"] = interface;
      file.lists["blobs"].push_back(blob);
    }
    file.lists["memory_list"].push_back(memory);
    Entry address;
    address.numbers = {{"id", id}, {"mem_id", id}, {"size", bytes}};
    file.lists["address_list"].push_back(address);
  }
  for (const std::uint64_t memory : {kData, kResult}) {
    Entry address;
    address.numbers = {{"id", file.lists["address_list"].size()},
                       {"mem_id", memory},
                       {"offset", kFurther},
                       {"size", kDataBytes - kFurther}};
    file.lists["address_list"].push_back(address);
  }
  Entry task;
  task.numbers = {{"id", 0}, {"interface", 1}};
  for (std::uint64_t i = 0; i < file.lists["address_list"].size(); ++i) {
    task.lists["address_list"].push_back(i);
  }
  file.lists["task_list"].push_back(task);
  Entry submit;
  submit.lists["task_id"] = {0};
  file.lists["submit_list"].push_back(submit);
  Entry tensor;
  tensor.texts["name"] = "result";
  tensor.numbers = {{"mem_id", kResult},
                    {"size", 2048},
                    {"data_format", 3},
                    {"data_type", 4},
                    {"data_category", 2},
                    {"pixel_format", 36},
                    {"n", 1},
                    {"c", 32},
                    {"h", 8},
                    {"w", 8},
                    {"stride_0", 1},
                    {"stride_1", 256},
                    {"stride_2", 2048}};
  file.lists["tensor_desc_list"].push_back(tensor);
  return file;
}

}  // namespace nvdla::witness
