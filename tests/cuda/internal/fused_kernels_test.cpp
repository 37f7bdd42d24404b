// Compiled kernels of fused programs: when they are made and used, and their files.
#include "cuda/fused/kernels.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "cuda/driver/device.hpp"
#include "cuda/fused/image_file.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/util/stable_hash.hpp"
#include "tests/cuda/device.hpp"
#include "tests/support/temporary_folder.hpp"

namespace fused_kernels_test {

using namespace tandem;
using namespace gpu_test;
using cuda::KernelCompilation;

// Sets how kernels are made and where they are kept, and forgets those of other tests.
struct Setting {
  explicit Setting(KernelCompilation how, const std::string& folder) {
    cuda::forget_kernels();
    cuda::set_kernel_cache(folder);
    cuda::set_kernel_compilation(how);
  }
  Setting(const Setting&) = delete;
  ~Setting() { cuda::set_kernel_compilation(KernelCompilation::off); }
};
// Since its construction.
struct Counts {
  cuda::KernelCounts before = cuda::kernel_counts();
  std::uint64_t ready() const { return cuda::kernel_counts().ready - before.ready; }
  std::uint64_t compiled() const { return cuda::kernel_counts().compiled - before.compiled; }
  std::uint64_t failed() const { return cuda::kernel_counts().failed - before.failed; }
  std::uint64_t launched() const { return cuda::kernel_counts().launched - before.launched; }
};
Tensor formula(const Tensor& x) { return exp(x) * x + 1.f; }
// Calls a traced function as often on the device, which has one fused program.
void call(int times = 1) {
  const Tensor x = reals({70}), there = x.gpu(), want = formula(x);
  const auto f = function([](const Tensor& t) { return formula(t); });
  for (int i = 0; i < times; ++i) check_near(f(there), want);
}
std::vector<std::filesystem::path> files_in(const std::string& folder) {
  std::vector<std::filesystem::path> r;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) r.push_back(entry.path());
  return r;
}

TEST_CASE("CUDA fused kernels: interpreted until the background thread is done, then compiled, also in captures") {
  const Setting setting(KernelCompilation::background, "");
  const auto f = function([](const Tensor& x) {  // three launches, which are captured
    return cumsum(formula(cumsum(x)));
  });
  const Tensor x = reals({70}), there = x.gpu(), want = cumsum(formula(cumsum(x)));
  const Counts counts;
  for (int i = 0; i < 6; ++i) check_near(f(there), want);  // its capture is made before the kernel, most likely
  cuda::wait_for_kernels();
  const Counts when_ready;
  CHECK(counts.compiled() == 1);
  CHECK(counts.ready() == 1);
  const std::uint64_t graphs = cuda::graph_launches();
  for (int i = 0; i < 6; ++i) check_near(f(there), want);
  CHECK(counts.launched() >= 1);
  CHECK(when_ready.ready() == 0);
  CHECK(cuda::graph_launches() > graphs);
  cuda::set_kernel_compilation(KernelCompilation::off);
  const Counts later;
  for (int i = 0; i < 6; ++i) check_near(f(there), want);
  CHECK(later.launched() == 0);
}

TEST_CASE("CUDA fused kernels: a capture of interpreted launches is made again when they are compiled") {
  const Setting setting(KernelCompilation::off, "");
  const auto f = function([](const Tensor& x) { return cumsum(formula(cumsum(x))); });
  const Tensor x = reals({70}), there = x.gpu(), want = cumsum(formula(cumsum(x)));
  const std::uint64_t before = cuda::graph_launches();
  for (int i = 0; i < 6; ++i) check_near(f(there), want);
  CHECK(cuda::graph_launches() > before);
  cuda::set_kernel_compilation(KernelCompilation::wait);
  const Counts counts;
  for (int i = 0; i < 6; ++i) check_near(f(there), want);
  CHECK(counts.launched() >= 1);
}

TEST_CASE("CUDA fused kernels: the folder has what another process needs not compile again") {
  const testing::TemporaryFolder folder;
  const Setting setting(KernelCompilation::wait, folder / "made/for it");
  const Counts first;
  call();
  CHECK(first.compiled() == 1);
  REQUIRE(files_in(cuda::kernel_cache()).size() == 1);
  cuda::forget_kernels();
  const Counts second;
  call();
  CHECK(second.compiled() == 0);
  CHECK(second.ready() == 1);
  CHECK(second.launched() == 1);
  CHECK(files_in(cuda::kernel_cache()).size() == 1);
}

