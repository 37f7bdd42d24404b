// Writes files for other programs to read, and reads theirs: see files.py.
//   files write DIR    records and pictures
//   files read DIR     theirs, as .npy files beside them
#include <tandem/data.hpp>
#include <tandem/image_webp.hpp>
#include <tandem/io.hpp>
#include <tandem/tandem.hpp>

#include <cstdio>
#include <exception>
#include <string>

using namespace tandem;

namespace {

train::Example example(i64 i) {
  const std::string bytes(static_cast<std::size_t>(i % 300), static_cast<char>(i));
  return {{{{"bytes", train::BytesList{{bytes, "second"}}},
            {"floats", train::FloatList{{static_cast<float>(i) / 7, -1e30f}}},
            {"ints", train::Int64List{{i, -i, i << 40}}},
            {"none", train::Int64List{}}}}};
}
// [height, width, channels]: a gradient along each axis.
Tensor picture(i64 height, i64 width, i64 channels, DType dtype, i64 step) {
  const Tensor y = reshape(range(height), {height, 1, 1}), x = reshape(range(width), {1, width, 1});
  const Tensor c = reshape(range(channels), {1, 1, channels});
  return cast((y * 2 + x * 2 + c * 20) * step % (dtype == uint8 ? 256 : 65536), dtype);
}

void write_files(const std::string& dir) {
  using io::Compression;
  for (const auto& [name, compression] : {std::pair("plain", Compression::none), std::pair("gzip", Compression::gzip),
                                          std::pair("zlib", Compression::zlib)}) {
    io::TFRecordWriter writer(dir + "/" + name + ".tfrecord", {.compression = compression});
    for (i64 i = 0; i < 500; ++i) writer.write(example(i).serialize());
    writer.close();
  }
  for (const i64 channels : {1, 2, 3, 4}) {
    const std::string suffix = std::to_string(channels);
    for (const DType dtype : {uint8, uint16}) {
      const Tensor x = picture(37, 53, channels, dtype, dtype == uint8 ? 1 : 257);
      const std::string path = dir + "/" + (dtype == uint8 ? "png8_" : "png16_") + suffix;
      io::write_file(path + ".png", image::encode_png(x).item<std::string>());
      io::save_npy(path + ".npy", x);
    }
    if (channels == 2) continue;
    const Tensor x = picture(37, 53, channels, uint8, 1);
    if (channels > 2)
      for (const bool lossless : {false, true}) {
        const std::string path = dir + (lossless ? "/webp_lossless_" : "/webp_") + suffix;
        io::write_file(path + ".webp",
                       image::encode_webp(x, {.lossless = lossless, .quality = 95}).item<std::string>());
        io::save_npy(path + ".npy", x);
      }
    if (channels == 4) continue;
    io::write_file(dir + "/jpeg_" + suffix + ".jpg", image::encode_jpeg(x, {.quality = 95}).item<std::string>());
    io::save_npy(dir + "/jpeg_" + suffix + ".npy", x);
  }
}

void read_files(const std::string& dir) {
  for (const char* const name : {"plain", "gzip"}) {
    const std::string path = dir + "/theirs_" + name + ".tfrecord";
    const io::FeatureConfigs features = {{"floats", io::FixedLenFeature{{2}, float32}},
                                         {"ints", io::VarLenFeature{int64}},
                                         {"bytes", io::FixedLenFeature{{}, string}}};
    const data::TFRecordDataset ds(
        path, {.compression = std::string(name) == "gzip" ? io::Compression::gzip : io::Compression::none});
    for (auto& records : ds.batch(1000)) {
      const auto parsed = io::parse_example(records, features);
      io::save_npy(path + ".floats.npy", parsed["floats"]);
      io::save_npy(path + ".ints.npy", parsed["ints"]);
      io::save_npy(path + ".lengths.npy", parsed.row_lengths("ints"));
    }
  }
  for (const char* const name : {"records", "records_gzip"}) {
    const std::string path = dir + "/theirs_" + name;
    std::string joined;
    for (const std::string& record :
         data::FixedLengthRecordDataset(path, 17, {.header_bytes = 3, .footer_bytes = 5}).epoch(0))
      joined += record;
    io::write_file(path + ".joined", joined);
  }
  for (const char* const name : {"rgb.jpg", "gray.jpg", "progressive.jpg", "cmyk.jpg", "rgb.png", "gray16.png",
                                 "palette.png", "alpha.png", "interlaced.png", "rgb.bmp"}) {
    const std::string path = dir + "/theirs_" + name, bytes = io::read_file(path);
    const bool is_16 = std::string(name) == "gray16.png";
    io::save_npy(path + ".npy", is_16 ? image::decode_png(bytes, {.dtype = uint16}) : image::decode_image(bytes));
  }
  for (const char* const name : {"rgb.webp", "alpha.webp", "lossless.webp", "lossless_alpha.webp"}) {
    const std::string path = dir + "/theirs_" + name;
    io::save_npy(path + ".npy", image::decode_webp(io::read_file(path)));
  }
  for (const char* const name : {"animation.gif", "still.gif", "interlaced.gif"}) {
    const std::string path = dir + "/theirs_" + name;
    io::save_npy(path + ".npy", image::decode_gif(io::read_file(path)));
  }
  std::string keys;
  for (const io::WebDatasetSample& sample : data::WebDataset(dir + "/theirs.tar"))
    keys += sample.key + " " + sample["txt"] + " " + std::to_string(sample["bin"].size()) + "\n";
  io::write_file(dir + "/theirs.tar.txt", keys);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc == 3 ? argv[1] : "";
  try {
    if (command == "write") write_files(argv[2]);
    else if (command == "read") read_files(argv[2]);
    else return std::fputs("usage: files write|read DIR\n", stderr), 2;
  } catch (const std::exception& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
  return 0;
}
