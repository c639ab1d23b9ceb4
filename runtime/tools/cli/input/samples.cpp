// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "tools/cli/input/inputs.hpp"
#include "tools/cli/input/named.hpp"
#include "tools/cli/input/npy.hpp"
#include "tools/cli/input/npz.hpp"
#include "tools/files/files.hpp"
#include "tools/files/picture.hpp"
#include "tools/files/status.hpp"
#include "tools/files/zip.hpp"

namespace nvdla::cli {
namespace {

using program::Picture;
using program::UsageError;

std::string sizes_of(const ImportedTensor& t) { return fmt::format("{}", fmt::join(t.sizes, "x")); }

// Returns a file, or those of a folder in the order of their names.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> inside;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.'))
      inside.push_back(entry.path().string());
  if (error) throw UsageError(fmt::format("--samples {}: {}", path, error.message()));
  if (inside.empty()) throw UsageError(fmt::format("--samples {}: the folder has no files", path));
  std::sort(inside.begin(), inside.end());
  return inside;
}

// The size of the pictures that an input takes.
struct PictureInput {
  std::uint32_t width = 0, height = 0, channels = 0;
  bool channels_last = false;
};

PictureInput picture_input(const std::string& path, const ImportedTensor& t) {
  const auto is_colour = [](std::int64_t size) { return size == 1 || size == 3; };
  const auto side = [](std::int64_t size) { return static_cast<std::uint32_t>(size); };
  const auto& s = t.sizes;
  if (s.size() == 4 && s[0] == 1 && is_colour(s[1]) && std::max(s[2], s[3]) <= program::kMaxSide)
    return {side(s[3]), side(s[2]), side(s[1]), false};
  if (s.size() == 4 && s[0] == 1 && is_colour(s[3]) && std::max(s[1], s[2]) <= program::kMaxSide)
    return {side(s[2]), side(s[1]), side(s[3]), true};
  throw UsageError(
      fmt::format("{}: a picture, and input '{}' is {}; expected an array (.npy), or an input of "
                  "1x3x224x224 or 1x224x224x3",
                  path, t.name, sizes_of(t)));
}

std::vector<float> picture_sample(const std::string& path, const std::vector<std::uint8_t>& file,
                                  const ImportedTensor& t, const std::string& resize) {
  const PictureInput in = picture_input(path, t);
  const program::PictureSize size = program::picture_size(path, file);
  if (resize.empty() && (size.width != in.width || size.height != in.height))
    throw UsageError(
        fmt::format("{}: {}x{} pixels, input '{}' takes {}x{}; expected --resize crop, "
                    "stretch or pad to bring pictures to it",
                    path, size.width, size.height, t.name, in.width, in.height));
  Picture picture = program::decode_picture(path, file, in.channels);
  if (!resize.empty())
    picture = program::resize_picture(picture, in.width, in.height, program::parse_resize(resize));
  std::vector<float> numbers(picture.pixels.begin(), picture.pixels.end());
  if (in.channels_last) return numbers;
  const std::size_t positions = std::size_t{in.width} * in.height;
  std::vector<float> planes(numbers.size());
  for (std::size_t c = 0; c < in.channels; ++c)
    for (std::size_t i = 0; i < positions; ++i)
      planes[c * positions + i] = numbers[i * in.channels + c];
  return planes;
}

// The numbers of one input for each sample, and what they were read from.
struct InputSamples {
  std::vector<std::vector<float>> numbers;
  bool pictures = false, arrays = false;
};

// An array of one sample, or of many along another axis in front, or along the batch of 1.
void add_array(const std::string& path, std::span<const std::uint8_t> file, const ImportedTensor& t,
               InputSamples& samples) {
  const NpyArray array = read_npy(path, file);
  std::vector<std::uint64_t> wanted(t.sizes.begin(), t.sizes.end());
  const auto ones_apart = [](std::vector<std::uint64_t> sizes) {
    std::erase(sizes, 1U);
    return sizes;
  };
  std::uint64_t count = 1;
  bool fits = ones_apart(array.shape) == ones_apart(wanted);
  if (!fits && !array.shape.empty()) {
    count = array.shape[0];
    const std::vector<std::uint64_t> each(array.shape.begin() + 1, array.shape.end());
    fits = count > 0 && ones_apart(each) == ones_apart(wanted);
  }
  if (!fits)
    throw UsageError(fmt::format(
        "{}: an array of {}, input '{}' takes {}; expected that, or several along an axis in front",
        path, fmt::join(array.shape, "x"), t.name, sizes_of(t)));
  const std::vector<float> numbers = array.numbers(path);
  const std::size_t each = numbers.size() / count;
  for (std::size_t i = 0; i < count; ++i)
    samples.numbers.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(i * each),
                                 numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
  samples.arrays = true;
}

// `SampleReader` reads the samples of all inputs, each in the order in which files name them.
class SampleReader {
 public:
  SampleReader(const std::vector<ImportedTensor>& inputs, const std::string& resize)
      : inputs_(inputs), resize_(resize), samples_(inputs.size()) {
    for (const ImportedTensor& t : inputs) names_.push_back(t.name);
  }

