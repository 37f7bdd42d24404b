// Replacing files: several writers of one path, links, special files, what killed processes leave behind.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "tandem/graph/trace/trace.hpp"
#include "tandem/io/graph_file.hpp"
#include "tandem/io/safetensors.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("tandem_replace_" + std::to_string(std::random_device()()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::set<std::string> names() const {
    std::set<std::string> r;
    for (const auto& entry : fs::directory_iterator(path)) r.insert(entry.path().filename().string());
    return r;
  }
};
void save(const std::string& path, const Tensor& t) { io::save_safetensors(path, {{"a", t}}); }
Tensor load(const std::string& path) { return io::load_safetensors(path).at("a"); }

// A process that is killed within a save, by the system's limit on the size of files.
void save_and_die(const std::string& path, const Tensor& large) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit small{1 << 16, 1 << 16}, none_at_all{0, 0};
    ::setrlimit(RLIMIT_CORE, &none_at_all);
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, SIG_DFL);
    save(path, large);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGXFSZ);
}
// The name of the only file beside `but`.
std::string other_name(const Folder& folder, const std::string& but) {
  std::set<std::string> names = folder.names();
  names.erase(but);
  REQUIRE(names.size() == 1);
  return *names.begin();
}

}  // namespace

TEST_CASE("threads that save to one path do not disturb each other or a reader") {
  const Folder folder;
  const std::string path = folder.file("shared");
  const Tensor few = ones({20000}), many = ones({30000}) * 2.f;
  save(path, few);
  std::atomic<int> failed{0}, torn{0}, reads{0};
  std::atomic<bool> stop{false};
  const auto write = [&](const Tensor& t) {
    for (int i = 0; i < 40; ++i) try {
        save(path, t);
      } catch (const errors::OpError&) {
        ++failed;
      }
  };
  std::thread reader([&] {
    while (!stop || reads == 0) try {
        const Tensor t = load(path);
        ++reads;
        torn += t.size() != (t.to_vector<float>()[0] == 1 ? 20000 : 30000);
      } catch (const errors::OpError&) {
        ++torn;
      }
  });
  std::thread first([&] { write(few); }), second([&] { write(many); });
  first.join(), second.join();
  stop = true;
  reader.join();
  CHECK(failed == 0);
  CHECK(torn == 0);
  CHECK(folder.names() == std::set<std::string>{"shared"});
}

TEST_CASE("what a killed process left is removed by the next save, and nothing else is") {
  const Folder folder;
  const std::string path = folder.file("run");
  const Tensor large = ones({100000});
  save(path, ones({1}));
  save_and_die(path, large);
  CHECK(load(path).size() == 1);
  const std::string left = other_name(folder, "run");
  CHECK_THAT(left, ContainsSubstring("run.partial."));

  std::string live = left, another_boot = left;
  live.back() = live.back() == 'f' ? 'e' : 'f';
  char& digit = another_boot[std::string("run.partial.").size()];
  digit = digit == '0' ? '1' : '0';
  const std::set<std::string> foreign{
      "other" + left.substr(3), left + "0",    left.substr(0, left.size() - 1),      another_boot,
      "run.partial.123",        "run.partial", left.substr(0, left.size() - 1) + "G"};
  for (const std::string& name : foreign) std::ofstream(folder.file(name)) << "foreign";
  fs::create_directory(folder.file(left.substr(0, left.size() - 2) + "00"));
  std::ofstream(folder.file(live)) << "of a living process";
  const int held = ::open(folder.file(live).c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);

  save(path, ones({2}));
  CHECK_FALSE(fs::exists(folder.file(left)));
  CHECK(fs::exists(folder.file(live)));
  for (const std::string& name : foreign) CHECK(fs::exists(folder.file(name)));
  CHECK(folder.names().size() == foreign.size() + 3);
  ::close(held);
  save(path, ones({3}));
  CHECK_FALSE(fs::exists(folder.file(live)));
  CHECK(folder.names().size() == foreign.size() + 2);
}

TEST_CASE("a symbolic link stays, its target is replaced") {
  const Folder folder, elsewhere;
  const auto link = [&](const std::string& to, const std::string& name) { fs::create_symlink(to, folder.file(name)); };
  save(folder.file("target"), ones({1}));
  link("target", "relative");
  link(folder.file("relative"), "twice");
  link(elsewhere.file("new"), "dangling");
  save(folder.file("twice"), ones({2}));
  CHECK(load(folder.file("target")).size() == 2);
  save(folder.file("dangling"), ones({3}));
  CHECK(load(elsewhere.file("new")).size() == 3);
  for (const char* name : {"relative", "twice", "dangling"}) CHECK(fs::is_symlink(folder.file(name)));
  CHECK(fs::is_regular_file(fs::symlink_status(folder.file("target"))));
  link("loop", "loop");
  CHECK_THROWS_AS(save(folder.file("loop"), ones({1})), errors::UnavailableError);
  CHECK(folder.names().size() == 5);
}

TEST_CASE("a file that is replaced keeps its permissions") {
  const Folder folder;
  const std::string path = folder.file("private");
  save(path, ones({1}));
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  save(path, ones({2}));
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("what is not a regular file is neither written nor read, and stays") {
  const Folder folder;
  const std::string pipe = folder.file("pipe"), socket = folder.file("s"), device = folder.file("device");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(socket.size() < sizeof address.sun_path);
  socket.copy(address.sun_path, socket.size());
  const int bound = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(bound, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  fs::create_symlink("/dev/full", device);

  Tracer t("f");
  const Tensor outputs[] = {t.argument({{2}, float32, {}}, "x")};
  const Ref<Graph> graph = t.finish(outputs);
  const Variable v(ones({2}), {.name = "v"});
  const train::Checkpoint checkpoint({{"v", v}});
  const std::pair<std::string, const char*> cases[] = {{folder.path.string(), "a directory"},
                                                       {folder.path.string() + "/", "a directory"},
                                                       {pipe, "a pipe"},
                                                       {device, "a character device"},
                                                       {socket, "a socket"}};
  for (const auto& [path, kind] : cases) {
    INFO(path);
    const auto check_told = [&, path = path, kind = kind](const auto& f) {
      CHECK_THROWS_WITH(f(), ContainsSubstring(path) && ContainsSubstring(kind));
    };
    CHECK_THROWS_AS(save(path, ones({1})), errors::FailedPreconditionError);
    check_told([&, path = path] { save(path, ones({1})); });
    check_told([&, path = path] { io::save_graph(path, *graph); });
    check_told([&, path = path] { checkpoint.save(path); });
    if (path == socket) continue;  // which cannot be opened: the system says why
    CHECK_THROWS_AS(load(path), errors::NotFoundError);
    check_told([&, path = path] { load(path); });
    check_told([&, path = path] { io::load_safetensors_metadata(path); });
    check_told([&, path = path] { io::load_graph(path, {}); });
    check_told([&, path = path] { checkpoint.restore(path); });
  }
  CHECK_THROWS_WITH(load(socket), ContainsSubstring(socket));
  CHECK_THROWS_AS(save("", ones({1})), errors::FailedPreconditionError);
  ::close(bound);
  CHECK(folder.names() == std::set<std::string>{"pipe", "s", "device"});
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a name as long as the system allows can be saved") {
  const Folder folder;
  const std::string name(255, 'n');
  save(folder.file(name), ones({1}));
  save(folder.file(name), ones({2}));
  CHECK(load(folder.file(name)).size() == 2);
  CHECK(folder.names() == std::set<std::string>{name});
}
