// Bars and histograms.
#include "tandem/plot/bars.hpp"

#include <cmath>
#include <limits>

#include "tandem/ops/all.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace plot_bars_test {
using namespace tandem;
using plot::bars, plot::histogram, plot::histogram_of_counts;
using testing::Element, testing::error_of, testing::numbers_of, testing::parse_svg;
using Numbers = std::vector<double>;
const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();

TEST_CASE("plot: bars are as high as their values, from 0") {
  const Element root = parse_svg(bars({"a", "b", "c"}, {{1, 2, -1}}).svg());
  const auto boxes = root.all("rect", "tp-fill");
  REQUIRE(boxes.size() == 3);
  const double unit = boxes[0]->number("height");
  CHECK(boxes[1]->number("height") == Approx(2 * unit).margin(0.2));
  CHECK(boxes[2]->number("height") == Approx(unit).margin(0.2));
  CHECK(boxes[2]->number("y") == Approx(boxes[0]->number("y") + unit).margin(0.2));
  CHECK(boxes[1]->number("x") - boxes[0]->number("x") ==
        Approx(boxes[2]->number("x") - boxes[1]->number("x")).margin(0.2));
  CHECK_THAT(root.first("desc").text, ContainsSubstring("a: 1; b: 2; c: -1"));
  // From -1.12 to 2.12 over 314 units.
  CHECK(unit == Approx(314 / 3.24).margin(0.1));
}

TEST_CASE("plot: bars of several series stand side by side; one that is not finite is a cross") {
  const Element root = parse_svg(bars({"a", "b"}, {{1, 2}, {3, nan}}, {.series_names = {"x", "y"}}).svg());
  CHECK(root.all("rect", "tp-fill").size() == 3);
  CHECK(root.all("path", "tp-line").size() == 1);
  CHECK(root.words()[0] == "x");
  CHECK(parse_svg(bars({}, {}).svg()).words().back() == "no data");
  CHECK(parse_svg(bars({"a"}, {{nan}}).svg()).words().back() == "no data");
  CHECK(parse_svg(bars({"a"}, {{0}}).svg()).all("rect", "tp-fill").size() == 1);
  for (const double h : {1e300, 1.7e308, -5e-324}) CHECK_NOTHROW(parse_svg(bars({"a", "b"}, {{h, -h}}).svg()));
}

TEST_CASE("plot: long names are turned, many are thinned out") {
  const Element root =
      parse_svg(bars({"a rather long name", "another long name", "and a third long name", "b"}, {{1, 2, 3, 4}}).svg());
  for (const Element* t : root.all("text"))
    if (t->text.find("long") != std::string::npos) CHECK_THAT(t->get("transform"), ContainsSubstring("rotate(-37"));
  const std::vector<std::string> many(200, "n");
  const auto words = parse_svg(bars(many, {Numbers(200, 1)}).svg()).words();
  CHECK(std::count(words.begin(), words.end(), "n") < 40);
  CHECK(std::count(words.begin(), words.end(), "n") > 10);
}

// left, top, right of each bar of a histogram.
std::vector<Numbers> bins(const Element& root) {
  const Numbers d = numbers_of(root.first("path", "tp-fill").get("d"));
  std::vector<Numbers> r;
  for (std::size_t i = 0; i < d.size(); i += 5) r.push_back({d[i], d[i + 2], d[i + 3]});
  return r;
}

TEST_CASE("plot: a histogram counts") {
  const Element root = parse_svg(histogram({0, 0.1, 0.2, 1.5, 3.9, 4, nan, inf}, {.bins = 4}).svg());
  const auto found = bins(root);
  REQUIRE(found.size() == 3);  // 3, 1, 0 and 2 values
  const auto height = [&](std::size_t i) { return 332 - found[i][1]; };
  CHECK(height(0) == Approx(314 / 1.04).margin(0.1));
  CHECK(height(1) == Approx(height(0) / 3).margin(0.1));
  CHECK(height(2) == Approx(height(0) * 2 / 3).margin(0.1));
  const double bin = found[1][0] - found[0][0];
  CHECK(found[2][0] - found[0][0] == Approx(3 * bin).margin(0.2));
  CHECK(found[2][2] == Approx(541).margin(0.1));
  CHECK_THAT(root.first("desc").text, ContainsSubstring("of 6 values from 0 to 4, 2 others are not finite"));
}