  void read(const std::string& argument) {
    const NamedFile named = parse_named("--samples", argument, names_);
    for (const std::string& path : files_of(named.path)) {
      const std::vector<std::uint8_t> file = program::read_file(path);
      if (program::is_zip(file)) {
        if (named.input)
          throw UsageError(
              fmt::format("--samples {}: arrays of an archive have names; expected it "
                          "without '{}='",
                          argument, names_[*named.input]));
        read_archive(path, file);
      } else if (program::is_picture(file)) {
        InputSamples& samples = samples_[only_input(named, path)];
        samples.numbers.push_back(
            picture_sample(path, file, inputs_[only_input(named, path)], resize_));
        samples.pictures = true;
      } else if (is_npy(file)) {
        const std::size_t input = only_input(named, path);
        add_array(path, file, inputs_[input], samples_[input]);
      } else {
        throw UsageError(
            fmt::format("{}: it is no sample; expected a picture (PNG, JPEG, PGM), an array (.npy) "
                        "or an archive of arrays (.npz)",
                        path));
      }
    }
  }

  void finish(ImportOptions& options) {
    std::size_t shortest = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (samples_[i].pictures && samples_[i].arrays)
        throw UsageError(fmt::format(
            "--samples: pictures and arrays for input '{}'; expected one of these", names_[i]));
      if (samples_[i].numbers.size() < samples_[shortest].numbers.size()) shortest = i;
    }
    const std::size_t count = samples_[shortest].numbers.size();
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (samples_[i].numbers.size() != count)
        throw UsageError(fmt::format(
            "--samples: {} for input '{}' and {} for '{}'; expected as many for each input",
            samples_[i].numbers.size(), names_[i], count, names_[shortest]));
    for (std::size_t s = 0; s < count; ++s) {
      Sample sample;
      for (InputSamples& input : samples_) sample.push_back(std::move(input.numbers[s]));
      options.samples.push_back(std::move(sample));
    }
    set_pixels(options);
  }

 private:
  // Returns the input that a file is for.
  std::size_t only_input(const NamedFile& named, const std::string& path) const {
    if (named.input) return *named.input;
    if (inputs_.size() == 1) return 0;
    throw UsageError(
        fmt::format("{}: the model has {} inputs ({}); expected NAME={}, or an archive (.npz) with "
                    "an array for each",
                    path, inputs_.size(), quoted_names(names_), path));
  }

  void read_archive(const std::string& path, const std::vector<std::uint8_t>& file) {
    std::vector<std::size_t> before;
    for (const InputSamples& samples : samples_) before.push_back(samples.numbers.size());
    for (const NpzArray& array : read_npz(path, file, names_))
      add_array(array.place, array.file, inputs_[array.input], samples_[array.input]);
    const auto added = [&](std::size_t i) { return samples_[i].numbers.size() - before[i]; };
    for (std::size_t i = 1; i < inputs_.size(); ++i)
      if (added(i) != added(0))
        throw UsageError(
            fmt::format("{}: '{}' has {} samples and '{}' has {}; expected as many of each", path,
                        names_[0], added(0), names_[i], added(i)));
  }

  // Inputs with pictures are inputs of pixels, all with the same mean and deviation.
  void set_pixels(ImportOptions& options) const {
    std::vector<std::string> of_pictures;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (samples_[i].pictures) of_pictures.push_back(names_[i]);
    if (of_pictures.empty()) return;
    InputPixels pixels;
    if (!options.pixels.empty()) pixels = options.pixels[0];
    options.pixels.clear();
    for (const std::string& name : of_pictures) {
      pixels.name = name;
      options.pixels.push_back(pixels);
    }
  }

  const std::vector<ImportedTensor>& inputs_;
  const std::string& resize_;
  std::vector<std::string> names_;
  std::vector<InputSamples> samples_;
};

}  // namespace

void read_samples(const std::vector<std::string>& paths, const std::vector<ImportedTensor>& inputs,
                  const std::string& resize, ImportOptions& options) {
  SampleReader reader(inputs, resize);
  for (const std::string& path : paths) reader.read(path);
  reader.finish(options);
}

}  // namespace nvdla::cli
