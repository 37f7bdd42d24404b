// Compiled kernels of fused programs: when they are made and used, and their files.
#include "cuda/fused/kernels.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "cuda/driver/device.hpp"
#include "cuda/fused/image_file.hpp"
#include "tandem/graph/trace/function.hpp"
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
