// Tests generated from the op table: what every op must keep, whoever wrote it. An op without a sample fails.
// Not here: whether an op computes the right thing (its family's tests), gradients (table_gradient_test.cpp).
#include "tandem/op_table.hpp"

#include <cmath>
#include <cstring>
#include <set>

#include "tandem/autodiff/tape.hpp"
#include "tests/ops/table_calls.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

TEST_CASE("op table: names are unique, are found, and have samples") {
  std::set<std::string> names;
  for (const OpDef* op : all_ops()) {
    CAPTURE(op->name);
    CHECK(names.insert(op->name).second);
    CHECK(find_op(op->name) == op);
    CHECK(op->infer != nullptr);
    CHECK((op->cpu != nullptr) != op->flags.alias);
    CHECK(!samples::calls_of(*op, float32).empty());
  }
  CHECK(find_op("") == nullptr);
  CHECK(find_op("Add") == nullptr);
  for (const std::string& name : samples::sampled_names()) {
    CAPTURE(name);
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("op table: a row states the type of its attributes") {
  for_each_call(float32, [](const Call& c) { CHECK(c.attrs.type() == c.op->attrs); });
}

TEST_CASE("op table: float32 agrees with float64") {
  for (const OpDef* op : all_ops()) {
    if (op->flags.random) continue;  // draws differ by dtype
    const std::vector<Call> in32 = samples::calls_of(*op, float32), in64 = samples::calls_of(*op, float64);
    REQUIRE(in32.size() == in64.size());
    for (std::size_t k = 0; k < in32.size(); ++k) {
      INFO(op->name << ", call " << k);
      const Tensors a = samples::apply_to(in32[k], in32[k].in), b = samples::apply_to(in64[k], in64[k].in);
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].shape() == b[i].shape());
        if (is_floating(a[i].dtype())) CHECK(relative_error(as_doubles(a[i]), as_doubles(b[i])) < 1e-5);
        else CHECK(same_bits(a[i], b[i]));
      }
    }
  }
}

TEST_CASE("op table: a call gives the same bits each time, and its inputs stay") {
  for_each_call(float32, [](const Call& c) {
    std::vector<Tensor> before;
    for (const Tensor& t : c.in) before.push_back(copy_of(t));
    const Tensors a = samples::apply_to(c, c.in), b = samples::apply_to(c, c.in);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(same_bits(a[i], b[i]));
    for (std::size_t i = 0; i < c.in.size(); ++i)
      if (!c.in[i].is_symbolic()) CHECK(same_bits(c.in[i], before[i]));
  });
}

TEST_CASE("op table: an in_place op may write into its inputs' buffers") {
  for_each_call(float32, [](const Call& c) {
    if (!c.op->flags.in_place) return;
    const Tensors want = samples::apply_to(c, c.in);
    std::vector<Tensor> in = c.in, reuse(want.size());
    Specs specs;
    for (std::size_t i = 0; i < want.size(); ++i) {
      specs.push(want[i].spec());
      if (i < in.size() && in[i].spec() == want[i].spec() && in[i].dtype() != string) reuse[i] = in[i] = copy_of(in[i]);
    }
    Small<const Tensor*, 8> pointers;
    for (const Tensor& t : in) pointers.push(&t);
    const Tensors got = run(*c.op, {pointers.begin(), pointers.size()}, c.attrs, specs, reuse);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(same_bits(got[i], want[i]));
      if (reuse[i].is_set()) CHECK(got[i].raw() == reuse[i].raw());
    }
  });
}

TEST_CASE("op table: a fused op's reference has its value") {
  for_each_call(float64, [](const Call& c) {
    if (!c.op->reference) return;
    const Tensors value = samples::apply_to(c, c.in), reference = c.op->reference(c.in, c.attrs);
    REQUIRE(reference.size() <= value.size());
    for (std::size_t i = 0; i < reference.size(); ++i) {
      CHECK(reference[i].spec() == value[i].spec());
      CHECK(relative_error(as_doubles(reference[i]), as_doubles(value[i])) < 1e-12);
    }
  });
}

TEST_CASE("op table: a dtype without a kernel raises and names the op") {
  for_each_call(float32, [](const Call& c) {
    if (c.op->typed < 0) return;
    const auto typed = static_cast<std::size_t>(c.op->typed);
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (c.op->dtypes.has(dtype)) continue;
      CAPTURE(name(dtype));
      std::vector<Tensor> in = c.in;
      in[typed] = zeros_of({in[typed].shape(), dtype, {}});
      try {
        samples::apply_to(c, in);
        FAIL_CHECK("no error");
      } catch (const errors::UnimplementedError& e) {
        CHECK(e.op() == c.op->name);
        CHECK_THAT(e.what(), ContainsSubstring(name(dtype)));
      }
    }
  });
}

