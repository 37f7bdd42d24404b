// Pictures of models: every line of the summary is a box.
#include "tandem/plot/plot_model.hpp"

#include <algorithm>

#include "tandem/tandem.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"

namespace plot_plot_model_test {
using namespace tandem;
using testing::Element, testing::parse_svg;

struct Branches : Model<Branches> {
  layers::Dense left{3}, right{3};
  Tensor operator()(const Tensor& x) const { return left(x) + right(x); }
};

// The boxes of layers.
std::vector<const Element*> boxes(const Element& root) {
  std::vector<const Element*> r;
  for (const Element* e : root.all("rect"))
    if (e->get("rx") == "6") r.push_back(e);
  return r;
}
bool is_inside(const Element& a, const Element& b) {
  return a.number("x") > b.number("x") && a.number("y") > b.number("y") &&
         a.number("x") + a.number("width") < b.number("x") + b.number("width") &&
         a.number("y") + a.number("height") < b.number("y") + b.number("height");
}

TEST_CASE("plot: layers of a model are boxes in boxes") {
  const layers::Sequential net{layers::Dense(4, nn::relu),
                               layers::Sequential{layers::Dense(300), layers::Dropout(0.5f)}, layers::Dense(2)};
  net(ones({5, 3}));
  const Element root = parse_svg(plot::plot_model(net, {.title = "A <net>"}).svg());
  const auto found = boxes(root);
  REQUIRE(found.size() == 6);
  for (std::size_t i = 1; i < 6; ++i) CHECK(is_inside(*found[i], *found[0]));
  CHECK(is_inside(*found[3], *found[2]));
  CHECK(is_inside(*found[4], *found[2]));
  CHECK_FALSE(is_inside(*found[5], *found[2]));
  CHECK(root.all("path", "tp-tip").size() == 3);  // two in the net, one in the inner one
  const auto words = root.words();
  CHECK(words[0] == "A <net>");
  for (const char* w : {"(None, 4), 16 parameters", "(None, 300), 1,500 parameters", "(None, 2), 602 parameters"}) {
    INFO(w << "\n" << net.summary());
    CHECK(std::count(words.begin(), words.end(), w) == 1);
  }
  CHECK(words.back() == "Total: 2,118, trainable: 2,118");
  CHECK(root.first("desc").text == "Model of 5 layers. Total: 2,118, trainable: 2,118");
}

TEST_CASE("plot: members of a model have no arrows; before the first call no shapes") {
  const Branches net;
  const Element before = parse_svg(plot::plot_model(net).svg());
  CHECK(boxes(before).size() == 3);
  CHECK(before.all("path", "tp-tip").empty());
  net(ones({1, 2}));
  const auto words = parse_svg(plot::plot_model(net).svg()).words();
  CHECK(std::count(words.begin(), words.end(), "(None, 3), 9 parameters") == 2);
  CHECK(std::count(words.begin(), words.end(), "branches") == 1);
}

TEST_CASE("plot: names with blanks and brackets") {
  struct Named : Module {
    layers::Dense first{2};
    Named() { add_module("a  (b) 1", first); }
  } net;
  net.first(ones({1, 2}));
  const auto words = parse_svg(plot::plot_model(net).svg()).words();
  INFO(net.summary());
  CHECK(std::count(words.begin(), words.end(), "a  (b) 1 (dense)") == 1);
  CHECK(std::count(words.begin(), words.end(), "(None, 2), 6 parameters") == 1);
}

}  // namespace plot_plot_model_test
