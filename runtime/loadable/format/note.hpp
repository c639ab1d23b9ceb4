// SPDX-License-Identifier: MIT
//
// A text about how a loadable was made. It is in a blob with a name of its own, which no memory
// names, so that other readers pass over it.
#ifndef NVDLA_LOADABLE_FORMAT_NOTE_HPP
#define NVDLA_LOADABLE_FORMAT_NOTE_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "loadable/format/container.hpp"

namespace nvdla::loadable {

inline constexpr std::string_view kNoteBlob = "nvdla-note";
inline constexpr std::uint8_t kNoteVersion = 1;
inline constexpr std::size_t kMaxNoteBytes = 65536;

// Returns the text of a file, empty if it has none. It points into the container.
inline std::string_view note_of(const Container& c) {
  for (const Blob& blob : c.blobs)
    if (blob.name == kNoteBlob && blob.version.major_version == kNoteVersion &&
        blob.data.size() <= kMaxNoteBytes)
      return {reinterpret_cast<const char*>(blob.data.data()), blob.data.size()};
  return {};
}

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_NOTE_HPP