TEST_CASE("op table: a dtype that the row names computes or raises") {
  for_each_call(float32, [](const Call& c) {
    const auto typed = static_cast<std::size_t>(c.op->typed < 0 ? 0 : c.op->typed);
    const DType was = c.in[typed].dtype();
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!c.op->dtypes.has(dtype) || dtype == was) continue;
      CAPTURE(name(dtype));
      std::vector<Tensor> in = c.in;
      for (Tensor& t : in)
        if (t.dtype() == was && !t.is_symbolic()) t = zeros_of({t.shape(), dtype, {}});
      try {
        for (const Tensor& t : samples::apply_to(c, in)) CHECK(t.is_set());
      } catch (const errors::OpError& e) {
        CHECK(!e.op().empty());
      }
    }
  });
}

TEST_CASE("op table: an unset input raises its reason") {
  for_each_call(float32, [](const Call& c) {
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      CAPTURE(i);
      std::vector<Tensor> in = c.in;
      in[i] = Tensor::unset("nothing is here");
      CHECK_THROWS_AS(samples::apply_to(c, in), errors::FailedPreconditionError);
      CHECK_THROWS_WITH(samples::apply_to(c, in), ContainsSubstring("nothing is here"));
    }
  });
}

namespace {
// Runs forward and back; an error is an answer, a crash is not.
bool survives(const Call& c, const std::vector<Tensor>& in) {
  try {
    GradientTape tape;
    for (const Tensor& t : in)
      if (is_floating(t.dtype())) tape.watch(t);
    const Tensors out = samples::apply_to(c, in);
    for (const Tensor& t : out) CHECK(t.is_set());
    std::vector<Tensor> targets, sources;
    for (const Tensor& t : out)
      if (is_floating(t.dtype())) targets.push_back(t);
    for (const Tensor& t : in)
      if (is_floating(t.dtype())) sources.push_back(t);
    if (targets.empty() || !has_gradient(*c.op)) return true;
    const std::vector<Tensor> g = tape.gradient(targets, sources);
    for (std::size_t i = 0; i < g.size(); ++i)
      if (g[i].is_set()) CHECK(g[i].shape() == sources[i].shape());
    return true;
  } catch (const errors::OpError& e) {
    CHECK(!e.op().empty());
    return false;
  }
}
// Zeros in t's place: its axes of a size, or one axis alone, with another size.
Tensor resized(const Tensor& t, i64 size, int only_axis, i64 to) {
  Shape s = t.shape();
  bool any = false;
  for (int a = 0; a < s.rank(); ++a)
    if (only_axis < 0 ? s[a] == size : a == only_axis) s.set(a, to), any = true;
  if (!any) return t;
  return t.is_symbolic() ? Tensor::symbol({s, t.dtype(), {}}) : zeros_of({s, t.dtype(), {}});
}
}  // namespace

TEST_CASE("op table: axes of size 0 pass through or raise") {
  for_each_call(float32, [](const Call& c) {
    if (c.op == &custom_gradient_op) return;  // its closure holds the sample's own operands
    int passed = 0, axes = 0;
    for (std::size_t i = 0; i < c.in.size(); ++i)
      for (int a = 0; a < c.in[i].rank(); ++a) {
        const i64 size = c.in[i].shape()[a];
        CAPTURE(i, a);
        std::vector<Tensor> in;
        for (const Tensor& t : c.in) in.push_back(resized(t, size, -1, 0));
        const bool passes = survives(c, in);
        if (size == 1) continue;  // may have been broadcast against another size
        ++axes;
        passed += passes;
      }
    if (c.op->flags.pointwise) CHECK(passed == axes);
  });
}

TEST_CASE("op table: operands that do not fit raise or compute") {
  for_each_call(float32, [](const Call& c) {
    if (c.op == &custom_gradient_op) return;
    for (std::size_t i = 0; i < c.in.size(); ++i)
      for (int a = 0; a < c.in[i].rank(); ++a)
        for (const i64 to : {i64{0}, i64{1}, c.in[i].shape()[a] + 1}) {
          CAPTURE(i, a, to);
          std::vector<Tensor> in = c.in;
          in[i] = resized(in[i], 0, a, to);
          survives(c, in);
        }
  });
}
