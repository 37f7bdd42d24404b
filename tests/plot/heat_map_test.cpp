// Heat maps, confusion matrices, and the rasters that they are drawn with.
#include "tandem/plot/heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tandem/ops/all.hpp"
#include "tandem/plot/raster.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace plot_heat_map_test {
using namespace tandem;
using plot::confusion_matrix, plot::heat_map;
using testing::Element, testing::error_of, testing::numbers_of, testing::parse_svg;
using Numbers = std::vector<double>;
const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();

// The opacity of each cell, negative for the second color, from the strokes that the picture has.
Numbers opacities(const Element& root, std::size_t rows, std::size_t columns) {
  Numbers r(rows * columns);
  for (const Element* path : root.first("svg").first("g").all("path")) {
    const Numbers d = numbers_of(path->get("d"));
    const double sign = path->get("class") == "tp-c0" ? 1 : -1;
    for (std::size_t i = 0; i < d.size(); i += 3)
      for (double k = 0; k < d[i + 2]; ++k)
        r[static_cast<std::size_t>(std::floor(d[i + 1]) * static_cast<double>(columns) + d[i] + k)] =
            sign * path->number("stroke-opacity");
  }
  return r;
}

TEST_CASE("plot: cells are as dark as their values") {
  const Tensor m = constant({{0.f, 1.f, 2.f}, {4.f, 4.f, 3.f}});
  const Element root = parse_svg(heat_map(m, {.row_names = {"a", "b"}, .column_names = {"x", "y", "z"}}).svg());
  const Numbers want{0, 0.25, 0.5, 1, 1, 0.75}, got = opacities(root, 2, 3);
  for (std::size_t i = 0; i < 6; ++i) CHECK(got[i] == Approx(want[i]).margin(0.009));
  const auto words = root.words();
  for (const char* w : {"a", "b", "x", "y", "z", "0", "1", "2", "3", "4"})
    CHECK(std::count(words.begin(), words.end(), w) >= 1);
  CHECK(std::count(words.begin(), words.end(), "4") == 2);
  CHECK(std::count(words.begin(), words.end(), "4.0") == 1);  // at the bar of colors
  CHECK(root.all("text", "tp-over").size() == 3);             // on the dark cells
  CHECK_THAT(root.first("desc").text, ContainsSubstring("2 rows and 3 columns, values from 0 to 4"));
  // The cells fill the area: as wide as the strokes are scaled.
  const std::string transform = root.first("svg").first("g").get("transform");
  CHECK(numbers_of(transform)[2] * 3 == Approx(root.first("svg").number("width")).margin(0.1));
}

TEST_CASE("plot: diverging colors, limits, and values that are not finite") {
  const Numbers d = opacities(parse_svg(heat_map(constant({{-2.f, -1.f, 0.f, 4.f}}), {.diverging = true}).svg()), 1, 4);
  CHECK(d[0] == Approx(-0.5).margin(0.009));
  CHECK(d[1] == Approx(-0.25).margin(0.009));
  CHECK(d[2] == 0);
  CHECK(d[3] == 1);
  const Numbers limited =
      opacities(parse_svg(heat_map(constant({{0.f, 5.f, 20.f}}), {.low = 0., .high = 10.}).svg()), 1, 3);
  CHECK(limited[1] == Approx(0.5).margin(0.009));
  CHECK(limited[2] == 1);
  const Element root = parse_svg(heat_map(constant({{nan, -inf, 1.f, 2.f, inf}})).svg());
  const auto groups = root.first("svg").all("g");
  REQUIRE(groups.size() == 2);
  const std::string crosses = groups[1]->first("path").get("d");
  CHECK(crosses.find("M0.2 0.2") == 0);
  CHECK(std::count(crosses.begin(), crosses.end(), 'M') == 1);
  CHECK(opacities(root, 1, 5)[4] == 1);
  CHECK(opacities(root, 1, 5)[1] == 0);
}

TEST_CASE("plot: matrices without data, with equal values, of one cell") {
  CHECK(parse_svg(heat_map(zeros({0, 3})).svg()).words().back() == "no data");
  CHECK_NOTHROW(parse_svg(heat_map(fill({2, 2}, nan)).svg()));
  CHECK_NOTHROW(parse_svg(heat_map(ones({1, 1})).svg()));
  CHECK_NOTHROW(parse_svg(heat_map(constant({{-3e38f, 3e38f}}), {.diverging = true}).svg()));
  CHECK_NOTHROW(parse_svg(heat_map(cast(constant({{-1.f, 1.f}}), float64) * 1.7e308).svg()));
}

