// SPDX-License-Identifier: MIT
//
// The layers of the network that a loadable was made of, in a blob with a name of its own, which no
// memory names, so that other readers pass over it. docs/formats.md has its layout.
#ifndef NVDLA_LOADABLE_FORMAT_USER_TABLE_HPP
#define NVDLA_LOADABLE_FORMAT_USER_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loadable/format/container.hpp"
#include "support/user_layer.hpp"

namespace nvdla::loadable {

constexpr std::string_view kUserBlob = "nvdla-layers";
constexpr std::uint8_t kUserVersion = 1;
// More than this is neither written nor read.
constexpr std::uint32_t kMaxUserLayers = 1 << 16;
constexpr std::uint32_t kMaxUserText = 256;

struct UserTable {
  detail::UserNetwork network;     // layers of hardware and CPU are numbered as they run
  std::vector<std::string> names;  // of these
};

// `names` are those of the layers that run. Names that are too long lose their end.
std::vector<std::byte> pack_user_table(const detail::UserNetwork& network,
                                       const std::vector<std::string>& names);

// Reads the table of a file; nullopt where there is none. Throws kInvalidArgument for a damaged
// one, naming what is wrong.
std::optional<UserTable> read_user_table(const Container& c);

}  // namespace nvdla::loadable

#endif  // NVDLA_LOADABLE_FORMAT_USER_TABLE_HPP
