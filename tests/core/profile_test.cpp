// Profiler: what eager ops, graph steps and calls leave on the time line, and the file that viewers read.
#include "tandem/core/profile.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

std::vector<ProfileEvent> of_kind(const Profiler& p, const std::string& kind) {
  std::vector<ProfileEvent> r;
  for (const ProfileEvent& e : p.events())
    if (e.kind == kind) r.push_back(e);
  return r;
}
std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}
// Enough of a JSON reader to tell whether a text is well-formed.
class Json {
 public:
  explicit Json(const std::string& text) : at_(text.c_str()), end_(at_ + text.size()) {}
  bool good() { return value() && (space(), at_ == end_); }

 private:
  void space() {
    while (at_ < end_ && std::isspace(static_cast<unsigned char>(*at_))) ++at_;
  }
  bool take(char c) { return space(), at_ < end_ && *at_ == c && ++at_; }
  bool text() {
    if (!take('"')) return false;
    for (; at_ < end_ && *at_ != '"'; ++at_) {
      if (static_cast<unsigned char>(*at_) < 0x20) return false;
      if (*at_ == '\\' && !std::strchr("\"\\/bfnrtu", *++at_)) return false;
    }
    return take('"');
  }
  template <class Item>
  bool list(char open, char close, const Item& item) {
    if (!take(open)) return false;
    if (take(close)) return true;
    do
      if (!item()) return false;
    while (take(','));
    return take(close);
  }
  bool value() {
    space();
    if (*at_ == '{') return list('{', '}', [&] { return text() && take(':') && value(); });
    if (*at_ == '[') return list('[', ']', [&] { return value(); });
    if (*at_ == '"') return text();
    char* rest = nullptr;
    std::strtod(at_, &rest);
    return rest != at_ && (at_ = rest);
  }
  const char *at_, *end_;
};

}  // namespace

TEST_CASE("profiler: eager ops with name, line, shapes, bytes and thread") {
  const Tensor a = ones({2, 3}), b = ones({3, 4});
  Profiler profiler;
  const int line = __LINE__ + 1;
  matmul(a, b, {.name = "logits"});
  (void)(a + a);
  const Variable v(a);
  v.assign_add(a);
  std::thread([&] { exp(a); }).join();
  profiler.stop();
  exp(a);
  const auto ops = of_kind(profiler, "op");
  REQUIRE(ops.size() == 4);
  CHECK(ops[0].name == "logits");
  CHECK(ops[0].op == "matmul");
  CHECK(ops[0].where.line == line);
  CHECK(std::string(ops[0].where.file).find("profile_test.cpp") != std::string::npos);
  CHECK(ops[0].shapes == "float32[2,3] x float32[3,4] -> float32[2,4]");
  CHECK(ops[0].bytes == 4 * (6 + 12 + 8));
  CHECK(ops[1].name == "add");
  CHECK(ops[2].op == "add");
  CHECK(ops[3].op == "exp");
  CHECK(ops[0].thread == ops[1].thread);
  CHECK(ops[0].thread != ops[3].thread);
  for (std::size_t i = 0; i < 4; ++i) CHECK(ops[i].duration >= 0);
  CHECK(ops[1].start >= ops[0].start + ops[0].duration);
}

TEST_CASE("profiler: calls of traced functions hold their steps, planned or not") {
  for (const bool planned : {true, false}) {
    const auto f = function(
        [](const Tensor& x) { return reduce_sum(exp(x, {.name = "powers"})) * 2; },
        {.name = "doubled", .execution = {.passes = {.fuse = false, .fuse_reductions = false}, .plan = planned}});
    const Tensor x = ones({8});
    Profiler profiler;
    f(x);
    f(x);
    profiler.stop();
    CHECK(of_kind(profiler, "trace").size() == 1);
    const auto calls = of_kind(profiler, "call"), steps = of_kind(profiler, "step");
    REQUIRE(calls.size() == 2);
    REQUIRE(steps.size() == 6);
    CHECK(of_kind(profiler, "op").empty());
    CHECK(calls[0].name == "doubled");
    CHECK(steps[0].name == "powers");
    CHECK(steps[0].op == "exp");
    CHECK(steps[0].shapes == "float32[8] -> float32[8]");
    CHECK(steps[0].where.file != nullptr);
    CHECK(steps[2].op == "multiply");
    for (std::size_t i = 0; i < 6; ++i) {
      const ProfileEvent& call = calls[i / 3];
      CHECK(steps[i].start >= call.start);
      CHECK(steps[i].start + steps[i].duration <= call.start + call.duration);
    }
  }
}

TEST_CASE("profiler: one at a time, scopes, a bound, a summary") {
  const Tensor a = ones({2});
  { const ProfileScope unheard("nobody listens"); }
  Profiler profiler({.max_events = 3});
  CHECK_THROWS_AS(Profiler(), errors::FailedPreconditionError);
  {
    const ProfileScope scope("epoch 1");
    (void)(a + a);
  }
  for (int i = 0; i < 4; ++i) (void)(a * a);
  CHECK(profiler.events().size() == 3);
  CHECK(profiler.events()[1].name == "epoch 1");
  CHECK(profiler.dropped() == 3);
  CHECK_THAT(profiler.summary(), ContainsSubstring("multiply"));
  profiler.stop();
  profiler.stop();
  Profiler second;
  (void)(a + a);
  CHECK(second.events().size() == 1);
}

