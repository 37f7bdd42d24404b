// TFRecord files that are compressed, as gzip reads them.
#include "tandem/io/tfrecord.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/other_program.hpp"

namespace io_gzip_program_test {
using namespace tandem;

TEST_CASE("TFRecordWriter: gzip accepts what is compressed, and has the bytes of the plain file") {
  if (!testing::has_program("gzip")) TANDEM_SKIP("there is no gzip");
  const testing::TemporaryFolder folder;
  const auto write = [&](const std::string& name, io::Compression compression) {
    io::TFRecordWriter writer(folder / name, {.compression = compression});
    for (int i = 0; i < 300; ++i) writer.write(std::string(static_cast<std::size_t>(i * 7), static_cast<char>(i)));
    writer.close();
    return folder / name;
  };
  const std::string packed = write("a.gz", io::Compression::gzip), plain = write("a", io::Compression::none);
  CHECK(testing::run_program("gzip -t " + packed).accepted);
  CHECK(testing::run_program("gzip -dc " + packed).output == testing::run_program("cat " + plain).output);
  std::filesystem::resize_file(packed, std::filesystem::file_size(packed) - 3);
  CHECK_FALSE(testing::run_program("gzip -t " + packed).accepted);
}

}  // namespace io_gzip_program_test
