// SPDX-License-Identifier: MIT
//
// Worked example: a convolutional network on an NVDLA. Classifies PNG pictures of digits and shows
// what the device counted. The network is described in int8_network.cpp.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nvdla/nvdla.hpp>
#include <string>
#include <vector>

#include "float_network.hpp"
#include "int8_network.hpp"
#include "picture.hpp"
#include "tools/common/layer_table.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/files/files.hpp"
#include "weights.hpp"

namespace {

namespace fs = std::filesystem;
namespace program = nvdla::program;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device;
  fs::path data = NVDLA_DIGITS_FOLDER;
  std::vector<std::string> pictures;
  std::string save;
  bool held_out = false;
};

template <typename T>
std::size_t best(const std::vector<T>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

std::string text_of(Clock::duration time) {
  return program::duration_text(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()));
}

std::vector<fs::path> shipped_pictures(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".png") {
      found.push_back(entry.path());
    }
  }
  if (error) {
    throw program::UsageError(folder.string() + ": cannot be listed: " + error.message());
  }
  if (found.empty()) {
    throw program::UsageError(folder.string() + ": has no PNG files");
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A picture that cannot be used is reported and the rest goes on; returns how many could not.
std::size_t classify(digits::Int8Network& network, const digits::Weights& weights,
                     const std::vector<fs::path>& paths) {
  // Class and score take the rest of the columns.
  constexpr std::size_t kWidest = program::kColumns - 14;
  std::size_t longest = 7;
  for (const fs::path& path : paths) {
    longest = std::max(longest, std::min(path.filename().string().size(), kWidest));
  }
  program::print("{:<{}}  class  score\n", "picture", longest);
  std::size_t failed = 0;
  std::size_t done = 0;
  Clock::duration time{};
  for (const fs::path& path : paths) {
    digits::Picture picture;
    try {
      picture = digits::read_picture(path);
      if (picture.pixels.size() != weights.input.elements() ||
          static_cast<int>(picture.width) != weights.input.width) {
        throw program::UsageError(fmt::format("{}: {}x{} pixels, the network takes {}x{}",
                                              path.string(), picture.width, picture.height,
                                              weights.input.width, weights.input.height));
      }
    } catch (const program::UsageError& error) {
      std::fflush(stdout);
      program::print(stderr, "digits: {}\n", error.what());
      ++failed;
      continue;
    }
    const auto start = Clock::now();
    const std::vector<std::int8_t> scores = network.scores(picture.pixels);
    time += Clock::now() - start;
    ++done;
    const std::size_t winner = best(scores);
    program::print("{:<{}}  {:>5}  {:>5}\n", program::elide(path.filename().string(), longest),
                   longest, weights.classes[winner], scores[winner]);
  }
  if (done != 0) {
    program::print("\n{} {} in {}, {} each\n", done, done == 1 ? "picture" : "pictures",
                   text_of(time), text_of(time / done));
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
  program::print("{} held-out pictures in {} (float network included)\n", held_out.pictures.size(),
                 text_of(Clock::now() - start));
  program::print("same class as the float network  {:.1f} %\n",
                 100.0 * static_cast<double>(same) / count);
  program::print("right                            {:.1f} %\n",
                 100.0 * static_cast<double>(right) / count);
}

void print_statistics(const nvdla::Request& request, const nvdla::DeviceInfo& info) {
  const auto statistics = request.statistics();
  std::vector<program::LayerRow> rows;
  for (std::uint32_t i = 0; i < statistics.size(); ++i) {
    rows.push_back({std::string(request.network().layer_name(i)), request.network().layer_macs(i),
                    request.network().layer_cycles(i), statistics[i]});
  }
  if (!rows.empty()) {
    program::print("\nlayers of the last picture\n{}",
                   program::Lines{program::layer_table(rows, info)});
  }
}

// Writes the network as a file instead of running it.
void save(const Options& options, const digits::Weights& weights) {
  const nvdla::Device device = nvdla::Device::open(options.device, nvdla::program::open_options());
  const std::string_view configuration = device.info().configuration;
  program::write_file(options.save, nvdla::make_loadable(digits::describe(weights), configuration,
                                                         program::loadable_options(device.info())));
  if (!program::is_standard_output(options.save)) {
    program::print("{}: the network for {}; run it with\n  nvdla run {} --input PICTURE.png\n",
                   options.save, configuration, options.save);
  }
}

int run(const Options& options) {
  const digits::Weights weights = digits::load_weights(options.data / "weights.json");
  if (!options.save.empty()) {
    save(options, weights);
    return program::kSuccess;
  }
  const nvdla::Device device = nvdla::Device::open(options.device, nvdla::program::open_options());
  nvdla::BuildOptions build = program::build_options(device.info());
  build.statistics = true;
  digits::Int8Network network(device, weights, build);
  program::print("{} {}: {} layers\n\n", device.info().backend, device.info().configuration,
                 network.request().network().layers());

  if (options.held_out) {
    classify_held_out(network, weights, options.data);
    print_statistics(network.request(), device.info());
    return program::kSuccess;
  }
  std::vector<fs::path> paths(options.pictures.begin(), options.pictures.end());
  if (paths.empty()) paths = shipped_pictures(options.data / "images");
  const std::size_t failed = classify(network, weights, paths);
  // Without a run there are none.
  if (failed != paths.size()) print_statistics(network.request(), device.info());
  return failed == 0 ? program::kSuccess : program::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  program::Program self("digits", "Names the digits in pictures, on an NVDLA or its model");
  CLI::App& app = self.app();
  app.add_option("PICTURE", options.pictures,
                 "PNG, JPEG or PGM files, - for standard input; without any, the shipped ones")
      ->type_name("FILE");
  program::add_device_option(app, options.device,
                             "Where to run: model:nv_small, kernel, ... as "
                             "`nvdla --help` tells");
  app.add_option("--data", options.data, "Folder of weights.json and images/")->type_name("FOLDER");
  app.add_option("--save", options.save,
                 "Write the network as a loadable for the device's "
                 "configuration, - for standard output; run nothing")
      ->type_name("FILE");
  app.add_flag("--held-out", options.held_out,
               "Classify the 1,000 held-out pictures and compare with the float network");
  app.footer(
      "Examples:\n"
      "  digits\n"
      "  digits --device model:nv_small my_digit.png     28x28, light on dark\n"
      "  digits --save digits.nvdla");
  return self.run(argc, argv, [&] { return run(options); });
}
