#include "models/weights/safetensors.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/types.h>
#include <nlohmann/json.hpp>

#include "models/weight_bytes.h"
#include "models/weights/safetensors_header.h"
#include "proca/core/error.h"
#include "proca/core/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace proca::models {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;
using test::safetensors_file;
using test::TemporaryFolder;

const std::array<torch::Dtype, 10> kDtypes = {
    torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
    torch::kInt32,   torch::kInt16,   torch::kInt8,    torch::kUInt8,    torch::kBool};

/// Every dtype, a scalar, an empty tensor and views that are not contiguous.
Tensors examples() {
  Tensors tensors;
  const auto count = torch::arange(6).view({2, 3});
  for (const auto dtype : kDtypes) {
    tensors[std::string("of ") + torch::toString(dtype)] =
        dtype == torch::kBool ? count % 2 == 1 : count.to(dtype);
  }
  tensors["scalar"] = torch::tensor(2.5);
  tensors["empty"] = torch::empty({0, 3});
  tensors["transposed"] = count.to(torch::kFloat32).t();
  tensors["every second"] = torch::arange(10).slice(0, 0, 10, 2);
  tensors["expanded"] = torch::tensor({1.0, 2.0}).expand({3, 2});
  tensors["trained"] = torch::ones({2}).set_requires_grad(true);
  return tensors;
}

void expect_equal(const Tensors& actual, const Tensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(actual.contains(name)) << name;
    const auto& other = actual.at(name);
    EXPECT_EQ(other.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(other, tensor)) << name;
  }
}

TEST(SafetensorsTest, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> metadata = {
      {"format", "pt"}, {"", "empty key"}, {"quote\"and\\line\n", "\xc3\xa9"}};
  write_safetensors(folder / "a.safetensors", examples(), metadata);
  const auto file = read_safetensors(folder / "a.safetensors");
  expect_equal(file.tensors, examples());
  EXPECT_EQ(file.metadata, metadata);
  EXPECT_EQ(file.origin, (folder / "a.safetensors").string());
}

TEST(SafetensorsTest, TensorsAreWritableCopiesThatOutliveTheFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"x", torch::ones({3})}});
  auto file = read_safetensors(folder / "a");
  std::filesystem::remove(folder / "a");
  file.tensors.at("x").add_(1);
  EXPECT_TRUE(torch::equal(file.tensors.at("x"), torch::full({3}, 2.0)));
  EXPECT_FALSE(file.tensors.at("x").requires_grad());
}

TEST(SafetensorsTest, NothingAtAllIsAValidFile) {
  const auto bytes = test::safetensors_bytes({});
  EXPECT_EQ(bytes, safetensors_file("{}      ", ""));
  EXPECT_TRUE(decode_safetensors(bytes_of(bytes), "bytes").tensors.empty());
}

TEST(SafetensorsTest, BytesAreWhatTheFormatSays) {
  const auto bytes = test::safetensors_bytes({{"b", torch::tensor({1, 2}, torch::kUInt8)},
                                              {"a", torch::tensor({3}, torch::kUInt8)},
                                              {"c", torch::tensor({1.0F})}},
                                             {{"k", "v"}});
  const std::string header =
      R"({"__metadata__":{"k":"v"},"c":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},)"
      R"("b":{"dtype":"U8","shape":[2],"data_offsets":[5,7]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  const std::string data("\x00\x00\x80\x3f\x03\x01\x02", 7);
  EXPECT_EQ(bytes, safetensors_file(header + padding, data));
}

TEST(SafetensorsTest, EveryTensorIsAlignedToItsElements) {
  const auto bytes = test::safetensors_bytes(examples());
  const auto size = static_cast<size_t>(static_cast<uint8_t>(bytes[0])) |
                    static_cast<size_t>(static_cast<uint8_t>(bytes[1])) << 8;
  EXPECT_EQ(size % 8, 0u);
  const auto header = nlohmann::json::parse(bytes.substr(8, size));
  for (const auto& [name, tensor] : examples()) {
    const auto begin = header.at(name).at("data_offsets").at(0).get<int64_t>();
    EXPECT_EQ(begin % static_cast<int64_t>(tensor.element_size()), 0) << name;
  }
}

