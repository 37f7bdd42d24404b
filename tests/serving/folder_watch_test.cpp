// Folders that are watched: what is published or removed is noticed without waiting for the next look.
#include <filesystem>
#include <thread>

#include "tandem/serving/folder_watch.hpp"
#include "tests/serving/models.hpp"

namespace folder_watch_test {

using namespace tandem;
using serving::impl::FolderWatch;
namespace files = std::filesystem;

TEST_CASE("folder watch: what is renamed into a folder or leaves it, not what is made in it") {
  const testing::TemporaryFolder folder;
  for (const char* name : {"a", "b", "other"}) files::create_directories(folder / name);
  FolderWatch watch(true);
  if (!watch.works()) return;  // the system, or this user's share of it, has no inotify
  watch.follow({folder / "a", folder / "none"});
  CHECK_FALSE(watch.changed());
  files::create_directory(folder / "a/1");
  files::create_directory(folder / "other/.tmp-2");
  files::rename(folder / "other/.tmp-2", folder / "a/.tmp-2");
  CHECK_FALSE(watch.changed());
  files::rename(folder / "a/.tmp-2", folder / "a/2");
  CHECK(watch.changed());
  CHECK_FALSE(watch.changed());
  files::remove(folder / "a/1");
  CHECK(watch.changed());
  watch.follow({folder / "b"});
  files::remove(folder / "a/2");
  CHECK_FALSE(watch.changed());
  files::create_directory(folder / "none");  // another folder of that name, and one that comes later
  files::rename(folder / "b", folder / "old");
  CHECK(watch.changed());
  files::create_directory(folder / "b");
  watch.follow({folder / "b", folder / "none"});
  files::rename(folder / "other", folder / "old/1");
  CHECK_FALSE(watch.changed());
  files::rename(folder / "old/1", folder / "b/1");
  CHECK(watch.changed());
  files::rename(folder / "b/1", folder / "none/1");
  CHECK(watch.changed());
  FolderWatch off(false);
  off.follow({folder / "none"});
  files::remove(folder / "none/1");
  CHECK_FALSE((off.works() || off.changed()));
}

TEST_CASE("engine: versions that come and go are noticed long before the next look") {
  if (!FolderWatch(true).works()) return;
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1", 1);
  serving::Options options = testing::options_for(folder.path);
  options.file_system_poll_wait_seconds = 1e6;
  serving::Engine engine(options);
  engine.settle();
  const auto becomes = [&](float two) {
    for (int i = 0; i < 3000; ++i) {
      if (testing::ask(engine, "half", {0}) == std::vector<float>{two}) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  CHECK(becomes(1));
  testing::save_half(folder / "half/2", 2);
  CHECK(becomes(2));
  files::remove_all(folder / "half/2");
  CHECK(becomes(1));
}

}  // namespace folder_watch_test
