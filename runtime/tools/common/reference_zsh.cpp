// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/reference.hpp"

namespace nvdla::program {
namespace {

// In single quotes, with backslashes before what _arguments takes for its own.
std::string zsh_escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != special.npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_words(const std::vector<std::string>& all) {
  return zsh_escaped(fmt::format("({})", fmt::join(all, " ")), ":");
}

// ":message:action" of an argument.
std::string zsh_action(const ArgumentDescription& argument, const std::string& name) {
  const std::string message = ":" + zsh_escaped(name, ":\\") + ":";
  switch (argument.kind) {
    case ValueKind::kChoice:
      return message + zsh_words(argument.choices);
    case ValueKind::kDevice:
      return message + zsh_words(device_names());
    case ValueKind::kFile:
      return message + "_files";
    case ValueKind::kFolder:
      return message + "_files -/";
    case ValueKind::kNone:
    case ValueKind::kOther:
      break;
  }
  return message;
}

// A specification for each name: "(-d --device)--device=[about]:NAME:(auto kernel)".
std::string zsh_option(const ArgumentDescription& option) {
  const std::string first =
      option.repeated ? "*" : fmt::format("({})", fmt::join(option.names, " "));
  std::string out;
  for (const std::string& name : option.names) {
    std::string spec = first + name;
    if (option.kind != ValueKind::kNone) {
      const char* const with_value = name.starts_with("--") ? "=" : "+";
      spec += option.value_is_optional ? "=-" : with_value;
    }
    spec += "[" + zsh_escaped(brief(option.about), "[]\\") + "]";
    if (option.kind != ValueKind::kNone)
      spec += (option.value_is_optional ? ":" : "") + zsh_action(option, option.value);
    out += fmt::format(" \\\n        '{}'", spec);
  }
  return out;
}

std::string zsh_commands(const CommandDescription& command) {
  std::string out;
  for (const CommandDescription& next : command.commands)
    out += fmt::format("{}{}\\:\"{}\"", out.empty() ? "" : " ", next.name,
                       zsh_escaped(brief(next.about), ":\"\\()"));
  return out;
}

// A function for each command, those of its own commands first.
std::string zsh_functions(const CommandDescription& command) {
  std::string out, specs, cases;
  for (const CommandDescription& next : command.commands) {
    out += zsh_functions(next);
    cases += fmt::format("    {}) _{} ;;\n", next.name, shell_name(path_of(next)));
  }
  for (const ArgumentDescription& option : command.options) specs += zsh_option(option);
  if (command.commands.empty()) {
    for (const ArgumentDescription& positional : command.positionals) {
      specs += fmt::format(" \\\n        '{}{}'",
                           positional.repeated   ? "*"
                           : positional.required ? ""
                                                 : ":",
                           zsh_action(positional, positional.positional));
    }
    return out + fmt::format("_{}() {{\n    _arguments -s{}\n}}\n\n", shell_name(path_of(command)),
                             specs);
  }
  return out + fmt::format(R"(_{0}() {{
    local curcontext="$curcontext" state
    local -a line
    local -A opt_args
    _arguments -C -s{1} \
        '1:command:(({2}))' \
        '*::argument:->arguments' && return
    [[ $state == arguments ]] || return 1
    case $line[1] in
{3}    *) return 1 ;;
    esac
}}

)",
                           shell_name(path_of(command)), specs, zsh_commands(command), cases);
}

}  // namespace

std::string zsh_completion(const CommandDescription& program) {
  return fmt::format(R"(#compdef {0}
# zsh completion for {0}

{1}if [[ $funcstack[1] == _{2} ]]; then
    _{2} "$@"
else
    compdef _{2} {0}
fi
)",
                     program.name, zsh_functions(program), shell_name(program.name));
}

}  // namespace nvdla::program
