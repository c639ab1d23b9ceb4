// SPDX-License-Identifier: MIT
#include "written.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "round_trip.hpp"

namespace nvdla::witness {

Written::Written(const Network& network, bool old)
    : old_(old),
      file_(read(test::saved_file(
          network, "nv_full", old ? LoadableInterface::kDla0_11 : LoadableInterface::kDla0_12))),
      network_("dla_network_desc", old, content(0).data()) {}

Record Written::entry(const std::string& list, std::int64_t i, std::size_t stride,
                      const std::string& type) const {
  const auto& bytes = content(network_.get(list));
  return {type, old_, bytes.data() + static_cast<std::size_t>(i) * stride};
}

Record Written::common(std::int64_t i) const {
  return entry("dependency_graph_index", i, 36, "dla_common_op_desc");
}

Record Written::op(std::int64_t i, const std::string& unit) const {
  return entry("operation_desc_index", i, 116, "dla_" + unit + "_op_desc");
}

Record Written::surface(std::int64_t i, const std::string& unit) const {
  return entry("surface_desc_index", i, 644, "dla_" + unit + "_surface_desc");
}

const Entry& Written::address(std::int64_t position) const {
  const auto& positions = file_.lists.at("task_list").at(0).lists.at("address_list");
  return file_.lists.at("address_list").at(positions.at(static_cast<std::size_t>(position)));
}

std::uint64_t Written::memory_of(std::int64_t position) const {
  const auto& numbers = address(position).numbers;
  return numbers.contains("mem_id") ? numbers.at("mem_id") : 0;
}

std::int64_t Written::offset_of(std::int64_t position) const {
  const auto& numbers = address(position).numbers;
  return numbers.contains("offset") ? static_cast<std::int64_t>(numbers.at("offset")) : 0;
}

std::int64_t Written::offset_of(const Record& surface, const std::string& cube) const {
  const std::int64_t position = offset_of(surface.get(cube + ".address"));
  return old_ ? position : position + surface.get(cube + ".offset");
}

const std::vector<std::byte>& Written::content(std::int64_t position) const {
  const Entry& memory = file_.lists.at("memory_list").at(memory_of(position));
  EXPECT_EQ(memory.lists.at("offsets"), std::vector<std::uint64_t>{0});
  for (const Entry& blob : file_.lists.at("blobs")) {
    if (blob.texts.at("name") == memory.names.at("contents").at(0)) return blob.bytes.at("data");
  }
  throw std::out_of_range("no such blob");
}

std::uint64_t Written::number(const char* list, std::uint64_t i, const char* field) const {
  const auto& numbers = file_.lists.at(list).at(i).numbers;
  return numbers.contains(field) ? numbers.at(field) : 0;
}

void expect_fields(const Record& record, const Fields& expected,
                   const std::vector<std::string>& free) {
  for (const auto& [field, place] : record.fields()) {
    const bool skipped = std::any_of(
        free.begin(), free.end(), [&name = field](const auto& f) { return name.starts_with(f); });
    if (skipped) continue;
    const auto found = expected.find(field);
    EXPECT_EQ(record.get(field), found != expected.end() ? found->second : 0) << field;
  }
  for (const auto& [field, value] : expected) EXPECT_TRUE(record.has(field)) << field;
}

void add_cube(Fields& to, const std::string& name, std::int64_t channels, std::int64_t height,
              std::int64_t width, std::int64_t element_bytes) {
  to[name + ".size"] = (channels * element_bytes + 31) / 32 * 32 * height * width;
  to[name + ".width"] = width;
  to[name + ".height"] = height;
  to[name + ".channel"] = channels;
  to[name + ".line_stride"] = 32 * width;
  to[name + ".surf_stride"] = 32 * width * height;
}

void add_no_cube(Fields& to, const std::string& name) {
  to[name + ".type"] = 2;
  to[name + ".address"] = -1;
}

void add_passed(Fields& to, const std::string& name, std::int64_t channels, std::int64_t height,
                std::int64_t width) {
  add_no_cube(to, name);
  to[name + ".width"] = width;
  to[name + ".height"] = height;
  to[name + ".channel"] = channels;
}

}  // namespace nvdla::witness
