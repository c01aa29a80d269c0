#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proca/config/options.h"
#include "proca/methods/method.h"

namespace proca::methods {

/// `--method NAME` and the options of all methods, as a command offers them: each option
/// once, however many methods have it. Values go to the chosen method. `--method A,B` names
/// several, of which a command chooses one after the other.
///
/// Example:
/// ```
/// MethodOptions method;
/// OptionSet options;
/// method.bind(options);
/// options.assign("method", {"proca"});
/// options.assign("alpha", {"0.2"});
/// const auto proca = method.resolve().build(network);
/// ```
class MethodOptions {
 public:
  explicit MethodOptions(std::string name = "census");

  /// Declares `--method` and, in the section `[method]`, every method's options.
  void bind(OptionSet& options);

  /// A chosen method with its options set.
  struct Resolved {
    const MethodSpec* spec = nullptr;
    std::string toml;  ///< its options, as TOML
    MethodFactory build;
    std::shared_ptr<OptionSet> options;
  };
  /// Sets the chosen method's options: first `defaults` (option -> values), where those of
  /// other methods are ignored, then what the user gave.
  /// Throws `InvalidOption` for an unknown method and for an option that the chosen
  /// method does not have, `InputError` for a default that no method has.
  Resolved resolve(const std::map<std::string, std::vector<std::string>>& defaults = {}) const;

  /// The chosen method; of several the first one.
  const std::string& name() const { return names_.front(); }
  const std::vector<std::string>& names() const { return names_; }
  void set_name(std::string name) {
    names_ = {std::move(name)};
    was_chosen_ = true;
  }
  /// Takes the method that a state has been adapted with, unless the user chose one. Empty: none.
  void follow(const std::string& name) {
    if (!was_chosen_ && !name.empty()) names_ = {name};
  }
  /// Goes on with one of the names. Options that only the others have are left out from now on.
  void choose_one(const std::string& name);

  /// A sentence for each option that the user gave and that has no effect in `resolved`.
  std::vector<std::string> idle_options(const Resolved& resolved) const;

 private:
  bool is_for_another(const std::string& option) const;

  std::vector<std::string> names_;
  bool was_chosen_ = false;
  std::vector<std::string> beside_;  // the other methods that options may be for
  // What the user gave, by option. Shared with the closures in the OptionSet.
  std::shared_ptr<std::map<std::string, std::vector<std::string>>> given_;
};

}  // namespace proca::methods
