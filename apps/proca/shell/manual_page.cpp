#include "shell/manual_page.h"

#include <fmt/format.h>

#include "proca/core/version.h"

namespace proca::app {
namespace {

constexpr std::string_view kIntroduction = R"(.SH NAME
proca \- keep an image classifier working while its world changes
.SH SYNOPSIS
.B proca
.I command
.RI [ option " ...]"
.br
.B proca
.I command
.B \-\-help
.SH DESCRIPTION
A classifier is trained once on labelled source images. It is then adapted, time step by time
step, to unlabelled target images that look different and of which each step shows only some of
the classes, while the images of earlier steps are gone. A state directory carries everything
from one command to the next.
.PP
Results go to standard output, log and progress to standard error.
)";

constexpr std::string_view kClosing = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
failed although the input was fine
.TP
.B 2
bad usage or bad input
.TP
.B 130
stopped by Ctrl\-C or SIGTERM; the same command goes on
.SH ENVIRONMENT
.TP
.B NO_COLOR
if it is set and not empty, nothing is coloured
.TP
.BR OMP_WAIT_POLICY ", " GOMP_SPINCOUNT
how threads wait for each other; without them the wait is kept short
.SH FILES
A state directory holds
.IR state.json ", " model.safetensors ", " steps/
and more; the documentation describes each byte.
.SH EXAMPLES
.EX
proca pretrain \-\-source catalogue/ \-\-weights resnet50.pth \-\-out state/
proca adapt \-\-state state/ \-\-target monday/
proca adapt \-\-state state/ \-\-target tuesday/
proca undo \-\-state state/
proca watch \-\-state state/ \-\-inbox inbox/ \-\-done done/
proca predict new/ \-\-state state/ \-\-out predictions.csv
.EE
)";

// As text of the page: a hyphen is a minus sign, a backslash itself, and a line that begins
// with a dot no request.
std::string escape_for_roff(const std::string& text) {
  std::string result;
  if (!text.empty() && (text.front() == '.' || text.front() == '\'')) result = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string entry(const Option& option) {
  std::string tag;
  switch (option.shape) {
    case Option::Shape::kPositional:
      tag = fmt::format(".I {} \\fR...", escape_for_roff(option.name));
      break;
    case Option::Shape::kSwitch:
      tag = fmt::format(".B \\-\\-{}", escape_for_roff(option.name));
      break;
    default:
      tag = fmt::format(".BI \\-\\-{} \" {}\"", escape_for_roff(option.name),
                        escape_for_roff(option.type));
      break;
  }
  return fmt::format(".TP\n{}\n{}\n", tag, escape_for_roff(description(option)));
}

std::string section(const DeclaredCommand& command) {
  auto text = fmt::format(".SS proca {}\n{}\n", escape_for_roff(command.name),
                          escape_for_roff(command.summary));
  std::string table;
  for (const auto& option : command.options->options()) {
    if (option.section != table) {
      table = option.section;
      if (!table.empty()) {
        text += fmt::format(".PP\nIn a configuration file these are keys of [{}]:\n",
                            escape_for_roff(table));
      }
    }
    text += entry(option);
  }
  return text;
}

}  // namespace

std::string manual_page(const std::vector<DeclaredCommand>& commands) {
  auto text = fmt::format(".TH PROCA 1 \"\" \"proca {}\" \"User Commands\"\n{}.SH COMMANDS\n",
                          library_version(), kIntroduction);
  for (const auto& command : commands) text += section(command);
  text += ".SH COMMON OPTIONS\nEvery command has these.\n";
  for (const auto& option : commands.front().common_options->options()) text += entry(option);
  text += ".TP\n.BR \\-h \", \" \\-\\-help\nprint the options of the command and stop\n";
  return text + std::string(kClosing);
}

}  // namespace proca::app
