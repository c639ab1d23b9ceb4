// SPDX-License-Identifier: MIT
//
// Worked example: a convolutional network on an NVDLA. Classifies PNG pictures of digits and shows
// what the device counted. The network is described in int8_network.cpp.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <nvdla/nvdla.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "float_network.hpp"
#include "int8_network.hpp"
#include "picture.hpp"
#include "weights.hpp"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "model";
  fs::path data = NVDLA_DIGITS_FOLDER;
  std::vector<std::string> pictures;
  std::string save;
  bool held_out = false;
};

template <typename T>
std::size_t best(const std::vector<T>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::vector<fs::path> shipped_pictures(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".png") {
      found.push_back(entry.path());
    }
  }
  if (found.empty()) {
    throw std::runtime_error(folder.string() + ": has no PNG files");
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A picture that cannot be used is reported and the rest goes on; returns how many could not.
int classify(digits::Int8Network& network, const digits::Weights& weights,
             const std::vector<fs::path>& paths) {
  std::size_t longest = 0;
  for (const fs::path& path : paths) {
    longest = std::max(longest, path.filename().string().size());
  }
  fmt::print("{:<{}}  class  score\n", "picture", longest);
  int failed = 0;
  std::size_t done = 0;
  Clock::duration time{};
  for (const fs::path& path : paths) {
    digits::Picture picture;
    try {
      picture = digits::read_png(path);
      if (picture.width != weights.input.width || picture.height != weights.input.height) {
        throw std::runtime_error(fmt::format("{}: is {} x {} pixels, the network takes {} x {}",
                                             path.string(), picture.width, picture.height,
                                             weights.input.width, weights.input.height));
      }
    } catch (const std::runtime_error& error) {
      fmt::print(stderr, "digits: {}\n", error.what());
      ++failed;
      continue;
    }
    const auto start = Clock::now();
    const std::vector<std::int8_t> scores = network.scores(picture.pixels);
    time += Clock::now() - start;
    ++done;
    const std::size_t winner = best(scores);
    fmt::print("{:<{}}  {:>5}  {:>5}\n", path.filename().string(), longest, weights.classes[winner],
               scores[winner]);
  }
  if (done != 0) {
    fmt::print("\n{} pictures in {:.2f} ms, {:.3f} ms each\n", done, milliseconds(time),
               milliseconds(time) / static_cast<double>(done));
  }
  return failed;
}

void classify_held_out(digits::Int8Network& network, const digits::Weights& weights,
                       const fs::path& folder) {
  const digits::HeldOut held_out = digits::read_held_out(folder);
  std::size_t same = 0;
  std::size_t right = 0;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < held_out.pictures.size(); ++i) {
    const std::vector<std::uint8_t>& pixels = held_out.pictures[i].pixels;
    const std::size_t winner = best(network.scores(pixels));
    same += winner == best(digits::float_scores(weights, pixels));
    right += winner == static_cast<std::size_t>(held_out.labels[i]);
  }
  const double count = static_cast<double>(held_out.pictures.size());
  fmt::print("{} held-out pictures in {:.0f} ms (float network included)\n",
             held_out.pictures.size(), milliseconds(Clock::now() - start));
  fmt::print("same class as the float network  {:.1f} %\n",
             100.0 * static_cast<double>(same) / count);
  fmt::print("right                            {:.1f} %\n",
             100.0 * static_cast<double>(right) / count);
}

// A counter as text, or a dash where the layer's units do not have it.
std::string counter(const nvdla_layer_stats& stats, nvdla_counter which) {
  return (stats.valid >> which & 1U) != 0 ? fmt::format("{}", stats.counter[which]) : "-";
}

void print_statistics(const nvdla::Session& session) {
  const auto statistics = session.statistics();
  if (statistics.empty()) {
    return;
  }
  fmt::print("\nlayers of the last picture\n");
  fmt::print("{:<8} {:>8} {:>14} {:>9} {:>10} {:>12} {:>11} {:>9}\n", "layer", "MACs",
             "cycles at most", "time/us", "data stall", "weight stall", "write stall", "saturated");
  for (std::uint32_t i = 0; i < session.layers(); ++i) {
    const nvdla_layer_stats& stats = statistics[i];
    fmt::print("{:<8} {:>8} {:>14} {:>9.1f} {:>10} {:>12} {:>11} {:>9}\n", session.layer_name(i),
               session.layer_macs(i), session.layer_cycles(i),
               static_cast<double>(stats.end_ns - stats.start_ns) / 1000.0,
               counter(stats, NVDLA_COUNTER_CDMA_DATA_STALL),
               counter(stats, NVDLA_COUNTER_CDMA_WEIGHT_STALL),
               counter(stats, NVDLA_COUNTER_SDP_WRITE_STALL),
               counter(stats, NVDLA_COUNTER_SDP_SATURATION));
  }
}

int run(const Options& options) {
  const digits::Weights weights = digits::load_weights(options.data / "weights.json");
  const nvdla::Device device = nvdla::Device::open(options.device);
  if (!options.save.empty()) {
    nvdla::save_loadable(digits::describe(weights), device.info().configuration, options.save);
    fmt::print("{}: the network for {}; run it with\n  nvdla run {} --input PICTURE.png\n",
               options.save, device.info().configuration, options.save);
    return 0;
  }
  digits::Int8Network network(device, weights, {.statistics = true});
  fmt::print("{} {}: {} layers\n\n", device.info().backend, device.info().configuration,
             network.session().layers());

  int failed = 0;
  if (options.held_out) {
    classify_held_out(network, weights, options.data);
  } else {
    std::vector<fs::path> paths(options.pictures.begin(), options.pictures.end());
    failed = classify(network, weights,
                      paths.empty() ? shipped_pictures(options.data / "images") : paths);
  }
  print_statistics(network.session());
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Names the digits in PNG pictures, on an NVDLA or its model");
  app.add_option("pictures", options.pictures, "PNG files; without any, the shipped ones");
  app.add_option("--device", options.device, "device, as nvdla::Device::open() takes it")
      ->capture_default_str();
  app.add_option("--data", options.data, "folder of weights.json and images/")
      ->capture_default_str();
  app.add_option("--save", options.save,
                 "write the network as a loadable for the device's configuration, run nothing")
      ->type_name("FILE");
  app.add_flag("--held-out", options.held_out,
               "classify the 1,000 held-out pictures and compare with the float network");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "digits: {}\n", error.what());
    return 1;
  }
}
