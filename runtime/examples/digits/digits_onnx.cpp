// SPDX-License-Identifier: MIT
//
// Worked example: from a model of a framework to the device. digits.onnx, the float network, is
// compiled for the device that there is: in fp16 where it has that, and in int8 with scales that
// ten pictures give. The 1,000 held-out pictures run on it, beside the network in floats.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nvdla/import.hpp>
#include <nvdla/nvdla.hpp>
#include <span>
#include <string>
#include <vector>

#include "float_network.hpp"
#include "picture.hpp"
#include "tools/common/print.hpp"
#include "tools/common/program.hpp"
#include "tools/common/text.hpp"
#include "tools/files/status.hpp"
#include "weights.hpp"

namespace {

namespace fs = std::filesystem;
namespace program = nvdla::program;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device;
  fs::path data = NVDLA_DIGITS_FOLDER;
};

std::size_t best(const std::vector<float>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// Returns the shipped pictures as samples, in the order of their names.
std::vector<nvdla::Sample> samples_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".png") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<nvdla::Sample> samples;
  for (const fs::path& path : paths) {
    const digits::Picture picture = digits::read_picture(path);
    samples.push_back({{picture.pixels.begin(), picture.pixels.end()}});
  }
  return samples;
}

// The scores of one picture. The network takes pixels as they are.
std::vector<float> scores_of(nvdla::Request& request, const nvdla::ImportedModel& model,
                             const digits::Picture& picture) {
  const nvdla::ImportedTensor &input = model.inputs[0], &output = model.outputs[0];
  if (input.precision == nvdla::Precision::kInt8) {
    // 128 less, as signed bytes hold them.
    request.write(input.name, input.layout,
                  std::span<const std::int8_t>(nvdla::signed_bytes(picture.pixels)));
  } else {
    request.write(input.name, input.layout,
                  std::vector<float>(picture.pixels.begin(), picture.pixels.end()));
  }
  request.run();
  std::vector<float> scores(output.shape.elements());
  request.read(output.name, output.layout, std::span<float>(scores));
  return scores;
}

// Compiles the model, runs all pictures, and prints a line.
void classify(const Options& options, const nvdla::Device& device, const char* name,
              const nvdla::ImportOptions& import, const digits::HeldOut& held_out,
              const std::vector<std::size_t>& of_floats) {
  const auto start = Clock::now();
  const nvdla::ImportedModel model =
      nvdla::import_model((options.data / "digits.onnx").string(), device.info(), import);
  nvdla::Request request =
      model.network.compile(device, program::build_options(device.info())).create_request();
  const auto compiled = Clock::now();
  std::size_t right = 0, same = 0;
  for (std::size_t i = 0; i < held_out.pictures.size(); ++i) {
    const std::size_t winner = best(scores_of(request, model, held_out.pictures[i]));
    right += winner == static_cast<std::size_t>(held_out.labels[i]);
    same += winner == of_floats[i];
  }
  const auto text = [](Clock::duration time) {
    return program::duration_text(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()));
  };
  const double count = static_cast<double>(held_out.pictures.size());
  program::print("{:<6} {:>8.1f} % {:>13.1f} % {:>9} {:>9} {:>12}\n", name,
                 100 * static_cast<double>(right) / count, 100 * static_cast<double>(same) / count,
                 request.network().layers(), text(compiled - start),
                 text((Clock::now() - compiled) / held_out.pictures.size()));
}

int run(const Options& options) {
  const nvdla::Device device = nvdla::Device::open(options.device, program::open_options());
  const digits::Weights weights = digits::load_weights(options.data / "weights.json");
  const digits::HeldOut held_out = digits::read_held_out(options.data);
  std::vector<std::size_t> of_floats;
  std::size_t right = 0;
  for (std::size_t i = 0; i < held_out.pictures.size(); ++i) {
    of_floats.push_back(best(digits::float_scores(weights, held_out.pictures[i].pixels)));
    right += of_floats.back() == static_cast<std::size_t>(held_out.labels[i]);
  }
  program::print("digits.onnx on {} {}, {} held-out pictures\n\n", device.info().backend,
                 device.info().configuration, held_out.pictures.size());
  program::print("{:<6} {:>10} {:>15} {:>9} {:>9} {:>12}\n", "", "right", "as in floats", "layers",
                 "compiled", "a picture");
  program::print("{:<6} {:>8.1f} %\n", "floats",
                 100 * static_cast<double>(right) / static_cast<double>(of_floats.size()));
  // The model was trained on (pixel - 128) / 128.
  nvdla::ImportOptions import;
  import.pixels = {{.mean = {128}, .deviation = { 128 } }};
  if (device.info().has_fp16) classify(options, device, "fp16", import, held_out, of_floats);
  import.samples = samples_of(options.data / "images");
  classify(options, device, "int8", import, held_out, of_floats);
  program::print(
      "\nThe same by commands, for a model of your own:\n"
      "  nvdla compile digits.onnx -o digits.nvdla --samples images --mean 128 --std 128\n"
      "  nvdla run digits.nvdla --input PICTURE.png\n");
  return program::kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  program::Program self("digits_onnx", "Compiles an ONNX model for an NVDLA and runs it there");
  CLI::App& app = self.app();
  program::add_device_option(app, options.device,
                             "What it is for, and where to run: model:nv_small, kernel, ...");
  app.add_option("--data", options.data, "Folder of digits.onnx, weights.json and pictures")
      ->type_name("FOLDER");
  app.footer(
      "Examples:\n"
      "  digits_onnx\n"
      "  digits_onnx --device model:nv_small");
  return self.run(argc, argv, [&] { return run(options); });
}
