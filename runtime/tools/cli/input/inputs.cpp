// SPDX-License-Identifier: MIT
#include "tools/cli/input/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/cli/input/named.hpp"
#include "tools/cli/input/npz.hpp"
#include "tools/cli/input/tensors.hpp"
#include "tools/files/files.hpp"
#include "tools/files/status.hpp"
#include "tools/files/zip.hpp"

namespace nvdla::cli {
namespace {

using program::UsageError;

std::vector<std::string> input_names(const Loadable& file) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < file.inputs(); ++i) names.emplace_back(file.input(i).name);
  return names;
}

[[noreturn]] void refuse_count(std::size_t given, const Loadable& file) {
  std::string names;
  for (std::uint32_t i = 0; i < file.inputs(); ++i) {
    const LoadableTensor t = file.input(i);
    names += fmt::format("{}'{}' {}", i == 0 ? ": " : ", ", t.name, shape_text(t));
  }
  throw UsageError(fmt::format("the loadable has {} input{}{}, but {} given by --input",
                               file.inputs(), file.inputs() == 1 ? "" : "s", names,
                               given == 1 ? "1 is" : fmt::format("{} are", given)));
}

// Reads an argument that names one of several inputs or none of them.
InputFile read_one(const NamedFile& named, const std::vector<std::string>& names) {
  InputFile input{named.path, program::read_file(named.path)};
  if (!program::is_zip(input.bytes)) return input;
  throw UsageError(fmt::format(
      "--input {}: an archive has an array for each of {}; expected it alone, and without a name",
      named.path, quoted_names(names)));
}

std::vector<InputFile> read_archive(const InputFile& archive,
                                    const std::vector<std::string>& names) {
  std::vector<InputFile> inputs;
  for (NpzArray& array : read_npz(archive.place, archive.bytes, names))
    inputs.push_back({std::move(array.place), std::move(array.file)});
  return inputs;
}

// Returns the file for each input, in the order of the inputs.
std::vector<NamedFile> files_of_inputs(const std::vector<NamedFile>& named, const Loadable& file,
                                       const std::vector<std::string>& names) {
  const auto has_name = [](const NamedFile& one) { return one.input.has_value(); };
  if (std::any_of(named.begin(), named.end(), has_name) &&
      !std::all_of(named.begin(), named.end(), has_name))
    throw UsageError(
        "--input: some have a name and some have none; expected NAME=FILE for all, "
        "or files in the order of the inputs");
  std::vector<std::optional<NamedFile>> found(names.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    const std::size_t input = named[i].input.value_or(i);
    if (input >= names.size()) refuse_count(named.size(), file);
    if (found[input])
      throw UsageError(fmt::format("--input: two files for input '{}'", names[input]));
    found[input] = named[i];
  }
  if (named.size() != names.size()) refuse_count(named.size(), file);
  std::vector<NamedFile> files;
  for (const auto& one : found) files.push_back(*one);
  return files;
}

void check_standard_input(const std::vector<NamedFile>& files, const std::string& loadable) {
  const auto readers =
      std::count_if(files.begin(), files.end(),
                    [](const NamedFile& one) { return program::is_standard_input(one.path); }) +
      (program::is_standard_input(loadable) ? 1 : 0);
  if (readers > 1) throw UsageError("standard input is named more than once");
}

}  // namespace

std::vector<InputFile> read_inputs(const std::vector<std::string>& arguments, const Loadable& file,
                                   const std::string& loadable) {
  if (arguments.empty()) return {};
  const std::vector<std::string> names = input_names(file);
  std::vector<NamedFile> named;
  for (const std::string& argument : arguments)
    named.push_back(parse_named("--input", argument, names));
  check_standard_input(named, loadable);
  if (named.size() == 1 && !named[0].input && !names.empty()) {
    InputFile only{named[0].path, program::read_file(named[0].path)};
    if (program::is_zip(only.bytes)) return read_archive(only, names);
    if (names.size() == 1) return {std::move(only)};
  }
  std::vector<InputFile> inputs;
  for (const NamedFile& one : files_of_inputs(named, file, names))
    inputs.push_back(read_one(one, names));
  return inputs;
}

void write_inputs(Request& request, const Loadable& file, const std::vector<InputFile>& inputs,
                  const std::string& resize) {
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    write_input(request, file.input(i), inputs[i].place, inputs[i].bytes, resize);
}

}  // namespace nvdla::cli