TEST_CASE("plot: a large matrix is drawn as means of blocks") {
  const Tensor m = repeat(reshape(range(500.f), {1, 500}), 1000, {.axis = 0});
  const std::string svg = heat_map(m).svg();
  CHECK(svg.size() < 400000);
  const Numbers got = opacities(parse_svg(svg), 200, 167);
  CHECK(got[0] == 0);
  CHECK(got[166] == Approx(1).margin(0.009));
  CHECK(got[83] == Approx(83 * 3 / 497.5).margin(0.02));
}

TEST_CASE("plot: rasters are reduced to means of what is finite") {
  using plot::impl::Raster, plot::impl::reduced;
  const Raster r = reduced({3, 4, {1, 3, 5, HUGE_VAL, 1, 3, nan, nan, nan, nan, 7, 7}}, 2);
  CHECK(r.rows == 2);
  CHECK(r.columns == 2);
  CHECK(r.values[0] == Approx(2));
  CHECK(r.values[1] == 5);
  CHECK(std::isnan(r.values[2]));
  CHECK(r.values[3] == 7);
  CHECK(reduced({1, 2, {1.7e308, 1.7e308}}, 1).values[0] == Approx(1.7e308));
}

TEST_CASE("plot: a confusion matrix has counts as texts and shares of rows as colors") {
  const Tensor counts = math::confusion_matrix(constant({0, 0, 0, 1, 2, 2}), constant({0, 0, 1, 1, 2, 0}));
  const Element root = parse_svg(confusion_matrix(counts, {"cat", "dog", "<owl>"}).svg());
  const Numbers want{2. / 3, 1. / 3, 0, 0, 1, 0, 0.5, 0, 0.5}, got = opacities(root, 3, 3);
  for (std::size_t i = 0; i < 9; ++i) CHECK(got[i] == Approx(want[i]).margin(0.009));
  CHECK_THAT(root.first("desc").text, ContainsSubstring("3 classes: 4 of 6"));
  const auto words = root.words();
  for (const char* w : {"cat", "<owl>"}) CHECK(std::count(words.begin(), words.end(), w) == 2);
  CHECK(std::count(words.begin(), words.end(), "predicted") == 1);
  CHECK_NOTHROW(parse_svg(confusion_matrix(zeros({2, 2})).svg()));
}

TEST_CASE("plot: rows and columns without names have whole numbers") {
  for (const i64 n : {1, 2, 3, 7, 60}) {
    const Tensor m = eye(n) * 1000.f;
    for (const plot::Figure& f : {heat_map(m, {.show_values = false}), confusion_matrix(m)}) {
      const auto words = parse_svg(f.svg()).words();
      CHECK(std::count(words.begin(), words.end(), "0") >= 2);
      CHECK(std::count(words.begin(), words.end(), "0.5") <= 1);  // the bar of colors may have one
      CHECK(std::count(words.begin(), words.end(), "-0.5") == 0);
      if (n == 2) CHECK(std::count(words.begin(), words.end(), "1") >= 2);
    }
  }
}

TEST_CASE("plot: a heat map that is too narrow has no bar of colors") {
  const std::vector<std::string> names{"a long name of a row", "another"};
  for (const double width : {100., 140., 200., 560.}) {
    const Element root =
        parse_svg(heat_map(eye(2) * 123456.f, {.row_names = names, .column_names = names, .width = width}).svg());
    for (const Element* box : root.all("rect")) CHECK((box->number("width") > 0 && box->number("height") > 0));
    CHECK(root.first("svg").number("width") > 20);
    CHECK((root.all("rect").size() > 10) == (width == 560));
  }
}

TEST_CASE("plot: wrong input of heat maps raises") {
  const auto fails = [](const auto& f, const char* words) {
    CHECK_THAT(error_of<errors::InvalidArgumentError>(f), ContainsSubstring(words));
  };
  fails([] { heat_map({1, 2}); }, "plot::heat_map: a matrix has two axes, this has shape (2,)");
  fails([] { heat_map(ones({2, 2}), {.row_names = {"a"}}); }, "1 names for 2 rows");
  fails([] { heat_map(ones({2, 3}), {.column_names = {"a"}}); }, "1 names for 3 columns");
  fails([] { heat_map(ones({2, 3}), {.low = 5., .high = 5.}); }, "low is a number below high");
  fails([] { heat_map(ones({2, 3}), {.high = HUGE_VAL}); }, "low is a number below high");
  fails([] { heat_map(ones({2, 3}), {.height = 10}); }, "a picture of 560 x 10");
  fails([] { confusion_matrix(ones({2, 3})); }, "plot::confusion_matrix: the matrix has shape (2, 3)");
  fails([] { confusion_matrix(-ones({2, 2})); }, "a count is -1");
  fails([] { confusion_matrix(ones({2, 2}), {"a"}); }, "1 names for 2 classes");
}

}  // namespace plot_heat_map_test
