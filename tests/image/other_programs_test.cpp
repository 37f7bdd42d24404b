// What is written, as read by programs of others: djpeg, pngcheck.
#include "tandem/ops/all.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/other_program.hpp"

namespace image_other_programs_test {
using namespace tandem;
using pictures::text_of;

TEST_CASE("encode_jpeg: djpeg has the pixels that decode_jpeg has") {
  if (!testing::has_program("djpeg")) TANDEM_SKIP("there is no djpeg");
  const testing::TemporaryFolder folder;
  for (const i64 channels : {1, 3}) {
    const std::string bytes = text_of(image::encode_jpeg(pictures::smooth(45, 62, channels), {.quality = 90}));
    const auto result = testing::run_program("djpeg -dct int -pnm " + folder.file("a.jpg", bytes));
    CHECK(result.accepted);
    const std::string head = channels == 1 ? "P5\n62 45\n255\n" : "P6\n62 45\n255\n";
    REQUIRE(result.output.size() == head.size() + static_cast<std::size_t>(45 * 62 * channels));
    CHECK(result.output.substr(0, head.size()) == head);
    const auto ours = image::decode_jpeg(bytes).to_vector<std::uint8_t>();
    int largest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i)
      largest = std::max(largest, std::abs(ours[i] - static_cast<unsigned char>(result.output[head.size() + i])));
    CHECK(largest <= 1);
  }
  const auto cut = testing::run_program("djpeg " + folder.file("cut.jpg", "not a picture"));
  CHECK_FALSE(cut.accepted);
}

TEST_CASE("encode_png: pngcheck accepts every width and number of channels") {
  if (!testing::has_program("pngcheck")) TANDEM_SKIP("there is no pngcheck");
  const testing::TemporaryFolder folder;
  for (const i64 channels : {1, 2, 3, 4})
    for (const DType dtype : {uint8, uint16}) {
      INFO(channels << " channels of " << to_string(dtype));
      const std::string bytes = text_of(image::encode_png(cast(pictures::smooth(33, 20, channels), dtype)));
      CHECK(testing::run_program("pngcheck -q " + folder.file("a.png", bytes)).accepted);
      CHECK_FALSE(
          testing::run_program("pngcheck -q " + folder.file("cut.png", bytes.substr(0, bytes.size() - 5))).accepted);
    }
}

}  // namespace image_other_programs_test