TEST_CASE("CUDA fused kernels: files that are damaged or of something else are written again") {
  const testing::TemporaryFolder folder;
  const Setting setting(KernelCompilation::wait, folder.path);
  call();
  const std::string file = files_in(folder.path).at(0).string();
  const auto size = std::filesystem::file_size(file);
  const auto damage = [&](const auto& how) {
    cuda::forget_kernels();
    how();
    const Counts counts;
    call();
    CHECK(counts.compiled() == 1);
    CHECK(counts.launched() == 1);
    CHECK(std::filesystem::file_size(file) == size);
    CHECK(files_in(folder.path).size() == 1);
  };
  damage([&] { std::filesystem::resize_file(file, size - 1); });
  damage([&] { std::filesystem::resize_file(file, 0); });
  damage([&] {
    std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(static_cast<std::streamoff>(size / 2)).put('?').put('!');
  });
  damage([&] { std::ofstream(file, std::ios::binary) << "another program's file\n"; });
}

TEST_CASE("CUDA fused kernels: a file that the driver refuses is compiled again") {
  const testing::TemporaryFolder folder;
  const Setting setting(KernelCompilation::wait, folder.path);
  call();
  const std::filesystem::path file = files_in(folder.path).at(0);
  const auto size = std::filesystem::file_size(file);
  // An image of 4 bytes, in the form that the emulator expects, behind a head that is right.
  const std::size_t length = 4;
  const std::string image = std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + "junk";
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx",
                static_cast<unsigned long long>(tandem::detail::farm_hash64(image)));
  std::ofstream(file, std::ios::binary) << "tandem kernel 1 " << file.stem().string() << " " << image.size() << " "
                                        << hash.data() << "\n"
                                        << image;
  cuda::forget_kernels();
  const Counts counts;
  call();
  CHECK(counts.compiled() == 1);
  CHECK(counts.failed() == 0);
  CHECK(counts.launched() == 1);
  CHECK(std::filesystem::file_size(file) == size);
}

TEST_CASE("CUDA fused kernels: a folder is made for its user alone, and a file that others may write is not read") {
  const testing::TemporaryFolder folder;
  const mode_t mask = ::umask(0);
  cuda::write_image(folder / "made/for it", "key", "image");
  ::umask(mask);
  const auto mode = [](const std::string& path) {
    struct stat s {};
    return ::lstat(path.c_str(), &s) == 0 ? s.st_mode & 0777 : 0;
  };
  const std::string in = folder / "made/for it", file = cuda::image_path(in, "key");
  CHECK(mode(folder / "made") == 0700);
  CHECK(mode(in) == 0700);
  CHECK(mode(file) == 0600);
  CHECK(cuda::read_image(in, "key") == "image");
  const auto check_refused = [&] {  // and replaced
    CHECK(cuda::read_image(in, "key").empty());
    cuda::write_image(in, "key", "image");
    CHECK(mode(file) == 0600);
    CHECK(cuda::read_image(in, "key") == "image");
    CHECK(files_in(in).size() == 1);
  };
  for (const mode_t others : {0620u, 0602u}) {
    REQUIRE(::chmod(file.c_str(), others) == 0);
    check_refused();
  }
  if (::geteuid() == 0) {
    REQUIRE(::chown(file.c_str(), 1, 1) == 0);
    check_refused();
  }
  std::filesystem::rename(file, folder / "image");
  std::filesystem::create_symlink(folder / "image", file);
  check_refused();
  std::filesystem::remove(file);
  REQUIRE(::mkfifo(file.c_str(), 0600) == 0);  // would be waited for
  check_refused();
}

TEST_CASE("CUDA fused kernels: what an ended process of the same number has left does not prevent writing") {
  const testing::TemporaryFolder folder;
  const std::string path = cuda::image_path(folder.path, "key"), process = std::to_string(::getpid());
  for (int i = 0; i < 1000; ++i) std::ofstream(path + ".partial." + process + "." + std::to_string(i)) << "part";
  cuda::write_image(folder.path, "key", "image");
  CHECK(cuda::read_image(folder.path, "key") == "image");
}

TEST_CASE("CUDA fused kernels: a folder that cannot be written, or is a file, costs the file alone") {
  const testing::TemporaryFolder folder;
  for (const std::string& path : {std::string("/proc/tandem"), folder.file("file", "content")}) {
    const Setting setting(KernelCompilation::wait, path);
    const Counts counts;
    call();
    CHECK(counts.compiled() == 1);
    CHECK(counts.launched() == 1);
  }
  CHECK(files_in(folder.path).size() == 1);
}

TEST_CASE("CUDA fused kernels: a kernel that cannot be made leaves its program interpreted, with one warning") {
  static std::string warnings;
  warnings.clear();
  set_warning_handler([](const char* text) { (warnings += text) += '\n'; });
  {
    const Setting setting(KernelCompilation::wait, "");
    emulator::break_compiler(true);
    const Counts counts;
    call(3);
    CHECK(counts.failed() == 1);
    CHECK(counts.launched() == 0);
    cuda::forget_kernels();
    call();
    CHECK(counts.failed() == 2);
    emulator::break_compiler(false);
  }
  set_warning_handler(nullptr);
  CHECK_THAT(warnings, ContainsSubstring("interpreted, not compiled: a broken compiler"));
  CHECK(std::count(warnings.begin(), warnings.end(), '\n') == 1);
}

