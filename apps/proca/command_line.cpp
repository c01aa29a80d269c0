#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "command.h"
#include "commands/commands.h"
#include "core/nearest_word.h"
#include "declared_command.h"
#include "proca/config/toml.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "proca/core/interrupt.h"
#include "proca/core/log.h"
#include "version.h"

namespace proca::app {
namespace {

// A command as CLI11 sees it. CLI11 splits the command line into options and
// their texts and writes the help; what a text means is for OptionSet alone.
struct ParsedCommand {
  DeclaredCommand declared;
  CLI::App* app = nullptr;
  std::vector<std::pair<const Option*, CLI::Option*>> parsers;
};

CLI::Option* add_parser(CLI::App& app, const Option& option) {
  const auto accept = [](const CLI::results_t&) { return true; };
  const auto flag = "--" + option.name;
  switch (option.shape) {
    case Option::Shape::kSwitch:
      return app.add_flag_function(
          flag, [](int64_t) {}, description(option));
    case Option::Shape::kValue:
      return app.add_option(flag, accept, description(option))->type_name(option.type)->expected(1);
    case Option::Shape::kList:
      return app.add_option(flag, accept, description(option))
          ->type_name(option.type)
          ->expected(1, 1 << 20)
          ->delimiter(',');
    case Option::Shape::kPositional:
      return app.add_option(option.name, accept, description(option))
          ->type_name(option.type)
          ->expected(1, 1 << 20)
          ->allow_extra_args(true);
  }
  return nullptr;
}

void add_parsers(ParsedCommand& parsed) {
  for (const auto& option : parsed.declared.options->options()) {
    auto* parser = add_parser(*parsed.app, option);
    parser->group(option.section.empty() ? "Options" : "Options of [" + option.section + "]");
    parsed.parsers.emplace_back(&option, parser);
  }
  for (const auto& option : parsed.declared.common_options->options()) {
    auto* parser = add_parser(*parsed.app, option);
    parser->group("Common options");
    parsed.parsers.emplace_back(&option, parser);
  }
  parsed.app->set_help_flag("--help,-h", "Print this help and stop")->group("Common options");
  // Left-over words are judged here, to say what was meant.
  parsed.app->allow_extras();
}

std::vector<std::string> known_flags(const ParsedCommand& parsed) {
  std::vector<std::string> known;
  for (const auto& [option, parser] : parsed.parsers) {
    if (option->shape != Option::Shape::kPositional) known.push_back("--" + option->name);
  }
  return known;
}

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(sub->get_name());
  }
  const auto nearest = nearest_word(word, known);
  return fmt::format("unknown command \"{}\"{}", word,
                     nearest.empty() ? "; see proca --help" : "; did you mean " + nearest + "?");
}

