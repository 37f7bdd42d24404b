// Generators and seeds: what repeats, what does not, state that is saved and restored, draws of several threads,
// traces.
#include "tandem/ops/random/generator.hpp"

#include <set>
#include <thread>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;

Floats from(const random::Generator& g) { return random::normal({8}, {.generator = &g}).to_vector<float>(); }

// Records what a trace would be told.
struct Recorder final : Stager {
  std::vector<std::string> staged;
  int reads = 0, assigns = 0;
  Recorder() { context.stager = this; }
  ~Recorder() { context.stager = nullptr; }
  Tensors stage(const InferCall& c, const Specs& specs) override {
    staged.push_back(c.op.name);
    Tensors out;
    for (const Spec& s : specs) out.push_back(Tensor::symbol(s));
    return out;
  }
  Tensor read(const Variable& v) override {
    ++reads;
    return Tensor::symbol(v.spec());
  }
  void assign(const Variable&, const Tensor&) override { ++assigns; }
  void created(const Variable&) override {}
  void lift(Callable body) override { body.call(body.self); }
  std::string origin(const Tensor&) override { return {}; }
};
}  // namespace

TEST_CASE("generator: equal seeds give equal sequences, draws differ") {
  const random::Generator a(5), b(5), c(6);
  const auto first = from(a), second = from(a);
  CHECK(first != second);
  CHECK(from(b) == first);
  CHECK(from(b) == second);
  CHECK(from(c) != first);
}

TEST_CASE("generator: draw k of seed s is the stateless draw of {s, k}") {
  const random::Generator g(11);
  from(g);
  from(g);
  CHECK(from(g) == random::stateless_normal({8}, {11, 2}).to_vector<float>());
}

TEST_CASE("generator: state goes out and back in") {
  const random::Generator a(9);
  from(a);
  const Tensor saved = a.state().read_value();
  CHECK(saved.to_vector<i64>() == std::vector<i64>{9, 1});
  const auto next = from(a), after = from(a);
  const random::Generator b(0);
  b.state().assign(saved);
  CHECK(from(b) == next);
  CHECK(from(b) == after);
  CHECK(saved.to_vector<i64>() == std::vector<i64>{9, 1});  // a value read earlier never changes
  CHECK_FALSE(a.state().trainable());
}

TEST_CASE("generator: copies share their state; reset begins again") {
  const random::Generator a(3);
  const random::Generator b = a;
  const auto first = from(a);
  CHECK(from(b) != first);
  b.reset(3);
  CHECK(from(a) == first);
}

TEST_CASE("set_seed makes everything repeat") {
  const auto run = [] {
    random::set_seed(77);
    std::vector<std::vector<float>> r;
    for (int i = 0; i < 2; ++i) {
      r.push_back(random::normal({4}).to_vector<float>());
      r.push_back(random::uniform({4}, {.seed = 1}).to_vector<float>());
      r.push_back(random::uniform({4}, {.seed = 2}).to_vector<float>());
    }
    return r;
  };
  const auto first = run();
  CHECK(run() == first);
  CHECK(std::set<std::vector<float>>(first.begin(), first.end()).size() == 6);
  random::set_seed(78);
  CHECK(random::normal({4}).to_vector<float>() != first[0]);
  CHECK(random::uniform({4}, {.seed = 1}).to_vector<float>() != first[1]);
}

TEST_CASE("an op seed's sequence does not depend on other draws") {
  random::set_seed(1);
  const auto alone = random::normal({4}, {.seed = 123}).to_vector<float>();
  random::set_seed(1);
  random::normal({4});
  random::normal({4}, {.seed = 124});
  CHECK(random::normal({4}, {.seed = 123}).to_vector<float>() == alone);
}

TEST_CASE("seed and generator exclude each other") {
  const random::Generator g(1);
  CHECK_THROWS_WITH(random::normal({2}, {.seed = 1, .generator = &g}), ContainsSubstring("both .seed and .generator"));
}

TEST_CASE("generator: threads never draw the same key") {
  const random::Generator g(4);
  std::vector<std::vector<i64>> streams(4);
  std::vector<std::thread> threads;
  for (auto& mine : streams)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) mine.push_back(g.next_key().to_vector<i64>()[1]);
    });
  for (std::thread& t : threads) t.join();
  std::set<i64> all;
  for (const auto& mine : streams) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == 2000);
  CHECK(*all.rbegin() == 1999);
}

