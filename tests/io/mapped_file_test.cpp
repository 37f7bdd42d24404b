// Tensors in the memory of their file: load_safetensors and load_npy with .map.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tandem/io/npy.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/values.hpp"

namespace io_mapped_file_test {
using namespace tandem;
using testing::error_of;
namespace fs = std::filesystem;

// The mappings of a file in this process.
int mappings_of(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  int n = 0;
  for (std::string line; std::getline(maps, line);) n += line.find(path) != line.npos;
  return n;
}
i64 resident_bytes() {
  std::ifstream in("/proc/self/statm");
  i64 size = 0, resident = 0;
  in >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}
std::string safetensors_of(std::string header, const std::string& data) {
  std::string r(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) r[i] = static_cast<char>(header.size() >> (8 * i));
  return r + header + data;
}

TEST_CASE("safetensors, mapped: the values and names of the other loader, without a copy") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "all.safetensors";
  std::vector<io::NamedTensor> tensors;
  for (const DType d : {complex64, float64, int64, uint64, float32, int32, uint32, float16, bfloat16, int16, uint16,
                        int8, uint8, bool_})
    tensors.push_back({name(d), cast(constant({{0, 1, 2}, {3, 4, 5}}), d)});
  tensors.push_back({"scalar", constant(std::int8_t(7))});
  tensors.push_back({"empty", zeros({2, 0, 3})});
  io::save_safetensors(path, tensors, {{"author", "me"}});
  const io::Safetensors read = io::load_safetensors(path);
  std::optional<io::Safetensors> mapped = io::load_safetensors(path, {.map = true});
  CHECK(mapped->metadata == read.metadata);
  REQUIRE(mapped->tensors.size() == read.tensors.size());
  CHECK(mappings_of(path) > 0);
  // The file's pages, except of what is checked or has no bytes.
  for (const io::NamedTensor& t : read.tensors) {
    INFO(t.name);
    const Tensor& m = mapped->at(t.name);
    CHECK(m.spec() == t.tensor.spec());
    CHECK(to_string(m) == to_string(t.tensor));
  }
  const std::string bytes = testing::content_of(path);
  const char* const first = static_cast<const char*>(mapped->at("complex64").raw());
  const std::size_t start = bytes.size() - 6 * (8 + 8 + 8 + 8 + 4 + 4 + 4 + 2 + 2 + 2 + 2 + 1 + 1 + 1) - 1;
  CHECK(std::memcmp(first, bytes.data() + start, 6 * 8) == 0);
  CHECK(static_cast<const char*>(mapped->at("float64").raw()) - first == 6 * 8);
  CHECK(static_cast<const char*>(mapped->at("uint8").raw()) - first == 6 * (4 * 8 + 3 * 4 + 4 * 2 + 1));

  // A tensor keeps the mapping, and views and results are independent of the rest.
  const Tensor row = mapped->at("float32")[1];
  mapped.reset();
  CHECK(mappings_of(path) > 0);
  CHECK(row.to_vector<float>() == std::vector<float>{3, 4, 5});
}

TEST_CASE("safetensors, mapped: the mapping ends with the last tensor; a replaced file is another file") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "w";
  io::save_safetensors(path, {{"w", constant({1.f, 2.f, 3.f})}});
  {
    const io::Safetensors mapped = io::load_safetensors(path, {.map = true});
    io::save_safetensors(path, {{"w", constant({7.f})}});
    CHECK(mapped.at("w").to_vector<float>() == std::vector<float>{1, 2, 3});
    CHECK(io::load_safetensors(path, {.map = true}).at("w").to_vector<float>() == std::vector<float>{7});
    CHECK(mappings_of(path) == 1);  // named "w (deleted)"
  }
  CHECK(mappings_of(path) == 0);
  // Values are never written in place: a Variable that was assigned a mapped value trains on a copy.
  const io::Safetensors mapped = io::load_safetensors(path, {.map = true});
  const Variable v(zeros({1}));
  v.assign(mapped.at("w"));
  v.assign_add(constant({1.f}));
  v.assign_sub(constant({3.f}));
  CHECK(v.value().item<float>() == 5);
  optimizers::SGD(1.).apply_gradients({constant({2.f})}, {v});
  CHECK(v.value().item<float>() == 3);
  CHECK(mapped.at("w").item<float>() == 7);
}

