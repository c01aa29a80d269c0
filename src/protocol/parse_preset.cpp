#include <sstream>

#include <fmt/format.h>

#include "core/nearest_word.h"
#include "protocol/preset.h"
#include "protocol/toml_reader.h"

namespace proca::protocol {
namespace {

class PresetParser : private TomlReader {
 public:
  PresetParser(const std::string& name, const std::string& origin) : TomlReader(origin) {
    preset_.name = name;
    preset_.orders[""];
  }

  Preset run(std::string_view toml, const std::string& origin) {
    for (const auto& entry : parse_toml(toml, origin)) read(entry);
    // After all tables: [sources] and [targets] win even if they stand before [domains].
    preset_.sources.insert(domains_.begin(), domains_.end());
    preset_.targets.insert(domains_.begin(), domains_.end());
    for (const auto& entry : method_tables_) check_method_table(entry);
    const auto& order = preset_.orders[""];
    require(order.classes_per_step > 0, "classes-per-step is missing at the top of the file");
    require(order.num_steps > 0, "steps is missing at the top of the file");
    return std::move(preset_);
  }

 private:
  void read(const TomlEntry& entry) {
    const auto& section = entry.section;
    if (section.empty()) {
      if (entry.key == "summary") {
        preset_.summary = single(entry);
      } else {
        read_order(entry, preset_.orders[""]);
      }
    } else if (section == "domains") {
      domains_[entry.key] = several(entry);
    } else if (section == "sources") {
      preset_.sources[entry.key] = several(entry);
    } else if (section == "targets") {
      preset_.targets[entry.key] = several(entry);
    } else if (section == "task" || section.starts_with("task.")) {
      read_order(entry, preset_.orders[task_key(entry)]);
    } else if (section == "pretrain" || section == "adapt" || section == "method" ||
               section.starts_with("method.") || section.starts_with("pretrain.")) {
      preset_.settings[section][entry.key] = entry.values;
    } else if (section == "for" || section.starts_with("for.")) {
      preset_.settings[section][entry.key] = entry.values;
      method_tables_.push_back(entry);
    } else {
      refuse_unknown(
          entry, fmt::format("table [{}]", section), section,
          {"domains", "sources", "targets", "task", "pretrain", "adapt", "method", "for"});
    }
  }

  void read_order(const TomlEntry& entry, Preset::Order& order) const {
    if (entry.key == "class-order") {
      order.classes = several(entry);
    } else if (entry.key == "classes-per-step") {
      order.classes_per_step = count(entry);
    } else if (entry.key == "steps") {
      order.num_steps = count(entry);
    } else if (entry.key == "s1-classes") {
      order.s1_classes = count(entry);
    } else {
      Words known = {"class-order", "classes-per-step", "steps", "s1-classes"};
      if (entry.section.empty()) known.push_back("summary");
      refuse_unknown(entry, fmt::format("key \"{}\"", entry.key), entry.key, known);
    }
  }

  // "task.amazon.dslr" -> "amazon->dslr"
  std::string task_key(const TomlEntry& entry) const {
    constexpr size_t kBegin = std::string_view("task.").size();
    const auto& section = entry.section;
    const auto dot = section.find('.', kBegin);
    if (section.size() <= kBegin || dot == std::string::npos || section.rfind('.') != dot) {
      refuse(entry,
             fmt::format("the table of a task is called [task.source.target], not [{}]", section));
    }
    return section.substr(kBegin, dot - kBegin) + "->" + section.substr(dot + 1);
  }

  // "for.pada", "for.pada.amazon", "for.pada.*.dslr", "for.pada.amazon.dslr". The table of a
  // misspelt domain would never be used. The names of methods are checked by `experiments`.
  void check_method_table(const TomlEntry& entry) const {
    const auto words = split(entry.section);
    const bool for_any_task =
        (words.size() == 3 && words[2] == "*") || (words.size() == 4 && words[3] == "*");
    if (words.size() < 2 || words.size() > 4 || words[1].empty() || for_any_task) {
      refuse(entry, fmt::format("the table of a method is called [for.method], "
                                "[for.method.source], [for.method.source.target] or "
                                "[for.method.\"*\".target], not [{}]",
                                entry.section));
    }
    if (words.size() > 2 && words[2] != "*") check_domain(entry, preset_.sources, words[2]);
    if (words.size() > 3) check_domain(entry, preset_.targets, words[3]);
  }

  void check_domain(const TomlEntry& entry, const std::map<std::string, Words>& known,
                    const std::string& domain) const {
    if (known.contains(domain)) return;
    Words names;
    for (const auto& [name, ignored] : known) names.push_back(name);
    const auto hint = did_you_mean(domain, names, "");
    refuse(entry, fmt::format("[{}]: no table names a domain \"{}\"{}{}", entry.section, domain,
                              hint.empty() ? "" : "; ", hint));
  }

  static Words split(const std::string& section) {
    Words words;
    std::istringstream parts(section);
    for (std::string word; std::getline(parts, word, '.');) words.push_back(word);
    return words;
  }

  int64_t count(const TomlEntry& entry) const { return number(entry, single(entry), 1); }

  Preset preset_;
  std::map<std::string, Words> domains_;
  std::vector<TomlEntry> method_tables_;  // checked when all domains are known
};

}  // namespace

Preset parse_preset(std::string_view toml, const std::string& name, const std::string& origin) {
  return PresetParser(name, origin).run(toml, origin);
}

}  // namespace proca::protocol
