// Traps of graphs, variables and control flow.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace pitfalls_graphs {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::error_of;
using Floats = std::vector<float>;
constexpr std::int64_t slack = 128 << 10;  // live memory is exact to 64 KiB for each thread

TEST_CASE("a traced function owns its graph: making 1000 of them leaves nothing behind") {
  const auto once = [] {
    std::string name;
    auto f = function([&](const Tensor& x) {
      const Tensor y = x + constant({1.f, 2.f});
      return y;
    });
    const auto concrete = f.get_concrete_function(TensorSpec({2}, float32));
    for (const Node& n : concrete->graph().nodes) name += n.name + " ";
    return name;
  };
  const std::string first = once();
  const auto before = memory::info().live;
  for (int i = 0; i < 1000; ++i) REQUIRE(once() == first);
  CHECK(memory::info().live <= before + slack);
}

TEST_CASE("a Variable has its value from the start, the same for eager and traced code and all threads") {
  Variable v(constant(1.f));
  CHECK(v.read_value().item<float>() == 1);
  auto add_one = function([&] {
    v.assign_add(constant(1.f));
    return v * 10;
  });
  CHECK(add_one().item<float>() == 20);
  v.assign(constant(5.f));
  CHECK(add_one().item<float>() == 60);
  std::thread([&] { v.assign(constant(7.f)); }).join();
  CHECK(add_one().item<float>() == 80);
}

TEST_CASE("a declared shape is checked at each call, with both shapes in the error") {
  auto f = function([](const Tensor& x) { return x * 2; }, {.input_signature = {TensorSpec({32, 128})}});
  CHECK_THAT(error_of([&] {
               return f(ones({31, 128}));
             }),
             ContainsSubstring("float32[32,128]") && ContainsSubstring("[31,128]"));
  auto g = function(
      [](const Tensor& x) {
        return ensure_shape(x, {32, 128});
      },
      {.input_signature = {TensorSpec({none, 128})}});
  CHECK(g(ones({32, 128})).shape() == Shape{32, 128});
  CHECK_THAT(error_of([&] {
               return g(ones({31, 128}));
             }),
             ContainsSubstring("(32, 128)") && ContainsSubstring("[31,128]"));
}

TEST_CASE("a slice along the leading axis shares its tensor's memory") {
  const Tensor x = ones({10000, 1000});
  const auto before = memory::info().live;
  Tensor row = x[17];
  const Tensor rows = x(Slice(5, 100));
  CHECK(memory::info().live <= before + slack);
  CHECK(row.raw() == static_cast<const float*>(x.raw()) + 17 * 1000);
  CHECK(rows.shape() == Shape{95, 1000});
}

TEST_CASE("reads and assignments keep the program's order, ten times and on eight threads") {
  const Tensor b = constant(2.f);
  const auto order = [&](const Variable& a) {
    a.assign(1.f);
    const Tensor before = a + b;
    a.assign(5.f);
    return std::pair(before, a + b);
  };
  const auto wrong = [](const std::pair<Tensor, Tensor>& c) {
    return c.first.item<float>() != 3 || c.second.item<float>() != 7;
  };
  const Variable shared(1.f);
  auto traced = function([&] { return order(shared); });
  for (int run = 0; run < 10; ++run) {
    const Variable own(1.f);
    CHECK(!wrong(order(own)));
    CHECK(!wrong(traced()));
    CHECK(shared.item<float>() == 5);
  }
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const Variable own(1.f);
      for (int run = 0; run < 125; ++run) failures += wrong(order(own)) + wrong(traced());
    });
  for (std::thread& t : threads) t.join();
  CHECK(failures == 0);
}

TEST_CASE("asserts that nothing uses are not lost") {
  auto f = function([](const Tensor& x) {
    debugging::assert_positive(x, {.message = "must be positive"});
    return x + 1;
  });
  for (int i = 0; i < 3; ++i) CHECK(f(constant({1.f})).to_vector<float>() == Floats{2});
  CHECK_THAT(error_of([&] { return f(constant({-1.f})); }), ContainsSubstring("must be positive"));
}

