// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "tools/common/reference.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {
namespace {

// Text as it is, in the middle of a line.
std::string man_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A line of its own: a dot at its beginning would be a request.
std::string man_line(std::string_view text) {
  return (text.starts_with('.') ? "\\&" : "") + man_escaped(text) + "\n";
}

std::string man_bold(std::string_view text) { return "\\fB" + man_escaped(text) + "\\fR"; }
std::string man_italic(std::string_view text) { return "\\fI" + man_escaped(text) + "\\fR"; }
// Choices are words to type, other values stand for something.
std::string man_value(const ArgumentDescription& argument) {
  if (argument.kind != ValueKind::kChoice) return man_italic(argument.value);
  std::string out;
  for (const std::string& choice : argument.choices)
    out += (out.empty() ? "" : "|") + man_bold(choice);
  return out;
}

// Paragraphs; indented lines, as of examples and lists, stay lines.
std::string man_paragraphs(const std::string& text) {
  std::string out;
  bool as_is = false, begins = false;
  std::istringstream lines(text);
  for (std::string next; std::getline(lines, next);) {
    const bool indented = next.starts_with("  ");
    if (as_is && !indented) out += ".fi\n.RE\n";
    if (!as_is && indented) out += ".RS 4\n.nf\n";
    as_is = indented;
    if (next.empty()) {
      begins = true;
      continue;
    }
    if (begins && !indented) out += ".PP\n";
    begins = false;
    out += man_line(indented ? next.substr(2) : next);
  }
  return out + (as_is ? ".fi\n.RE\n" : "");
}

std::string man_sentence(const std::string& text) {
  return man_line(text.ends_with('.') ? text : text + ".");
}

// One item of a list.
std::string man_item(const std::string& head, const ArgumentDescription& argument) {
  std::string out =
      ".TP\n" + head + (argument.repeated ? " ...\n" : "\n") + man_sentence(argument.about);
  if (!argument.initial.empty()) out += "Without it: " + man_bold(argument.initial) + ".\n";
  return out;
}

std::string man_option(const ArgumentDescription& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + man_bold(name);
  if (option.value_is_optional && !option.value.empty())
    head += "[=" + man_value(option) + "]";
  else if (!option.value.empty())
    head += " " + man_value(option);
  return man_item(head, option);
}

// Groups come after what is in none.
std::string man_items(const CommandDescription& command) {
  std::string out;
  std::vector<std::string> groups = {""};
  for (const ArgumentDescription& argument : command.positionals)
    out += man_item(man_italic(argument.positional), argument);
  for (const ArgumentDescription& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  for (const std::string& group : groups) {
    if (!group.empty()) out += ".PP\n" + man_line(group + ":");
    for (const ArgumentDescription& option : command.options)
      if (option.group == group) out += man_option(option);
  }
  return out;
}

std::string man_synopsis(const CommandDescription& command) {
  std::string out = man_bold(path_of(command)) + " [" + man_italic("OPTIONS") + "]";
  for (const ArgumentDescription& argument : command.positionals) {
    std::string name = man_italic(argument.positional) + (argument.repeated ? "..." : "");
    out += " " + (argument.required ? name : "[" + name + "]");
  }
  return out + (command.commands.empty() ? "" : " " + man_italic("COMMAND")) + "\n";
}

std::string man_commands(const CommandDescription& program) {
  std::string out;
  for (const CommandDescription& command : program.commands) {
    out += ".SS " + man_escaped(path_of(command)) + "\n" + man_synopsis(command) + ".PP\n" +
           man_sentence(command.about) + man_items(command);
    if (!command.notes.empty()) out += ".PP\n" + man_paragraphs(command.notes);
    out += man_commands(command);
  }
  return out;
}

std::string man_date() {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch != nullptr ? std::atoll(epoch) : std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace

std::string man_page(const CommandDescription& program, const std::string& version) {
  std::string title = program.name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string about = program.about;
  if (about.ends_with('.')) about.pop_back();
  std::string out = fmt::format(".TH {} 1 {} \"{} {}\" \"User Commands\"\n", man_escaped(title),
                                man_date(), man_escaped(program.name), man_escaped(version));
  out += ".SH NAME\n" + man_escaped(program.name) + " \\- " + man_line(about);
  out += ".SH SYNOPSIS\n" + man_synopsis(program);
  out += ".SH OPTIONS\n" + man_items(program);
  if (!program.commands.empty()) out += ".SH COMMANDS\n" + man_commands(program);
  if (!program.notes.empty()) out += ".SH NOTES\n" + man_paragraphs(program.notes);
  std::string statuses = kExitStatusHelp;
  statuses.erase(0, statuses.find(": ") + 2);
  return out + ".SH EXIT STATUS\n" + man_paragraphs(statuses);
}

}  // namespace nvdla::program
