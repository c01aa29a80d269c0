#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace proca::report {

/// One number as the paper prints it, misprints corrected where the right one is known.
struct PaperNumber {
  double value = 0;
  std::string note = {};  ///< what was corrected, or why it may be wrong; empty for most
  std::string text = {};  ///< instead of a value, for cells that are no figures
};

/// The numbers that the paper reports, by experiment, block, row and column, all as
/// `ComparisonTable` names them. They come from the CSV files of the folder `paper/`,
/// one per experiment, which are part of the program.
///
/// ```
/// # Lines that begin so are comments; the first other line is the header.
/// block,row,column,value,note
/// final,PADA,A->D,56.9,
/// A->D,SCD step 1,classes,[0-7 9 (12)],"a text in brackets is no number"
/// ```
class PaperNumbers {
 public:
  /// Throws `InputError` with `origin:line` for a line that is not of this form.
  static PaperNumbers parse(std::string_view csv, const std::string& origin);

  std::optional<PaperNumber> find(const std::string& block, const std::string& row,
                                  const std::string& column) const;
  bool empty() const { return numbers_.empty(); }

 private:
  std::map<std::string, PaperNumber> numbers_;
};

/// Those of one experiment of the program; empty if the paper has none.
const PaperNumbers& paper_numbers(const std::string& experiment);

}  // namespace proca::report
