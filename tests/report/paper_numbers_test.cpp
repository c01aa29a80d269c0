#include "report/tables/paper_numbers.h"

#include <gtest/gtest.h>

#include "support/message_of.h"

namespace proca::report {
namespace {

using test::message_of;

const std::string kHeader = "block,row,column,value,note\n";

PaperNumbers parse(const std::string& csv) { return PaperNumbers::parse(csv, "mine.csv"); }

TEST(PaperNumbersTest, ReadsNumbersNotesAndTexts) {
  const auto numbers = parse(
      "# About it, \"unquoted\"\r\n"
      "\n" +
      kHeader +
      "final,PADA,A->D,56.9,\r\n"
      "# in between\n"
      "final,\"ProCA, alpha 0.2\",A->D,-1e1,\"printed 10, \"\"wrong\"\"\"\n"
      "A->D,SCD step 1,classes,[0-7 9 (12)],\n"
      "final,PADA,Avg,0,last");
  EXPECT_EQ(numbers.find("final", "PADA", "A->D")->value, 56.9);
  EXPECT_EQ(numbers.find("final", "PADA", "A->D")->note, "");
  const auto quoted = numbers.find("final", "ProCA, alpha 0.2", "A->D");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->value, -10);
  EXPECT_EQ(quoted->note, "printed 10, \"wrong\"");
  EXPECT_EQ(numbers.find("A->D", "SCD step 1", "classes")->text, "0-7 9 (12)");
  EXPECT_EQ(numbers.find("final", "PADA", "Avg")->note, "last");
  EXPECT_EQ(numbers.find("final", "PADA", "A->W"), std::nullopt);
  EXPECT_EQ(numbers.find("final", "A->D", "PADA"), std::nullopt);
  EXPECT_FALSE(numbers.empty());
}

TEST(PaperNumbersTest, HeaderAloneIsEmpty) {
  EXPECT_TRUE(parse(kHeader).empty());
  EXPECT_TRUE(parse("block,row,column,value,note").empty());
}

TEST(PaperNumbersTest, RefusesBadLinesWithTheirNumber) {
  struct Case {
    std::string csv;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "mine.csv: has no header block,row,column,value,note"},
      {"# nothing\n", "mine.csv: has no header block,row,column,value,note"},
      {"final,PADA,A->D,56.9,\n",
       "mine.csv:1: the header is block,row,column,value,note, not final,PADA,A->D,56.9,"},
      {"#\nblock,row,column,value\n",
       "mine.csv:2: the header is block,row,column,value,note, not block,row,column,value"},
      {kHeader + "final,PADA,A->D,56.9\n",
       "mine.csv:2: has 4 fields; 5 are expected: block,row,column,value,note"},
      {kHeader + "\nfinal,PADA,A->D,56.9,a,b\n",
       "mine.csv:3: has 6 fields; 5 are expected: block,row,column,value,note"},
      {kHeader + "final,PADA,A->D,,\n",
       "mine.csv:2: \"\" is neither a number nor a text in brackets"},
      {kHeader + "final,PADA,A->D,56.9%,\n",
       "mine.csv:2: \"56.9%\" is neither a number nor a text in brackets"},
      {kHeader + "final,PADA,A->D, 56.9,\n",
       "mine.csv:2: \" 56.9\" is neither a number nor a text in brackets"},
      {kHeader + "final,PADA,A->D,nan,\n",
       "mine.csv:2: \"nan\" is neither a number nor a text in brackets"},
      {kHeader + "final,PADA,A->D,inf,\n",
       "mine.csv:2: \"inf\" is neither a number nor a text in brackets"},
      {kHeader + "final,PADA,A->D,[],\n",
       "mine.csv:2: \"[]\" is neither a number nor a text in brackets"},
      {kHeader + "final,PADA,A->D,[1 2,\n",
       "mine.csv:2: \"[1 2\" is neither a number nor a text in brackets"},
      {kHeader + ",PADA,A->D,1,\n", "mine.csv:2: block, row or column is empty"},
      {kHeader + "final,,A->D,1,\n", "mine.csv:2: block, row or column is empty"},
      {kHeader + "final,PADA,\"\",1,\n", "mine.csv:2: block, row or column is empty"},
      {kHeader + "final,\"PADA,A->D,1,\n", "mine.csv:2: a quote is out of place"},
      {kHeader + "final,PADA,A->D,1,\n\nfinal,PADA,A->D,1,\n",
       "mine.csv:4: final, PADA, A->D occurs twice"},
  };
  for (const auto& [csv, message] : cases) {
    EXPECT_EQ(message_of([&, &csv = csv] { parse(csv); }), message) << csv;
  }
}

}  // namespace
}  // namespace proca::report
