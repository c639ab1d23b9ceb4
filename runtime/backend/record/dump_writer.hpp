// SPDX-License-Identifier: MIT
//
// Puts a dump of firmware/nvdla_dump_format.h together, section by section.
#ifndef NVDLA_BACKEND_RECORD_DUMP_WRITER_HPP
#define NVDLA_BACKEND_RECORD_DUMP_WRITER_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/record/record_format.hpp"
#include "firmware/nvdla_dump_format.h"

namespace nvdla::detail {

class DumpWriter {
 public:
  DumpWriter() : bytes_(sizeof(nvdla_dump_header)) {}

  template <typename T>
  void array(std::uint32_t type, std::span<const T> elements) {
    static_assert(std::is_trivially_copyable_v<T>);
    section(type, sizeof(T), std::as_bytes(elements), {});
  }

  // A section that is about one piece of memory.
  void memory(std::uint32_t type, const nvdla_dump_buffer& info,
              std::span<const std::byte> contents) {
    section(type, sizeof(info), std::as_bytes(std::span(&info, 1)), contents);
  }

  // Zeros in a name would end it.
  void names(std::span<const std::string> names) {
    std::string all;
    for (const std::string& name : names) all += name.substr(0, name.find('\0')) + '\0';
    section(kSectionNames, 1, {}, std::as_bytes(std::span(all)));
  }

  // The whole dump; sets what the header says about it.
  std::vector<std::byte> finish(nvdla_dump_header header) {
    header.magic = NVDLA_DUMP_MAGIC;
    header.version = NVDLA_DUMP_VERSION;
    header.header_bytes = sizeof(header);
    header.bytes = bytes_.size();
    header.num_sections = sections_;
    std::memcpy(bytes_.data(), &header, sizeof(header));
    return std::move(bytes_);
  }

 private:
  void section(std::uint32_t type, std::size_t stride, std::span<const std::byte> head,
               std::span<const std::byte> tail) {
    const nvdla_dump_section start{type, static_cast<std::uint32_t>(stride),
                                   head.size() + tail.size()};
    append(std::as_bytes(std::span(&start, 1)));
    append(head);
    append(tail);
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    ++sections_;
  }

  void append(std::span<const std::byte> part) {
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  }

  std::vector<std::byte> bytes_;
  std::uint32_t sections_ = 0;
};

}  // namespace nvdla::detail

#endif  // NVDLA_BACKEND_RECORD_DUMP_WRITER_HPP
