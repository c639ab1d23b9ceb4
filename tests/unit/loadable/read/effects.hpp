// SPDX-License-Identifier: MIT
//
// How to say what a field does.
#ifndef NVDLA_TESTS_LOADABLE_EFFECTS_HPP
#define NVDLA_TESTS_LOADABLE_EFFECTS_HPP

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "bases.hpp"

namespace nvdla::witness {

using P = loadable::ConvertedProgram;

inline nvdla_conv& conv(P& p) { return p.layers[0].conv; }
inline nvdla_sdp& sdp(P& p) { return p.layers[0].sdp; }

inline Effect ignored(const std::string& field, std::optional<std::int64_t> value = {}) {
  return {field, Effect::kIgnored, value, nullptr};
}
inline Effect refused(const std::string& field, std::optional<std::int64_t> value = {}) {
  return {field, Effect::kRefused, value, nullptr};
}
inline Effect changes(const std::string& field, std::int64_t value,
                      std::function<void(P&)> change) {
  return {field, Effect::kChanges, value, std::move(change)};
}
// A number that the compiler works out, too: what it is compared with. `more` changes as well.
Effect derived(const std::string& field, std::int64_t value,
               const std::function<void(P&)>& more = nullptr);

// A cube of int8 in atoms of 32 bytes, 0x40 behind the place where `address` begins (at it where
// cubes have no offset).
void set_cube(Operation& o, const std::string& cube, std::int64_t address, std::int64_t width,
              std::int64_t height, std::int64_t channels);
void set_all(Operation& o, const std::string& prefix,
             std::initializer_list<std::pair<const char*, std::int64_t>> values);

// What is said of the place of a cube in memory. `position` is further on by kFurther.
template <typename F>
void add_place(std::vector<Effect>& to, const std::string& cube, std::int64_t position, F place) {
  to.push_back(changes(cube + ".address", position, [=](P& p) { place(p).offset += kFurther; }));
  to.push_back(changes(cube + ".offset", 0xa0, [=](P& p) { place(p).offset += 0x60; }));
  to.push_back(refused(cube + ".type"));
  to.push_back(ignored(cube + ".size"));
  to.push_back(ignored(cube + ".reserved0"));
  to.push_back(ignored(cube + ".plane_stride"));
}

// And of its strides.
template <typename F>
void add_cube(std::vector<Effect>& to, const std::string& cube, std::int64_t position, F surface) {
  add_place(to, cube, position, surface);
  to.push_back(changes(cube + ".line_stride", 0x5a5a5a5a,
                       [=](P& p) { surface(p).line_stride = 0x5a5a5a5a; }));
  to.push_back(changes(cube + ".surf_stride", 0x7b7b7b7b,
                       [=](P& p) { surface(p).surface_stride = 0x7b7b7b7b; }));
}

std::vector<Base> conv_bases();
std::vector<Base> sdp_bases();
std::vector<Base> unit_bases();

}  // namespace nvdla::witness

#endif  // NVDLA_TESTS_LOADABLE_EFFECTS_HPP