TEST_CASE("profiler: the file is well-formed, whatever the names") {
  const Tensor a = ones({2});
  const std::string path = "profile_test.json";
  {
    Profiler profiler;
    exp(a, {.name = "a \"quoted\"\\ name\n\x01 \xc3\xa9 \xff\xc3 \xed\xa0\x80"});
    const ProfileScope scope("outer");
    profiler.write(path);
    CHECK_THROWS_WITH(profiler.write("/nonexistent/x.json"), ContainsSubstring("/nonexistent/x.json"));
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  const std::string json = text.str();
  CHECK(Json(json).good());
  CHECK_THAT(json, ContainsSubstring("a \\\"quoted\\\"\\\\ name\\u000a\\u0001 \xc3\xa9 \\ufffd\\ufffd \\ufffd"));
  CHECK(count(json, "\"ph\":\"X\"") == 1);
  CHECK_THAT(json, ContainsSubstring("\"traceEvents\":[") && ContainsSubstring("\"ph\":\"M\"") &&
                       ContainsSubstring("profile_test.cpp:") &&
                       ContainsSubstring("\"shapes\":\"float32[2] -> float32[2]\""));
}

TEST_CASE("profiler: a writable file is written in a folder that is not") {
  const fs::path folder = fs::temp_directory_path() / ("tandem_folder_" + std::to_string(std::random_device()()));
  fs::create_directory(folder);
  const std::string path = (folder / "trace.json").string();
  std::ofstream(path) << "old";
  REQUIRE((::chmod(path.c_str(), 0666) == 0 && ::chmod(folder.c_str(), 0555) == 0));
  Profiler profiler;
  exp(ones({2}));
  const bool root = ::geteuid() == 0;  // root may write everywhere
  if (root) REQUIRE(::seteuid(65534) == 0);
  const bool opens = ::access(folder.c_str(), X_OK) == 0;
  std::string error;
  try {
    profiler.write(path);
  } catch (const errors::UnavailableError& e) {
    error = e.what();
  }
  if (root) REQUIRE(::seteuid(0) == 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  ::chmod(folder.c_str(), 0755);
  CHECK((opens && error == ""));
  CHECK(Json(text.str()).good());
  fs::remove_all(folder);
}

TEST_CASE("profiler: a file that cannot be written keeps its content, its permissions and its links") {
  const fs::path folder = fs::temp_directory_path() / ("tandem_profile_" + std::to_string(std::random_device()()));
  fs::create_directory(folder);
  const std::string path = (folder / "trace.json").string(), link = (folder / "link").string();
  std::ofstream(path) << "old";
  fs::create_symlink("trace.json", link);
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  const auto content = [&] {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const auto files = [&] { return std::distance(fs::directory_iterator(folder), fs::directory_iterator()); };
  Profiler profiler;
  exp(ones({2}));
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{8, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);  // as a full disk: the file can be opened, not written
  std::string error;
  try {
    profiler.write(link);
  } catch (const errors::UnavailableError& e) {
    error = e.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(error, ContainsSubstring(link));
  CHECK(content() == "old");
  CHECK(files() == 2);
  profiler.write(link);
  CHECK(Json(content()).good());
  CHECK(fs::is_symlink(link));
  CHECK(files() == 2);
  struct stat s {};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0600);
  profiler.write("/dev/null");
  fs::remove_all(folder);
}

TEST_CASE("profile: collectives that overlap have different lanes, later ones those that are free") {
  const Profiler p;
  { const ProfileScope scope("own"); }
  const i64 t = detail::profile_begin();
  REQUIRE(t > 0);
  const auto add = [&](const char* name, i64 start, i64 end, i64 exposed) {
    detail::profile_collective({"all_reduce", name, "float32[4]", 16, t + start, t + end, exposed});
  };
  add("a", 0, 10, 3), add("c", 12, 15, 1), add("b", 5, 20, 2), add("d", 30, 40, 10);
  const std::vector<ProfileEvent> all = of_kind(p, "collective");
  REQUIRE(all.size() == 4);
  const int own = of_kind(p, "scope").at(0).thread;
  CHECK(all[0].thread == all[1].thread);
  CHECK(all[2].thread != all[0].thread);
  CHECK(all[3].thread == all[0].thread);
  for (const ProfileEvent& e : all) CHECK(e.thread != own);
  CHECK(all[2].name == "b");
  CHECK(all[2].duration == 15);
  CHECK(all[2].exposed == 2);
  CHECK(all[2].bytes == 16);
  CHECK(Json(p.json()).good());
  CHECK(count(p.json(), "\"name\":\"collectives\"") == 2);
}

TEST_CASE("profile: without a profiler nothing is timed") {
  CHECK(detail::profile_begin() == -1);
  detail::profile_collective({"all_reduce", "a", "float32[4]", 16, 1, 2, 1});
  const Profiler p;
  CHECK(of_kind(p, "collective").empty());
}
