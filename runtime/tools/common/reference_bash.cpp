// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/reference.hpp"

namespace nvdla::program {
namespace {

// Parts of the script that have a line for each command or option.
struct BashTables {
  std::string commands;  // patterns of all paths that are commands
  std::string values;    // what follows an option
  std::string options;   // words that begin with a dash
  std::string words;     // others
};

std::string bash_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// Returns shell code that completes an argument: it sets words, or gives instructions to readline.
std::string bash_values(const ArgumentDescription& argument) {
  switch (argument.kind) {
    case ValueKind::kChoice:
      return fmt::format("words='{}'", bash_words(argument.choices));
    case ValueKind::kDevice:
      return fmt::format("words=\"{} $(compgen -G '/dev/accel/accel*')\"",
                         bash_words(device_names()));
    case ValueKind::kFile:
      return "return";
    case ValueKind::kFolder:
      return "compopt -o dirnames +o default; return";
    case ValueKind::kNone:
    case ValueKind::kOther:
      break;
  }
  return "compopt +o default; return";
}

void add_values(BashTables& out, const std::string& path, const ArgumentDescription& option) {
  if (option.kind == ValueKind::kNone) return;
  std::string pattern;
  const auto add = [&](const std::string& name) {
    pattern += fmt::format("{}'{} {}'", pattern.empty() ? "" : " | ", path, name);
  };
  for (const std::string& name : option.names) {
    if (!option.value_is_optional) add(name);
    if (name.starts_with("--")) add(name + "=");
  }
  out.values += fmt::format("    {}) {} ;;\n", pattern, bash_values(option));
}

void add_to_bash(BashTables& out, const CommandDescription& command) {
  const std::string path = path_of(command);
  std::vector<std::string> options, commands;
  for (const ArgumentDescription& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
    add_values(out, path, option);
  }
  for (const CommandDescription& next : command.commands) {
    commands.push_back(next.name);
    out.commands += fmt::format("{}'{}'", out.commands.empty() ? "" : " | ", path_of(next));
    add_to_bash(out, next);
  }
  out.options += fmt::format("    '{}') words='{}' ;;\n", path, bash_words(options));
  if (!commands.empty()) {
    out.words += fmt::format("    '{}') words='{}' ;;\n", path, bash_words(commands));
  } else if (!command.positionals.empty()) {
    out.words += fmt::format("    '{}') {} ;;\n", path, bash_values(command.positionals.front()));
  }
}

}  // namespace

// The line is split at blanks only: readline's words end at '=' and ':', too, which options and
// devices have. What is completed begins where readline's word does.
std::string bash_completion(const CommandDescription& program) {
  BashTables tables;
  add_to_bash(tables, program);
  std::string path;
  if (!tables.commands.empty()) {
    path = fmt::format(R"(    for word in "${{typed[@]:1:${{#typed[@]}}-2}}"; do
        case "$path $word" in
        {}) path="$path $word" ;;
        esac
    done
)",
                       tables.commands);
  }
  return fmt::format(R"(# bash completion for {0}
_{1}() {{
    local line=${{COMP_LINE:0:COMP_POINT}} path='{0}' words='' previous='' current word
    local -a typed
    read -ra typed <<< "$line"
    [[ $line != *[[:space:]] ]] || typed+=('')
    current=${{typed[-1]}}
    [[ ${{#typed[@]}} -lt 3 ]] || previous=${{typed[-2]}}
    if [[ $current == --*=* ]]; then
        previous=${{current%%=*}}=
        current=${{current#*=}}
    fi
{2}    case "$path $previous" in
{3}    esac
    [[ -n $words ]] || case "$current" in
    -*) case "$path" in
{4}    esac ;;
    *) case "$path" in
{5}    esac ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    [[ $COMP_WORDBREAKS != *:* ]] || COMPREPLY=("${{COMPREPLY[@]#"${{current%"${{current##*:}}"}}"}}")
}}
complete -o default -F _{1} {0}
)",
                     program.name, shell_name(program.name), path, tables.values, tables.options,
                     tables.words);
}

}  // namespace nvdla::program
