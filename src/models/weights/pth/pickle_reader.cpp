#include "models/weights/pth/pickle_reader.h"

#include <bit>

#include "models/weights/pth/pickle_globals.h"
#include "models/weights/pth/pickle_interpreter.h"

namespace proca::models {
namespace {

// The opcodes of Python's pickletools that torch.save needs, by its names.
enum class Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kNone = 'N',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kBinFloat = 'G',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kEmptyTuple = ')',
  kTuple = 't',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kBuild = 'b',
  kGlobal = 'c',
  kReduce = 'R',
  kBinPersId = 'Q',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

constexpr uint8_t kMaxProtocol = 5;

}  // namespace

PickleDocument read_pickle(std::span<const uint8_t> bytes, const std::string& origin) {
  return PickleInterpreter(bytes, origin).run();
}

PickleDocument PickleInterpreter::run() {
  for (;;) {
    const auto opcode = reader_.take_number<uint8_t>();
    if (opcode == static_cast<uint8_t>(Opcode::kStop)) break;
    step(opcode);
  }
  document_.root = pop();
  if (!stack_.empty() || !marks_.empty()) reader_.fail("it stops in the middle of an object");
  document_.size = reader_.position();
  return std::move(document_);
}

void PickleInterpreter::step(uint8_t byte) {
  using enum Opcode;
  const auto opcode = static_cast<Opcode>(byte);
  switch (opcode) {
    case kProto:
      if (const auto protocol = reader_.take_number<uint8_t>(); protocol > kMaxProtocol) {
        reader_.fail(fmt::format("pickle protocol {} is not known", protocol));
      }
      return;
    case kFrame:  // Only a hint for buffering: the opcodes inside read on as if it were not there.
      if (reader_.take_number<uint64_t>() > reader_.remaining()) {
        reader_.fail("a frame is longer than the file");
      }
      return;
    case kNone:
      return push_value({});
    case kNewTrue:
    case kNewFalse:
      return push_value({PickleKind::kBool, opcode == kNewTrue ? 1 : 0, 0, {}, {}});
    case kBinInt:
      return push_integer(static_cast<int32_t>(reader_.take_number<uint32_t>()));
    case kBinInt1:
      return push_integer(reader_.take_number<uint8_t>());
    case kBinInt2:
      return push_integer(reader_.take_number<uint16_t>());
    case kLong1:
      return push_long(reader_.take_text(reader_.take_number<uint8_t>()));
    case kLong4:
      return push_long(reader_.take_text(reader_.take_number<uint32_t>()));
    case kBinFloat:  // The one big-endian number of the format.
      return push_value({PickleKind::kFloat,
                         0,
                         std::bit_cast<double>(__builtin_bswap64(reader_.take_number<uint64_t>())),
                         {},
                         {}});
    case kShortBinUnicode:
    case kShortBinString:
      return push_text(PickleKind::kText, reader_.take_text(reader_.take_number<uint8_t>()));
    case kBinUnicode:
    case kBinString:
      return push_text(PickleKind::kText, reader_.take_text(reader_.take_number<uint32_t>()));
    case kBinUnicode8:
      return push_text(PickleKind::kText, reader_.take_text(reader_.take_number<uint64_t>()));
    case kShortBinBytes:
      return push_text(PickleKind::kBytes, reader_.take_text(reader_.take_number<uint8_t>()));
    case kBinBytes:
      return push_text(PickleKind::kBytes, reader_.take_text(reader_.take_number<uint32_t>()));
    case kBinBytes8:
      return push_text(PickleKind::kBytes, reader_.take_text(reader_.take_number<uint64_t>()));
    case kGlobal: {
      const auto module = reader_.take_line();
      return push_global(module, reader_.take_line());
    }
    case kStackGlobal: {
      const auto names = pop_items(2);
      for (const auto name : names) {
        if (value(name).kind != PickleKind::kText) reader_.fail("a global's name is not a text");
      }
      return push_global(value(names[0]).text, value(names[1]).text);
    }
    case kBinGet:
      return recall(reader_.take_number<uint8_t>());
    case kLongBinGet:
      return recall(reader_.take_number<uint32_t>());
    case kBinPut:
      return remember(reader_.take_number<uint8_t>());
    case kLongBinPut:
      return remember(reader_.take_number<uint32_t>());
    case kMemoize:
      return remember(num_remembered_);
    case kReduce:
      return reduce();
    case kBinPersId:
      return load_persistent();
    default:
      return build_collection(byte);
  }
}

void PickleInterpreter::build_collection(uint8_t byte) {
  using enum Opcode;
  const auto opcode = static_cast<Opcode>(byte);
  switch (opcode) {
    case kMark:
      if (marks_.size() >= kMaxPickleStack) fail_at("it needs too deep a stack", kMaxPickleStack);
      marks_.push_back(stack_.size());
      return;
    case kPop:
      pop();
      return;
    case kPopMark:
      pop_to_mark();
      return;
    case kEmptyTuple:
      return push_items(PickleKind::kTuple, {});
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return push_items(PickleKind::kTuple, pop_items(opcode == kTuple1   ? 1
                                                      : opcode == kTuple2 ? 2
                                                                          : 3));
    case kTuple:
      return push_items(PickleKind::kTuple, pop_to_mark());
    case kEmptyList:
      return push_items(PickleKind::kList, {});
    case kEmptyDict:
      return push_items(PickleKind::kDict, {});
    case kAppend:
    case kAppends: {
      const auto items = opcode == kAppend ? pop_items(1) : pop_to_mark();
      if (value(top()).kind != PickleKind::kList) reader_.fail("it appends to what is not a list");
      return append(value(top()), items);
    }
    case kSetItem:
    case kSetItems: {
      const auto items = opcode == kSetItem ? pop_items(2) : pop_to_mark();
      if (value(top()).kind != PickleKind::kDict || items.size() % 2 != 0) {
        reader_.fail("it sets items of what is not a dict, or keys without values");
      }
      return append(value(top()), items);
    }
    case kBuild:  // The attributes of an OrderedDict: PyTorch's version numbers, unused here.
      pop();
      if (value(top()).kind != PickleKind::kDict) {
        reader_.fail(fmt::format("it sets the state of {}; only tensors are read",
                                 describe(value(top()).kind)));
      }
      return;
    default:
      reader_.fail(fmt::format("it uses opcode 0x{:02x}, which no file of tensors needs", byte));
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
  const auto number = find_pickle_global(module, name);
  if (!number) {
    reader_.fail(
        fmt::format("it asks for {}; only tensors are read",
                    printable(fmt::format("{}.{}", module.substr(0, 80), name.substr(0, 80)))));
  }
  push_value({PickleKind::kGlobal, *number, 0, {}, {}});
}

}  // namespace proca::models
