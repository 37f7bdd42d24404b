// Generated from the op table: every op and its gradient on the `sim` device, whose memory nobody but a launch or a
// copy can touch, gives the CPU's bits.
#include <bit>

#include "tandem/autodiff/tape.hpp"
#include "tests/ops/table_calls.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

namespace {

using List = std::vector<Tensor>;

bool has_strings(const Call& c) {
  for (const Tensor& t : c.in)
    if (t.dtype() == string) return true;
  return false;
}
// The inputs where the row wants them: on the device, but for those that live on the host everywhere.
List on_device(const Call& c) {
  List r;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const Tensor& t = c.in[i];
    if (lives_on_host(*c.op, i, c.in.size())) r.push_back(t);
    else if (t.is_symbolic()) r.push_back(Tensor::symbol({t.shape(), t.dtype(), sim::device}));
    else r.push_back(t.to(sim::device));
  }
  return r;
}
bool any_on_device(const List& in) {
  for (const Tensor& t : in)
    if (t.device() == sim::device) return true;
  return false;
}
// Where an op's results are host values (shapes), or the operands decide nothing.
bool results_on_host(const OpDef& op) {
  return &op == &shape_op || &op == &rank_op || &op == &size_op || &op == &transfer_op;
}

}  // namespace

TEST_CASE("op table: every op on another device gives the CPU's bits") {
  const sim::Installed installed;
  const std::int64_t before = sim::counts().blocks;
  for_each_call(float32, [](const Call& c) {
    if (has_strings(c)) return;
    const List in = on_device(c);
    const std::int64_t launches = sim::counts().launches;
    const Tensors want = samples::apply_to(c, c.in), got = samples::apply_to(c, in);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(same_bits(got[i], want[i]));
      if (any_on_device(in) && !results_on_host(*c.op)) CHECK(got[i].device() == sim::device);
    }
    if (any_on_device(in) && !results_on_host(*c.op) && !c.op->flags.alias) CHECK(sim::counts().launches > launches);
  });
  CHECK(sim::counts().blocks == before);
}

TEST_CASE("op table: every gradient on another device gives the CPU's bits") {
  const sim::Installed installed;
  const std::int64_t before = sim::counts().blocks;
  for_each_call(float32, [](const Call& c) {
    if (has_strings(c) || !has_gradient(*c.op) || c.op == &custom_gradient_op) return;
    const List want = gradients_of(c, c.in), got = gradients_of(c, on_device(c));
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      REQUIRE(got[i].is_set() == want[i].is_set());
      if (!got[i].is_set()) continue;
      CHECK(same_bits(got[i], want[i]));
      if (c.op != &transfer_op) CHECK(got[i].device() == sim::device);
    }
  });
  CHECK(sim::counts().blocks == before);
}

TEST_CASE("sim: memory is poisoned, and nobody touches it between launches") {
  const sim::Installed installed;
  const Tensor t = Tensor::allocate({{3}, float32, sim::device});
  CHECK(!sim::is_readable(t.raw()));
  for (const float x : t.to_vector<float>()) CHECK(std::bit_cast<std::uint32_t>(x) == 0xa5a5a5a5u);
  CHECK(!sim::is_readable(t.raw()));
  CHECK_THROWS_AS(t.data<float>(), errors::InvalidArgumentError);
  const Tensor host = constant({1.f, 2.f, 3.f});
  CHECK(sim::is_readable(host.raw()));
  CHECK((host.to(sim::device) + host.to(sim::device)).to_vector<float>() == std::vector<float>{2, 4, 6});
}

TEST_CASE("sim: without it the device raises") {
  CHECK_THROWS_AS(constant(1.f).to(sim::device), errors::UnimplementedError);
}
