// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/reference.hpp"

namespace nvdla::program {
namespace {

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// Returns the options of fish's `complete` for an argument.
std::string fish_values(const ArgumentDescription& argument) {
  switch (argument.kind) {
    case ValueKind::kChoice:
      return " -x -a " + fish_quoted(fmt::format("{}", fmt::join(argument.choices, " ")));
    case ValueKind::kDevice:
      return " -x -a " +
             fish_quoted(fmt::format("{} /dev/accel/accel*", fmt::join(device_names(), " ")));
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kOther:
      return " -x";
    case ValueKind::kNone:
      break;
  }
  return "";
}

// Returns the condition that this command was given, and none of its subcommands.
std::string fish_condition(const CommandDescription& command) {
  std::string out;
  for (std::size_t i = 1; i < command.words.size(); ++i)
    out += (out.empty() ? "" : "; and ") +
           fmt::format("__fish_seen_subcommand_from {}", command.words[i]);
  if (command.commands.empty()) return out;
  std::string names;
  for (const CommandDescription& next : command.commands) names += " " + next.name;
  return out + (out.empty() ? "not" : "; and not") + " __fish_seen_subcommand_from" + names;
}

void add_to_fish(std::string& out, const std::string& program, const CommandDescription& command) {
  const std::string when = fish_condition(command);
  const std::string begin =
      "complete -c " + program + (when.empty() ? "" : " -n " + fish_quoted(when));
  for (const ArgumentDescription& option : command.options) {
    std::string line = begin;
    for (const std::string& name : option.names)
      line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    // One that need not be there fish cannot complete.
    if (!option.value_is_optional) line += fish_values(option);
    out += line + " -d " + fish_quoted(brief(option.about)) + "\n";
    if (!option.value_is_optional) continue;
    for (const std::string& choice : option.choices)
      out += begin + " -a " + fish_quoted(option.names.back() + "=" + choice) + "\n";
  }
  for (const CommandDescription& next : command.commands)
    out += begin + " -a " + next.name + " -d " + fish_quoted(brief(next.about)) + "\n";
  for (const ArgumentDescription& positional : command.positionals) {
    if (positional.kind == ValueKind::kFile) {
      out += begin + " -F\n";
      break;
    }
    if (positional.kind != ValueKind::kOther) out += begin + fish_values(positional) + "\n";
  }
  for (const CommandDescription& next : command.commands) add_to_fish(out, program, next);
}

}  // namespace

std::string fish_completion(const CommandDescription& program) {
  std::string out = fmt::format("# fish completion for {0}\ncomplete -c {0} -f\n", program.name);
  add_to_fish(out, program.name, program);
  return out;
}

}  // namespace nvdla::program
