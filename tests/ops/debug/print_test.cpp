// tandem::print: what it writes, where, and that a trace keeps it.
#include "tandem/ops/debug/print.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorder.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

namespace {

using List = std::vector<Tensor>;

// A file of its own, as a stream to print to.
class Page {
 public:
  Page() {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) throw std::runtime_error("no temporary file");
    ::close(fd);
  }
  Page(const Page&) = delete;
  ~Page() { std::remove(path_.c_str()); }
  std::string stream() const { return "file://" + path_; }
  const std::string& path() const { return path_; }
  /// What was written since the last call.
  std::string take() {
    std::ifstream in(path_, std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(in), {}};
    return all.substr(std::exchange(taken_, all.size()));
  }

 private:
  std::string path_ = "/tmp/tandem_print_XXXXXX";
  std::size_t taken_ = 0;
};

// What f writes to a file descriptor (stdout or stderr).
template <class F>
std::string written_to(int fd, std::FILE* file, const F& f) {
  Page page;
  std::fflush(file);
  const int kept = ::dup(fd);
  std::FILE* to = std::fopen(page.path().c_str(), "a");
  ::dup2(::fileno(to), fd);
  f();
  std::fflush(file);
  ::dup2(kept, fd);
  ::close(kept);
  std::fclose(to);
  return page.take();
}

}  // namespace

TEST_CASE("print: tensors, numbers and text") {
  Page page;
  const PrintOptions to{.output_stream = page.stream()};
  print("loss", constant(0.5f), to);
  CHECK(page.take() == "loss 0.5\n");
  print(1, 2.5, 1.f, true, 'c', std::string("s"), std::string_view("v"), u64{18446744073709551615u}, to);
  CHECK(page.take() == "1 2.5 1.0 true c s v 18446744073709551615\n");
  print(Shape{none, 3}, float32, Device{}, to);
  CHECK(page.take() == "(None, 3) float32 CPU:0\n");
  print(constant({{1, 2}, {3, 4}}), Variable(constant({true, false})), to);
  CHECK(page.take() == "[[1, 2],\n [3, 4]] [true, false]\n");
  print(constant("text"), constant({"a", "b\n"}), to);
  CHECK(page.take() == "text [\"a\", \"b\\n\"]\n");
  print("{} {0} }{ {{", constant(1), "{", to);
  CHECK(page.take() == "{} {0} }{ {{ 1 {\n");
  print({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}, to);
  CHECK(page.take() == "a b c d e f g h i j\n");
}

TEST_CASE("print: options") {
  Page page;
  const Tensor many = range(10);
  print(many, {.output_stream = page.stream()});
  CHECK(page.take() == "[0, 1, 2, ..., 7, 8, 9]\n");
  print(many, {.output_stream = page.stream(), .summarize = 1});
  CHECK(page.take() == "[0, ..., 9]\n");
  print("a", many, {.output_stream = page.stream(), .summarize = -1, .sep = "{}", .end = ""});
  CHECK(page.take() == "a{}[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]");
  print(many, {.output_stream = page.stream(), .summarize = 0});
  CHECK(page.take() == "[...]\n");
  CHECK(written_to(2, stderr, [&] { print("to", many); }) == "to [0, 1, 2, ..., 7, 8, 9]\n");
  CHECK(written_to(1, stdout, [&] { print("out", {.output_stream = "stdout"}); }) == "out\n");
}

TEST_CASE("print: errors") {
  const Tensor x = constant(1);
  CHECK_THROWS_AS(print(x, {.output_stream = "log"}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(print(x, {.output_stream = "file://"}),
                    ContainsSubstring(R"("stderr", "stdout" or "file://PATH")"));
  CHECK_THROWS_AS(print(x, {.summarize = -2}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(print(x, {.name = "mine", .output_stream = "file:///no/such/folder/x"}),
                    ContainsSubstring("print 'mine': cannot write to file:///no/such/folder/x: No such file"));
  CHECK_THROWS_AS(print(x, {.output_stream = "file:///dev/full"}), errors::UnavailableError);
  CHECK_THROWS_AS(print("x", Tensor::unset("nothing is here")), errors::FailedPreconditionError);
  const Tensor* const in[] = {&x};
  for (const char* format : {"", "{}{}", "{", "}", "{} }", "{x}"})
    CHECK_THROWS_AS(apply(print_op, in, rules::PrintAttrs{format, 3, "stderr"}), errors::InvalidArgumentError);
}

TEST_CASE("print: gives back its last tensor, gradients pass") {
  Page page;
  const PrintOptions to{.output_stream = page.stream()};
  const Tensor a = constant({1.f, 2.f}), b = constant(3.f);
  CHECK(print(a, "then", b, "end", to).is_same(b));
  const Tensor nothing = print("text alone", to);
  CHECK(!nothing.is_set());
  CHECK_THROWS_WITH(nothing.size(), ContainsSubstring("no tensor"));
  GradientTape tape;
  tape.watch(a);
  const Tensor y = square(print("a", a, to)) * 2;
  print("y", y, to);
  CHECK(tape.gradient(y, a).to_vector<float>() == std::vector<float>{4, 8});
}

TEST_CASE("print: staged, it prints at each call though nothing uses it, in order") {
  Page page;
  const PrintOptions to{.output_stream = page.stream()};
  const Variable v(constant(0));
  testing::Recorder recorder;
  recorder.trace({{{none}, float32, {}}}, [&](const List& in) -> List {
    print("before", v, in[0], to);
    v.assign_add(constant(1));
    print("after", v, to);
    print("text", to);
    debugging::assert_positive(in[0]);
    print("positive", to);
    return {};
  });
  CHECK(page.take().empty());
  CHECK(recorder.staged(print_op) == 4);
  for (int call = 0; call < 3; ++call) {
    recorder.replay({ones({2})});
    const std::string n = std::to_string(call), after = std::to_string(call + 1);
    CHECK(page.take() == "before " + n + " [1.0, 1.0]\nafter " + after + "\ntext\npositive\n");
  }
  CHECK_THROWS_AS(recorder.replay({zeros({1})}), errors::InvalidArgumentError);
  CHECK(page.take() == "before 3 [0.0]\nafter 4\ntext\n");
}

TEST_CASE("print: from another device") {
  const sim::Installed installed;
  Page page;
  const Tensor x = constant({1.f, 2.f}).to(sim::device);
  CHECK(print(x, constant("host"), x, {.output_stream = page.stream()}).is_same(x));
  CHECK(page.take() == "[1.0, 2.0] host [1.0, 2.0]\n");
}

TEST_CASE("print: more tensors than a row's masks have bits") {
  const sim::Installed installed;
  Page page;
  const Tensor x = constant(1), far = x.to(sim::device);
  print({x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, far, far}, {.output_stream = page.stream(), .sep = ""});
  CHECK(page.take() == "1111111111111111111\n");
}