TEST(SafetensorsTest, PythonReadsItWithItsOwnModulesAlone) {
  if (std::system("python3 -c 'import json, struct' >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no python3";
  }
  const TemporaryFolder folder;
  write_safetensors(folder / "a.safetensors", examples(), {{"k", "v"}});
  const auto command = "python3 '" PROCA_TEST_DATA "/../read_safetensors.py' '" +
                       (folder / "a.safetensors").string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
    output += static_cast<char>(c);
  }
  const auto result = nlohmann::json::parse(output);
  EXPECT_EQ(result.at("metadata").at("k"), "v");
  EXPECT_EQ(result.at("tensors").size(), examples().size());
  for (const auto& [name, tensor] : examples()) {
    const auto& entry = result.at("tensors").at(name);
    EXPECT_EQ(entry.at("shape"), nlohmann::json(tensor.sizes().vec())) << name;
    const auto expected = tensor.detach().to(torch::kFloat64).contiguous().flatten();
    ASSERT_EQ(static_cast<int64_t>(entry.at("values").size()), tensor.numel()) << name;
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      const auto& value = entry.at("values").at(static_cast<size_t>(i));
      EXPECT_EQ(value.is_boolean() ? value.get<bool>() : value.get<double>(),
                expected[i].item<double>())
          << name << " at " << i;
    }
  }
}

TEST(SafetensorsTest, AFailedWriteLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_safetensors(folder / "a", {{"x", torch::ones({3})}});
  EXPECT_THROW(write_safetensors(folder / "a", {{"x", torch::Tensor()}}), InputError);
  expect_equal(read_safetensors(folder / "a").tensors, {{"x", torch::ones({3})}});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(SafetensorsTest, RefusesToWriteWhatTheFormatCannotHold) {
  const auto refused = [](const Tensors& tensors,
                          const std::map<std::string, std::string>& metadata = {}) {
    EXPECT_THROW(test::safetensors_bytes(tensors, metadata), InputError);
  };
  refused({{"x", torch::Tensor()}});
  refused({{"x", torch::ones({2}, torch::kComplexFloat)}});
  refused({{"x", torch::eye(2).to_sparse()}});
  refused({{"x", torch::quantize_per_tensor(torch::ones({2}), 1.0, 0, torch::kQInt8)}});
  refused({{"x", torch::ones(std::vector<int64_t>(17, 1))}});
  refused({{"__metadata__", torch::ones({2})}});
  refused({{"\xff", torch::ones({2})}});
  refused({{"x", torch::ones({2})}}, {{"k", "\xff"}});
}

TEST(SafetensorsTest, RefusesAPlaceThatCannotBeWritten) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_safetensors(folder / "missing" / "a", {{"x", torch::ones({3})}}), InputError);
  EXPECT_THROW(write_safetensors(folder.path(), {{"x", torch::ones({3})}}), InputError);
  EXPECT_THROW(read_safetensors(folder / "missing"), InputError);
}

struct HeaderCase {
  const char* what;
  std::string header;
  int64_t data_size;
  const char* message;  ///< a part of the refusal; empty where the file is fine
};

/// An entry with the given parts.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" +
         offsets + "}";
}
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format("{{{}}}", entry("x", dtype, shape, offsets));
}