TEST_CASE("prints that nothing uses are not lost") {
  std::string path = "/tmp/tandem_print_XXXXXX";
  const int file = ::mkstemp(path.data());
  REQUIRE(file >= 0);
  ::close(file);
  auto f = function([&](const Tensor& x) {
    print("x is", x, {.output_stream = "file://" + path});
    return x + 1;
  });
  for (int i = 0; i < 3; ++i) f(constant({1.f}));
  std::ifstream in(path);
  int count = 0;
  for (std::string line; std::getline(in, line);) count += line.find("x is") == 0;
  std::remove(path.c_str());
  CHECK(count == 3);
}

// A forgotten argument does not compile: tests/packaging/must_not_compile/forgotten_argument.cpp.
TEST_CASE("a part of a graph whose argument is not fed says which") {
  const auto f = function([](const Tensor& x) { return multiply(x, 2, {.name = "z"}); });
  const auto concrete = f.get_concrete_function(TensorSpec({}, float32));
  const std::vector<std::string> none, fetch{"z"};
  CHECK_THAT(error_of([&] { return concrete->prune(none, fetch); }),
             ContainsSubstring("is not fed and has no default; 'z:0' depends on it"));
}

TEST_CASE("Fibonacci numbers: a list on the host, growth with shape_invariants, a TensorArray") {
  const std::vector<int> want{1, 1, 2, 3, 5, 8, 13, 21};
  std::vector<Tensor> list{constant(1), constant(1)};
  for (std::size_t i = 2; i < want.size(); ++i) list.push_back(list[i - 1] + list[i - 2]);
  CHECK(stack(list).to_vector<int>() == want);
  auto grown = function([](const Tensor& first) {
    return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 8; },
                                  [](const Tensor& i, const Tensor& t) {
                                    const Tensor next = reduce_sum(t(Slice(-2, none)));
                                    return std::tuple(i + 1, concat({t, reshape(next, {1})}, 0));
                                  },
                                  std::tuple(constant(2), first), {.shape_invariants = {{}, {none}}}));
  });
  CHECK(grown(constant({1, 1})).to_vector<int>() == want);
  auto array = function([](const Tensor& one) {
    return std::get<1>(while_loop([](const Tensor& i, const TensorArray&) { return i < 8; },
                                  [](const Tensor& i, const TensorArray& a) {
                                    return std::tuple(i + 1, a.write(i, a.read(i - 1) + a.read(i - 2)));
                                  },
                                  std::tuple(constant(2), TensorArray(int32, 8).write(0, one).write(1, one))))
        .stack();
  });
  CHECK(array(constant(1)).to_vector<int>() == want);
}

TEST_CASE("a loop variable that changes its shape is named, with the way out") {
  auto f = function([](const Tensor& x) {
    return while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                      [](const Tensor& i, const Tensor& t) {
                        return std::tuple(i + 1, concat({t, t}, 0));
                      },
                      std::tuple(constant(0), x));
  });
  CHECK_THAT(error_of([&] { return f(ones({2})); }), ContainsSubstring("shape_invariants"));
}

// The work is counted in memory: a write that copied the array would need a second one.
TEST_CASE("writes to a TensorArray in a loop take the memory of the elements, for twice as many twice as much") {
  const auto peak_of = [](int n) {
    auto fill_rows = function([n](const Tensor& row) {
      return std::get<1>(
                 while_loop([n](const Tensor& i, const TensorArray&) { return i < n; },
                            [&](const Tensor& i, const TensorArray& a) { return std::tuple(i + 1, a.write(i, row)); },
                            std::tuple(constant(0), TensorArray(float32, n))))
          .read(n - 1);
    });
    const Tensor row = ones({16});
    fill_rows(row);
    const auto before = memory::info().live;
    memory::reset_peak();
    CHECK(fill_rows(row).to_vector<float>() == Floats(16, 1));
    return static_cast<double>(memory::info().peak - before);
  };
  const double small = peak_of(10000), large = peak_of(20000);
  CHECK(small < 10000 * 64 * 1.5);
  CHECK(large / small < 2.5);
}

