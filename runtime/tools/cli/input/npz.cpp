// SPDX-License-Identifier: MIT
#include "tools/cli/input/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tools/cli/input/named.hpp"
#include "tools/cli/input/npy.hpp"
#include "tools/files/status.hpp"
#include "tools/files/zip.hpp"

namespace nvdla::cli {

std::vector<NpzArray> read_npz(const std::string& path, std::span<const std::uint8_t> file,
                               const std::vector<std::string>& inputs) {
  constexpr std::string_view kEnd = ".npy";
  auto members = program::read_zip(path, file);
  std::vector<std::optional<NpzArray>> found(inputs.size());
  const bool single = inputs.size() == 1 && members.size() == 1;
  for (program::ZipMember& member : members) {
    std::string name = member.name;
    if (name.ends_with(kEnd)) name.resize(name.size() - kEnd.size());
    const auto at = single ? inputs.begin() : std::find(inputs.begin(), inputs.end(), name);
    if (at == inputs.end())
      throw program::UsageError(
          fmt::format("{}: it has an array '{}', and no input is called that; "
                      "expected an array for each of {}",
                      path, name, quoted_names(inputs)));
    const auto input = static_cast<std::size_t>(at - inputs.begin());
    if (found[input])
      throw program::UsageError(fmt::format("{}: it has two arrays '{}'", path, name));
    std::string place = fmt::format("{}: '{}'", path, name);
    if (!is_npy(member.bytes)) throw program::UsageError(place + ": it is no NumPy array");
    found[input] = {input, std::move(place), std::move(member.bytes)};
  }
  std::vector<NpzArray> arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i])
      throw program::UsageError(fmt::format("{}: it has no array '{}'; expected one for each of {}",
                                            path, inputs[i], quoted_names(inputs)));
    arrays.push_back(std::move(*found[i]));
  }
  return arrays;
}

}  // namespace nvdla::cli
