// Grids of images; PNG files inside of pictures.
#include "tandem/plot/images.hpp"

#include <cmath>

#include "tandem/ops/all.hpp"
#include "tandem/plot/png.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"

namespace plot_images_test {
using namespace tandem;
using plot::images;
using testing::Element, testing::error_of, testing::from_hex, testing::numbers_of, testing::parse_svg;
using Numbers = std::vector<double>;

// A PNG file of 1 x 1 black pixels, as libpng writes it.
const std::string png = from_hex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000 3a7e9b55 0000000a49444154789c636000000002000148afa471"
    "0000000049454e44ae426082");

// The gray of each pixel of an image, 0 to 255.
Numbers pixels(const Element& group, std::size_t rows, std::size_t columns) {
  Numbers r(rows * columns, -1);
  for (const Element* path : group.all("path")) {
    const Numbers d = numbers_of(path->get("d"));
    const double gray = numbers_of(path->get("stroke"))[0];
    for (std::size_t i = 0; i < d.size(); i += 3)
      for (double k = 0; k < d[i + 2]; ++k)
        r[static_cast<std::size_t>(std::floor(d[i + 1]) * static_cast<double>(columns) + d[i] + k)] = gray;
  }
  return r;
}

TEST_CASE("plot: base64 and the size of a PNG file") {
  // RFC 4648, section 10
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : cases)
    CHECK(plot::impl::data_uri(bytes) == std::string("data:image/png;base64,") + text);
  CHECK(plot::impl::data_uri("\xff\xef\xbe") == "data:image/png;base64,/+++");
  CHECK(plot::impl::png_size("f", png).width == 1);
  const std::string large = from_hex("89504e470d0a1a0a0000000d49484452 00000102 00010000 0806000000") + "crc and more";
  CHECK(plot::impl::png_size("f", large).width == 258);
  CHECK(plot::impl::png_size("f", large).height == 65536);
  for (std::string bad : {std::string(), png.substr(0, 20), std::string("GIF89a") + png, std::string(100, '\0')})
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { plot::impl::png_size("f", bad); }),
               ContainsSubstring("f: the image is not a PNG file"));
}

TEST_CASE("plot: gray images are drawn pixel by pixel") {
  const Tensor floats = constant({{0.f, 1.f, 1.f}, {0.5f, 2.f, -1.f}});
  const Element root = parse_svg(images({{.gray = floats, .caption = "a"}}).svg());
  const Numbers got = pixels(root.first("g"), 2, 3);
  CHECK(Numbers{got[0], got[1], got[2], got[4], got[5]} == Numbers{0, 255, 255, 255, 0});
  CHECK(got[3] == Approx(128).margin(5));
  CHECK(root.words() == std::vector<std::string>{"a"});
  const Tensor bytes = cast(floats * 255.f, uint8);
  CHECK(pixels(parse_svg(images({{.gray = reshape(bytes, {2, 3, 1})}}).svg()).first("g"), 2, 3)[1] == 255);
  CHECK(pixels(parse_svg(images({{.gray = floats}}, {.zero_is_white = true}).svg()).first("g"), 2, 3)[0] == 255);
  // 532 units wide for three pixels
  CHECK(numbers_of(root.first("g").get("transform"))[2] == Approx(532 / 3.).margin(0.01));
  const Element missing = parse_svg(images({{.gray = constant({{std::nanf(""), 1.f}})}}).svg());
  CHECK(pixels(missing.first("g"), 1, 2) == Numbers{-1, 255});
  CHECK(missing.all("g").size() == 2);
}

