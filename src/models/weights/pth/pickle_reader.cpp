#include "models/weights/pth/pickle_reader.h"

#include <algorithm>

#include "models/weights/pth/pickle_globals.h"
#include "models/weights/pth/pickle_interpreter.h"

namespace proca::models {
namespace {

constexpr uint8_t kMaxProtocol = 5;

}  // namespace

PickleDocument read_pickle(std::span<const uint8_t> bytes, const std::string& origin) {
  return PickleInterpreter(bytes, origin).run();
}

PickleDocument PickleInterpreter::run() {
  constexpr uint8_t kStop = '.';
  for (;;) {
    const auto opcode = reader_.take_number<uint8_t>();
    if (opcode == kStop) break;
    run_opcode(opcode);
  }
  document_.root = pop();
  if (!stack_.empty() || !marks_.empty()) reader_.fail("it stops in the middle of an object");
  document_.size = reader_.position();
  return std::move(document_);
}

// The opcodes, each with its name in Python's pickletools: first plain values, then what the
// pickle refers to, then collections.
void PickleInterpreter::run_opcode(uint8_t opcode) {
  const auto push_sized = [&](PickleKind kind, uint64_t size) {
    push_text(kind, reader_.take_text(size));
  };
  switch (opcode) {
    case 'N':  // NONE
      return push_value({});
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      return push_value({PickleKind::kBool, opcode == 0x88 ? 1 : 0, {}, {}});
    case 'J':  // BININT
      return push_integer(static_cast<int32_t>(reader_.take_number<uint32_t>()));
    case 'K':  // BININT1
      return push_integer(reader_.take_number<uint8_t>());
    case 'M':  // BININT2
      return push_integer(reader_.take_number<uint16_t>());
    case 0x8a:  // LONG1
      return push_long(reader_.take_text(reader_.take_number<uint8_t>()));
    case 0x8b:  // LONG4
      return push_long(reader_.take_text(reader_.take_number<uint32_t>()));
    case 'G':  // BINFLOAT
      reader_.take(sizeof(double));
      return push_value({PickleKind::kFloat, 0, {}, {}});
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
      return push_sized(PickleKind::kText, reader_.take_number<uint8_t>());
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
      return push_sized(PickleKind::kText, reader_.take_number<uint32_t>());
    case 0x8d:  // BINUNICODE8
      return push_sized(PickleKind::kText, reader_.take_number<uint64_t>());
    case 'C':  // SHORT_BINBYTES
      return push_sized(PickleKind::kBytes, reader_.take_number<uint8_t>());
    case 'B':  // BINBYTES
      return push_sized(PickleKind::kBytes, reader_.take_number<uint32_t>());
    case 0x8e:  // BINBYTES8
      return push_sized(PickleKind::kBytes, reader_.take_number<uint64_t>());
    default:
      return run_reference(opcode);
  }
}

void PickleInterpreter::run_reference(uint8_t opcode) {
  switch (opcode) {
    case 0x80:  // PROTO
      if (const auto protocol = reader_.take_number<uint8_t>(); protocol > kMaxProtocol) {
        reader_.fail(fmt::format("pickle protocol {} is not known", protocol));
      }
      return;
    case 0x95:  // FRAME: a hint for buffering
      if (reader_.take_number<uint64_t>() > reader_.remaining()) {
        reader_.fail("a frame is longer than the file");
      }
      return;
    case 'c': {  // GLOBAL
      const auto module = reader_.take_line();
      return push_global(module, reader_.take_line());
    }
    case 0x93: {  // STACK_GLOBAL
      const auto names = pop_items(2);
      for (const auto name : names) {
        if (value(name).kind != PickleKind::kText) reader_.fail("a global's name is not a text");
      }
      return push_global(value(names[0]).text, value(names[1]).text);
    }
    case 'h':  // BINGET
      return recall(reader_.take_number<uint8_t>());
    case 'j':  // LONG_BINGET
      return recall(reader_.take_number<uint32_t>());
    case 'q':  // BINPUT
      return remember(reader_.take_number<uint8_t>());
    case 'r':  // LONG_BINPUT
      return remember(reader_.take_number<uint32_t>());
    case 0x94:  // MEMOIZE
      return remember(num_remembered_);
    case 'R':  // REDUCE
      return reduce();
    case 'Q':  // BINPERSID
      return load_persistent();
    default:
      return run_collection(opcode);
  }
}

void PickleInterpreter::run_collection(uint8_t opcode) {
  switch (opcode) {
    case '(':  // MARK
      if (marks_.size() >= kMaxPickleStack) fail_at("it needs too deep a stack", kMaxPickleStack);
      return marks_.push_back(stack_.size());
    case '0':  // POP
      pop();
      return;
    case '1':  // POP_MARK
      pop_to_mark();
      return;
    case ')':  // EMPTY_TUPLE
      return push_items(PickleKind::kTuple, {});
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      return push_items(PickleKind::kTuple, pop_items(opcode - 0x84));
    case 't':  // TUPLE
      return push_items(PickleKind::kTuple, pop_to_mark());
    case ']':  // EMPTY_LIST
      return push_items(PickleKind::kList, {});
    case '}':  // EMPTY_DICT
      return push_items(PickleKind::kDict, {});
    case 'a':    // APPEND
    case 'e': {  // APPENDS
      const auto items = opcode == 'a' ? pop_items(1) : pop_to_mark();
      if (value(top()).kind != PickleKind::kList) reader_.fail("it appends to what is not a list");
      return append(value(top()), items);
    }
    case 's':    // SETITEM
    case 'u': {  // SETITEMS
      const auto items = opcode == 's' ? pop_items(2) : pop_to_mark();
      if (value(top()).kind != PickleKind::kDict || items.size() % 2 != 0) {
        reader_.fail("it sets items of what is not a dict, or keys without values");
      }
      return append(value(top()), items);
    }
    case 'b':  // BUILD: an OrderedDict's attributes, PyTorch's version numbers, not used here
      pop();
      if (value(top()).kind != PickleKind::kDict) {
        reader_.fail(fmt::format("it sets the state of {}; only tensors are read",
                                 describe(value(top()).kind)));
      }
      return;
    default:
      reader_.fail(fmt::format("it uses opcode 0x{:02x}, which no file of tensors needs", opcode));
  }
}

void PickleInterpreter::push_long(std::string_view bytes) {
  if (bytes.size() > sizeof(int64_t)) return push_text(PickleKind::kBigInteger, bytes);
  uint64_t bits = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bits |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  if (negative && bytes.size() < sizeof(int64_t)) bits |= ~uint64_t{0} << (8 * bytes.size());
  push_integer(static_cast<int64_t>(bits));
}

void PickleInterpreter::push_global(std::string_view module, std::string_view name) {
  const auto* known = std::find_if(
      std::begin(kPickleGlobals), std::end(kPickleGlobals),
      [&](const PickleGlobal& global) { return global.module == module && global.name == name; });
  if (known == std::end(kPickleGlobals)) {
    reader_.fail(
        fmt::format("it asks for {}; only tensors are read",
                    printable(fmt::format("{}.{}", module.substr(0, 80), name.substr(0, 80)))));
  }
  push_value({PickleKind::kGlobal, known - std::begin(kPickleGlobals), {}, {}});
}

}  // namespace proca::models
