#pragma once

#include <streambuf>

namespace proca::app {

/// While it lives, control characters that names of classes and files bring to standard output are
/// written out if that is a terminal (`printable`). Files and pipes get every byte as it is.
class PrintableOutput : private std::streambuf {
 public:
  PrintableOutput();
  ~PrintableOutput() override;
  PrintableOutput(const PrintableOutput&) = delete;
  PrintableOutput& operator=(const PrintableOutput&) = delete;

 private:
  int_type overflow(int_type byte) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

  std::streambuf* terminal_ = nullptr;  // null: standard output is not a terminal
};

}  // namespace proca::app
