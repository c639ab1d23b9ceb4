// SPDX-License-Identifier: MIT
#include "own.hpp"

#include <bit>
#include <map>

namespace nvdla::witness {
namespace {

// Flags of a memory: it is allocated, and something is copied there.
constexpr std::uint64_t kAllocated = 1, kFilled = 3, kMemoryBytes = 16384;
constexpr std::uint32_t kInterface = 'C' | 'P' << 8 | 'U' << 16 | '1' << 24;

std::uint32_t real(float value) { return std::bit_cast<std::uint32_t>(value); }

// The two halves of a number of 64 bits, the lower one first.
std::uint32_t low(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value));
}
std::uint32_t high(double value) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
}

void append(std::vector<std::byte>& bytes, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(word >> (8 * i) & 0xff));
}

// Returns the fields of each operation, which follow its cubes.
const std::map<std::string, std::vector<std::uint32_t>>& fields_of() {
  const std::uint32_t scale = real(0.5F), zero = 0, one = real(1);
  static const std::map<std::string, std::vector<std::uint32_t>> all = {
      {"argmax", {}},
      {"average", {3, 3, 2, 1, 1, 0, 1, 7, 1, scale, 2, scale, 3, 1, 5, 2, 9, 4}},
      {"instance-normalization", {scale, zero, scale, zero, low(0.25), high(0.25), 0, 0}},
      {"layer-normalization", {scale, zero, scale, zero, low(0.25), high(0.25), 0, 0}},
      {"power", {0, scale, zero, scale, zero, one, scale, zero}},
      {"product", {1, 2, 3, 1, low(0.25), high(0.25)}},
      {"reshape", {}},
      {"softmax", {0, scale, 2, scale, 3}},
      {"table", {256}},
      {"transpose", {1, 0, 2}},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& own_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, fields] : fields_of()) all.push_back(name);
    return all;
  }();
  return names;
}

Own Own::of(const std::string& name) {
  Own own;
  own.name = name;
  own.cubes = {{.address = 1}, {.address = 3}};
  own.fields = fields_of().at(name);
  if (name == "table") own.bytes_behind.resize(256);
  OwnCube& output = own.cubes[1];
  if (name == "argmax") {
    output = {.address = 3, .channels = 1};
  } else if (name == "average") {
    output = {.address = 3, .height = 2, .width = 3, .line_stride = 96, .surface_stride = 192};
  } else if (name == "reshape") {
    output = {.address = 3, .channels = 24, .height = 5, .surface_stride = 800};
  } else if (name == "transpose") {
    output = {.address = 3, .channels = 3, .height = 40, .surface_stride = 6400};
  } else if (name == "product") {
    own.inputs = 2;
    own.cubes.insert(own.cubes.begin() + 1, OwnCube{.address = 2});
    own.cubes[2].channels = 15;
  }
  return own;
}

std::vector<std::byte> Own::operation() const {
  std::vector<std::byte> bytes;
  append(bytes, static_cast<std::uint32_t>(name.size()));
  for (const char c : name) bytes.push_back(static_cast<std::byte>(c));
  append(bytes, version);
  append(bytes, inputs);
  for (const OwnCube& c : cubes)
    for (const std::uint32_t word :
         {c.address, c.offset, c.precision, c.batch, c.channels, c.height, c.width, c.atom,
          c.line_stride, c.surface_stride, c.batch_stride})
      append(bytes, word);
  for (const std::uint32_t word : fields) append(bytes, word);
  bytes.insert(bytes.end(), bytes_behind.begin(), bytes_behind.end());
  return bytes;
}

File Own::file() const {
  File file;
  Entry task;
  task.numbers = {{"id", 0}, {"interface", kInterface}};
  for (std::uint64_t id = 0; id < 4; ++id) {
    Entry memory;
    memory.numbers = {{"id", id}, {"flags", kAllocated}, {"size", kMemoryBytes}};
    if (id == 0) {
      Entry blob;
      blob.texts["name"] = "operation";
      blob.bytes["data"] = operation();
      blob.numbers["size"] = memory.numbers["size"] = blob.bytes["data"].size();
      blob.versions["version"] = {1, 0, 0};
      file.lists["blobs"].push_back(blob);
      memory.numbers["flags"] = kFilled;
      memory.names["contents"] = {blob.texts["name"]};
      memory.lists["offsets"] = {0};
    }
    file.lists["memory_list"].push_back(memory);
    Entry address;
    address.numbers = {{"id", id}, {"mem_id", id}, {"size", memory.numbers["size"]}};
    file.lists["address_list"].push_back(address);
    task.lists["address_list"].push_back(id);
  }
  Entry required;
  required.numbers = {{"id", 4}, {"flags", kFilled}, {"size", 1}};
  required.names["contents"] = needs;
  required.lists["offsets"].resize(needs.size());
  file.lists["memory_list"].push_back(required);
  file.lists["task_list"].push_back(task);
  Entry submit;
  submit.lists["task_id"] = {0};
  file.lists["submit_list"].push_back(submit);
  return file;
}

}  // namespace nvdla::witness