TEST_CASE("plot: images stand in rows") {
  const Element root =
      parse_svg(images(zeros({5, 4, 4}), {"a", "b", "c", "d", "e"}, {.title = "t", .columns = 3}).svg());
  const auto groups = root.all("g");
  REQUIRE(groups.size() == 5);
  const auto place = [&](std::size_t i) { return numbers_of(groups[i]->get("transform")); };
  CHECK(place(0)[1] == place(2)[1]);
  CHECK(place(3)[0] == place(0)[0]);
  CHECK(place(3)[1] > place(0)[1] + 4 * place(0)[2]);
  CHECK(place(2)[0] + 4 * place(2)[2] == Approx(560 - 14).margin(0.1));
  CHECK(root.words() == std::vector<std::string>{"t", "a", "b", "c", "d", "e"});
  CHECK(root.first("desc").text == "Images: 5. a; b; c; d; e");
  CHECK(parse_svg(images(zeros({9, 2, 2, 1})).svg()).all("g").size() == 9);
  CHECK(parse_svg(images(zeros({0, 2, 2})).svg()).words() == std::vector<std::string>{"no images"});
}

TEST_CASE("plot: rows of images have names and gaps") {
  const Element root =
      parse_svg(images(zeros({4, 4, 4}), {}, {.columns = 2, .row_names = {"first", "second"}, .gap = 0}).svg());
  const auto groups = root.all("g");
  const auto place = [&](std::size_t i) { return numbers_of(groups[i]->get("transform")); };
  CHECK(place(1)[0] - place(0)[0] == Approx(4 * place(0)[2]).margin(0.1));
  CHECK(place(2)[1] - place(0)[1] == Approx(4 * place(0)[3]).margin(0.1));
  CHECK(root.words() == std::vector<std::string>{"first", "second"});
  CHECK(place(0)[0] > root.first("text").number("x") + 14 * 0.5 * 6);
  CHECK_THAT(error_of([] {
               images(zeros({4, 4, 4}), {}, {.row_names = {"a"}});
             }),
             ContainsSubstring("1 names for 2 rows"));
  CHECK_THAT(error_of([] { images(zeros({4, 4, 4}), {}, {.gap = -1}); }), ContainsSubstring("the gap is -1"));
}

TEST_CASE("plot: PNG files are embedded") {
  const Element root =
      parse_svg(images({{.png = png, .caption = "one <pixel>"}, {.gray = zeros({2, 4})}}, {.columns = 2}).svg());
  const Element& image = root.first("image");
  CHECK(image.get("href") == plot::impl::data_uri(png));
  CHECK(image.number("width") == image.number("height"));
  CHECK(image.get("style") == "image-rendering:pixelated");
  // The lower image stands on the same line.
  const Numbers t = numbers_of(root.first("g").get("transform"));
  CHECK(t[1] + 2 * t[3] == Approx(image.number("y") + image.number("height")).margin(0.2));
}

TEST_CASE("plot: a large gray image is reduced") {
  const std::string svg = images({{.gray = random::uniform({1000, 700}, 0, 1)}}).svg();
  CHECK(svg.size() < 1000000);
  CHECK_NOTHROW(parse_svg(svg));
}

TEST_CASE("plot: wrong images raise") {
  const auto fails = [](const auto& f, const char* words) {
    CHECK_THAT(error_of<errors::InvalidArgumentError>(f), ContainsSubstring(words));
  };
  fails([] { images({{.caption = "none"}}); }, "plot::images: an image needs one of .png and .gray");
  fails([] { images({{.png = png, .gray = ones({1, 1})}}); }, "an image needs one of .png and .gray");
  fails([] { images({{.gray = ones({2, 2, 3})}}); }, "image::encode_png");
  fails([] { images({{.gray = ones({2})}}); }, "a gray image is [height, width]");
  fails(
      [] {
        images({{.gray = ones({2, 2}, int32)}});
      },
      "uint8 from 0 to 255, or floating from 0 to 1, not int32[2,2]");
  fails([] { images({{.png = "text"}}); }, "not a PNG file");
  fails([] { images(ones({2, 2})); }, "a batch is [n, height, width]");
  fails([] { images(ones({2, 2, 2}), {"a"}); }, "1 captions for 2 images");
  fails([] { images(ones({1, 2, 2}), {}, {.columns = -1}); }, "-1 columns");
  fails([] { images(ones({1, 2, 2}), {}, {.columns = 1000}); }, "too many");
  fails([] { images(ones({1, 2, 2}), {}, {.width = 10}); }, "the width");
}

}  // namespace plot_images_test
