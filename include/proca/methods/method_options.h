#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proca/config/options.h"
#include "proca/methods/method.h"

namespace proca::methods {

/// `--method NAME` and the options of all methods, as a command offers them: each option
/// once, however many methods have it. Values go to the chosen method.
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
  explicit MethodOptions(std::string name = "proca");

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

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
  // What the user gave, by option. Shared with the closures in the OptionSet.
  std::shared_ptr<std::map<std::string, std::vector<std::string>>> given_;
};

}  // namespace proca::methods
