// SPDX-License-Identifier: MIT
//
// Manual page and completions of a program, made from its description of the command line, so that
// all that is written by hand is what --help prints.
#ifndef NVDLA_TOOLS_COMMON_REFERENCE_HPP
#define NVDLA_TOOLS_COMMON_REFERENCE_HPP

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace nvdla::program {

// `ValueKind` says how a shell completes a value.
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

// Leaves out what is in no group, and so not in --help. An argument is of files or folders if
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

// Returns roff, for section 1. The date is that of SOURCE_DATE_EPOCH or today's.
std::string man_page(const CommandDescription& program, const std::string& version);

std::string bash_completion(const CommandDescription& program);
std::string fish_completion(const CommandDescription& program);
std::string zsh_completion(const CommandDescription& program);

// The one that is called `form`: "man", "bash", "fish" or "zsh". Throws UsageError.
std::string reference(const CLI::App& app, const std::string& form, const std::string& version);

}  // namespace nvdla::program

#endif  // NVDLA_TOOLS_COMMON_REFERENCE_HPP
