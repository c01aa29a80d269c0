// Pickles that no Python program writes, in the container that checks them least.

#include <gtest/gtest.h>
#include <torch/types.h>

#include "models/weight_bytes.h"

namespace proca::models {
namespace {

using test::Pickle;
using test::read_bytes;
using test::refusal;
using test::stream_file;

const std::vector<float> kStorage = {0, 1, 2, 3, 4, 5};

/// A file with one tensor, `x`, that looks into a storage of six elements.
std::string with_tensor(int64_t offset, const std::vector<int64_t>& size,
                        const std::vector<int64_t>& stride, int64_t claimed = 6) {
  const auto pickle =
      Pickle().raw("}").text("x").tensor(claimed, offset, size, stride).raw("s").done();
  return stream_file(pickle, {kStorage});
}

TEST(PthStreamTest, ViewsMayLieAnywhereInsideTheirStorage) {
  EXPECT_TRUE(torch::equal(read_bytes(with_tensor(2, {2, 2}, {1, 2})).tensors.at("x"),
                           torch::tensor({{2.0F, 4.0F}, {3.0F, 5.0F}})));
  EXPECT_EQ(read_bytes(with_tensor(5, {}, {})).tensors.at("x").item<float>(), 5);
  EXPECT_EQ(read_bytes(with_tensor(6, {0}, {1})).tensors.at("x").numel(), 0);
  EXPECT_TRUE(torch::equal(read_bytes(with_tensor(1, {3}, {0})).tensors.at("x"), torch::ones({3})));
}

TEST(PthStreamTest, RefusesViewsThatLeaveTheirStorage) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const std::vector<std::string> files = {
      with_tensor(0, {7}, {1}),
      with_tensor(1, {6}, {1}),
      with_tensor(0, {4}, {2}),
      with_tensor(6, {}, {}),
      with_tensor(-1, {1}, {1}),
      with_tensor(7, {0}, {1}),
      with_tensor(kHuge, {1}, {1}),
      with_tensor(std::numeric_limits<int64_t>::max(), {1}, {1}),
      with_tensor(5, {2}, {-1}),
      with_tensor(0, {-1}, {1}),
      with_tensor(0, {2}, {kHuge}),
      with_tensor(0, {3, 3}, {kHuge, kHuge}),
      with_tensor(0, {kHuge, 4}, {0, 0}),
      with_tensor(0, {kHuge, kHuge, 0}, {1, 1, 1}),
      with_tensor(0, {2, 3}, {1}),
      with_tensor(0, std::vector<int64_t>(17, 1), std::vector<int64_t>(17, 1)),
  };
  for (size_t i = 0; i < files.size(); ++i) EXPECT_NE(refusal(files[i]), "") << "case " << i;
}

// Without this, 300 bytes could ask for an exabyte at the first `contiguous()`.
TEST(PthStreamTest, RefusesViewsThatRepeatElementsBeyondTheirStorage) {
  EXPECT_NE(refusal(with_tensor(0, {int64_t{1} << 60}, {0})).find("repeats"), std::string::npos);
}

TEST(PthStreamTest, RefusesStoragesThatAreNotAsDescribed) {
  EXPECT_NE(refusal(with_tensor(0, {1}, {1}, 5)).find("6 elements, not the 5"), std::string::npos);
  EXPECT_NE(refusal(with_tensor(0, {1}, {1}, -1)).find("-1 elements"), std::string::npos);
  EXPECT_NE(refusal(with_tensor(0, {1}, {1}, int64_t{1} << 62)), "");
  const auto tensor = Pickle().raw("}").text("x").tensor(6, 0, {6}, {1}).raw("s").done();
  EXPECT_NE(refusal(stream_file(tensor, {})).find("missing"), std::string::npos);
  EXPECT_NE(refusal(stream_file(tensor, {kStorage, kStorage})).find("no tensor"),
            std::string::npos);
  EXPECT_NE(refusal(stream_file(tensor, {kStorage}) + "x").find("1 bytes follow"),
            std::string::npos);
}

TEST(PthStreamTest, RefusesAStorageDescribedInTwoWays) {
  const auto pickle = Pickle()
                          .raw("}")
                          .text("x")
                          .tensor(6, 0, {6}, {1})
                          .raw("s")
                          .text("y")
                          .tensor(3, 0, {3}, {1})
                          .raw("s")
                          .done();
  EXPECT_NE(refusal(stream_file(pickle, {kStorage})).find("two ways"), std::string::npos);
}

TEST(PthStreamTest, RefusesBigEndianFiles) {
  const auto pickle = Pickle().raw("}").text("x").tensor(6, 0, {6}, {1}).raw("s").done();
  EXPECT_NE(refusal(stream_file(pickle, {kStorage}, "\x89")).find("big-endian"), std::string::npos);
  EXPECT_NE(refusal(stream_file(pickle, {kStorage}, "N")).find("byte order"), std::string::npos);
}

TEST(PthStreamTest, RefusesATensorNamedTwice) {
  const auto pickle = Pickle()
                          .raw("}")
                          .text("x")
                          .tensor(6, 0, {6}, {1})
                          .raw("s")
                          .text("x")
                          .tensor(6, 0, {3}, {1})
                          .raw("s")
                          .done();
  EXPECT_NE(refusal(stream_file(pickle, {kStorage})).find("appears twice"), std::string::npos);
}

TEST(PthStreamTest, ReadsTheOrderedDictOfPython2) {
  // OrderedDict([["x", tensor]]) with a byte string for the name.
  const auto pickle = Pickle()
                          .global("collections", "OrderedDict")
                          .raw("(](](U\1x")
                          .tensor(6, 0, {6}, {1})
                          .raw("eetR")
                          .done();
  EXPECT_EQ(read_bytes(stream_file(pickle, {kStorage})).tensors.at("x").numel(), 6);
}

TEST(PthStreamTest, ReadsTheTensorOfTheFirstVersions) {
  const auto pickle = Pickle()
                          .raw("}")
                          .text("x")
                          .global("torch._utils", "_rebuild_tensor")
                          .raw("(")
                          .storage("FloatStorage", "0", 6)
                          .raw("K\1")
                          .numbers({2})
                          .numbers({1})
                          .raw("tRs")
                          .done();
  EXPECT_TRUE(torch::equal(read_bytes(stream_file(pickle, {kStorage})).tensors.at("x"),
                           torch::tensor({1.0F, 2.0F})));
}

// A list that contains itself and a tuple nested 100,000 deep are harmless:
// nothing here follows references recursively.
TEST(PthStreamTest, IgnoresCyclesAndDeepNestingBesideTheWeights) {
  Pickle pickle;
  pickle.raw("}").text("state_dict").raw("}").text("x").tensor(6, 0, {6}, {1}).raw("ss");
  pickle.text("cycle").raw("]q\1h\1as");
  pickle.text("deep").raw("N").raw(std::string(100'000, '\x85')).raw("s");
  EXPECT_EQ(read_bytes(stream_file(pickle.done(), {kStorage})).tensors.size(), 1u);
}

struct BadPickle {
  const char* what;
  std::string body;
  const char* message;
};

std::vector<BadPickle> bad_pickles() {
  const std::string system =
      Pickle().global("posix", "system").text("touch hacked").raw("\x85R").done();
  return {
      {"a call of os.system", system, "asks for \"posix.system\"; only tensors are read"},
      {"the same on the stack", Pickle().text("posix").text("system").raw("\x93").done(),
       "posix.system"},
      {"eval", Pickle().global("builtins", "eval").done(), "builtins.eval"},
      {"an attribute of torch", Pickle().global("torch", "load").done(), "torch.load"},
      {"a dotted name", Pickle().global("torch", "_utils._rebuild_tensor_v2").done(), "asks for"},
      {"a name on the stack that is no text", Pickle().raw("K\1K\1\x93").done(), "not a text"},
      {"an escape for the terminal", Pickle().global("\x1b[2J", "x").done(), "\\x1b[2J.x"},
      {"INST", Pickle().raw("(iposix\nsystem\n").done(), "opcode 0x69"},
      {"OBJ", Pickle().raw("(o").done(), "opcode 0x6f"},
      {"NEWOBJ", Pickle().raw("))\x81").done(), "opcode 0x81"},
      {"EXT1", Pickle().raw("\x82\1").done(), "opcode 0x82"},
      {"a text reference", Pickle().raw("P0\n").done(), "opcode 0x50"},
      {"a call of a number", Pickle().raw("K\1)R").done(), "calls an int"},
      {"a call of a storage type", Pickle().global("torch", "FloatStorage").raw(")R").done(),
       "calls torch.FloatStorage"},
      {"arguments that are no tuple",
       Pickle().global("collections", "OrderedDict").raw("]R").done(), "only tensors"},
      {"state of a list", Pickle().raw("]}b").done(), "sets the state of a list"},
      {"a module in place of a storage", Pickle().raw("(").text("module").raw("NNNNtQ").done(),
       "not a storage"},
      {"a storage that is a number", Pickle().raw("K\1Q").done(), "not a storage"},
      {"a storage of no type",
       Pickle().raw("(").text("storage").raw("N").text("0").text("cpu").raw("K\1NtQ").done(),
       "no storage type"},
      {"a storage of complex numbers", Pickle().global("torch", "ComplexFloatStorage").done(),
       "torch.ComplexFloatStorage"},
      {"a tensor without a storage",
       Pickle().global("torch._utils", "_rebuild_tensor_v2").raw("(NNNNNNtR").done(),
       "not made of"},
      {"a tensor without arguments",
       Pickle().global("torch._utils", "_rebuild_tensor_v2").raw(")R").done(), "not made of"},
      {"a parameter without a tensor",
       Pickle().global("torch._utils", "_rebuild_parameter").raw("(NNNtR").done(), "not made of"},
      {"items of a list", Pickle().raw("]K\1K\2s").done(), "not a dict"},
      {"a key without a value", Pickle().raw("}(K\1u").done(), "keys without values"},
      {"items appended to a dict", Pickle().raw("}K\1a").done(), "not a list"},
      {"an empty stack", Pickle().raw("0").done(), "empty stack"},
      {"reaching below a mark", Pickle().raw("K\1(\x85").done(), "empty stack"},
      {"a tuple without a mark", Pickle().raw("t").done(), "never opened"},
      {"an unknown memory", Pickle().raw("h\5").done(), "never remembered"},
      {"a huge memory index", Pickle().raw("Nr\xff\xff\xff\xff").done(), "too many values"},
      {"two objects", Pickle().raw("NN").done(), "middle of an object"},
      {"a text longer than the file", Pickle().raw("X\xff\xff\xff\x7f").done(), "bytes are needed"},
      {"a text of 2^64 bytes", Pickle().raw("\x8d").raw(test::little(~uint64_t{0}, 8)).done(),
       "bytes are needed"},
      {"a frame longer than the file",
       Pickle().raw("\x95").raw(test::little(~uint64_t{0}, 8)).done(), "a frame"},
      {"protocol 9", Pickle().raw("\x80\x09").done(), "protocol 9"},
      {"a global that does not end",
       "\x80\x02"
       "cposix",
       "does not end"},
  };
}

TEST(PthStreamTest, RefusesEverythingThatIsNotATensor) {
  for (const auto& example : bad_pickles()) {
    // Some cases continue into the storages; they must only be refused.
    const auto message = refusal(stream_file(example.body, {}));
    EXPECT_NE(message.find(example.message), std::string::npos) << example.what << ": " << message;
  }
  EXPECT_FALSE(std::filesystem::exists("hacked"));
}

// Each of the 4-byte calls would copy the whole list again.
TEST(PthStreamTest, RefusesToGrowByCopying) {
  Pickle pickle;
  pickle.raw("](");
  for (int i = 0; i < 20'000; ++i) pickle.raw("NN\x86");
  pickle.raw("eq\1").global("collections", "OrderedDict").raw("q\2");
  for (int i = 0; i < 1000; ++i) pickle.raw("h\2h\1\x85R");
  EXPECT_NE(refusal(stream_file(pickle.done(), {})).find("too many items"), std::string::npos);
}

// A pickle whose object is `body`; read_pickle refuses it, or the file has no weights.
std::string pickle_refusal(const std::string& body) {
  return refusal(stream_file(Pickle().raw(body).done(), {}));
}

TEST(PthStreamTest, RefusesMoreValuesThanAllowed) {
  const auto numbers = [](int64_t count) {  // each put and taken away again, but for the last
    std::string body;
    for (int64_t i = 1; i < count; ++i) body += "N0";
    return body + "N";
  };
  const int64_t limit = 4'000'000;
  EXPECT_NE(pickle_refusal(numbers(limit)).find("holds None"), std::string::npos);
  EXPECT_NE(pickle_refusal(numbers(limit + 1)).find("too many values (4000000 are allowed)"),
            std::string::npos);
}

TEST(PthStreamTest, RefusesADeeperStackThanAllowed) {
  const auto marks = [](size_t count) { return std::string(count, '('); };
  EXPECT_NE(pickle_refusal(marks(4'000'000)).find("takes from an empty stack"), std::string::npos);
  EXPECT_NE(pickle_refusal(marks(4'000'001)).find("too deep a stack (4000000 are allowed)"),
            std::string::npos);
}

// A pickle of nine bytes has not remembered four million values.
TEST(PthStreamTest, TakesNoMemoryForValuesThatCannotBeThere) {
  const std::string_view remembered_as_8("Nr\x08\0\0\0", 6);  // behind the protocol's two bytes
  const std::string_view remembered_as_7("Nr\x07\0\0\0", 6);
  EXPECT_NE(pickle_refusal(std::string(remembered_as_7)).find("holds None"), std::string::npos);
  EXPECT_NE(pickle_refusal(std::string(remembered_as_8)).find("remembers too many values"),
            std::string::npos);
}

}  // namespace
}  // namespace proca::models
