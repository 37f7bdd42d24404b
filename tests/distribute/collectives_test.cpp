// Collectives in a simulated cluster: eagerly, under tapes, in traced functions; groups; operations that differ.
#include "tandem/distribute/collectives.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace collectives_test {

using namespace tandem;
using distribute::Communicator;
using distribute::ReduceOp;
using distribute::SimCluster;
using Floats = std::vector<float>;

// Runs f in each rank of a cluster of four; f returns what is wrong there.
template <class F>
void check_ranks(int ranks, const F& f) {
  SimCluster cluster(ranks, {.seed = static_cast<u64>(ranks)});
  std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
  cluster.run([&](const Communicator& world) { wrong[static_cast<std::size_t>(world.rank())] = f(world); });
  for (const std::string& w : wrong) CHECK(w == "");
}
std::string unless(bool ok, const char* what) { return ok ? "" : what; }
template <class T>
std::string differs(const Tensor& x, const std::vector<T>& expected) {
  return x.to_vector<T>() == expected ? "" : to_string(x);
}

TEST_CASE("a program without a launcher is a group of one") {
  const Communicator world = Communicator::world();
  CHECK(world.rank() == 0);
  CHECK(world.size() == 1);
  CHECK(world.local_size() == 1);
  CHECK(std::string(world.backend()) == "none");
  CHECK(distribute::all_reduce(constant({1.f, 2.f})).to_vector<float>() == Floats{1, 2});
  CHECK(distribute::all_gather(constant({1.f, 2.f})).to_vector<float>() == Floats{1, 2});
  world.barrier();
}

TEST_CASE("launch_info: RANK without WORLD_SIZE, and a port that there is not") {
  struct Variables {
    ~Variables() {
      for (const char* v : {"RANK", "WORLD_SIZE", "MASTER_PORT"}) ::unsetenv(v);
    }
  } unset_behind;
  const auto error = [] { return testing::error_of<errors::InvalidArgumentError>([] { distribute::launch_info(); }); };
  ::setenv("RANK", "0", 1);
  CHECK_THAT(error(), ContainsSubstring("RANK is set, but not WORLD_SIZE"));
  ::setenv("WORLD_SIZE", "1", 1);
  CHECK(error() == "no error");
  for (const char* port : {"70000", "65536", "0"}) {
    ::setenv("MASTER_PORT", port, 1);
    CHECK_THAT(error(), ContainsSubstring("MASTER_PORT is " + std::string(port)));
  }
  ::setenv("MASTER_PORT", "65535", 1);
  CHECK(distribute::launch_info().master_port == 65535);
  ::unsetenv("RANK");
  CHECK_THAT(error(), ContainsSubstring("WORLD_SIZE is set, but not RANK"));
}

TEST_CASE("all_reduce: each op") {
  check_ranks(4, [](const Communicator& w) {
    const float r = static_cast<float>(w.rank()) + 1;
    const Tensor x = constant({r, -r});
    std::string wrong = differs<float>(distribute::all_reduce(x), {10, -10});
    wrong += differs<float>(distribute::all_reduce(x, {.op = ReduceOp::mean}), {2.5, -2.5});
    wrong += differs<float>(distribute::all_reduce(x, {.op = ReduceOp::min}), {1, -4});
    wrong += differs<float>(distribute::all_reduce(x, {.op = ReduceOp::max}), {4, -1});
    wrong += differs<float>(distribute::all_reduce(x, {.op = ReduceOp::prod}), {24, 24});
    const Tensor first = constant({w.rank() == 0, true});
    wrong += unless(
        distribute::all_reduce(first, {.op = ReduceOp::max}).to_vector<bool>() == std::vector<bool>{true, true}, "any");
    wrong +=
        unless(distribute::all_reduce(first, {.op = ReduceOp::min}).to_vector<bool>() == std::vector<bool>{false, true},
               "all");
    return wrong;
  });
}

TEST_CASE("all_reduce: every dtype") {
  for (const DType d : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                        complex64, complex128})
    check_ranks(3, [&](const Communicator& w) {
      const Tensor sum = distribute::all_reduce(cast(constant(static_cast<float>(w.rank()) + 1), d));
      if (sum.dtype() != d) return to_string(sum);
      return differs<float>(is_complex(d) ? cast(real(cast(sum, complex64)), float32) : cast(sum, float32), {6});
    });
}

TEST_CASE("all_reduce: a mean of half precision whose sum it does not have") {
  check_ranks(3, [](const Communicator& w) {
    const Tensor large = cast(constant({60000.f, 300.f * static_cast<float>(w.rank())}), float16);
    const Tensor mean = distribute::all_reduce(large, {.op = ReduceOp::mean});
    if (mean.dtype() != float16) return to_string(mean);
    return differs<float>(cast(mean, float32), {60000, 300});
  });
}