std::vector<HeaderCase> size_cases() {
  const auto two = [](const std::string& first, const std::string& second) {
    return "{" + entry("x", "U8", "[4]", first) + "," + entry("y", "U8", "[4]", second) + "}";
  };
  return {
      {"one tensor", one("F32", "[2]", "[0,8]"), 8, ""},
      {"white space everywhere",
       " {\n \"x\" : {\"dtype\":\"U8\",\"shape\":[ ],\"data_offsets\":[0,1]} } ", 1,
       "does not begin with {"},
      {"padding", one("F32", "[2]", "[0,8]") + "     ", 8, ""},
      {"a scalar", one("F64", "[]", "[0,8]"), 8, ""},
      {"an empty tensor", one("F32", "[0,5]", "[0,0]"), 0, ""},
      {"order other than by offset", two("[4,8]", "[0,4]"), 8, ""},
      {"16 dimensions", one("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, ""},
      {"17 dimensions", one("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1,
       "more than 16"},
      {"an overlap", two("[0,4]", "[2,6]"), 6, "the one before it ends at 4"},
      {"the same bytes twice", two("[0,4]", "[0,4]"), 4, "the one before it ends at 4"},
      {"a gap", two("[0,4]", "[5,9]"), 9, "fills the gap"},
      {"a gap at the start", one("U8", "[4]", "[1,5]"), 5, "fills the gap"},
      {"bytes at the end", one("U8", "[4]", "[0,4]"), 5, "4 bytes, but 5 follow"},
      {"missing bytes", one("U8", "[4]", "[0,4]"), 3, "cut off"},
      {"end before begin", one("U8", "[4]", "[4,0]"), 4, "before it begins"},
      {"a negative offset", one("U8", "[4]", "[-4,0]"), 4, "negative"},
      {"a negative dimension", one("U8", "[-4]", "[0,4]"), 4, "negative"},
      {"a fraction", one("U8", "[4.0]", "[0,4]"), 4, "not a whole number"},
      {"a number beyond 63 bits", one("U8", "[9223372036854775808]", "[0,4]"), 4, "too large"},
      {"a number beyond 64 bits", one("U8", "[99999999999999999999]", "[0,4]"), 4, "whole number"},
      {"a product that overflows", one("U8", "[4294967296,4294967296]", "[0,0]"), 0, "too large"},
      {"an empty product that overflows", one("U8", "[4294967296,4294967296,0]", "[0,0]"), 0,
       "too large"},
      {"bytes that overflow", one("F64", "[2305843009213693952]", "[0,0]"), 0, "too large"},
      {"a huge shape", one("F32", "[1099511627776]", "[0,4398046511104]"), 8, "cut off"},
      {"a size other than the shape's", one("F32", "[3]", "[0,8]"), 8, "ask for 12"},
  };
}

std::vector<HeaderCase> structure_cases() {
  return {
      {"an unknown dtype", one("F31", "[2]", "[0,8]"), 8, "F31"},
      {"a dtype that is a number", R"({"x":{"dtype":4,"shape":[2],"data_offsets":[0,8]}})", 8,
       "a number"},
      {"one offset", one("F32", "[2]", "[0]"), 8, "two data_offsets"},
      {"three offsets", one("F32", "[2]", "[0,8,8]"), 8, "more than 2"},
      {"no dtype", R"({"x":{"shape":[2],"data_offsets":[0,8]}})", 8, "must have dtype"},
      {"no shape", R"({"x":{"dtype":"F32","data_offsets":[0,8]}})", 8, "must have dtype"},
      {"an unknown field", R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"z":1}})", 8,
       "unknown field"},
      {"a field twice", R"({"x":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})", 8,
       "twice"},
      {"a name twice",
       "{" + entry("x", "U8", "[4]", "[0,4]") + "," + entry("x", "U8", "[4]", "[4,8]") + "}", 8,
       "\"x\" appears twice"},
      {"metadata", R"({"__metadata__":{"a":"b"}})", 0, ""},
      {"a key of the metadata twice", R"({"__metadata__":{"a":"b","a":"c"}})", 0, "twice"},
      {"metadata twice", R"({"__metadata__":{},"__metadata__":{}})", 0, "twice"},
      {"metadata that is not text", R"({"__metadata__":{"a":1}})", 0, "a number"},
      {"metadata that is a text", R"({"__metadata__":"a"})", 0, "a text"},
      {"nested metadata", R"({"__metadata__":{"a":{}}})", 0, "an object"},
      {"an array of arrays", one("F32", "[[2]]", "[0,8]"), 8, "an array"},
      {"deep nesting", "{\"x\":" + std::string(100000, '['), 0, "an array"},
      {"null", R"({"x":null})", 0, "null"},
      {"true", R"({"x":true})", 0, "boolean"},
      {"an array at the top", "[]", 0, "does not begin with {"},
      {"no JSON", "{nonsense}", 0, "not valid JSON"},
      {"two objects", "{}{}", 0, "not valid JSON"},
      {"an open object", "{", 0, "not valid JSON"},
      {"a name that is not UTF-8", "{\"\xff\":{}}", 0, "not valid JSON"},
      {"nothing", "", 0, "does not begin with {"},
  };
}

