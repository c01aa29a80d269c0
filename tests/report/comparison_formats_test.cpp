#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "report/results.h"
#include "report/tables/comparison_table.h"

namespace proca::report {
namespace {

using protocol::TableMetric;
using protocol::TableView;
using test::experiment_of;
using test::paper_of;
using test::result_of;

Cell figure(double mean, double std, int64_t count, std::optional<PaperNumber> paper = {}) {
  return {.mean = mean, .std = std, .count = count, .paper = std::move(paper)};
}

// One block with everything: ours and the paper's, one of them, none, a note twice.
ComparisonTable example() {
  const PaperNumber doubtful{.value = 73, .note = "printed 37_0 & 5%, \"wrong\""};
  TableBlock block{.name = "final", .title = "Final accuracy", .columns = {"A->W", "W->A", "Avg"}};
  block.rows.push_back({"PADA",
                        {figure(61.04, 0.26, 3, PaperNumber{.value = 61.5}),
                         Cell{.paper = PaperNumber{.value = 46.7}}, Cell{}}});
  block.rows.push_back({"L_ce, mine",
                        {figure(82.04, 1.5, 3, PaperNumber{.value = 82.0}),
                         figure(64.0, 0, 1, doubtful), figure(73.98, 0, 1, doubtful)}});
  return {.title = "Final accuracy on Office-31-CI", .paper = "Table 2", .blocks = {block}};
}

ComparisonTable classes_example() {
  TableBlock block{.name = "A->D",
                   .title = "A->D, detected classes",
                   .columns = {"classes", "SCD Acc"},
                   .best = Best::kNone};
  block.rows.push_back(
      {"SCD step 1",
       {Cell{.count = 1, .paper = PaperNumber{.text = "0-7 9 (12)"}, .text = "0-9"},
        figure(100, 0, 1, PaperNumber{.value = 90})}});
  return {.title = "Detected classes", .paper = "", .blocks = {block}};
}

TEST(ComparisonFormatsTest, TextShowsOursThePapersAndTheDifference) {
  EXPECT_EQ(to_text(example()),
            "Final accuracy on Office-31-CI (paper: Table 2)\n"
            "mean ± std of 1 to 3 seeds\n"
            "\n"
            "Final accuracy\n"
            "                         A->W      W->A       Avg\n"
            "PADA         ours  61.0 ± 0.3         -         -\n"
            "            paper        61.5      46.7         -\n"
            "             diff        -0.5\n"
            "L_ce, mine   ours  82.0 ± 1.5      64.0      74.0\n"
            "            paper        82.0  73.0 [1]  73.0 [1]\n"
            "             diff         0.0      -9.0      +1.0\n"
            "\n"
            "[1] printed 37_0 & 5%, \"wrong\"\n");
}

TEST(ComparisonFormatsTest, RowThatWasNotRunHasNoDifferences) {
  const auto table = make_table(experiment_of(TableView::kTasks, {TableMetric::kFinal}, {"ProCA"}),
                                {}, paper_of("final,ProCA,A->W,82.5,\n"));
  EXPECT_EQ(to_text(table),
            "My table\n"
            "\n"
            "Final accuracy\n"
            "              A->W  W->A  Avg\n"
            "ProCA   ours     -     -    -\n"
            "       paper  82.5     -    -\n");
  EXPECT_EQ(to_latex(table).find("difference"), std::string::npos);
}

TEST(ComparisonFormatsTest, TextOfOnesOwnHasNoPaper) {
  const std::vector<RunResult> results = {result_of("mine", "A->W", 0, {0.5}, {0.5})};
  EXPECT_EQ(to_text(make_table(experiment_of(TableView::kTasks, {TableMetric::kFinal}, {"mine"}),
                               results, {})),
            "My table\n"
            "\n"
            "Final accuracy\n"
            "      A->W  W->A  Avg\n"
            "mine  50.0     -    -\n");
}

TEST(ComparisonFormatsTest, TextThatIsTooWideComesInParts) {
  const std::string label = "BA3US + prototypes";
  auto experiment = experiment_of(TableView::kTasks, {TableMetric::kFinal}, {label});
  experiment.tasks.clear();
  std::vector<RunResult> results;
  std::string paper;
  for (int64_t task = 10; task < 22; ++task) {
    const auto name = "Task" + std::to_string(task);
    experiment.tasks.push_back({name, "a", "b"});
    results.push_back(result_of(label, name, 0, {0.25}, {0.25}));
    results.push_back(result_of(label, name, 1, {0.75}, {0.75}));
    paper += "final," + label + "," + name + ",50,\n";
  }
  const auto text = to_text(make_table(experiment, results, paper_of(paper)));
  std::istringstream lines(text);
  int64_t num_heads = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto width =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(width, 100) << line;
    if (line.find(label) == 0) ++num_heads;
  }
  // "50.0 ± 35.4" is 11 wide and 18 + 2 + 5 lead: (100 - 25) / 13 = 5 columns at a time
  // make three parts of the 13, the last of three.
  EXPECT_EQ(num_heads, 3) << text;
  EXPECT_NE(text.find("       Task20       Task21          Avg\n"), std::string::npos) << text;
  for (const auto& task : experiment.tasks) {
    EXPECT_NE(text.find(task.label), std::string::npos) << task.label;
  }
}

TEST(ComparisonFormatsTest, TextSaysWhenThereIsNothing) {
  EXPECT_EQ(to_text(make_table(experiment_of(TableView::kBars, {}, {"ProCA"}), {}, {})),
            "My table\n\nno results yet\n");
}

TEST(ComparisonFormatsTest, ListsOfClassesAreShownBesideEachOther) {
  EXPECT_EQ(to_text(classes_example()),
            "Detected classes\n"
            "\n"
            "A->D, detected classes\n"
            "                      classes  SCD Acc\n"
            "SCD step 1   ours         0-9    100.0\n"
            "            paper  0-7 9 (12)     90.0\n"
            "             diff                +10.0\n");
}

TEST(ComparisonFormatsTest, BarsHaveThreeDecimals) {
  TableBlock block{.name = "A->D step 1",
                   .title = "A->D step 1",
                   .columns = {"cumulative"},
                   .best = Best::kNone,
                   .decimals = 3};
  block.rows.push_back({"7", {figure(0.12345, 0, 1)}});
  EXPECT_EQ(to_text({.title = "Bars", .paper = "", .blocks = {block}}),
            "Bars\n\nA->D step 1\n   cumulative\n7       0.123\n");
}

TEST(ComparisonFormatsTest, MarkdownHasFootnotesForDoubtfulNumbers) {
  EXPECT_EQ(to_markdown(example()),
            "## Final accuracy on Office-31-CI\n"
            "\n"
            "Paper: Table 2. Figures are mean ± std of 1 to 3 seeds.\n"
            "\n"
            "### Final accuracy\n"
            "\n"
            "| | A->W | W->A | Avg |\n"
            "|---|---:|---:|---:|\n"
            "| PADA | 61.0 ± 0.3 (paper 61.5, -0.5) | - (paper 46.7) | - |\n"
            "| L\\_ce, mine | 82.0 ± 1.5 (paper 82.0, 0.0) | 64.0 (paper 73.0[^1], -9.0) | "
            "74.0 (paper 73.0[^1], +1.0) |\n"
            "\n"
            "[^1]: printed 37\\_0 & 5%, \"wrong\"\n");
}

TEST(ComparisonFormatsTest, MarkdownEscapesWhatWouldEndACell) {
  TableBlock block{.name = "b", .title = "a*b", .columns = {"x|y"}};
  block.rows.push_back({"<r>", {figure(1, 0, 1)}});
  EXPECT_EQ(to_markdown({.title = "T[1]", .paper = "", .blocks = {block}}),
            "## T\\[1\\]\n"
            "\n"
            "### a\\*b\n"
            "\n"
            "| | x\\|y |\n"
            "|---|---:|\n"
            "| \\<r> | 1.0 |\n");
}

TEST(ComparisonFormatsTest, CsvHasOneLinePerCell) {
  EXPECT_EQ(to_csv(example()),
            "block,row,column,mean,std,seeds,paper,difference,note\n"
            "final,PADA,A->W,61.0400,0.2600,3,61.5000,-0.4600,\n"
            "final,PADA,W->A,,,,46.7000,,\n"
            "final,PADA,Avg,,,,,,\n"
            "final,\"L_ce, mine\",A->W,82.0400,1.5000,3,82.0000,0.0400,\n"
            "final,\"L_ce, mine\",W->A,64.0000,0.0000,1,73.0000,-9.0000,"
            "\"printed 37_0 & 5%, \"\"wrong\"\"\"\n"
            "final,\"L_ce, mine\",Avg,73.9800,0.0000,1,73.0000,0.9800,"
            "\"printed 37_0 & 5%, \"\"wrong\"\"\"\n");
  EXPECT_EQ(to_csv(classes_example()),
            "block,row,column,mean,std,seeds,paper,difference,note\n"
            "A->D,SCD step 1,classes,0-9,,1,0-7 9 (12),,\n"
            "A->D,SCD step 1,SCD Acc,100.0000,0.0000,1,90.0000,10.0000,\n");
}

TEST(ComparisonFormatsTest, LatexPrintsTheBestOfEachColumnBold) {
  EXPECT_EQ(to_latex(example()),
            "% Final accuracy on Office-31-CI (paper: Table 2)\n"
            "% \\usepackage{booktabs}\n"
            "% mean ± std of 1 to 3 seeds\n"
            "\n"
            "% Final accuracy\n"
            "\\begin{tabular}{llrrr}\n"
            "\\toprule\n"
            " & & A$\\to$W & W$\\to$A & Avg \\\\\n"
            "\\midrule\n"
            "PADA & ours & 61.0 $\\pm$ 0.3 & - & - \\\\\n"
            " & paper & 61.5 & 46.7 & - \\\\\n"
            " & difference & $-$0.5 &  &  \\\\\n"
            "\\addlinespace\n"
            "L\\_ce, mine & ours & \\textbf{82.0 $\\pm$ 1.5} & 64.0 & 74.0 \\\\\n"
            " & paper & 82.0 & 73.0$^{1}$ & 73.0$^{1}$ \\\\\n"
            " & difference & 0.0 & $-$9.0 & +1.0 \\\\\n"
            "\\bottomrule\n"
            "\\end{tabular}\n"
            "\n"
            "\\par {\\footnotesize $^{1}$ printed 37\\_0 \\& 5\\%, \"wrong\"}\n");
}

TEST(ComparisonFormatsTest, LatexKnowsWhatIsBest) {
  TableBlock block{.name = "b", .title = "b", .columns = {"x", "y"}};
  // In x the first two are equal as shown.
  block.rows.push_back({"1", {figure(5.04, 0, 1), figure(1, 0, 1)}});
  block.rows.push_back({"2", {figure(4.96, 0, 1), figure(-2, 0, 1)}});
  block.rows.push_back({"3", {figure(4.9, 0, 1), figure(9, 0, 1)}});
  const auto body = [&](Best best) {
    block.best = best;
    const auto text = to_latex({.title = "t", .paper = "", .blocks = {block}});
    const auto begin = text.find("\\midrule\n") + 9;
    return text.substr(begin, text.find("\\bottomrule") - begin);
  };
  EXPECT_EQ(body(Best::kHighestOfColumn),
            "1 & \\textbf{5.0} & 1.0 \\\\\n"
            "2 & \\textbf{5.0} & $-$2.0 \\\\\n"
            "3 & 4.9 & \\textbf{9.0} \\\\\n");
  EXPECT_EQ(body(Best::kLowestOfColumn),
            "1 & 5.0 & 1.0 \\\\\n"
            "2 & 5.0 & \\textbf{$-$2.0} \\\\\n"
            "3 & \\textbf{4.9} & 9.0 \\\\\n");
  EXPECT_EQ(body(Best::kHighestOfRow),
            "1 & \\textbf{5.0} & 1.0 \\\\\n"
            "2 & \\textbf{5.0} & $-$2.0 \\\\\n"
            "3 & 4.9 & \\textbf{9.0} \\\\\n");
  EXPECT_EQ(body(Best::kNone),
            "1 & 5.0 & 1.0 \\\\\n"
            "2 & 5.0 & $-$2.0 \\\\\n"
            "3 & 4.9 & 9.0 \\\\\n");
  block.rows[0].competes = false;
  EXPECT_EQ(body(Best::kHighestOfColumn),
            "1 & 5.0 & 1.0 \\\\\n"
            "2 & \\textbf{5.0} & $-$2.0 \\\\\n"
            "3 & 4.9 & \\textbf{9.0} \\\\\n");
}

TEST(ComparisonFormatsTest, LatexEscapesEverythingSpecial) {
  TableBlock block{.name = "b", .title = "b", .columns = {"a & b", "50% of #1"}};
  block.rows.push_back({"x_1 {$} ~^\\ < >", {figure(1, 0, 1), figure(1, 0, 1)}});
  const auto text = to_latex({.title = "t", .paper = "", .blocks = {block}});
  EXPECT_NE(text.find(" & a \\& b & 50\\% of \\#1 \\\\"), std::string::npos) << text;
  EXPECT_NE(text.find("x\\_1 \\{\\$\\} \\~{}\\^{}\\textbackslash{} $<$ $>$ & 1.0"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace proca::report
