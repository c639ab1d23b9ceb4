// SPDX-License-Identifier: MIT
//
// A command line as CLI11 knows it, in the words that a manual page and completions need.
#ifndef NVDLA_TOOLS_COMMON_REFERENCE_DESCRIPTION_HPP
#define NVDLA_TOOLS_COMMON_REFERENCE_DESCRIPTION_HPP

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nvdla::program {

// What can be completed.
enum class ValueKind { kNone, kOther, kFile, kFolder, kDevice, kChoice };

struct ArgumentDescription {
  std::vector<std::string> names;    // "-d", "--device"; none if it is positional only
  std::string positional;            // "PATH"; empty if it has to be named
  std::string value;                 // "FILE", or the choices as "auto|rtl"; empty for flags
  std::vector<std::string> choices;  // with kChoice
  ValueKind kind = ValueKind::kNone;
  std::string initial;  // value without it; empty if there is none
  std::string about;
  std::string group;  // empty for the usual one
  bool required = false;
  bool repeated = false;
  bool value_is_optional = false;  // then only as --name=value
};

struct CommandDescription {
  std::string name;                // "run"
  std::vector<std::string> words;  // all that lead there: {"nvdla", "run"}
  std::string about;
  std::string notes;  // what --help prints last, without the exit statuses
  std::vector<ArgumentDescription> options;
  std::vector<ArgumentDescription> positionals;
  std::vector<CommandDescription> commands;
};

// What is in no group, and so not in --help, is left out. An argument is of files or folders if
// its type is called FILE, PATH, FOLDER or DIR, or if it is a positional that has no type.
CommandDescription describe(const CLI::App& app);

// All words that lead to a command: "nvdla run".
std::string path_of(const CommandDescription& command);

// The same as part of a shell's name of a function.
std::string shell_name(std::string path);

// The beginning of `about`, for lists that have a line for each: up to the first that explains it.
std::string brief(const std::string& about);

// Names of devices that are known without looking, for completion.
std::vector<std::string> device_names();

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_REFERENCE_DESCRIPTION_HPP
