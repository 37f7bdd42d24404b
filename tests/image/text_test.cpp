// draw_text: what letters look like, places, clipping, colors, dtypes; gradients; errors.
#include "tandem/image/text.hpp"

#include <set>

#include "tandem/function.hpp"
#include "tandem/image/font.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace image_text_test {
using namespace tandem;
using errors::InvalidArgumentError;
using Rows = std::vector<std::string>;

// A picture of one channel, # for 1 and . for 0.
Rows art(const Tensor& x) {
  Rows rows;
  for (i64 y = 0; y < x.shape()[0]; ++y) {
    rows.emplace_back();
    for (i64 i = 0; i < x.shape()[1]; ++i) rows.back() += x.at<float>({y, i, 0}) == 1 ? '#' : '.';
  }
  return rows;
}
Rows written(const std::string& text, i64 height, i64 width, i64 y, i64 x, i64 scale = 1) {
  return art(image::draw_text(zeros({height, width, 1}), text, y, x, {.scale = scale}));
}

TEST_CASE("draw_text: letters, scaled, on two lines") {
  CHECK(written("Tj", 8, 16, 0, 0) == Rows{".######.....##..",  //
                                           "...##...........",  //
                                           "...##......###..",  //
                                           "...##.......##..",  //
                                           "...##.......##..",  //
                                           "...##.......##..",  //
                                           "...##....#..##..",  //
                                           "..........###..."});
  const Rows small = written("g8", 9, 18, 1, 2), large = written("g8", 27, 54, 3, 6, 3);
  for (std::size_t y = 0; y < 27; ++y)
    for (std::size_t x = 0; x < 54; ++x) CHECK(large[y][x] == small[y / 3][x / 3]);
  const Rows lines = written("ab\ncd", 16, 16, 0, 0), first = written("ab", 8, 16, 0, 0),
             second = written("cd", 8, 16, 0, 0);
  for (std::size_t y = 0; y < 16; ++y) CHECK(lines[y] == (y < 8 ? first[y] : second[y - 8]));
}
TEST_CASE("draw_text: every character differs, leaves a column on both sides, and only some reach below the line") {
  std::set<Rows> seen;
  for (char c = 32; c < 127; ++c) {
    const Rows rows = written(std::string(1, c), 8, 8, 0, 0);
    INFO("character " << c);
    CHECK(seen.insert(rows).second);
    for (const std::string& row : rows) CHECK((row.front() == '.' && row.back() == '.'));
    CHECK((rows[7] != "........") == (std::string(",;_gjpqy|").find(c) != std::string::npos));
    CHECK((rows == Rows(8, "........")) == (c == ' '));
  }
  // A box for what is not there, one for each character of UTF-8.
  const Rows box = written("\x01", 8, 8, 0, 0);
  CHECK(seen.insert(box).second);
  CHECK(written("\xc3\xa9", 8, 8, 0, 0) == box);
  CHECK(written("\xe2\x82\xac", 8, 16, 0, 0)[3] == ".#....#.........");
  CHECK(written("\x7f", 8, 8, 0, 0) == box);
}
TEST_CASE("draw_text: what lies outside is left out") {
  const Rows whole = written("Wg%", 40, 60, 16, 16, 2);
  for (const i64 y : {-40, -13, -1, 0, 3, 9, 10, 50})
    for (const i64 x : {-100, -47, -20, -1, 0, 7, 19, 20}) {
      const Rows part = written("Wg%", 10, 20, y, x, 2);
      for (i64 i = 0; i < 10; ++i)
        for (i64 k = 0; k < 20; ++k) {
          const i64 from_y = i - y + 16, from_x = k - x + 16;  // its place in `whole`
          const bool is_there = from_y >= 0 && from_y < 40 && from_x >= 0 && from_x < 60;
          REQUIRE(part[i][k] == (is_there ? whole[from_y][from_x] : '.'));
        }
    }
  CHECK(written("a", 0, 5, 0, 0).empty());
  CHECK(written("#", 4, 4, -1000, -2000, 1 << 29) == Rows(4, "...."));
  CHECK(written("E", 2, 2, -(1 << 29), -(1 << 29), 1 << 29) == Rows(2, "##"));
}
TEST_CASE("draw_text: colors and dtypes, batches, in a trace; gradient") {
  const Tensor bytes = fill({2, 8, 8, 3}, 7, {.dtype = uint8});
  const Tensor orange = image::draw_text(bytes, "I", 0, 0, {.color = {255, 128, 0}});
  CHECK(orange.spec() == bytes.spec());
  for (i64 n = 0; n < 2; ++n) {
    CHECK(orange(n, 0, 3).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{255, 128, 0});
    CHECK(orange(n, 7, 7).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{7, 7, 7});
  }
  CHECK(image::draw_text(zeros({8, 8, 2}, uint8), "I", 0, 0)(0, 3).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{255, 255});
  CHECK(image::draw_text(zeros({8, 8, 1}, uint16), "I", 0, 0)(0, 3, 0).item<std::uint16_t>() == 65535);
  CHECK(image::draw_text(zeros({8, 8, 1}, float16), "I", 0, 0)(0, 3, 0).dtype() == float16);
  const auto f = function([](const Tensor& x) { return image::draw_text(x, "I", 0, 0); });
  CHECK(f(bytes).to_vector<std::uint8_t>() == image::draw_text(bytes, "I", 0, 0).to_vector<std::uint8_t>());
  const Tensor x = zeros({8, 8, 1});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = image::draw_text(x, "I", 0, 0);
  CHECK(tape.gradient(reduce_sum(y), x).to_vector<float>() == (1.f - y).to_vector<float>());
}
TEST_CASE("draw_text: errors") {
  const Tensor x = zeros({8, 8, 3});
  CHECK_THROWS_AS(image::draw_text(zeros({8, 8}), "a", 0, 0), InvalidArgumentError);
  CHECK_THROWS_AS(image::draw_text(zeros({8, 8, 1}, bool_), "a", 0, 0), InvalidArgumentError);
  CHECK_THROWS_AS(image::draw_text(x, "a", 0, 0, {.scale = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(image::draw_text(x, "a", 0, i64{1} << 40), InvalidArgumentError);
  CHECK_THROWS_WITH(image::draw_text(x, "a", 0, 0, {.color = {1, 1}}), ContainsSubstring("a color for each channel"));
  CHECK_THROWS_AS(image::draw_text(cast(x, uint8), "a", 0, 0, {.color = {1, 300, 1}}), InvalidArgumentError);
}

}  // namespace image_text_test
