// Saved graphs with control flow: bodies are written with the graph and run in it again.
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/op_table.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

const LoadOptions everything{.ops = all_ops()};

std::vector<Tensor> run_loaded(const Graph& g, const std::vector<Tensor>& arguments) {
  return (*make_ref<ConcreteFunction>(parse_graph(serialize(g), everything)))(arguments);
}

}  // namespace

TEST_CASE("serialize: loops and branches come back with their bodies") {
  const auto f = function([](const Tensor& x) {
    const Tensor doubled =
        while_loop([](const Tensor& v) { return reduce_sum(v) < 100.f; }, [](const Tensor& v) { return v * 2.f; }, x);
    return cond(
        reduce_max(x) > 3.f, [&] { return doubled + 1.f; }, [&] { return -doubled; });
  });
  const Tensor small = constant({1.f, 2.f}), large = constant({1.f, 4.f});
  const Ref<ConcreteFunction> traced = f.get_concrete_function(small);
  for (const Tensor& x : {small, large})
    CHECK(run_loaded(traced->graph(), {x})[0].to_vector<float>() == f(x).to_vector<float>());
  CHECK(serialize(*parse_graph(serialize(traced->graph()), everything)) == serialize(traced->graph()));
}

TEST_CASE("serialize: a loop that adds gradients in blocks comes back, others have no word of it") {
  const Tensor x = ones({5000});
  const auto loop = [](const Tensor& w) {
    return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 30'000; },
                                  [&](const Tensor& i, const Tensor& s) { return std::tuple(i + 1, s + w * 0.1f); },
                                  std::tuple(constant(0), zeros({5000}))));
  };
  const auto gradient = function([&](const Tensor& w) {
    GradientTape tape;
    tape.watch(w);
    return tape.gradient(loop(w), w);
  });
  const Ref<ConcreteFunction> traced = gradient.get_concrete_function(x);
  const Tensor y = run_loaded(traced->graph(), {x})[0];
  CHECK(y.to_vector<float>() == gradient(x).to_vector<float>());
  CHECK(std::abs(y[0].item<float>() / 3000 - 1) < 1e-6f);
  CHECK(serialize(traced->graph()).find("sums") != std::string::npos);
  const auto f = function([&](const Tensor& w) { return loop(w); });
  CHECK(serialize(f.get_concrete_function(x)->graph()).find("sums") == std::string::npos);
}

TEST_CASE("serialize: control flow runs in a program that loads a graph and has never traced") {
  const auto f = function([](const Tensor& x) {
    return while_loop([](const Tensor& v) { return reduce_sum(v) < 9.f; }, [](const Tensor& v) { return v + 1.f; }, x);
  });
  const std::string bytes = serialize(f.get_concrete_function(constant({1.f, 2.f}))->graph());
  tandem::detail::control_code_slot.store(nullptr);
  const std::vector<Tensor> out = (*make_ref<ConcreteFunction>(parse_graph(bytes, everything)))({constant({1.f, 2.f})});
  CHECK(out[0].to_vector<float>() == std::vector<float>{4, 5});
}

TEST_CASE("serialize: a torn graph with bodies is refused") {
  const auto f = function([](const Tensor& x) {
    return while_loop([](const Tensor& v) { return reduce_sum(v) < 9.f; }, [](const Tensor& v) { return v + 1.f; }, x);
  });
  const std::string bytes = serialize(f.get_concrete_function(constant({1.f, 2.f}))->graph());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    CHECK_THROWS_AS(parse_graph(std::string_view(bytes).substr(0, n), everything), errors::OpError);
  int accepted = 0, refused = 0;
  for (std::size_t n = 20; n < bytes.size(); ++n) {  // one byte changed: an error, or a graph that verify() accepts
    std::string edited = bytes;
    edited[n] = static_cast<char>(edited[n] ^ 0x15);
    try {
      verify(*parse_graph(edited, everything));
      ++accepted;
    } catch (const errors::OpError& e) {
      ++refused;
      CAPTURE(n, e.what());
      CHECK(std::string(e.what()).size() > std::string(e.op()).size() + 2);  // "op: cause"
    }
  }
  CHECK(refused > accepted);
  CHECK(accepted > 0);  // names, and numbers of another size, may change
}

TEST_CASE("serialize: graphs within graphs come back up to the depth that is saved") {
  const auto nested = [](int depth) {
    const auto nest = [](const auto& self, const Tensor& x, int levels) -> Tensor {
      if (levels == 0) return x * 2.f;
      return cond(
          reduce_any(x > 0.f), [&] { return self(self, x + 1.f, levels - 1); }, [&] { return x; });
    };
    Tracer t("nested");
    const Tensor outputs[] = {nest(nest, t.argument({{2}, float32, {}}), depth - 1)};
    return t.finish(outputs);
  };
  const std::string bytes = serialize(*nested(128));
  const Ref<Graph> back = parse_graph(bytes, everything);
  CHECK(serialize(*back) == bytes);
  CHECK((*make_ref<ConcreteFunction>(back))({constant({1.f, -300.f})})[0].to_vector<float>() ==
        std::vector<float>{256, -346});
  CHECK_THROWS_AS(serialize(*nested(129)), errors::UnimplementedError);
  CHECK_THROWS_WITH(serialize(*nested(129)), ContainsSubstring("beyond depth 128"));
}

TEST_CASE("serialize: values of more elements than are loaded are not saved") {
  const auto of_size = [](i64 n) {
    Tracer t("f");
    const Tensor outputs[] = {broadcast_to(t.argument({{1}, float32, {}}), {n})};
    return t.finish(outputs);
  };
  constexpr i64 most = i64{1} << 40;
  CHECK(parse_graph(serialize(*of_size(most)), everything)->specs.back().shape == Shape{most});
  CHECK_THROWS_AS(serialize(*of_size(most + 1)), errors::UnimplementedError);
  CHECK_THROWS_WITH(serialize(*of_size(most + 1)), ContainsSubstring("float32[1099511627777]"));
}
