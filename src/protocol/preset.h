#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proca/data/image_source.h"
#include "protocol/class_schedule.h"

namespace proca::protocol {

/// A benchmark: which domains there are, which classes arrive at which step, and
/// the options its runs start from. It comes from a short TOML file; those of the
/// folder `presets/` are part of the program.
///
/// ```
/// summary = "Office-31 in three steps of ten classes"
/// classes-per-step = 10
/// steps = 3
/// class-order = ["back_pack", "bike"]  # names or labels; left out: by label
/// s1-classes = 10                      # left out: those of the first step
///
/// [domains]       # where the images of a domain may be under --data-root; the
/// amazon = ["amazon/images", "amazon"] # first that exists is taken
///
/// [sources]       # the same, where a domain is another set as source
/// [targets]       # or as target
///
/// [task.imagenet.caltech]              # what differs for one source and target:
/// class-order = [1, 9, 24]             # class-order, classes-per-step, steps, s1-classes
///
/// [pretrain]      # options of source training, as in proca pretrain,
/// [pretrain.imagenet]                  # and what differs for one source
/// [adapt]         # options of adaptation, as in proca adapt
/// [method]        # options of the method,
/// [method.paper]  # and those that only hold for --variant paper
/// [for.pada]      # options of adaptation or of the method, for one method only;
/// [for.pada.imagenet]                  # for one source; [for.pada."*".caltech] for
/// [for.pada.imagenet.caltech]          # one target; and for one task
/// ```
///
/// A domain that no table names is looked for under its own name (`NAME`, `NAME.txt`,
/// `NAME.pack`). `docs/presets.md` describes the file in full.
struct Preset {
  using Settings = std::map<std::string, std::vector<std::string>>;

  std::string name;
  std::string summary;
  std::map<std::string, std::vector<std::string>> sources;  ///< candidates by domain
  std::map<std::string, std::vector<std::string>> targets;
  /// By `source->target`; the empty key is for all others.
  struct Order {
    std::vector<std::string> classes;  ///< empty: by label
    int64_t classes_per_step = 0;      ///< 0: not set here
    int64_t num_steps = 0;
    int64_t s1_classes = 0;
  };
  std::map<std::string, Order> orders;
  /// `pretrain`, `adapt`, `method`, `method.paper`, `for.pada.*.caltech`, ... -> option
  /// -> values
  std::map<std::string, Settings> settings;
};

/// The presets of the program, by name.
const std::vector<Preset>& all_presets();

/// A preset of the program by name, or the user's own by the path of a `.toml` file.
/// Throws `InvalidOption` for an unknown name, with the nearest known one, and
/// `InputError` with `file:line` for a bad file.
Preset find_preset(const std::string& name_or_file);

/// Parses a preset; `origin` names it in messages.
Preset parse_preset(std::string_view toml, const std::string& name, const std::string& origin);

/// The `[for.METHOD]` tables of a method and a task, in ascending priority: for any task, for the
/// source, for the target, for both. Tables of NAME also apply to NAME-prototypes, the same method
/// with prototypes added; its own tables win.
std::vector<std::string> method_tables(const Preset& preset, const std::string& method,
                                       const std::string& source, const std::string& target);

/// Where the images of a task are.
struct TaskPaths {
  std::filesystem::path source;
  std::filesystem::path target;
};

/// Finds source and target under `data_root`. Names of domains are case-sensitive.
/// Throws `InputError` with all places searched when none exists, and `InvalidOption`, with the
/// nearest known name, for a domain that neither the preset has nor `data_root` under its own name.
TaskPaths find_task(const Preset& preset, const std::filesystem::path& data_root,
                    const std::string& source, const std::string& target);

/// The same for the target alone.
std::filesystem::path find_target(const Preset& preset, const std::filesystem::path& data_root,
                                  const std::string& target);
/// Whether the images of the source are there.
bool has_source(const Preset& preset, const std::filesystem::path& data_root,
                const std::string& source);

/// The schedule of a task in terms of the source's labels. Class names in the
/// order are looked up among the source's, numbers are labels (unless a class folder
/// has that number as its name). When the source is a list whose classes have no
/// names, a list of names stands for labels 0, 1, ...: the authors' lists are
/// numbered in the order of the preset.
///
/// `classes_per_step` other than 0 replaces the preset's; there are then as many steps as the class
/// order has classes for. The preset's `s1-classes` stay.
///
/// Throws `InputError` for a class that the source does not have, a class that
/// occurs twice, or steps that ask for more classes than there are.
ClassSchedule make_schedule(const Preset& preset, const std::string& source,
                            const std::string& target, const data::ImageListing& source_images,
                            int64_t classes_per_step = 0);

}  // namespace proca::protocol
