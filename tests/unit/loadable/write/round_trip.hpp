// SPDX-License-Identifier: MIT
//
// One network three times: as its request, and from files of both interfaces that it was saved to.
#ifndef NVDLA_TESTS_LOADABLE_ROUND_TRIP_HPP
#define NVDLA_TESTS_LOADABLE_ROUND_TRIP_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "loadable/read/convert.hpp"
#include "nvdla/loadable.hpp"
#include "nvdla/types/shape.hpp"
#include "unit/tools/temporary_folder.hpp"

namespace nvdla::test {

template <typename T>
std::vector<T> random_elements(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> elements(count);
  for (T& e : elements) {
    const auto bits = static_cast<std::uint32_t>(random());
    // fp16: finite, of either sign, from 2^-4 to 2^4.
    e = static_cast<T>(
        std::is_same_v<T, std::uint16_t> ? (bits & 0x83ff) | (11 + (bits >> 16) % 8) << 10 : bits);
  }
  return elements;
}

inline std::vector<std::byte> saved_file(
    const Network& network, const std::string& configuration,
    LoadableInterface interface = LoadableInterface::kDla0_12) {
  const replay::TemporaryFolder folder;
  const std::string path = (folder.path() / "saved.nvdla").string();
  save_loadable(network, configuration, path, interface);
  const detail::HostPages file = loadable::read_loadable(path);
  return {file.data(), file.data() + file.size()};
}

struct RoundTrip {
  RoundTrip(const Network& network, const std::string& configuration,
            const BuildOptions& options = {})
      : file(saved_file(network, configuration)),
        loadable_file(Loadable::load(file)),
        device(Device::open("model:" + configuration)),
        request(network.build(device, options)),
        loaded(loadable_file.open(device, options)),
        old(Loadable::load(saved_file(network, configuration, LoadableInterface::kDla0_11))
                .open(device, options)),
        container(loadable::parse_container(file)),
        task(std::get<loadable::DlaTask>(loadable::decode_task(container, 0).work)),
        program(loadable::convert_task(container, loadable::decode_task(container, 0),
                                       *nvdla_hw_find(configuration.c_str()))) {
    EXPECT_EQ(loaded.network().layers(), request.network().layers());
    EXPECT_EQ(old.network().layers(), request.network().layers());
  }

  // Random elements into all.
  template <typename T>
  void write(std::size_t count, std::string_view name = "in", unsigned seed = 5) {
    const auto source = random_elements<T>(count, seed);
    request.write(name, Layout::kNchw, std::span<const T>(source));
    loaded.write(name, Layout::kNchw, std::span<const T>(source));
    old.write(name, Layout::kNchw, std::span<const T>(source));
  }

  void write_pixels(std::span<const std::byte> plane, std::span<const std::byte> plane_uv) {
    request.write_pixels("in", plane, plane_uv);
    loaded.write_pixels("in", plane, plane_uv);
    old.write_pixels("in", plane, plane_uv);
  }

  void run() {
    request.run();
    loaded.run();
    old.run();
  }

  // Of a run: the same from all, and not one number everywhere.
  template <typename T>
  void expect_same(std::size_t count, std::string_view name = "out") {
    std::vector<T> expected(count), found(count);
    request.read(name, Layout::kNchw, std::span<T>(expected));
    loaded.read(name, Layout::kNchw, std::span<T>(found));
    EXPECT_EQ(found, expected);
    old.read(name, Layout::kNchw, std::span<T>(found));
    EXPECT_EQ(found, expected) << "interface 0.11";
    EXPECT_NE(std::count(found.begin(), found.end(), found[0]),
              static_cast<std::ptrdiff_t>(found.size()));
  }

  // Returns what the file says of an input or output.
  LoadableTensor described(std::string_view name) const { return loadable_file.tensor(name); }

  // The n-th operation of a kind.
  template <typename Part>
  const Part& part(std::size_t n = 0) const {
    for (const loadable::Operation& operation : task.operations) {
      const auto* found = std::get_if<Part>(&operation.part);
      if (found != nullptr && n-- == 0) return *found;
    }
    throw std::out_of_range("no such operation");
  }

  // The memory at a position of the task's address list.
  std::uint16_t memory_of(std::int16_t position) const {
    const auto& addresses = container.tasks.at(0).addresses;
    return container.addresses.at(addresses.at(static_cast<std::size_t>(position))).memory;
  }

  std::vector<std::byte> file;
  Loadable loadable_file;
  Device device;
  Request request;
  Request loaded;
  Request old;  // of interface 0.11
  loadable::Container container;
  loadable::DlaTask task;
  loadable::ConvertedProgram program;
};

// "in" to "out" on random elements, in so many layers.
template <typename In, typename Out = In>
RoundTrip expect_round_trip(const Network& network, const std::string& configuration,
                            std::size_t inputs, std::size_t outputs, std::uint32_t layers) {
  SCOPED_TRACE(configuration);
  RoundTrip trip(network, configuration);
  EXPECT_EQ(trip.request.network().layers(), layers);
  trip.write<In>(inputs);
  trip.run();
  trip.expect_same<Out>(outputs);
  return trip;
}

}  // namespace nvdla::test

#endif  // NVDLA_TESTS_LOADABLE_ROUND_TRIP_HPP