TEST_CASE("generator: eager and traced draws of several threads never get the same key") {
  constexpr int draws = 20000;
  const random::Generator g(4);
  const auto traced = function([&] { return g.next_key(); });
  std::vector<std::vector<i64>> streams(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < streams.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < draws; ++i)
        streams[t].push_back((t % 2 ? traced() : g.next_key()).template to_vector<i64>()[1]);
    });
  for (std::thread& t : threads) t.join();
  std::set<i64> all;
  for (const auto& mine : streams) all.insert(mine.begin(), mine.end());
  CHECK(all.size() == 4 * draws);
  CHECK(*all.rbegin() == 4 * draws - 1);
}

TEST_CASE("in a trace a draw reads and advances the state: nothing is frozen") {
  const random::Generator g(4);
  {
    Recorder trace;
    const Tensor x = random::normal({3}, {.generator = &g});
    CHECK(x.is_symbolic());
    CHECK(trace.staged == std::vector<std::string>{"random_advance", "random_normal"});
    CHECK(trace.reads == 2);
    CHECK(trace.assigns == 1);
    const Tensor y = random::uniform({3}, {.seed = 5});
    CHECK(y.is_symbolic());
    CHECK(trace.assigns == 2);
  }
  CHECK(g.state().to_vector<i64>() == std::vector<i64>{4, 0});
}

TEST_CASE("a generator draws by its own methods, as with .generator") {
  const auto same = [](const auto& by_method, const auto& by_option) {
    const auto a = random::Generator::from_seed(5), b = random::Generator(5);
    for (int i = 0; i < 3; ++i)
      CHECK(by_method(a).template to_vector<float>() == by_option(&b).template to_vector<float>());
  };
  using G = random::Generator;
  same([](const G& g) { return g.normal({4}); }, [](const G* g) { return random::normal({4}, {.generator = g}); });
  same([](const G& g) { return g.normal({4}, {.mean = 2}); },
       [](const G* g) { return random::normal({4}, {.mean = 2, .generator = g}); });
  same([](const G& g) { return g.truncated_normal({4}, {.stddev = 3}); },
       [](const G* g) { return random::truncated_normal({4}, {.stddev = 3, .generator = g}); });
  same([](const G& g) { return g.uniform({4}); }, [](const G* g) { return random::uniform({4}, {.generator = g}); });
  same([](const G& g) { return g.uniform({4}, -1, 2); },
       [](const G* g) { return random::uniform({4}, {.minval = -1, .maxval = 2, .generator = g}); });
  CHECK(G(1).uniform({9}, 0, 10, {.dtype = int32}).dtype() == int32);
  CHECK_THROWS_AS(G(1).normal({2}, {.seed = 3}), errors::InvalidArgumentError);
  const auto a = G::from_non_deterministic_state(), b = G::from_non_deterministic_state();
  CHECK(a.normal({4}).to_vector<float>() != b.normal({4}).to_vector<float>());
}

TEST_CASE("stateless draws refuse a second seed") {
  const random::Generator g(1);
  CHECK_THROWS_WITH(random::stateless_normal({2}, {1, 2}, {.seed = 3}), ContainsSubstring("not as .seed"));
  CHECK_THROWS_WITH(random::stateless_uniform({2}, {1, 2}, {.generator = &g}), ContainsSubstring("not as .generator"));
  CHECK_THROWS_AS(random::stateless_bits({2}, {1, 2}, {.seed = 3}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::stateless_truncated_normal({2}, {1, 2}, {.seed = 3}), errors::InvalidArgumentError);
}

TEST_CASE("a sequence of a seed may begin in a later trace, within a scope") {
  random::set_seed(3);
  const auto draw = function([](const Tensor& x) {
    const name_scope scope("layer");
    return x.rank() == 1 ? x : x + random::normal({2}, {.seed = 11});
  });
  draw(constant({0.f, 0.f}));
  const Floats traced = draw(constant({{0.f, 0.f}})).to_vector<float>();
  random::set_seed(3);
  CHECK(traced == random::normal({2}, {.seed = 11}).to_vector<float>());
}
