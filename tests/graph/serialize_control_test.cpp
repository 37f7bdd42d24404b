// Saved graphs with control flow: bodies are written with the graph and run in it again.
#include "tandem/graph/function.hpp"
#include "tandem/graph/scan.hpp"
#include "tandem/graph/serialize.hpp"
#include "tandem/graph/while_loop.hpp"
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