void refuse_leftovers(const ParsedCommand& parsed) {
  const auto rest = parsed.app->remaining();
  if (rest.empty()) return;
  const auto unknown = std::find_if(rest.begin(), rest.end(),
                                    [](const auto& word) { return word.starts_with("-"); });
  const bool is_group = !parsed.app->get_subcommands([](CLI::App*) { return true; }).empty();
  if (is_group && !rest.front().starts_with("-")) {
    throw InvalidOption(unknown_command(*parsed.app, rest.front()));
  }
  if (unknown == rest.end()) {
    throw InvalidOption(
        fmt::format("proca {}: unexpected argument \"{}\"", parsed.declared.name, rest.front()));
  }
  const auto flag = unknown->substr(0, unknown->find('='));
  const auto nearest = nearest_word(flag, known_flags(parsed));
  throw InvalidOption(fmt::format("proca {}: unknown flag {}{}", parsed.declared.name, flag,
                                  nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

// `bench --threads 1 load`: the command that runs has not seen the flag.
void refuse_early_flags(const ParsedCommand& parsed) {
  for (const auto& [option, parser] : parsed.parsers) {
    if (parser->count() == 0) continue;
    throw InvalidOption(fmt::format("--{}: must come after the whole command, proca {} {}",
                                    option->name, parsed.declared.name,
                                    parsed.app->get_subcommands().front()->get_name()));
  }
}

void apply_config_file(ParsedCommand& parsed) {
  const auto& path = parsed.declared.common->config;
  for (const auto& item : parse_toml(read_text_file(path), path)) {
    const auto where = fmt::format("{}:{}", path, item.line);
    const auto entry =
        std::find_if(parsed.parsers.begin(), parsed.parsers.end(), [&](const auto& parser) {
          return parser.first->name == item.key && parser.first->name != "config" &&
                 parser.first->name != "print-config";
        });
    if (entry == parsed.parsers.end() || entry->first->section != item.section) {
      std::vector<std::string> known;
      for (const auto& option : parsed.declared.options->options()) {
        if (option.section == item.section) known.push_back(option.name);
      }
      const auto nearest = nearest_word(item.key, known);
      throw InvalidOption(fmt::format(
          "{}: unknown key \"{}{}{}\"{}", where, item.section, item.section.empty() ? "" : ".",
          item.key, nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
    }
    if (entry->second->count() > 0) continue;  // The flag wins.
    try {
      entry->first->choose(item.values);
    } catch (const InvalidOption& error) {
      throw InvalidOption(fmt::format("{}: {}", where, error.what()));
    }
  }
}

void assign_flags(const ParsedCommand& parsed) {
  for (const auto& [option, parser] : parsed.parsers) {
    if (parser->count() == 0) continue;
    if (option->shape == Option::Shape::kValue && parser->count() > 1) {
      throw InvalidOption(fmt::format("--{}: given more than once", option->name));
    }
    option->choose(parser->results());
  }
}

void check_required(const ParsedCommand& parsed) {
  for (const auto& [option, parser] : parsed.parsers) {
    const auto value = option->toml();
    if (!option->required || (value != "\"\"" && value != "[]")) continue;
    const bool positional = option->shape == Option::Shape::kPositional;
    throw InvalidOption(fmt::format("proca {}: {}{} is missing (see proca {} --help)",
                                    parsed.declared.name, positional ? "" : "--", option->name,
                                    parsed.declared.name));
  }
}

void execute(ParsedCommand& parsed) {
  refuse_leftovers(parsed);
  assign_flags(parsed);
  if (!parsed.declared.common->config.empty()) apply_config_file(parsed);
  set_log_level(parsed.declared.common->quiet ? LogLevel::kWarning
                                              : parsed.declared.common->log_level);
  if (parsed.declared.common->print_config) {
    std::cout << parsed.declared.options->to_toml();
    return;
  }
  check_required(parsed);
  parsed.declared.run();
}

// The command of `app` with that name, or null.
CLI::App* find_app(CLI::App& app, const std::string& name) {
  for (auto* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

// "data verify" is the command `verify` of the command group `data`. A group may be a
// command itself, declared before those in it: `bench`.
CLI::App* add_app(CLI::App& root, const DeclaredCommand& command) {
  const auto space = command.name.find(' ');
  if (space == std::string::npos) return root.add_subcommand(command.name, command.summary);
  const auto group = command.name.substr(0, space);
  auto* parent = find_app(root, group);
  if (parent == nullptr) {
    parent = root.add_subcommand(group, group_summary(group));
    parent->require_subcommand(1);
  }
  return parent->add_subcommand(command.name.substr(space + 1), command.summary);
}

int parse_and_execute(int argc, char** argv, const std::vector<Command>& commands) {
  CLI::App root("Keeps an image classifier working while its world changes.", "proca");
  root.set_version_flag("--version", [] { return version_text(); });
  root.require_subcommand(1);
  std::vector<std::unique_ptr<ParsedCommand>> parsed;
  for (auto& command : declare(commands)) {
    parsed.push_back(std::make_unique<ParsedCommand>());
    parsed.back()->app = add_app(root, command);
    parsed.back()->declared = std::move(command);
    add_parsers(*parsed.back());
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return root.exit(success);
  } catch (const CLI::ParseError& error) {
    // The first word that CLI11 could not place, if that is what went wrong.
    CLI::App* app = &root;
    int word = 1;
    while (word < argc && find_app(*app, argv[word]) != nullptr) {
      app = find_app(*app, argv[word++]);
    }
    const bool is_group = !app->get_subcommands([](CLI::App*) { return true; }).empty();
    if (is_group && word < argc && argv[word][0] != '-') {
      throw InvalidOption(unknown_command(*app, argv[word]));
    }
    throw InvalidOption(error.what());
  }
  for (auto& candidate : parsed) {
    if (!candidate->app->parsed()) continue;
    if (candidate->app->get_subcommands().empty()) {
      execute(*candidate);
    } else {
      refuse_leftovers(*candidate);
      refuse_early_flags(*candidate);
    }
  }
  return 0;
}

}  // namespace

int run_command_line(int argc, char** argv, const std::vector<Command>& commands) {
  try {
    const int code = parse_and_execute(argc, argv, with_descriptions(commands));
    if (!std::cout.flush()) throw Error("standard output: writing failed");
    return code;
  } catch (const Interrupted& error) {
    log_error(error.what());
    return 130;
  } catch (const InputError& error) {
    log_error(error.what());
    return 2;
  } catch (const std::exception& error) {
    log_error(error.what());
    return 1;
  }
}

}  // namespace proca::app