#if !defined(__SANITIZE_THREAD__)  // the sanitizer does not follow a fork of several threads
TEST_CASE("a child of fork() is not a rank") {
  SimCluster(2).run([](const Communicator& w) {
    const pid_t child = ::fork();
    if (child == 0) {
      int raised = 0;
      const auto raises = [&](const auto& f) {
        try {
          f();
        } catch (const errors::FailedPreconditionError& e) {
          raised += std::string(e.what()).find("made this one by fork()") != std::string::npos;
        } catch (const errors::OpError&) {
          raised = -9;
        }
      };
      raises([&] { distribute::all_reduce(constant(1.f)); });
      raises([&] { w.barrier(); });
      raises([&] { w.split(0); });
      ::_exit(raised);
    }
    int status = -1;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
      errors::raise<errors::InternalError>("test", "status " + std::to_string(status));
    w.barrier();
  });
}
#endif

TEST_CASE("broadcast, all_gather, reduce_scatter, all_to_all") {
  check_ranks(3, [](const Communicator& w) {
    const float r = static_cast<float>(w.rank());
    std::string wrong = differs<float>(distribute::broadcast(constant({r}), {.root = 2}), {2});
    wrong += differs<float>(distribute::all_gather(fill({w.rank() + 1, 1}, r)), {0, 1, 1, 2, 2, 2});
    wrong += differs<float>(distribute::all_gather(fill({1}, r), {.equal_rows = true}), {0, 1, 2});
    wrong += differs<float>(distribute::reduce_scatter(constant({1.f, 2.f, 3.f}) * (r + 1)), {6 * (r + 1)});
    wrong += differs<float>(distribute::all_to_all(constant({10 * r, 10 * r + 1, 10 * r + 2})), {r, 10 + r, 20 + r});
    // Rank r sends r rows to rank 0, one to rank 1, none to rank 2.
    const Tensor rows = fill({w.rank() + 1}, r);
    const auto got = distribute::all_to_all(rows, constant(std::vector<i64>{w.rank(), 1, 0}));
    wrong += differs<float>(got.rows, w.rank() == 0 ? Floats{1, 2, 2} : w.rank() == 1 ? Floats{0, 1, 2} : Floats{});
    // And back.
    wrong += differs<float>(distribute::all_to_all(got.rows, got.splits).rows, rows.to_vector<float>());
    return wrong;
  });
}

TEST_CASE("collectives have gradients") {
  check_ranks(3, [](const Communicator& w) {
    const float r = static_cast<float>(w.rank()) + 1;
    const Variable x(constant({r, 2 * r, 3 * r}));
    const auto gradient = [&](const auto& f) {
      GradientTape tape;
      const Tensor y = f(Tensor(x));
      return tape.gradient(reduce_sum(y * y) / 2, x);
    };
    // Of sum_q |y_q|^2 / 2 over all ranks q.
    std::string wrong =
        differs<float>(gradient([](const Tensor& t) { return distribute::all_reduce(t); }), {18, 36, 54});
    wrong += differs<float>(gradient([](const Tensor& t) { return distribute::broadcast(t, {.root = 1}); }),
                            w.rank() == 1 ? Floats{6, 12, 18} : Floats{0, 0, 0});
    wrong += differs<float>(gradient([](const Tensor& t) { return distribute::all_gather(t); }), {3 * r, 6 * r, 9 * r});
    wrong += differs<float>(gradient([](const Tensor& t) { return distribute::reduce_scatter(t); }), {6, 12, 18});
    wrong += differs<float>(gradient([](const Tensor& t) { return distribute::all_to_all(t); }), {r, 2 * r, 3 * r});
    wrong += differs<float>(gradient([](const Tensor& t) { return distribute::all_reduce(t, {.op = ReduceOp::max}); }),
                            w.rank() == 2 ? Floats{9, 18, 27} : Floats{0, 0, 0});
    wrong +=
        differs<float>(gradient([](const Tensor& t) { return distribute::all_reduce(t[0], {.op = ReduceOp::prod}); }),
                       {18 * 6 / r, 0, 0});
    return wrong;
  });
}

TEST_CASE("the gradient of a product over ranks where some of its factors are 0") {
  check_ranks(3, [](const Communicator& w) {
    const float r = static_cast<float>(w.rank()) + 1, one = w.rank() == 1 ? 0 : 2, two = w.rank() < 2 ? 0 : 5;
    const Variable x(constant({r, one, two}));
    GradientTape tape;
    const Tensor y = distribute::all_reduce(Tensor(x), {.op = ReduceOp::prod});
    // Of the sum over all ranks.
    return differs<float>(y, {6, 0, 0}) + differs<float>(tape.gradient(y, x), {18 / r, w.rank() == 1 ? 12.f : 0.f, 0});
  });
}

