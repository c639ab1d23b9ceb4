// SPDX-License-Identifier: MIT
#include "emulated.hpp"

#include <string>

namespace nvdla::witness {
namespace {

constexpr std::uint64_t kAlloc = 1, kSet = 2;
// Atoms of 16 channels.
constexpr std::int64_t kWidth = 2, kChannels = 40, kLine = 64, kBytes = 3 * kLine;

}  // namespace

Emulated::Emulated(bool old)
    : network("emu_network_desc", false),
      op(old ? "emu_op_old" : "emu_op", false),
      source(old ? "emu_buffer_old" : "emu_buffer", false),
      destination(source) {
  network.set("operation_desc_index", 1);
  network.set("operation_buffer_desc_index", 2);
  network.set("num_operations", 1);
  op.set("op_type", 1);
  for (Record* buffer : {&source, &destination}) {
    buffer->set("address", buffer == &source ? 3 : 4);
    buffer->set("size", kBytes);
    buffer->set("format", old ? 2 : 3);
    buffer->set("width", kWidth);
    buffer->set("height", 1);
    buffer->set("channel", kChannels);
    buffer->set("line_stride", kLine);
    buffer->set("surf_stride", kLine);
  }
}

File Emulated::file() const {
  File file;
  std::vector<std::byte> buffers = source.bytes();
  buffers.insert(buffers.end(), destination.bytes().begin(), destination.bytes().end());
  const std::vector<std::byte>* contents[] = {&network.bytes(), &op.bytes(), &buffers,
                                              nullptr,          nullptr,     nullptr};
  Entry task;
  task.numbers = {{"id", 0}, {"interface", 2}};
  for (std::uint64_t id = 0; id < std::size(contents); ++id) {
    const std::vector<std::byte>* bytes = contents[id];
    Entry memory;
    memory.numbers = {{"id", id}, {"flags", kAlloc}, {"size", kBytes}};
    if (id + 1 == std::size(contents)) memory.numbers["domain"] = 1;
    if (bytes != nullptr) {
      Entry blob;
      blob.texts["name"] = "part-" + std::to_string(id);
      blob.numbers["size"] = memory.numbers["size"] = bytes->size();
      blob.bytes["data"] = *bytes;
      blob.versions["version"] = {0, 0, 1};
      file.lists["blobs"].push_back(blob);
      memory.numbers["flags"] = kAlloc | kSet;
      memory.names["contents"] = {blob.texts["name"]};
      memory.lists["offsets"] = {0};
    }
    file.lists["memory_list"].push_back(memory);
    Entry address;
    address.numbers = {{"id", id}, {"mem_id", id}, {"size", memory.numbers["size"]}};
    file.lists["address_list"].push_back(address);
    task.lists["address_list"].push_back(id);
  }
  file.lists["task_list"].push_back(task);
  Entry submit;
  submit.lists["task_id"] = {0};
  file.lists["submit_list"].push_back(submit);
  return file;
}

}  // namespace nvdla::witness
