// Line plots: where points lie, gaps, logarithmic axes, reduction, legends, wrong input.
#include "tandem/plot/lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace plot_lines_test {
using namespace tandem;
using plot::lines;
using testing::Element, testing::error_of, testing::numbers_of, testing::parse_svg;
using Numbers = std::vector<double>;
const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();

// The paths of the lines themselves, without legends.
std::vector<std::string> drawn(const Element& root, const std::string& css = "tp-line") {
  std::vector<std::string> r;
  for (const Element* e : root.first("svg").all("path", css)) r.push_back(e->get("d"));
  return r;
}
Element picture(const std::vector<plot::Series>& series, const plot::LinesOptions& o = {}) {
  return parse_svg(lines(series, o).svg());
}

TEST_CASE("plot: points of a line lie where their values are") {
  const Element root = picture({{"", {0, 10, 20}}});
  CHECK(root.get("viewBox") == "0 0 560 360");
  // The area of the data is 38.8 to 542 by 332 to 18; its heights are -0.8 to 20.8.
  CHECK(drawn(root) == std::vector<std::string>{"M38.8 320.4L290.4 175 542 29.6"});
  // The labels of the ticks lie at the same heights, five units lower.
  for (const Element* t : root.all("text"))
    if (t->text == "10") CHECK(t->number("y") == Approx(180));
  const Element late = picture({{"", {0, 1}, {1000, 3000}}, {"", {0}, {2000}}});
  CHECK(late.first("svg").first("circle").number("cx") == Approx((44.4 + 542) / 2).margin(0.1));
}

TEST_CASE("plot: a logarithmic axis has equal steps for equal factors, and no place for 0") {
  const Numbers y = numbers_of(drawn(picture({{"", {1, 10, 100, 1000}}}, {.log_y = true}))[0]);
  REQUIRE(y.size() == 8);
  for (const std::size_t i : {3, 5}) CHECK(y[i + 2] - y[i] == Approx(y[3] - y[1]).margin(0.11));
  const Element root = picture({{"", {1, 0, 10, -1, 100, 1000}}}, {.log_y = true});
  // One line from the last two; crosses for 0 and -1; discs for 1 and 10.
  CHECK(drawn(root).size() == 2);
  CHECK(root.first("svg").all("circle").size() == 2);
  const Numbers x = numbers_of(drawn(picture({{"", {1, 2, 3}, {1, 100, 10000}}}, {.log_x = true}))[0]);
  CHECK(x[2] - x[0] == Approx(x[4] - x[2]).margin(0.11));
  CHECK(picture({{"", {-1, 0}}}, {.log_y = true}).words().back() == "no data");
}

TEST_CASE("plot: values that are not finite break the line and are marked") {
  const Element root = picture({{"s", {1, 2, nan, 3, 4, inf, 5, 6, -inf}}});
  const auto paths = drawn(root);
  REQUIRE(paths.size() == 2);
  CHECK(std::count(paths[0].begin(), paths[0].end(), 'M') == 3);
  CHECK(std::count(paths[1].begin(), paths[1].end(), 'M') == 2);  // nan and -inf
  CHECK(drawn(root, "tp-fill").size() == 1);
  CHECK_THAT(root.first("desc").text, ContainsSubstring("3 not finite") && ContainsSubstring("from 1 to 6"));
  for (const char* word : {"nan", "inf"}) CHECK(paths[0].find(word) == std::string::npos);
  // A point alone is a disc; one whose x is not finite is left out.
  CHECK(picture({{"", {nan, 1, nan}}, {"", {2, 3}}}).first("svg").all("circle").size() == 1);
  CHECK(numbers_of(drawn(picture({{"", {1, 2, 3}, {0, nan, 1}}}))[0]).size() == 4);
  // Many marks do not lie on each other.
  Numbers holes(100000, nan);
  holes[0] = 1, holes[1] = 2;
  CHECK(lines({{"", holes}}).svg().size() < 10000);
}

TEST_CASE("plot: pictures without data say so") {
  for (const std::vector<plot::Series>& series :
       {std::vector<plot::Series>{}, {{"a", Numbers{}}}, {{"a", {nan, inf}}}}) {
    const Element root = picture(series, {.title = "t"});
    CHECK(root.words().back() == "no data");
    CHECK(root.first("title").text == "t");
  }
}

TEST_CASE("plot: every range gives a well-formed picture with points inside") {
  const Numbers cases[] = {{5},
                           {0},
                           {7, 7, 7},
                           {1e-300, 2e-300},
                           {-1e300, 1e300},
                           {-1.7e308, 1.7e308},
                           {5e-324, 0},
                           {1e15, 1e15 + 1},
                           {-9223372036854775808., 9223372036854775807.}};
  for (const Numbers& y : cases)
    for (const bool log : {false, true}) {
      INFO(y[0] << (log ? " log" : ""));
      const Element root = picture({{"", y}}, {.log_y = log});
      if (log && *std::max_element(y.begin(), y.end()) <= 0) continue;  // which has no place there
      for (const std::string& d : drawn(root)) {
        const Numbers points = numbers_of(d);
        for (std::size_t i = 1; d[0] == 'M' && d.find('m') == d.npos && i < points.size(); i += 2)
          CHECK((points[i] >= 0 && points[i] <= 360));
      }
    }
}