// Lets the system refuse to start threads: none has room for such a stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_t large;
    REQUIRE(::pthread_getattr_default_np(&before_) == 0);
    REQUIRE(::pthread_attr_init(&large) == 0);
    REQUIRE(::pthread_attr_setstacksize(&large, std::size_t{1} << 50) == 0);
    REQUIRE(::pthread_setattr_default_np(&large) == 0);
    ::pthread_attr_destroy(&large);
  }
  NoThreads(const NoThreads&) = delete;
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

// The output of a test case in a process of its own, which has not warned yet.
std::string alone(const std::string& test, const std::string& environment = "") {
  const std::string command = environment + " TANDEM_SKIPPED= /proc/$PPID/exe 'CUDA fused kernels" + test + "' 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), pipe)) text += line.data();
  CAPTURE(text);
  CHECK(pclose(pipe) == 0);
  return text;
}

TEST_CASE("CUDA fused kernels alone: without a thread", "[.]") {
  const Setting setting(KernelCompilation::background, "");
  const auto other = function([](const Tensor& t) { return tanh(t) * t - 2.f; });
  const Tensor x = reals({70}), there = x.gpu(), want = tanh(x) * x - 2.f;
  const Counts counts;
  {
    const NoThreads none;
    call();
    cuda::wait_for_kernels();  // for nothing
  }
  CHECK(counts.compiled() == 0);
  check_near(other(there), want);
  cuda::wait_for_kernels();
  CHECK(counts.compiled() == 2);
  call();
  CHECK(counts.launched() == 1);
}
TEST_CASE("CUDA fused kernels: without a thread programs are interpreted, and compiled when there is one") {
  CHECK_THAT(alone(" alone: without a thread"), ContainsSubstring("not compiled: the system starts no thread for it"));
}

TEST_CASE("CUDA fused kernels alone: a handler that raises", "[.]") {
  set_warning_handler([](const char* text) { throw std::runtime_error(text); });
  const Setting setting(KernelCompilation::background, "");
  emulator::break_compiler(true);
  const Counts counts;
  call();
  cuda::wait_for_kernels();
  emulator::break_compiler(false);
  CHECK(counts.failed() == 1);
  cuda::forget_kernels();
  call();
  cuda::wait_for_kernels();
  CHECK(counts.compiled() == 1);
}
TEST_CASE("CUDA fused kernels: the thread outlives what a handler of warnings raises") {
  CHECK_THAT(alone(" alone: a handler that raises"), ContainsSubstring("assertions"));
}

TEST_CASE("CUDA fused kernels: an unknown TANDEM_CUDA_COMPILE is warned of once, with the known ones") {
  const auto output = [](const std::string& value) {
    return alone(": a file that the driver refuses is compiled again", "TANDEM_CUDA_COMPILE=" + value);
  };
  const std::string text = output("Background"), warning = "TANDEM_CUDA_COMPILE is \"Background\"";
  const std::size_t at = text.find(warning);
  CHECK(at != std::string::npos);
  CHECK(text.find(warning, at + 1) == std::string::npos);
  CHECK_THAT(text, ContainsSubstring("off, background or wait"));
  for (const char* known : {"off", "wait", ""}) CHECK(output(known).find("TANDEM_CUDA_COMPILE") == std::string::npos);
}

// The value of the child's last statement.
template <class F>
pid_t in_process(const F& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f() ? 0 : 1);
  return child;
}
bool has_succeeded(pid_t child) {
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST_CASE("CUDA fused kernels: processes that write and read a file at the same time find all of it or nothing") {
  const testing::TemporaryFolder folder;
  const std::string images[] = {std::string(300'000, 'a'), std::string(200'000, 'b')};
  const auto use = [&](std::size_t own) {
    bool good = true;
    for (int i = 0; i < 200; ++i) {
      cuda::write_image(folder.path, "key", images[own]);
      const std::string found = cuda::read_image(folder.path, "key");
      good = good && (found == images[0] || found == images[1]);
    }
    return good;
  };
  const pid_t a = in_process([&] { return use(0); }), b = in_process([&] { return use(1); });
  CHECK(has_succeeded(a));
  CHECK(has_succeeded(b));
  CHECK(files_in(folder.path).size() == 1);  // nothing is left beside it
  CHECK(cuda::read_image(folder.path, "another key").empty());
}

}  // namespace fused_kernels_test
