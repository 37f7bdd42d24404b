// Scatter plots: places, classes, labels that do not overlap, many points.
#include "tandem/plot/scatter.hpp"

#include <cmath>
#include <set>

#include "tandem/ops/all.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace plot_scatter_test {
using namespace tandem;
using plot::scatter;
using testing::Element, testing::error_of, testing::numbers_of, testing::parse_svg;
using Numbers = std::vector<double>;

// The groups of discs, one for each class.
std::vector<const Element*> classes(const Element& root) {
  std::vector<const Element*> r;
  for (const Element* g : root.all("g"))
    if (!g->all("path").empty() && g->first("path").get("stroke-linecap") == "round") r.push_back(g);
  return r;
}

TEST_CASE("plot: discs lie where their values are, in the colors of their classes") {
  const Element root = parse_svg(
      scatter({0, 10, 5}, {0, 10, 5}, {.classes = {0, 1, 0}, .class_names = {"cat", "dog"}, .axes = false}).svg());
  const auto groups = classes(root);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0]->get("class") == "tp-c0");
  CHECK(groups[1]->get("class") == "tp-c1");
  const Numbers first = numbers_of(groups[0]->first("path").get("d")),
                second = numbers_of(groups[1]->first("path").get("d"));
  // Without axes the area is 14 to 542 wide, and 4 % of the range lie around the points.
  REQUIRE(first.size() == 6);  // x, y and the 0 of each h0
  CHECK(first[0] == Approx(14 + 528 * 0.4 / 10.8).margin(0.1));
  CHECK(first[3] == Approx(278).margin(0.1));
  CHECK(second[0] == Approx(542 - 528 * 0.4 / 10.8).margin(0.1));
  CHECK(first[1] > second[1]);
  CHECK(root.words() == std::vector<std::string>{"cat", "dog"});
}

TEST_CASE("plot: points without a place are left out and counted") {
  const double nan = std::nan("");
  const Element root = parse_svg(scatter({0, nan, 2, HUGE_VAL, -1}, {1, 1, nan, 1, 1}).svg());
  CHECK(numbers_of(classes(root)[0]->first("path").get("d")).size() == 6);
  CHECK_THAT(root.first("desc").text, ContainsSubstring("5, 3 without a place"));
  CHECK_THAT(parse_svg(scatter({1, 0}, {1, 1}, {.log_x = true}).svg()).first("desc").text,
             ContainsSubstring("1 without"));
  CHECK(parse_svg(scatter(Numbers{}, Numbers{}).svg()).words().back() == "no data");
}

TEST_CASE("plot: labels lie on nothing, the first ones win") {
  Numbers x, y;
  std::vector<std::string> labels;
  for (int i = 0; i < 200; ++i) {
    x.push_back(std::fmod(i * 0.618, 1)), y.push_back(std::fmod(i * 0.414, 1));
    labels.push_back("label" + std::to_string(i));
  }
  const Element root = parse_svg(scatter(x, y, {.labels = labels, .axes = false}).svg());
  struct Box {
    double left, top, right, bottom;
  };
  std::vector<Box> boxes;
  for (const Element* t : root.all("text")) {
    const double width = 12 * (0.6 * static_cast<double>(t->text.size() - 2) + 2 * 0.38);  // its two l are narrow
    const double left = t->number("x") - width * (t->get("text-anchor") == "end"      ? 1
                                                  : t->get("text-anchor") == "middle" ? 0.5
                                                                                      : 0);
    boxes.push_back({left, t->number("y") - 9.6, left + width, t->number("y") + 3});
  }
  REQUIRE(boxes.size() > 20);
  CHECK(boxes.size() < 200);
  CHECK(root.words()[0] == "label0");
  const auto overlap = [](const Box& a, const Box& b) {
    constexpr double slack = 0.15;  // positions are rounded
    return a.left + slack < b.right && b.left + slack < a.right && a.top + slack < b.bottom && b.top + slack < a.bottom;
  };
  const Numbers discs = numbers_of(classes(root)[0]->first("path").get("d"));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) CHECK_FALSE(overlap(boxes[i], boxes[k]));
    for (std::size_t k = 0; k < discs.size(); k += 3)
      CHECK_FALSE(overlap(boxes[i], {discs[k] - 3, discs[k + 1] - 3, discs[k] + 3, discs[k + 1] + 3}));
  }
}

TEST_CASE("plot: many points are drawn once in each small square") {
  const Tensor x = random::uniform({300000}, 0, 1), y = random::uniform({300000}, 0, 1);
  const std::string svg = scatter(x * 0.1f, y, {.axes = false}).svg();
  const Numbers discs = numbers_of(classes(parse_svg(svg))[0]->first("path").get("d"));
  std::set<std::pair<double, double>> places;
  for (std::size_t i = 0; i < discs.size(); i += 3)
    places.emplace(std::floor(discs[i] / 2), std::floor(discs[i + 1] / 2));
  CHECK(discs.size() / 3 < 60000);
  CHECK(discs.size() / 3 > 40000);
  CHECK(places.size() > discs.size() / 3 * 8 / 10);  // rounding moves some to the next square
}

TEST_CASE("plot: wrong input of scatter raises") {
  const auto fails = [](const Numbers& y, const plot::ScatterOptions& o, const char* words) {
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { scatter({1, 2}, y, o); }), ContainsSubstring(words));
  };
  fails({1}, {}, "plot::scatter: 1 y for 2 x");
  fails({1, 2}, {.classes = {1}}, "1 classes for 2 x");
  fails({1, 2}, {.classes = {1, 0.5}}, "a class is 0.5");
  fails({1, 2}, {.classes = {1, -1}}, "a class is -1");
  fails({1, 2}, {.labels = {"a"}}, "1 labels for 2 x");
  fails({1, 2}, {.radius = 0}, "the radius is 0");
  fails({1, 2}, {.label_sizes = {-1}}, "the size of a label is -1");
  fails({1, 2}, {.labels = {"a", "b"}, .label_sizes = {1, 2, 3}}, "3 sizes of labels for 2 x");
  fails({1, 2}, {.width = 1}, "plot::scatter: a picture of 1 x 420");
}

}  // namespace plot_scatter_test
