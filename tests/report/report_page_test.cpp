#include "report/page/report_page.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace proca::report {
namespace {

using nlohmann::json;

const std::string kOpen = "<script type=\"application/json\" id=\"report-data\">";

std::string data_of(const std::string& page) {
  const auto begin = page.find(kOpen) + kOpen.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

size_t count(const std::string& text, const std::string& word) {
  size_t number = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++number;
  return number;
}

TEST(ReportPageTest, CarriesItsDocument) {
  const json document = {{"format_version", 1}, {"title", "a → b"}, {"runs", json::array()}};
  const auto page = report_page(document.dump());
  EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
  EXPECT_NE(page.find("<title>a → b</title>"), page.npos);
  EXPECT_EQ(json::parse(data_of(page)), document);
  EXPECT_EQ(page.find("{{style}}"), page.npos);
  EXPECT_EQ(page.find("{{script}}"), page.npos);
}

// Nothing that a document says may end the element that carries it, or become an element.
TEST(ReportPageTest, HostileNamesStayText) {
  const std::string hostile = "</script><img src=x onerror=alert(1)><!-- {{script}} \"' & \\";
  const json document = {{"title", hostile},
                         {"runs", json::array({{{"classes", {hostile}}, {hostile, hostile}}})}};
  const auto harmless = report_page(R"({"title": "x", "runs": []})");
  const auto page = report_page(document.dump());
  EXPECT_EQ(page.find("<img"), page.npos);
  EXPECT_EQ(count(page, "<!--"), count(harmless, "<!--"));
  EXPECT_EQ(count(page, "</script"), count(harmless, "</script"));
  EXPECT_EQ(json::parse(data_of(page)), document);
  EXPECT_NE(page.find("<title>&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&lt;!-- {{script}} "
                      "&quot;&#39; &amp; \\</title>"),
            page.npos);
}

// Only our own script elements are there, whatever is embedded.
TEST(ReportPageTest, EmbeddedFilesDoNotEndTheirElements) {
  const auto page = report_page(R"({"title": "x", "runs": []})");
  EXPECT_EQ(count(page, "<script"), count(page, "</script"));
  EXPECT_EQ(count(page, "</style"), 1u);
}

TEST(ReportPageTest, RefusesWhatIsNoDocument) {
  EXPECT_THROW(report_page(""), std::invalid_argument);
  EXPECT_THROW(report_page("{"), std::invalid_argument);
  EXPECT_THROW(report_page("[]"), std::invalid_argument);
}

}  // namespace
}  // namespace proca::report
