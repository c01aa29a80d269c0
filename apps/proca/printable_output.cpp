#include "printable_output.h"

#include <iostream>

#include <unistd.h>

#include "core/terminal.h"

namespace proca::app {

PrintableOutput::PrintableOutput() {
  if (isatty(STDOUT_FILENO) != 0) terminal_ = std::cout.rdbuf(this);
}

PrintableOutput::~PrintableOutput() {
  if (terminal_ != nullptr) std::cout.rdbuf(terminal_);
}

std::streambuf::int_type PrintableOutput::overflow(int_type byte) {
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  const char text = traits_type::to_char_type(byte);
  return xsputn(&text, 1) == 1 ? byte : traits_type::eof();
}

// A character of several bytes comes in one piece: names are written as strings.
std::streamsize PrintableOutput::xsputn(const char* text, std::streamsize size) {
  const auto shown = printable({text, static_cast<size_t>(size)});
  const auto length = static_cast<std::streamsize>(shown.size());
  return terminal_->sputn(shown.data(), length) == length ? size : 0;
}

int PrintableOutput::sync() { return terminal_->pubsync(); }

}  // namespace proca::app