TEST_CASE("plot: limits cut the picture off") {
  const Element root = picture({{"", {0, 100, 0}}}, {.y_min = 0., .y_max = 10.});
  CHECK(numbers_of(drawn(root)[0])[1] == Approx(332));
  CHECK(numbers_of(drawn(root)[0])[3] < 0);  // outside of the inner svg, which is cut off
  CHECK(root.first("svg").number("y") == Approx(16));
  CHECK(numbers_of(drawn(picture({{"", {0, 10}}}, {.y_max = 1e300}))[0]).size() == 4);
}

TEST_CASE("plot: smoothing draws the values faintly behind") {
  const Numbers y{1, 5, 2, 8, 3};
  const Element root = picture({{"a", y}}, {.smoothing = 0.6});
  const Element plain = picture({{"a", y}}),
                other = picture({{"a", plot::smoothed(y, 0.6)}}, {.y_min = 0.72, .y_max = 8.28});
  CHECK(drawn(root, "tp-faint") == drawn(plain));
  CHECK(drawn(root) == drawn(other));
  CHECK(drawn(plain, "tp-faint").empty());
}

TEST_CASE("plot: legend, dashes and colors") {
  const Element root =
      picture({{"train", {1, 2}}, {"held <out>", {2, 3}, {}, true}, {"", {3, 4}, {}, false, 0}}, {.y_label = "loss"});
  const auto words = root.words();
  CHECK(words[0] == "train");
  CHECK(words[1] == "held <out>");
  CHECK(words[2] == "loss");
  const Element& inner = root.first("svg");
  REQUIRE(inner.children.size() == 3);
  CHECK(inner.children[0].get("class") == "tp-c0");
  CHECK(inner.children[1].get("class") == "tp-c1");
  CHECK(inner.children[2].get("class") == "tp-c0");
  CHECK(inner.children[0].children[0].get("stroke-dasharray").empty());
  CHECK(inner.children[1].children[0].get("stroke-dasharray") == "6 4");
}

TEST_CASE("plot: a long legend leaves room for the data") {
  std::vector<plot::Series> many;
  for (int i = 0; i < 300; ++i) many.push_back({"series " + std::to_string(i), {1.0 * i, 2.0 * i}});
  const Element root = picture(many);
  const auto words = root.words();
  std::size_t named = 0, more = 0;
  for (const std::string& w : words) {
    named += w.find("series ") == 0;
    if (w.find("and ") == 0) more = std::stoul(w.substr(4));
  }
  CHECK(named > 5);
  CHECK(named + more == 300);
  for (std::size_t i = 200; i < 300; ++i) many[i].name.clear();  // which are no entries
  const auto fewer = picture(many).words();
  CHECK(std::count(fewer.begin(), fewer.end(), "and " + std::to_string(200 - named) + " more") == 1);
  CHECK(root.first("svg").number("height") > 150);
  CHECK(root.first("svg").number("y") + root.first("svg").number("height") < 360);
  CHECK(drawn(root).size() == 300);
}

TEST_CASE("plot: points of one column are reduced to the first, lowest, highest and last") {
  std::vector<plot::impl::Point> points;
  for (int i = 0; i < 1000; ++i) points.push_back({100 + i * 0.0004, static_cast<double>((i * 37 + 500) % 1000)});
  points.push_back({101, 5});
  const auto r = plot::impl::reduced(points);
  REQUIRE(r.size() == 5);
  CHECK(r[0].y == points[0].y);
  CHECK(std::min({r[1].y, r[2].y}) == 0);
  CHECK(std::max({r[1].y, r[2].y}) == 999);
  CHECK(r[3].y == points[999].y);
  CHECK(r[4].x == 101);
  CHECK(plot::impl::reduced({}).empty());
  CHECK(plot::impl::reduced({{1, 2}, {1, 2}}).size() == 2);
}

TEST_CASE("plot: a million points are a small picture that keeps the extremes") {
  Numbers y(1000000), x;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(static_cast<double>(i) * 0.7);
  y[123456] = 50, y[777777] = -50;
  const plot::Figure f = lines({{"", y}});
  CHECK(f.svg().size() < 100000);
  const Numbers points = numbers_of(drawn(parse_svg(f.svg()))[0]);
  double low = 1e9, high = -1e9;
  for (std::size_t i = 1; i < points.size(); i += 2) low = std::min(low, points[i]), high = std::max(high, points[i]);
  // 50 and -50 are 4 of 108 hundredths inside of the area from 18 to 332.
  CHECK(low == Approx(18 + 314 * 4 / 108.).margin(0.1));
  CHECK(high == Approx(332 - 314 * 4 / 108.).margin(0.1));
}

TEST_CASE("plot: wrong input of lines raises") {
  const auto fails = [](const std::vector<plot::Series>& s, const plot::LinesOptions& o, const char* words) {
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { lines(s, o); }), ContainsSubstring(words));
  };
  fails({{"a", {1, 2}, {1}}}, {}, "plot::lines: the series \"a\" has 1 x for 2 y");
  fails({{"a", {1, 2}}}, {.smoothing = 1}, "plot::smoothed");
  fails({}, {.smoothing = -1}, "plot::smoothed");
  fails({{"a", {1, 2}}}, {.y_min = 2., .y_max = 1.}, "y_min is not below y_max");
  fails({{"a", {1, 2}}}, {.log_y = true, .y_min = 0.}, "the limit 0 has no place");
  fails({{"a", {1, 2}}}, {.y_max = inf}, "the limit inf");
  fails({{"a", {1, 2}}}, {.width = 50}, "50 x 360 units");
  fails({{"a", {1, 2}}}, {.height = nan}, "560 x nan units");
}

}  // namespace plot_lines_test
