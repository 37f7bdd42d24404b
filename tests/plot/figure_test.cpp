// Figures: the document around a picture, files.
#include "tandem/plot/figure.hpp"

#include <cmath>
#include <cstdlib>

#include "tandem/ops/all.hpp"
#include "tandem/plot/bars.hpp"
#include "tandem/plot/graph.hpp"
#include "tandem/plot/heat_map.hpp"
#include "tandem/plot/images.hpp"
#include "tandem/plot/lines.hpp"
#include "tandem/plot/report.hpp"
#include "tandem/plot/scatter.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace plot_figure_test {
using namespace tandem;
using testing::Element, testing::error_of, testing::parse_svg;

const char* const nasty = "</title><script>alert(1)</script> & \"'\x01\xff]]>";
const char* const harmless = "</title><script>alert(1)</script> & \"'\u2401\ufffd]]>";

TEST_CASE("plot: a figure is a document of its own") {
  const plot::Figure f("Title", "What it shows", 300, 200.5, "<g/>\n");
  const Element root = parse_svg(f.svg());
  CHECK(root.name == "svg");
  CHECK(root.get("xmlns") == "http://www.w3.org/2000/svg");
  CHECK(root.get("viewBox") == "0 0 300 200.5");
  CHECK(root.get("role") == "img");
  CHECK((root.get("width").empty() && root.get("height").empty()));
  REQUIRE(root.children.size() == 5);
  CHECK(root.children[0].name == "title");
  CHECK(root.children[0].text == "Title");
  CHECK(root.children[1].name == "desc");
  CHECK(root.children[1].text == "What it shows");
  CHECK(root.children[2].text == plot::Figure::style_sheet());
  CHECK_THAT(root.children[2].text, ContainsSubstring("prefers-color-scheme:dark"));
  CHECK(root.children[4].name == "g");
  CHECK(parse_svg(f.inline_svg()).all("style").empty());
  CHECK(parse_svg(plot::Figure().svg()).all("desc").empty());
}

TEST_CASE("plot: text in figures cannot become markup") {
  const Element root = parse_svg(plot::lines({{nasty, {1, 2}}}, {.title = nasty, .x_label = nasty}).svg());
  CHECK(root.first("title").text == harmless);
  CHECK(root.all("script").empty());
  CHECK(root.words()[0] == harmless);
}

TEST_CASE("plot: a figure has a size") {
  for (const double size : {0., -1., 1e6, std::nan("")})
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { plot::Figure("", "", 100, size, ""); }),
               ContainsSubstring("plot::Figure: a picture of 100 x"));
}

TEST_CASE("plot: figures beside each other") {
  const plot::Figure a("A", "first", 100, 50, ""), b("B", "", 200, 200, "<g/>\n");
  const plot::Figure f = plot::beside({a, b, a}, {.title = "T", .columns = 2, .width = 400});
  const Element root = parse_svg(f.svg());
  const auto inner = root.all("svg");
  REQUIRE(inner.size() == 3);
  CHECK(inner[0]->first("title").text == "A");
  CHECK(inner[1]->get("viewBox") == "0 0 200 200");
  CHECK((inner[0]->get("x") == "0" && inner[0]->get("width") == "200" && inner[0]->get("height") == "100"));
  CHECK((inner[1]->get("x") == "200" && inner[1]->get("y") == "40" && inner[1]->get("height") == "200"));
  CHECK((inner[2]->get("x") == "0" && inner[2]->get("y") == "240"));
  CHECK(f.height() == 340);
  CHECK(root.all("style").size() == 1);
  CHECK(plot::beside({a, b}).height() == 560);
  CHECK_NOTHROW(parse_svg(plot::beside({}).svg()));
  CHECK_THAT(error_of([&] { plot::beside({a}, {.columns = -1}); }), ContainsSubstring("plot::beside: -1 columns"));
  CHECK_THAT(error_of([&] { plot::beside({a}, {.width = 9}); }), ContainsSubstring("9 units wide"));
}

TEST_CASE("plot: figures are saved as files") {
  const testing::TemporaryFolder folder;
  const plot::Figure f = plot::lines({{"a", {1, 2}}});
  f.save(folder / "new/folder/a.svg");
  std::ifstream file(folder / "new/folder/a.svg", std::ios::binary);
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == f.svg());
  CHECK_THROWS_AS(f.save(folder.path), errors::FailedPreconditionError);
}

TEST_CASE("plot: xmllint accepts the pictures") {
  if (std::system("xmllint --version >/dev/null 2>&1") != 0) TANDEM_SKIP("there is no xmllint");
  const testing::TemporaryFolder folder;
  const std::string names[] = {nasty, "b", nasty};
  const std::vector<std::string> list(names, names + 3);
  const double nan = std::nan("");
  const Tensor x = reshape(range(9.f), {3, 3});
  const plot::Figure figures[] = {
      plot::lines({{nasty, {1, nan, 3}}, {"b", {2, 1}}}, {.title = nasty, .smoothing = 0.5, .log_y = true}),
      plot::scatter({1, 2, 3}, {2, nan, 1}, {.title = nasty, .classes = {0, 1, 12}, .labels = list}),
      plot::bars(list, {{1, nan, -2}}, {.title = nasty}),
      plot::histogram(x, {.title = nasty}),
      plot::heat_map(x / 0.f, {.row_names = list, .column_names = list, .diverging = true}),
      plot::confusion_matrix(x, list),
      plot::images({{.gray = x, .caption = nasty}}, {.title = nasty}),
      plot::graph({{nasty, {nasty}, 3}, {"b"}}, {{0, 1}, {1, 0}, {0, 0}}, {.title = nasty})};
  std::string command = "xmllint --noout";
  for (const plot::Figure& f : figures) {
    const std::string path = folder / (std::to_string(&f - figures) + ".svg");
    f.save(path);
    command += " " + path;
  }
  CHECK(std::system(command.c_str()) == 0);
}

}  // namespace plot_figure_test
