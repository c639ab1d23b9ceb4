// SPDX-License-Identifier: MIT
#include "tools/cli/input/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tools/cli/input/npy.hpp"
#include "tools/files/files.hpp"
#include "tools/files/picture.hpp"
#include "tools/files/status.hpp"

namespace nvdla::cli {
namespace {

using program::Picture;
using program::UsageError;

std::string sizes_of(const ImportedTensor& t) { return fmt::format("{}", fmt::join(t.sizes, "x")); }

// Returns the files that paths name: those of folders in the order of their names.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, error))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with('.'))
        inside.push_back(entry.path().string());
    if (error) throw UsageError(fmt::format("--samples {}: {}", path, error.message()));
    if (inside.empty())
      throw UsageError(fmt::format("--samples {}: the folder has no files", path));
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
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

// An array of one sample, or of many along another axis in front, or along the batch of 1.
void add_array(const std::string& path, const std::vector<std::uint8_t>& file,
               const ImportedTensor& t, std::vector<Sample>& samples) {
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
    samples.push_back({{numbers.begin() + static_cast<std::ptrdiff_t>(i * each),
                        numbers.begin() + static_cast<std::ptrdiff_t>((i + 1) * each)}});
}

}  // namespace

void read_samples(const std::vector<std::string>& paths, const std::vector<ImportedTensor>& inputs,
                  const std::string& resize, ImportOptions& options) {
  if (inputs.size() != 1)
    throw UsageError(
        fmt::format("--samples: the model has {} inputs, and samples are for models "
                    "of one input yet",
                    inputs.size()));
  bool pictures = false, arrays = false;
  for (const std::string& path : files_of(paths)) {
    const std::vector<std::uint8_t> file = program::read_file(path);
    if (program::is_picture(file)) {
      options.samples.push_back({picture_sample(path, file, inputs[0], resize)});
      pictures = true;
    } else if (is_npy(file)) {
      add_array(path, file, inputs[0], options.samples);
      arrays = true;
    } else {
      throw UsageError(fmt::format(
          "{}: it is no sample; expected a picture (PNG, JPEG, PGM) or an array (.npy)", path));
    }
  }
  if (pictures && arrays) throw UsageError("--samples: pictures and arrays; expected one of these");
  if (pictures && options.pixels.empty()) options.pixels.push_back({});
}

}  // namespace nvdla::cli
