// SPDX-License-Identifier: MIT
#include "loadable/format/container.hpp"
#include "loadable_generated.h"

namespace nvdla::loadable {

std::vector<std::byte> write_container(const Container& c) {
  flatbuffers::FlatBufferBuilder b;

  std::vector<flatbuffers::Offset<fb::TaskListEntry>> tasks;
  for (std::size_t i = 0; i < c.tasks.size(); ++i) {
    const TaskEntry& t = c.tasks[i];
    tasks.push_back(fb::CreateTaskListEntryDirect(b, static_cast<std::uint16_t>(i), t.interface,
                                                  t.instance, &t.addresses, &t.pre_actions,
                                                  &t.post_actions));
  }
  std::vector<flatbuffers::Offset<fb::MemoryListEntry>> memories;
  for (std::size_t i = 0; i < c.memories.size(); ++i) {
    const MemoryEntry& m = c.memories[i];
    std::vector<flatbuffers::Offset<flatbuffers::String>> contents;
    std::vector<std::uint64_t> offsets;
    for (const Content& content : m.contents) {
      contents.push_back(b.CreateString(c.blobs[content.blob].name));
      offsets.push_back(content.offset);
    }
    for (const std::string& need : m.needs) {
      contents.push_back(b.CreateString(need));
      offsets.push_back(0);
    }
    memories.push_back(fb::CreateMemoryListEntryDirect(b, static_cast<std::uint16_t>(i), m.domain,
                                                       m.flags, m.size, m.alignment, &contents,
                                                       &offsets, m.bind_id, m.tensor));
  }
  std::vector<flatbuffers::Offset<fb::AddressListEntry>> addresses;
  for (std::size_t i = 0; i < c.addresses.size(); ++i) {
    const AddressEntry& a = c.addresses[i];
    addresses.push_back(
        fb::CreateAddressListEntry(b, static_cast<std::uint16_t>(i), a.memory, a.offset, a.size));
  }
  std::vector<flatbuffers::Offset<fb::EventListEntry>> events;
  for (const EventEntry& e : c.events) {
    events.push_back(fb::CreateEventListEntry(b, e.id, e.type, e.target, e.value, e.op));
  }
  std::vector<flatbuffers::Offset<fb::Blob>> blobs;
  for (const Blob& blob : c.blobs) {
    const fb::Version version(blob.version.major_version, blob.version.minor_version,
                              blob.version.sub_minor_version);
    const auto name = b.CreateString(blob.name);
    const auto data =
        b.CreateVector(reinterpret_cast<const std::uint8_t*>(blob.data.data()), blob.data.size());
    blobs.push_back(fb::CreateBlob(b, name, blob.data.size(), blob.interface, blob.sub_interface,
                                   &version, data));
  }
  std::vector<flatbuffers::Offset<fb::TensorDescListEntry>> tensors;
  for (const TensorEntry& t : c.tensors) {
    tensors.push_back(fb::CreateTensorDescListEntryDirect(
        b, t.name.c_str(), t.id, t.memory, t.size, t.offset, t.data_format, t.data_type,
        t.data_category, t.pixel_format, t.pixel_mapping, t.n, t.c, t.h, t.w, t.stride[0],
        t.stride[1], t.stride[2], t.stride[3], t.stride[4], t.stride[5], t.stride[6], t.stride[7]));
  }
  std::vector<flatbuffers::Offset<fb::RelocListEntry>> relocs;
  for (const RelocEntry& r : c.relocs) {
    relocs.push_back(fb::CreateRelocListEntry(b, r.address, r.write, r.offset, r.interface,
                                              r.sub_interface, r.type));
  }
  std::vector<flatbuffers::Offset<fb::SubmitListEntry>> submits;
  for (std::size_t i = 0; i < c.submits.size(); ++i) {
    submits.push_back(
        fb::CreateSubmitListEntryDirect(b, static_cast<std::uint16_t>(i), &c.submits[i]));
  }
  const fb::Version version(c.version.major_version, c.version.minor_version,
                            c.version.sub_minor_version);
  b.Finish(fb::CreateLoadableDirect(b, &version, &tasks, &memories, &addresses, &events, &blobs,
                                    &tensors, &relocs, &submits));
  const auto bytes = std::as_bytes(std::span(b.GetBufferPointer(), b.GetSize()));
  return {bytes.begin(), bytes.end()};
}

}  // namespace nvdla::loadable
