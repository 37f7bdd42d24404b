// Whole files and folders: read_file, write_file, ensure_directory, disk_cache, download; Lazy, paged_fetch;
// list_class_folder.
#include "tandem/io/file.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

#include "tandem/io/class_folder.hpp"
#include "tandem/io/lazy.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace io_file_test {
using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;

TEST_CASE("write_file and read_file: any bytes, in folders that are made") {
  const testing::TemporaryFolder folder;
  const std::string bytes("a\0\r\n\xff", 5);
  io::write_file(folder / "x/y/file", bytes);
  CHECK(io::read_file(folder / "x/y/file") == bytes);
  io::write_file(folder / "x/y/file", "");
  CHECK(io::read_file(folder / "x/y/file").empty());
  CHECK_THAT(error_of<errors::NotFoundError>([&] { io::read_file(folder / "none"); }),
             ContainsSubstring("read_file: cannot read " + (folder / "none")));
  CHECK_NOTHROW(io::ensure_directory(folder / "x/y"));
  CHECK_THAT(error_of<errors::UnavailableError>([&] { io::ensure_directory(folder / "x/y/file"); }),
             ContainsSubstring("x/y/file"));
  CHECK_THROWS_AS(io::write_file(folder / "x/y/file/z", ""), errors::UnavailableError);
}

TEST_CASE("sha256: the values of FIPS 180-4") {
  CHECK(io::sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(io::sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(io::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(io::sha256(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("disk_cache: a second call does not run the function, also in another object") {
  const testing::TemporaryFolder folder;
  int runs = 0;
  const auto make = [&](const std::string& name) {
    return io::disk_cache(folder / "cache", name, [&](const std::string& s) { return ++runs, s + "!"; });
  };
  CHECK(make("f")("a") == "a!");
  CHECK(make("f")("a") == "a!");
  CHECK(runs == 1);
  CHECK(make("f")("") == "!");
  CHECK(make("g")("a") == "a!");
  CHECK(make("f/../x")("a") == "a!");
  CHECK(runs == 4);
  // Equal in every process: SHA-256 of "1:fa".
  CHECK(io::cache_path("d", "f", "a") == "d/f-" + io::sha256("1:fa"));
  CHECK(io::cache_path("d", "fa", "") != io::cache_path("d", "f", "a"));
  const auto failing =
      io::disk_cache(folder / "cache", "h", [](const std::string&) -> std::string { throw std::runtime_error("no"); });
  CHECK_THROWS_AS(failing("a"), std::runtime_error);
  CHECK_FALSE(std::filesystem::exists(io::cache_path(folder / "cache", "h", "a")));
}

TEST_CASE("download: a file:// URL is fetched once") {
  const testing::TemporaryFolder folder;
  const std::string source = folder.file("data.bin", "content");
  const std::string path = io::download("file://" + source, folder / "in");
  CHECK(path == folder / "in/data.bin");
  CHECK(testing::content_of(path) == "content");
  folder.file("data.bin", "changed");
  CHECK(testing::content_of(io::download("file://" + source, folder / "in")) == "content");
  CHECK_THROWS_AS(io::download("file://" + (folder / "none"), folder / "in"), errors::NotFoundError);
  CHECK_THROWS_AS(io::download("data.bin", folder / "in"), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::download("http://host/", folder / "in"), errors::InvalidArgumentError);
  // Nothing listens on port 1, or there is no curl.
  CHECK_THROWS_AS(io::download("http://127.0.0.1:1/file", folder / "in"), errors::UnavailableError);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "in")) files += entry.is_regular_file();
  CHECK(files == 1);
}

TEST_CASE("Lazy: is made once by eight threads, and again after a failure") {
  std::atomic<int> runs{0};
  const Lazy<std::string> text([&] {
    ++runs;
    return std::string("made");
  });
  CHECK(runs == 0);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { good += *text == "made" && text->size() == 4; });
  for (std::thread& t : threads) t.join();
  CHECK((good == 8 && runs == 1));
  int attempts = 0;
  const Lazy<int> second([&] { return ++attempts == 1 ? throw std::runtime_error("first") : attempts; });
  CHECK_THROWS_AS(second.get(), std::runtime_error);
  CHECK(*second == 2);
}

TEST_CASE("paged_fetch: pages up to a short one") {
  std::vector<i64> offsets;
  const auto fetch = [&](i64 n) {
    return [&offsets, n](i64 offset, i64 size) {
      offsets.push_back(offset);
      std::vector<i64> page;
      for (i64 i = offset; i < std::min(n, offset + size); ++i) page.push_back(i);
      return page;
    };
  };
  CHECK(io::paged_fetch(fetch(7), 3).size() == 7);
  CHECK(offsets == std::vector<i64>{0, 3, 6});
  CHECK(io::paged_fetch(fetch(6), 3).back() == 5);
  CHECK(io::paged_fetch(fetch(0), 3).empty());
  CHECK_THROWS_AS(io::paged_fetch(fetch(1), 0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(io::paged_fetch([](i64, i64) { return Texts(4); }, 3), errors::InvalidArgumentError);
}

TEST_CASE("list_class_folder: sorted classes, files with their labels") {
  const testing::TemporaryFolder folder;
  for (const char* const name : {"cats", "Dogs", "ants", "cats/more", ".hidden"})
    std::filesystem::create_directories(folder / name);
  for (const char* const name : {"cats/b.JPG", "cats/a.png", "cats/more/c.jpeg", "cats/notes.txt", "cats/.x.jpg",
                                 "Dogs/d.jpg", "loose.jpg", ".hidden/h.jpg"})
    folder.file(name, "");
  const io::ClassFolder f = io::list_class_folder(folder.path);
  CHECK(f.class_names == Texts{"Dogs", "ants", "cats"});
  using Files = std::vector<std::pair<std::string, i64>>;
  CHECK(f.files == Files{{folder / "Dogs/d.jpg", 0},
                         {folder / "cats/a.png", 2},
                         {folder / "cats/b.JPG", 2},
                         {folder / "cats/more/c.jpeg", 2}});
  CHECK(io::list_class_folder(folder.path, {.extensions = {".txt"}}).files == Files{{folder / "cats/notes.txt", 2}});
  CHECK(io::list_class_folder(folder.path, {.extensions = {}}).files.size() == 5);
  CHECK_THROWS_AS(io::list_class_folder(folder / "none"), errors::NotFoundError);
  CHECK_THROWS_AS(io::list_class_folder(folder / "ants"), errors::InvalidArgumentError);
}

}  // namespace io_file_test
