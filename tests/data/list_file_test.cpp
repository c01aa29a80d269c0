#include "data/source/list_file.h"

#include <gtest/gtest.h>

#include "proca/core/error.h"
#include "support/message_of.h"

namespace proca::data {
namespace {

using test::message_of;
using Names = std::vector<std::string>;

ListFile parse(std::string_view text) { return parse_list_file(text, "list.txt", "root"); }

// "path|label" by image, "path" without a label.
Names summary(const ImageListing& listing) {
  Names result;
  for (const auto& [path, label] : listing.samples) {
    result.push_back(label == kNoLabel ? path : path + "|" + std::to_string(label));
  }
  return result;
}

TEST(ParseListFileTest, ReadsWhatPeopleWrite) {
  const struct {
    std::string_view text;
    Names images;
    std::string_view why;
  } cases[] = {
      {"a.jpg 0\nb.jpg 1\n", {"root/a.jpg|0", "root/b.jpg|1"}, "with labels"},
      {"a.jpg\nb.jpg\n", {"root/a.jpg", "root/b.jpg"}, "without labels"},
      {"a.jpg 0\nb.jpg 1", {"root/a.jpg|0", "root/b.jpg|1"}, "no newline at the end"},
      {"a.jpg 0\r\nb.jpg 1\r\n", {"root/a.jpg|0", "root/b.jpg|1"}, "carriage returns"},
      {"a.jpg\r\nb.jpg", {"root/a.jpg", "root/b.jpg"}, "carriage returns without labels"},
      {"a.jpg\t3\n", {"root/a.jpg|3"}, "a tab"},
      {"a.jpg \t  3\n", {"root/a.jpg|3"}, "several blanks"},
      {" \ta.jpg 3\t \n", {"root/a.jpg|3"}, "blanks at both ends"},
      {"\n\na.jpg 0\n \t\r\n\nb.jpg 1\n\n", {"root/a.jpg|0", "root/b.jpg|1"}, "blank lines"},
      {"my photo.jpg 3\n", {"root/my photo.jpg|3"}, "a blank in the path"},
      {"my photo.jpg\n", {"root/my photo.jpg"}, "a blank in the path, no label"},
      {"photo 12.jpg\n", {"root/photo 12.jpg"}, "a number within the last word"},
      {"photo 12 7\n", {"root/photo 12|7"}, "only the last number is the label"},
      {"Grüße/写真.jpg 2\n", {"root/Grüße/写真.jpg|2"}, "UTF-8"},
      {"\xff\xfe.jpg 2\n", {"root/\xff\xfe.jpg|2"}, "bytes that are no UTF-8"},
      {"\xef\xbb\xbf"
       "a.jpg 0\n",
       {"root/a.jpg|0"},
       "a byte order mark"},
      {"17\n", {"root/17"}, "a number with nothing before it is a path"},
      {"a.jpg 007\n", {"root/a.jpg|7"}, "leading zeros"},
      {"a.jpg -0\n", {"root/a.jpg|0"}, "minus zero"},
      {"a,3\nb.jpg, 4\n", {"root/a|3", "root/b.jpg|4"}, "a comma in front of the label"},
      {"a,b.jpg\n", {"root/a,b.jpg"}, "a comma in the path"},
      {"a.jpg,b c.jpg 17\n", {"root/a.jpg,b c.jpg|17"}, "all of that in front of a number"},
      {"\"a,b.jpg\",7\n", {"root/a,b.jpg|7"}, "a path in quotes"},
      {"path,label\na.jpg,3\n", {"root/a.jpg|3"}, "a line with the names of the columns"},
      {"photo label\n", {"root/photo label"}, "no extension and no number"},
      {"/data/a.jpg 0\n", {"/data/a.jpg|0"}, "an absolute path"},
      {"./x/../a.jpg 0\n", {"root/a.jpg|0"}, "a roundabout path"},
      {"../a.jpg 0\n", {"a.jpg|0"}, "a path out of the root"},
      {"a.jpg 0\na.jpg 0\n", {"root/a.jpg|0", "root/a.jpg|0"}, "the same image twice"},
      {"# a 5\n", {"root/# a|5"}, "there are no comments"},
  };
  for (const auto& [text, images, why] : cases) {
    const auto list = parse(text);
    EXPECT_EQ(summary(list.listing), images) << why;
    EXPECT_EQ(list.listing.labelled(), images.front().find('|') != std::string::npos) << why;
    EXPECT_EQ(list.listing.origin, "list.txt");
    EXPECT_EQ(list.listing.label_meaning, LabelMeaning::kNumber);
  }
}

TEST(ParseListFileTest, LabelsMayBeNames) {
  const struct {
    std::string_view text;
    Names images, names;
    std::string_view why;
  } cases[] = {
      {"b.jpg dog\na.jpg cat\n", {"root/b.jpg|1", "root/a.jpg|0"}, {"cat", "dog"}, "a blank"},
      {"a.jpg,cat\n", {"root/a.jpg|0"}, {"cat"}, "a comma"},
      {"a.jpg\tcat\n", {"root/a.jpg|0"}, {"cat"}, "a tab"},
      {"my cat.JPG , tabby cat\r\n", {"root/my cat.JPG|0"}, {"tabby cat"}, "blanks everywhere"},
      {"a.jpg,\"cat, tabby\"\n", {"root/a.jpg|0"}, {"cat, tabby"}, "quotes"},
      {"filename,class\na.jpg,cat\n", {"root/a.jpg|0"}, {"cat"}, "names of the columns"},
      {"a.jpg 1.5\nb.jpg 0x1\n", {"root/a.jpg|1", "root/b.jpg|0"}, {"0x1", "1.5"}, "no number"},
      {"a.png,class 1\nb.png,class 2\n",
       {"root/a.png|0", "root/b.png|1"},
       {"class 1", "class 2"},
       "names that end in a number"},
      {"a.png class 1\n", {"root/a.png|0"}, {"class 1"}, "such a name behind a blank"},
      {"a.b.jpg x.png cat\n", {"root/a.b.jpg|0"}, {"x.png cat"}, "the first extension counts"},
  };
  for (const auto& [text, images, names, why] : cases) {
    const auto listing = parse(text).listing;
    EXPECT_EQ(summary(listing), images) << why;
    EXPECT_EQ(listing.class_names, names) << why;
    EXPECT_EQ(listing.label_meaning, LabelMeaning::kName) << why;
  }
}

TEST(ParseListFileTest, WithoutARootPathsStayAsTheyAre) {
  EXPECT_EQ(summary(parse_list_file("x/a.jpg 0", "list.txt", "").listing), Names{"x/a.jpg|0"});
}

TEST(ParseListFileTest, KnowsTheLineOfEveryImage) {
  EXPECT_EQ(parse("a.jpg 0\r\n\n \nb.jpg 1\nc.jpg 2").line_numbers,
            (std::vector<int64_t>{1, 4, 5}));
}

TEST(ParseListFileTest, RefusesBadLinesWithTheirNumber) {
  const std::string_view zero_byte("a.jpg 0\n\x89PNG\0\0 1\n", 18);
  const struct {
    std::string_view text;
    std::string_view message;
  } cases[] = {
      {"", "list.txt: lists no image"},
      {"\n \t\r\n\n", "list.txt: lists no image"},
      {"\xef\xbb\xbf\n", "list.txt: lists no image"},
      {"a.jpg 0\nb.jpg\n", "list.txt:2: has no label although the first line has one"},
      {"a.jpg\nb.jpg 1\n", "list.txt:2: has a label although the first line has none"},
      {"\na.jpg 0\r\n\r\nb.jpg 1\r\nc.jpg\r\n",
       "list.txt:5: has no label although the first line has one"},
      {"a.jpg 0\nb.jpg +1\n",
       "list.txt:2: has a name as label although the first line has a number"},
      {"a.jpg cat\nb.jpg 1\n",
       "list.txt:2: has a number as label although the first line has a name"},
      {"a.jpg cat\nb.jpg\n", "list.txt:2: has no label although the first line has one"},
      {"a.jpg\nb.jpg,cat\n", "list.txt:2: has a label although the first line has none"},
      {"a.jpg,-1\n", "list.txt:1: label -1 is not between 0 and 1000000"},
      {"path,label\n", "list.txt: lists no image"},
      {"a.jpg 0\npath,label\n", "list.txt:2: has no label although the first line has one"},
      {"a.jpg 0\n1\n", "list.txt:2: has no label although the first line has one"},
      {"a.jpg 0\nb.jpg -1\n", "list.txt:2: label -1 is not between 0 and 1000000"},
      {"a.jpg 1000001\n", "list.txt:1: label 1000001 is not between 0 and 1000000"},
      {"a.jpg 99999999999999999999\n",
       "list.txt:1: label 99999999999999999999 is not between 0 and 1000000"},
      {"a.jpg -99999999999999999999\n",
       "list.txt:1: label -99999999999999999999 is not between 0 and 1000000"},
      {zero_byte, "list.txt:2: is not text; expected one image path per line"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(message_of([&, t = text] { parse(t); }), message);
  }
}

TEST(ParseListFileTest, NamesLabelsAfterFoldersThatTellThemApart) {
  const struct {
    std::string_view text;
    Names names;
    std::string_view why;
  } cases[] = {
      {"bike/1.jpg 0\nbike/2.jpg 0\ncup/1.jpg 1\n", {"bike", "cup"}, "a folder each"},
      {"x/cup/1.jpg 1\ny/bike/1.jpg 0\n", {"bike", "cup"}, "the innermost folder, in label order"},
      {"x/bike/1.jpg 0\ny/bike/2.jpg 0\n", {"bike"}, "equal names count as one folder"},
      {"bike/1.jpg 0\ncup/1.jpg 3\n", {"bike", "1", "2", "cup"}, "gaps are numbered"},
      {"bike/1.jpg 2\n", {"0", "1", "bike"}, "labels that begin late"},
      {"a.jpg 0\n", {"root"}, "the root is a folder too"},
      {"bike/1.jpg 0\ncup/2.jpg 0\n", {"0"}, "two folders for one label"},
      {"bike/1.jpg 0\nbike/2.jpg 1\n", {"0", "1"}, "one folder for two labels"},
      {"x/bike/1.jpg 0\ny/bike/2.jpg 1\n", {"0", "1"}, "folders of the same name"},
      {"bike/1.jpg 0\ncup/1.jpg 1\ncup/2.jpg 2\n", {"0", "1", "2"}, "one bad label spoils all"},
      {"1/a.jpg 0\ncup/b.jpg 2\n", {"0", "1", "2"}, "a folder called like a missing label"},
      {"1/a.jpg 0\n0/b.jpg 1\n", {"1", "0"}, "folders called like other labels"},
      {"a.jpg\n", {}, "no labels"},
  };
  for (const auto& [text, names, why] : cases)
    EXPECT_EQ(parse(text).listing.class_names, names) << why;
  EXPECT_EQ(parse_list_file("a.jpg 0", "list.txt", "").listing.class_names, Names{"0"})
      << "no folder at all";
}

TEST(FormatListFileTest, WritesPathsBelowTheRootRelativeToIt) {
  ImageListing listing;
  listing.samples = {
      {"/data/x/a.jpg", 0}, {"/data/my photo.jpg", 12}, {"/else/c.jpg", 3}, {"/data2/d.jpg", 4}};
  EXPECT_EQ(format_list_file(listing, "/data"),
            "x/a.jpg 0\nmy photo.jpg 12\n/else/c.jpg 3\n/data2/d.jpg 4\n");
  EXPECT_EQ(format_list_file(listing, "/data/"),
            "x/a.jpg 0\nmy photo.jpg 12\n/else/c.jpg 3\n/data2/d.jpg 4\n");
}

TEST(ParseListFileTest, RefusesWhatIsBeyondTheLimits) {
  const ListLimits limits{.max_line_bytes = 7, .max_images = 2, .max_label = 5, .max_names = 1};
  const auto parse = [&](const std::string& text) {
    return parse_list_file(text, "list.txt", "", limits).listing.size();
  };
  EXPECT_EQ(parse("a.jpg 0\n  b.jpg 5  \n"), 2);
  EXPECT_EQ(message_of([&] { parse("a.jpg 0\nbb.jpg 0\n"); }),
            "list.txt:2: has 8 bytes; a line may have 7");
  EXPECT_EQ(message_of([&] { parse("a.jpg 6\n"); }), "list.txt:1: label 6 is not between 0 and 5");
  EXPECT_EQ(message_of([&] { parse("a.jpg 0\nb.jpg 0\n\nc.jpg 0\n"); }),
            "list.txt:4: is one image too many; a list may have 2");
  EXPECT_EQ(parse("a.jpg a\nb.jpg a\n"), 2);
  EXPECT_EQ(message_of([&] { parse("a.jpg a\nb.jpg b\n"); }),
            "list.txt: has 2 classes; a list may have 1");
}

TEST(FormatListFileTest, OmitsLabelsThatAreNotThere) {
  ImageListing listing;
  listing.samples = {{"a.jpg"}, {"b.jpg"}};
  EXPECT_EQ(format_list_file(listing, ""), "a.jpg\nb.jpg\n");
}

TEST(FormatListFileTest, IsReadBackAsTheSame) {
  for (const std::string_view text :
       {"bike/1.jpg 0\ncup/my cup 2 3\n/far/away.jpg 1\n", "a 1.jpg\nGrüße/写真.jpg\n", "5\n"}) {
    const auto listing = parse_list_file(text, "list.txt", "/root").listing;
    EXPECT_EQ(format_list_file(listing, "/root"), text);
  }
}

TEST(FormatListFileTest, WritesRelativePathsOutsideTheRootFromThere) {
  const auto listing = parse_list_file("../a.jpg\n", "list.txt", "root").listing;
  EXPECT_EQ(listing.samples[0].path, "a.jpg");
  EXPECT_EQ(format_list_file(listing, "root"), "../a.jpg\n");
}

TEST(FormatListFileTest, RefusesPathsThatWouldBeReadAsSomethingElse) {
  const auto message = [](const std::string& path, int64_t label) {
    return message_of([&] {
      ImageListing listing;
      listing.samples = {{path, label}};
      format_list_file(listing, "");
    });
  };
  const std::string blank =
      ": cannot stand in a list file: rename it, without line breaks and blanks at its ends";
  for (const char* path : {"a\nb.jpg", " a.jpg", "a.jpg ", "a.jpg\r"}) {
    EXPECT_EQ(message(path, 0), path + blank);
  }
  EXPECT_EQ(message("\xef\xbb\xbf.jpg", 0),
            "\xef\xbb\xbf.jpg: cannot stand in a list file: rename it, without the byte order "
            "mark at its beginning");
  EXPECT_EQ(message("a.jpg b", kNoLabel),
            "a.jpg b: cannot stand in a list file: rename it, without what looks like a label or "
            "quotes in it");
  EXPECT_EQ(message("photo 12", kNoLabel),
            "photo 12: cannot stand in a list file: rename it, without the number at its end");
}

}  // namespace
}  // namespace proca::data