TEST_CASE("plot: histograms of every range") {
  CHECK(bins(parse_svg(histogram({5, 5, 5}).svg())).size() == 1);
  CHECK(bins(parse_svg(histogram({-1.7e308, 0, 1.7e308}, {.bins = 3}).svg())).size() == 3);
  CHECK(bins(parse_svg(histogram({5e-324}).svg())).size() == 1);
  CHECK(bins(parse_svg(histogram({0, 5e-324, 5e-324}, {.bins = 2}).svg())).size() == 2);
  CHECK(bins(parse_svg(
                 histogram(constant(std::vector<i64>{std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()}),
                           {.bins = 2})
                     .svg()))
            .size() == 2);
  CHECK(parse_svg(histogram(Numbers{}).svg()).words().back() == "no data");
  CHECK(parse_svg(histogram({nan}).svg()).words().back() == "no data");
  const auto log = bins(parse_svg(histogram({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, {.bins = 2, .log_y = true}).svg()));
  REQUIRE(log.size() == 2);
  CHECK(log[0][1] < log[1][1]);
  CHECK(log[1][1] < 331);  // a bin of one value is seen
  CHECK(histogram(random::normal({100000}), {.bins = 10000}).svg().size() < 50000);
}

TEST_CASE("plot: bins that are counted already") {
  const auto found = bins(parse_svg(histogram_of_counts({0, 1, 3, 4}, {2, 4, 1}).svg()));
  REQUIRE(found.size() == 3);
  CHECK(found[2][0] - found[1][0] == Approx(2 * (found[1][0] - found[0][0])).margin(0.2));
  for (const double outer : {inf, std::numeric_limits<double>::max()}) {
    const auto open = bins(parse_svg(histogram_of_counts({-outer, 0, 1, 2, outer}, {1, 1, 1, 1}).svg()));
    REQUIRE(open.size() == 4);
    CHECK(open[1][0] - open[0][0] == Approx(open[2][0] - open[1][0]).margin(0.2));
    CHECK(open[3][0] - open[2][0] == Approx(open[2][0] - open[1][0]).margin(0.2));
  }
  for (const Numbers& edges : {Numbers{-inf, 0, 1}, Numbers{0, 1, inf}}) {
    const auto half_open = bins(parse_svg(histogram_of_counts(edges, {1, 1}).svg()));
    REQUIRE(half_open.size() == 2);
    CHECK(half_open[1][2] - half_open[1][0] == Approx(half_open[0][2] - half_open[0][0]).margin(0.2));
  }
  CHECK(parse_svg(histogram_of_counts(Numbers{}, Numbers{}).svg()).words().back() == "no data");
  const auto fails = [](const Numbers& e, const Numbers& c, const char* words) {
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { histogram_of_counts(e, c); }), ContainsSubstring(words));
  };
  fails({0, 1}, {1, 1}, "plot::histogram: 2 edges for 2 counts");
  fails({0, 1}, {-1}, "a count is -1");
  fails({0, 1}, {nan}, "a count is nan");
  fails({1, 0}, {1}, "not ascending");
  fails({0, inf}, {1}, "not ascending");
  fails({-inf, 0, inf}, {1, 1}, "not ascending");
}

TEST_CASE("plot: wrong input of bars and histograms raises") {
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] {
               bars({"a"}, {{1, 2}});
             }),
             ContainsSubstring("2 heights for 1 names"));
  for (const int n : {0, -1, 10001})
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { histogram({1}, {.bins = n}); }),
               ContainsSubstring(" bins"));
}

}  // namespace plot_bars_test
