#pragma once

#include <stdexcept>
#include <string>

namespace proca {

/// What the library throws. The message is one sentence for a person: it names
/// the value, the rule it breaks and where it came from
/// (`office/amazon.txt:17: label 31 is not below the number of classes, 31`).
///
/// `Error` itself means that something failed although the input was fine (a
/// full disk, a lost device); the program then exits with 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The user gave something that cannot be used: a missing path, a broken image,
/// a list file with a bad line, an unwritable output. The program exits with 2.
class InputError : public Error {
 public:
  using Error::Error;
};

/// An option is unknown, malformed or out of its range. The program exits with 2.
class InvalidOption : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace proca
