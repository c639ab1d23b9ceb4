// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "nvdla/types/device_info.hpp"
#include "tools/common/reference.hpp"
#include "tools/files/status.hpp"

namespace nvdla::program {

namespace {

// Returns the choices in a type as CLI11 prints it: "TEXT:{auto,rtl}", "NAME:value in
// {works->0,fails->1} OR {0,1}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  std::vector<std::string> choices;
  if (open == type.npos || close == type.npos) return choices;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string choice; std::getline(list, choice, ',');)
    choices.push_back(choice.substr(0, choice.find("->")));
  return choices;
}

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

ValueKind kind_of(const CLI::Option& option, const std::string& type, bool has_choices) {
  if (has_choices) return ValueKind::kChoice;
  if (option.check_lname("device")) return ValueKind::kDevice;
  if (is_one_of(type, {"FILE", "PATH", "[NAME=]FILE", "[NAME=]FILE|FOLDER"}))
    return ValueKind::kFile;
  if (is_one_of(type, {"FOLDER", "DIR"})) return ValueKind::kFolder;
  return option.get_positional() && type == "TEXT" ? ValueKind::kFile : ValueKind::kOther;
}

ArgumentDescription describe(const CLI::Option& option) {
  ArgumentDescription out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_positional()) out.positional = option.get_name(true);
  out.about = option.get_description();
  if (option.get_group() != "Options") out.group = option.get_group();
  out.required = option.get_required();
  out.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  out.initial = option.get_default_str();

  const std::string types = option.get_type_name();
  out.choices = choices_of(types);
  out.value_is_optional = option.get_items_expected_min() == 0;
  if (out.value_is_optional && out.choices.empty()) return out;
  const std::string type = types.substr(0, types.find(':'));
  out.kind = kind_of(option, type, !out.choices.empty());
  out.value = out.choices.empty() ? type : fmt::format("{}", fmt::join(out.choices, "|"));
  return out;
}

// Exit statuses are the same everywhere and have a place of their own.
std::string notes_of(const CLI::App& app) {
  std::string text = app.get_footer();
  if (const std::size_t at = text.find(kExitStatusHelp); at != text.npos) text.erase(at);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

CommandDescription describe(const CLI::App& app, std::vector<std::string> words) {
  CommandDescription out;
  out.name = app.get_name();
  out.words = std::move(words);
  out.words.push_back(out.name);
  out.about = app.get_description();
  out.notes = notes_of(app);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const ArgumentDescription argument = describe(*option);
    if (!argument.names.empty()) out.options.push_back(argument);
    if (!argument.positional.empty()) out.positionals.push_back(argument);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) out.commands.push_back(describe(*command, out.words));
  }
  return out;
}

}  // namespace

CommandDescription describe(const CLI::App& app) { return describe(app, {}); }

std::string path_of(const CommandDescription& command) {
  return fmt::format("{}", fmt::join(command.words, " "));
}

std::string shell_name(std::string path) {
  for (char& c : path)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return path;
}

std::string brief(const std::string& about) {
  std::size_t end = about.size();
  for (const char* mark : {"; ", ": ", ". "}) end = std::min(end, about.find(mark));
  return about.substr(0, end);
}

std::vector<std::string> device_names() {
  std::vector<std::string> names = {"auto", "kernel", "model"};
  for (std::size_t i = 0; i < configuration_count(); ++i)
    names.push_back(fmt::format("model:{}", configuration_name(i)));
  return names;
}

std::string reference(const CLI::App& app, const std::string& form, const std::string& version) {
  const CommandDescription program = describe(app);
  if (form == "man") return man_page(program, version);
  if (form == "bash") return bash_completion(program);
  if (form == "fish") return fish_completion(program);
  if (form == "zsh") return zsh_completion(program);
  throw UsageError(
      fmt::format("no reference is called '{}'; there are man, bash, fish, zsh", form));
}

}  // namespace nvdla::program