TEST_CASE("gather works on any axis, in batches, and refuses what is out of range") {
  const Tensor x = reshape(range(24), {2, 3, 4});
  CHECK(gather(x, constant({3, 0}), 2).to_vector<int>() == std::vector<int>{3, 0, 7, 4, 11, 8, 15, 12, 19, 16, 23, 20});
  CHECK(gather(x, constant({{2}, {0}}), {.axis = 1, .batch_dims = 1}).to_vector<int>() ==
        std::vector<int>{8, 9, 10, 11, 12, 13, 14, 15});
  CHECK_THAT(error_of([&] { return gather(x, constant(std::vector<i64>{i64{1} << 31}), 1); }),
             ContainsSubstring("index 2147483648 at position [0]") && ContainsSubstring("out of range [0, 3)"));
}

TEST_CASE("an axis out of range is named with the rank") {
  CHECK_THAT(error_of([] {
               return reduce_sum(ones({2, 3}), 2);
             }),
             ContainsSubstring("axis 2 is out of range for rank 2"));
}

TEST_CASE("lengths may be int32 or int64") {
  const Tensor x = constant({{1, 2, 3, 4}, {5, 6, 7, 8}});
  for (const DType d : {int32, int64})
    CHECK(reverse_sequence(x, cast(constant({2, 4}), d), {.seq_axis = 1}).to_vector<int>() ==
          std::vector<int>{2, 1, 3, 4, 8, 7, 6, 5});
}

TEST_CASE("a tensor that memory does not hold raises with its size") {
  memory::set_limit(memory::info().live + (1 << 20));
  const std::string text = error_of<errors::ResourceExhaustedError>([] { return zeros({3160, 6144, 3}); });
  memory::set_limit(0);
  CHECK_THAT(text, ContainsSubstring("232980480") && ContainsSubstring("CPU:0"));
  CHECK(zeros({3, 3}).size() == 9);
}

TEST_CASE("a traced function that calls itself says so") {
  int depth = 0;
  const std::function<Tensor(const Tensor&)>* again = nullptr;
  auto f = function([&](const Tensor& x) { return ++depth < 3 ? (*again)(x) : x; });
  const std::function<Tensor(const Tensor&)> call = [&](const Tensor& x) { return f(x); };
  again = &call;
  CHECK_THAT(error_of([&] { return f(ones({2})); }), ContainsSubstring("is being traced"));
}

TEST_CASE("C4: an exception in the body of a loop or a host function arrives at the caller") {
  auto f = function([](const Tensor& x) {
    return map_fn(
        [](const Tensor& row) {
          return host_function(
              [](const Tensor& t) -> Tensor {
                if (t.item<float>() == 2) throw std::runtime_error("row two");
                return t;
              },
              {row}, TensorSpec({}, float32));
        },
        x);
  });
  CHECK_THROWS_WITH(f(constant({1.f, 2.f, 3.f})), "row two");
  CHECK(f(constant({1.f, 4.f})).to_vector<float>() == Floats{1, 4});
}

TEST_CASE("C5: dropping tapes, tensors and functions frees everything") {
  const auto step = [] {
    Variable w(ones({64, 64}));
    auto f = function([&](const Tensor& x) {
      GradientTape tape;
      const Tensor loss = reduce_sum(square(matmul(x, w)));
      return tape.gradient(loss, w);
    });
    GradientTape outer;
    return f(ones({8, 64})).size();
  };
  step();
  const auto before = memory::info().live;
  for (int i = 0; i < 200; ++i) step();
  CHECK(memory::info().live <= before + slack);
}

}  // namespace pitfalls_graphs
