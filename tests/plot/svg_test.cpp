// Text inside of XML, positions, widths of text; the parser that the tests check pictures with.
#include "tandem/plot/svg.hpp"

#include <limits>

#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"

namespace plot_svg_test {
using namespace tandem::plot::impl;
using testing::parse_svg;

TEST_CASE("plot: text is escaped for elements and attributes") {
  CHECK(escaped("a < b & c > \"d\" 'e'") == "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  CHECK(escaped("]]>") == "]]&gt;");
  CHECK(escaped("one\ttwo\nthree\r") == "one two three ");
  CHECK(escaped(std::string("\0\x01\x1f\x7f", 4)) == "\u2400\u2401\u241f\u2421");
  CHECK(escaped("\u00e4\u6f22\U0001f600") == "\u00e4\u6f22\U0001f600");
  CHECK(escaped("\xff x \xe6\xbc y \xc3") == "\ufffd x \ufffd y \ufffd");
  CHECK(escaped("\xed\xa0\x80").find("\ufffd") == 0);  // a surrogate
  CHECK(escaped("\u0085\u009f\ufffe\uffff\U0001ffff") == "\ufffd\ufffd\ufffd\ufffd\ufffd");
}

TEST_CASE("plot: positions have one decimal and are always numbers") {
  CHECK(position(12) == "12");
  CHECK(position(12.34) == "12.3");
  CHECK(position(-0.06) == "-0.1");
  CHECK(position(-0.04) == "0");
  CHECK(position(-1.5) == "-1.5");
  CHECK(position(1e300) == "100000");
  CHECK(position(-std::numeric_limits<double>::infinity()) == "-100000");
}

TEST_CASE("plot: numbers for readers") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(-3) == "-3");
  CHECK(number_text(123456789) == "123456789");
  CHECK(number_text(0.123456) == "0.1235");
  CHECK(number_text(9223372036854775807.) == "9.223e+18");
  CHECK(number_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(number_text(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("plot: texts are cut to a width, between characters") {
  CHECK(text_width("ab", 10) == Approx(12));
  CHECK(text_width("\u6f22", 10) == Approx(11));
  CHECK(text_width("i", 10) < text_width("m", 10));
  CHECK(fitted("short", 14, 100) == "short");
  const std::string cut = fitted("\u6f22\u6f22\u6f22\u6f22\u6f22", 10, 40);
  CHECK(cut == "\u6f22\u6f22\u6f22\u2026");
  CHECK(text_width(cut, 10) <= 40);
  CHECK(fitted("anything", 14, 0) == "\u2026");
  CHECK(fitted("\xff\xff\xff\xff", 10, 25) == "\ufffd\u2026");
}

TEST_CASE("plot: the tests' parser refuses what is not well-formed") {
  CHECK(parse_svg("<a x=\"1\"><b>t &amp; u</b><c/></a>").children[0].text == "t & u");
  for (const char* text : {"<a>", "<a></b>", "<a x=1/>", "<a x=\"1\" x=\"2\"/>", "<a>&nbsp;</a>", "<a>&</a>",
                           "<a/><b/>", "<a x=\"<\"/>", "<a>\x01</a>", "<a><b></a></b>"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_svg(text), std::runtime_error);
  }
}

TEST_CASE("plot: a canvas closes what it opens") {
  Canvas c;
  c.begin("class=\"x\"");
  c.begin_clipped(1, 2, 3, 4);
  c.text(1, 2, "a<b", {.size = 12, .anchor = Anchor::middle, .turned = -30});
  c.text(1, 2, "");
  c.path("", "class=\"y\"");
  c.end();
  c.disc(5, 6, 7, "class=\"z\"");
  c.end();
  const testing::Element root = parse_svg("<svg>" + c.elements() + "</svg>");
  REQUIRE(root.children.size() == 1);
  REQUIRE(root.children[0].children.size() == 2);
  CHECK(root.first("svg").get("viewBox") == "1 2 3 4");
  CHECK(root.words() == std::vector<std::string>{"a<b"});
  CHECK(root.first("text").get("transform") == "rotate(-30 1 2)");
  CHECK(root.all("path").empty());
}

}  // namespace plot_svg_test
