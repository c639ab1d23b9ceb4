// SPDX-License-Identifier: MIT
#include "bases.hpp"

#include <algorithm>
#include <stdexcept>

#include "effects.hpp"

namespace nvdla::witness {

Effect derived(const std::string& field, std::int64_t value, const std::function<void(P&)>& more) {
  // "0.op.release" is "operation 0 (conv), release", "0.surface.dst_data.width" as well.
  const std::string begin = "operation " + field.substr(0, field.find('.')) + " ";
  const std::string end = ", " + field.substr(field.find('.', field.find('.') + 1) + 1);
  return changes(field, value, [=](P& p) {
    const auto found = std::find_if(p.derived.begin(), p.derived.end(), [&](const auto& d) {
      return d.field.starts_with(begin) && d.field.ends_with(end);
    });
    if (found == p.derived.end()) throw std::out_of_range("nothing is derived for " + field);
    found->value = static_cast<std::uint32_t>(value - 1);
    if (more) more(p);
  });
}

void set_cube(Operation& o, const std::string& cube, std::int64_t address, std::int64_t width,
              std::int64_t height, std::int64_t channels) {
  const std::string prefix = "surface." + cube + ".";
  o.set(prefix + "type", 0);
  o.set(prefix + "address", address);
  if (o.has(prefix + "offset")) o.set(prefix + "offset", 0x40);
  o.set(prefix + "size", width * 32 * height * ((channels + 31) / 32));
  o.set(prefix + "width", width);
  o.set(prefix + "height", height);
  o.set(prefix + "channel", channels);
  o.set(prefix + "line_stride", width * 32);
  o.set(prefix + "surf_stride", width * 32 * height);
}

void set_all(Operation& o, const std::string& prefix,
             std::initializer_list<std::pair<const char*, std::int64_t>> values) {
  for (const auto& [field, value] : values) o.set(prefix + field, value);
}

const std::vector<Base>& bases() {
  static const std::vector<Base> all = [] {
    std::vector<Base> joined = conv_bases();
    for (auto* more : {sdp_bases, unit_bases}) {
      for (Base& base : more()) joined.push_back(std::move(base));
    }
    return joined;
  }();
  return all;
}

const Base& base(const std::string& name) {
  for (const Base& b : bases()) {
    if (b.name == name) return b;
  }
  throw std::out_of_range("no base " + name);
}

}  // namespace nvdla::witness