TEST_CASE("a traced function keeps its collectives, and their order") {
  check_ranks(4, [](const Communicator& w) {
    auto f = function([](const Tensor& x) {
      const Tensor unused = distribute::all_reduce(x * 2);  // the other ranks wait for it
      const Tensor a = distribute::all_reduce(x), b = distribute::all_reduce(x);
      return a + b;
    });
    std::string wrong;
    for (int i = 0; i < 3; ++i) wrong += differs<float>(f(constant({1.f, static_cast<float>(w.rank())})), {8, 12});
    int count = 0;
    const Ref<Graph> g = optimize(f.get_concrete_function(constant({1.f, 2.f}))->graph());
    for (const Node& n : g->nodes) count += n.op == &all_reduce_op;
    return wrong + unless(count == 3, "not three");
  });
}

TEST_CASE("split: groups of ranks, with names") {
  check_ranks(6, [](const Communicator& w) {
    const Communicator row = w.split(w.rank() / 3), column = w.split(w.rank() % 3, -w.rank());
    std::string wrong = unless(row.size() == 3 && row.rank() == w.rank() % 3, "row");
    wrong += unless(column.size() == 2 && column.rank() == 1 - w.rank() / 3, "column");
    wrong += unless(row.name() == "world/0:" + std::to_string(w.rank() / 3), row.name().c_str());
    const float r = static_cast<float>(w.rank());
    wrong += differs<float>(distribute::all_reduce(constant(r), {.group = row}), {w.rank() < 3 ? 3.f : 12.f});
    wrong += differs<float>(distribute::all_gather(constant({r}), {.group = column}),
                            {static_cast<float>(w.rank() % 3 + 3), static_cast<float>(w.rank() % 3)});
    return wrong;
  });
}

TEST_CASE("nodes: ranks that share a machine are counted") {
  SimCluster cluster(5, {.ranks_per_node = 2});
  std::atomic<int> right = 0;
  cluster.run([&](const Communicator& w) {
    right += w.nodes() == 3 && w.node() == w.rank() / 2 && w.local_rank() == w.rank() % 2 &&
             w.local_size() == (w.rank() == 4 ? 1 : 2);
  });
  CHECK(right == 5);
}

TEST_CASE("ranks that call different operations are told so") {
  const auto run = [](const auto& f) { SimCluster(2).run(f); };
  CHECK_THROWS_WITH(run([](const Communicator& w) {
                      if (w.rank() == 0) distribute::all_reduce(zeros({3}), {.name = "loss"});
                      else distribute::all_gather(zeros({3}), {.equal_rows = true});
                    }),
                    ContainsSubstring("rank 0 all_reduce of float32 by sum, 3 elements for 'loss'") &&
                        ContainsSubstring("rank 1 all_gather of float32"));
  CHECK_THROWS_AS(run([](const Communicator& w) { distribute::all_reduce(zeros({3 + w.rank()})); }),
                  errors::FailedPreconditionError);
  CHECK_THROWS_WITH(run([](const Communicator& w) { distribute::all_reduce(zeros({3}, w.rank() ? int32 : float32)); }),
                    ContainsSubstring("int32"));
}

TEST_CASE("collectives: wrong operands") {
  CHECK_THROWS_WITH(distribute::all_gather(constant(1.f)), ContainsSubstring("a scalar has no rows"));
  CHECK_THROWS_WITH(distribute::all_reduce(constant({1, 2}), {.op = ReduceOp::mean}),
                    ContainsSubstring("mean is not defined for int32"));
  CHECK_THROWS_WITH(distribute::all_reduce(zeros({2}, complex64), {.op = ReduceOp::max}),
                    ContainsSubstring("max is not defined for complex64"));
  CHECK_THROWS_WITH(distribute::broadcast(zeros({2}), {.root = 1}), ContainsSubstring("root 1 of 1 ranks"));
  CHECK_THROWS_WITH(distribute::all_to_all(zeros({2}), constant(std::vector<i64>{3})),
                    ContainsSubstring("name 3 rows; x has 2"));
  for (const std::vector<i64>& sizes : {std::vector<i64>{i64{1} << 62, i64{1} << 62}, std::vector<i64>{2, -2}})
    CHECK_THROWS_WITH(distribute::all_to_all(zeros({0}), constant(sizes)),
                      ContainsSubstring("name a negative number, or more than 2^63 - 1, of rows; x has 0"));
  CHECK_THROWS_AS(distribute::all_reduce(constant("a")), errors::OpError);
  CHECK_THROWS_AS(SimCluster(4).run([&](const Communicator& w) {
    const i64 large = i64{1} << 62;
    const Tensor own = constant(std::vector<i64>{0, 0, 0, 0}),
                 of_others = constant(std::vector<i64>{0, large, large, large});
    distribute::all_to_all(zeros({0}), own, w.rank() == 0 ? of_others : own);
  }),
                  errors::InvalidArgumentError);
  SimCluster(3).run([](const Communicator&) {
    CHECK_THROWS_WITH(distribute::reduce_scatter(zeros({4})), ContainsSubstring("3 ranks do not divide the 4 rows"));
  });
}

}  // namespace collectives_test