TEST_CASE("safetensors, mapped: misaligned values and bools are copied; damage raises") {
  const testing::TemporaryFolder folder;
  const float w[2] = {1.5f, -2};
  const std::string floats(reinterpret_cast<const char*>(w), 8);
  std::string header = R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("w":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const io::Safetensors r =
      io::load_safetensors(folder.file("misaligned", safetensors_of(header, "\7" + floats)), {.map = true});
  CHECK(r.at("w").to_vector<float>() == std::vector<float>{1.5f, -2});
  CHECK(reinterpret_cast<std::uintptr_t>(r.at("w").raw()) % alignof(float) == 0);
  CHECK(r.at("b").item<std::uint8_t>() == 7);

  const auto load = [&](const std::string& content) {
    return error_of<errors::DataLossError>(
        [&] { io::load_safetensors(folder.file("damaged", content), {.map = true}); });
  };
  CHECK_THAT(load(safetensors_of(header, floats)), ContainsSubstring("range"));  // a byte too short
  CHECK_THAT(load(safetensors_of(R"({"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", "\2")),
             ContainsSubstring("neither 0 nor 1"));
  CHECK_THAT(load(""), ContainsSubstring("shorter than 8 bytes"));
  CHECK_THROWS_AS(io::load_safetensors(folder / "none", {.map = true}), errors::NotFoundError);
  CHECK_THROWS_AS(io::load_safetensors(folder.path, {.map = true}), errors::NotFoundError);
  const io::Safetensors none = io::load_safetensors(folder.file("empty", safetensors_of("{}", "")), {.map = true});
  CHECK(none.tensors.empty());
}

TEST_CASE("mapped: a file of 10 GB is not read") {
  const testing::TemporaryFolder folder;
  const i64 n = 2'500'000'000;
  std::string header = R"({"w":{"dtype":"F32","shape":[2500000000],"data_offsets":[0,10000000000]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string start = safetensors_of(header, "");
  const std::string path = folder.file("large", start);
  if (::truncate(path.c_str(), static_cast<off_t>(start.size()) + 4 * n) != 0)
    TANDEM_SKIP("the disk has no sparse files");
  const float last = 2.5f;
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4, std::ios::end);
    file.write(reinterpret_cast<const char*>(&last), 4);
  }
  const i64 before = resident_bytes(), live = memory::info().live;
  const Tensor w = io::load_safetensors(path, {.map = true}).at("w");
  CHECK(w.size() == n);
  CHECK(w.at<float>({n - 1}) == last);
  CHECK(w.at<float>({n / 2}) == 0);
  CHECK(reduce_sum(w(Slice(n - 1000, n))).item<float>() == last);
  CHECK(resident_bytes() - before < 64'000'000);
  CHECK(memory::info().live - live < 64'000'000);
}

TEST_CASE("npy, mapped: the values of the other loader; what is not as it must be is copied") {
  const testing::TemporaryFolder folder;
  for (const DType dtype : {float16, float32, float64, int8, int64, uint16, bool_, complex64, complex128}) {
    const std::string path = folder / "x.npy";
    const Tensor x = testing::numbered({4, 3}, dtype);
    io::save_npy(path, x);
    const Tensor mapped = io::load_npy(path, {.map = true});
    CHECK(mapped.spec() == x.spec());
    CHECK(to_string(mapped) == to_string(x));
    CHECK((mappings_of(path) > 0) == (dtype != bool_));
  }
  const auto file = [&](const char* name, std::string header, const std::string& data) {
    header.resize(54, ' ');
    return folder.file(name, std::string("\x93NUMPY\1\0\x36\0", 10) + header + data);
  };
  const std::string ints("\1\0\2\0\3\0\4\0", 8);
  const std::string fortran = file("f", "{'descr':'<i2','fortran_order':True,'shape':(2,2)}", ints);
  CHECK(io::load_npy(fortran, {.map = true}).to_vector<std::int16_t>() == std::vector<std::int16_t>{1, 3, 2, 4});
  const std::string swapped = file("s", "{'descr':'>i2','fortran_order':False,'shape':(4,)}", ints);
  CHECK(io::load_npy(swapped, {.map = true}).to_vector<std::int16_t>() ==
        std::vector<std::int16_t>{256, 512, 768, 1024});
  const std::string vector = file("v", "{'descr':'<i2','fortran_order':True,'shape':(4,)}", ints);
  CHECK(io::load_npy(vector, {.map = true}).to_vector<std::int16_t>() == std::vector<std::int16_t>{1, 2, 3, 4});
  CHECK(mappings_of(folder.path) == 0);
  const std::string odd = folder.file(
      "odd", std::string("\x93NUMPY\1\0\x33\0", 10) + "{'descr':'<i2','fortran_order':False,'shape':(4,)}\n" + ints);
  CHECK(io::load_npy(odd, {.map = true}).to_vector<std::int16_t>() == std::vector<std::int16_t>{1, 2, 3, 4});
  io::save_npy(folder / "none", zeros({0, 3}));
  CHECK(io::load_npy(folder / "none", {.map = true}).shape() == Shape{0, 3});
  CHECK_THROWS_AS(
      io::load_npy(file("short", "{'descr':'<i4','fortran_order':False,'shape':(4,)}", ints), {.map = true}),
      errors::DataLossError);
}

}  // namespace io_mapped_file_test