TEST(SafetensorsTest, AcceptsAndRefusesHeaders) {
  auto cases = size_cases();
  const auto more = structure_cases();
  cases.insert(cases.end(), more.begin(), more.end());
  for (const auto& example : cases) {
    const auto bytes =
        safetensors_file(example.header, std::string(static_cast<size_t>(example.data_size), '\1'));
    std::string message;
    try {
      decode_safetensors(bytes_of(bytes), "f");
    } catch (const InputError& error) {
      message = error.what();
    }
    if (std::string_view(example.message).empty()) {
      EXPECT_EQ(message, "") << example.what;
    } else {
      EXPECT_TRUE(message.starts_with("f: ")) << example.what << ": " << message;
      EXPECT_NE(message.find(example.message), std::string::npos)
          << example.what << ": " << message;
    }
  }
}

TEST(SafetensorsTest, RefusesAHeaderThatDoesNotFit) {
  for (const uint64_t size : {uint64_t{3}, uint64_t{100'000'000}, uint64_t{100'000'001},
                              uint64_t{1} << 63, ~uint64_t{0}}) {
    const auto bytes = test::little(size, 8) + "{}";
    EXPECT_THROW(decode_safetensors(bytes_of(bytes), "f"), InputError) << size;
  }
  EXPECT_THROW(decode_safetensors({}, "f"), InputError);
}

TEST(SafetensorsTest, RefusesLongerNamesThanAllowed) {
  const auto read = [](size_t size) {
    const auto header = "{" + entry(std::string(size, 'n'), "U8", "[0]", "[0,0]") + "}";
    return decode_safetensors(bytes_of(safetensors_file(header, "")), "f").tensors.size();
  };
  EXPECT_EQ(read(4096), 1u);
  EXPECT_NE(test::message_of([&] { read(4097); }).find("has 4097 bytes; 4096 are allowed"),
            std::string::npos);
  const auto write = [](size_t size) {
    return test::safetensors_bytes({{std::string(size, 'n'), torch::ones({1})}});
  };
  EXPECT_NO_THROW(write(4096));
  EXPECT_THROW(write(4097), InputError);
}

TEST(SafetensorsTest, RefusesMoreTensorsThanAllowed) {
  std::string header = "{";
  for (int i = 0; i < 1'000'000; ++i) {
    header += entry(std::to_string(i), "U8", "[0]", "[0,0]") + ",";
  }
  header.back() = '}';
  EXPECT_EQ(parse_safetensors_header(header, 0, "f").entries.size(), 1'000'000u);
  header.back() = ',';
  header += entry("x", "U8", "[0]", "[0,0]") + "}";
  EXPECT_NE(test::message_of([&] {
              parse_safetensors_header(header, 0, "f");
            }).find("more than 1000000 tensors"),
            std::string::npos);
}

TEST(SafetensorsTest, RefusesABooleanThatIsNeitherTrueNorFalse) {
  const auto header = one("BOOL", "[2]", "[0,2]");
  const auto good = safetensors_file(header, std::string("\0\1", 2));
  const auto bad = safetensors_file(header, std::string("\0\2", 2));
  EXPECT_EQ(decode_safetensors(bytes_of(good), "f").tensors.at("x").sum().item<int64_t>(), 1);
  EXPECT_THROW(decode_safetensors(bytes_of(bad), "f"), InputError);
}

}  // namespace
}  // namespace proca::models
