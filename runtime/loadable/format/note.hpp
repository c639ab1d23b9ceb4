// SPDX-License-Identifier: MIT
//
// Texts about how a loadable was made, and for which device. Each is in a blob with a name of its
// own, which no memory names, so that other readers pass over it.
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

inline constexpr std::string_view kDeviceBlob = "nvdla-device";
inline constexpr std::uint8_t kDeviceVersion = 1;
inline constexpr std::size_t kMaxDeviceBytes = 256;

// The passes whose choices a budget has cut short.
inline constexpr std::string_view kCutShortBlob = "nvdla-cut-short";
inline constexpr std::uint8_t kCutShortVersion = 1;
inline constexpr std::size_t kMaxCutShortBytes = 256;

// Returns a text of a file, empty if it has none. It points into the container.
inline std::string_view text_of(const Container& c, std::string_view name, std::uint8_t version,
                                std::size_t most) {
  for (const Blob& blob : c.blobs)
    if (blob.name == name && blob.version.major_version == version && blob.data.size() <= most)
      return {reinterpret_cast<const char*>(blob.data.data()), blob.data.size()};
  return {};
}
inline std::string_view note_of(const Container& c) {
  return text_of(c, kNoteBlob, kNoteVersion, kMaxNoteBytes);
}
inline std::string_view device_of(const Container& c) {
  return text_of(c, kDeviceBlob, kDeviceVersion, kMaxDeviceBytes);
}
inline std::string_view cut_short_of(const Container& c) {
  return text_of(c, kCutShortBlob, kCutShortVersion, kMaxCutShortBytes);
}

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_NOTE_HPP
