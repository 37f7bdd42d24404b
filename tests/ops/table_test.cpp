// Tests generated from the op table: what every op must keep, whoever wrote it. An op without a sample fails.
// Not here: whether an op computes the right thing (its family's tests), gradients (table_gradient_test.cpp).
#include "tandem/op_table.hpp"

#include <algorithm>
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
  for (const OpDef* op : all_ops()) CHECK(find_op(op->name) == op);
  for (const OpDef* op : samples::tested_ops()) {
    CAPTURE(op->name);
    CHECK(names.insert(op->name).second);
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

namespace {
// The names in OpDef::input_names; the last may end in "...".
std::vector<std::string> names_of(const OpDef& op) {
  std::vector<std::string> r(1);
  for (const char* p = op.input_names; *p; ++p) {
    if (*p != ',') r.back() += *p;
    else if (*++p == ' ') r.emplace_back();
  }
  return r;
}
}  // namespace

TEST_CASE("op table: every input has a name of its own") {
  for (const OpDef* op : samples::tested_ops()) {
    CAPTURE(op->name, op->input_names);
    std::vector<std::string> names = names_of(*op);
    const bool any_number = names.back().ends_with("...");
    if (any_number) names.back().resize(names.back().size() - 3);
    for (const std::string& name : names)
      CHECK((!name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == name.npos));
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    if (op->inputs >= 0) {
      CHECK(!any_number);
      CHECK(static_cast<int>(names.size()) == op->inputs);
    } else {  // more inputs than the required ones
      CHECK((any_number || static_cast<int>(names.size()) > -1 - op->inputs));
    }
    for (const Call& c : samples::calls_of(*op, float32))
      for (std::size_t i = 0; i < c.in.size(); ++i)
        CHECK(input_name(*op, i).rfind(names[std::min(i, names.size() - 1)], 0) == 0);
  }
}

TEST_CASE("op table: a row states the type of its attributes") {
  for_each_call(float32, [](const Call& c) { CHECK(c.attrs.type() == c.op->attrs); });
}

namespace {
// Are the operands the same numbers? Those that the sample computed have been rounded.
bool same_numbers(const Call& a, const Call& b) {
  for (std::size_t i = 0; i < a.in.size(); ++i)
    if (is_floating(a.in[i].dtype()) && !a.in[i].is_symbolic() && as_doubles(a.in[i]) != as_doubles(b.in[i]))
      return false;
  return true;
}
}  // namespace

TEST_CASE("op table: float32 agrees with float64") {
  for (const OpDef* op : samples::tested_ops()) {
    if (op->flags.random) continue;  // draws differ by dtype
    const std::vector<Call> in32 = samples::calls_of(*op, float32), in64 = samples::calls_of(*op, float64);
    REQUIRE(in32.size() == in64.size());
    for (std::size_t k = 0; k < in32.size(); ++k) {
      INFO(op->name << ", call " << k);
      const Tensors a = samples::apply_to(in32[k], in32[k].in), b = samples::apply_to(in64[k], in64[k].in);
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].shape() == b[i].shape());
        const double least = same_numbers(in32[k], in64[k]) ? 1e-3 : largest_input(in64[k]);
        if (is_complex(a[i].dtype()))
          CHECK(relative_error(as_doubles(tandem::imag(a[i])), as_doubles(tandem::imag(b[i])), least) < 1e-6);
        if (is_floating(a[i].dtype()) || is_complex(a[i].dtype()))
          CHECK(relative_error(as_doubles(a[i]), as_doubles(b[i]), least) < 1e-6);
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
      specs.push_back(want[i].spec());
      if (i < in.size() && in[i].spec() == want[i].spec() && in[i].dtype() != string) reuse[i] = in[i] = copy_of(in[i]);
    }
    InlinedVector<const Tensor*, 8> pointers;
    for (const Tensor& t : in) pointers.push_back(&t);
    const Tensors got = run(*c.op, {pointers.begin(), pointers.size()}, c.attrs, specs, reuse);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(same_bits(got[i], want[i]));
      if (reuse[i].is_set()) CHECK(got[i].raw() == reuse[i].raw());
    }
  });
}

TEST_CASE("op table: a fused op's reference has its value") {
  for_each_call(float64, [](const Call& c) {
    if (!c.op->rare.decomposition) return;
    const Tensors value = samples::apply_to(c, c.in), reference = c.op->rare.decomposition(c.in, c.attrs);
    REQUIRE(reference.size() <= value.size());
    for (std::size_t i = 0; i < reference.size(); ++i) {
      CHECK(reference[i].spec() == value[i].spec());
      CHECK(relative_error(as_doubles(reference[i]), as_doubles(value[i])) < 1e-12);
    }
  });
}

TEST_CASE("op table: a dtype without a kernel raises and names the op") {
  for_each_call(float32, [](const Call& c) {
    if (c.op->dtype_input < 0) return;
    const auto typed = static_cast<std::size_t>(c.op->dtype_input);
    for (int d = 0; d < dtype_count; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (c.op->dtypes.has(dtype) || dtypes::half_floating.has(dtype)) continue;
      CAPTURE(name(dtype));
      std::vector<Tensor> in = c.in;
      in[typed] = zeros_of({in[typed].shape(), dtype, {}});
      try {
        samples::apply_to(c, in);
        FAIL_CHECK("no error");
      } catch (const errors::UnimplementedError& e) {
        CHECK(e.op() == (c.op->rare.in_errors ? c.op->rare.in_errors : c.op->name));
        CHECK_THAT(e.what(), ContainsSubstring(name(dtype)));
      }
    }
  });
}

namespace {

// A sample's operand as the nearest thing of another dtype that no op rejects: whole numbers for integers, none of them
// 0, none below 0 where `positive`; flags for bool_; texts.
Tensor converted(const Tensor& t, DType to, bool positive) {
  if (to == string) {
    std::vector<std::string> texts;
    for (i64 i = 0; i < t.size(); ++i) texts.push_back("text " + std::to_string(i));
    return constant(texts, {.shape = t.shape()});
  }
  std::vector<double> v = as_doubles(t);
  const bool was_whole = !is_floating(t.dtype());
  for (double& x : v) {
    if (to == bool_) x = x > 0;
    if (!is_integer(to)) continue;
    if (!was_whole) x = std::round(x * 4);
    if (positive || dtypes::unsigned_integer.has(to)) x = was_whole ? std::fabs(x) : std::fmax(x, 1);
    if (x == 0) x = 1;
  }
  return cast(constant(v, {.shape = t.shape()}), to);
}
// The dtype in which the values of another one can be computed as well; the same if there is none.
DType reference_of(const OpDef& op, DType d) {
  DType other = d;
  if (is_integer(d) || d == bool_) other = d == int64 ? float64 : int64;
  if (is_complex(d) || dtypes::half_floating.has(d)) other = float32;
  if (d == float64) other = float32;
  return op.dtypes.has(other) ? other : d;
}
double tolerance_of(DType d) {
  if (d == float16) return 4e-3;
  if (d == bfloat16) return 3e-2;
  return d == float64 || is_complex(d) ? 1e-5 : 0;
}
// Does an element of a quantized dtype move as it is? There is no number to compare it with.
bool is_quantized(DType d) { return d == DType::qint8 || d == DType::quint8 || d == DType::qint32; }

// Whether input i of an update is a slot, which is float32 in half precision; the samples of multi-tensor updates have
// two Variables, (states..., states..., gradients, factor, learning rate, step).
std::size_t states_of(const OpDef& op, std::size_t inputs) {
  return op.outputs > 0 ? static_cast<std::size_t>(op.outputs) : (inputs - 4) / 2;
}
bool is_slot(const OpDef& op, std::size_t i, std::size_t inputs) {
  const std::size_t states = states_of(op, inputs), weights = op.outputs > 0 ? 1 : 2;
  return i < states * weights && i % states != 0;
}
bool has_factor(const Call& c) { return std::string(c.op->name).ends_with("_updates") && c.in.size() % 2 == 1; }
std::vector<Tensor> with_dtype(const Call& c, DType was, DType to, DType by) {
  const std::string op = c.op->name;
  const bool positive = op == "pow" || op == "population_count" || dtypes::unsigned_integer.has(by);
  // The optimizers' learning rate stays float32.
  const bool updates = op.find("_update") != std::string::npos;
  std::vector<Tensor> in = c.in;
  const bool keeps_slots = updates && (dtypes::half_floating.has(to) || dtypes::half_floating.has(by));
  for (Tensor& t : in) {
    if (t.dtype() != was || (updates && &t == &in[in.size() - 2])) continue;
    if (keeps_slots && is_slot(*c.op, static_cast<std::size_t>(&t - in.data()), in.size())) continue;
    if (t.is_symbolic()) t = Tensor::symbol({t.shape(), to, {}});
    else if (is_quantized(to)) t = zeros_of({t.shape(), to, {}});
    else t = by == to ? converted(t, to, positive) : cast(converted(t, by, positive), to);
  }
  return in;
}
void check_against_reference(const Call& c, DType was, DType d) {
  const Tensors got = samples::apply_to(c, with_dtype(c, was, d, d));
  const DType other = reference_of(*c.op, d);
  if (is_quantized(d) || d == string || c.op->flags.random) return;
  if (has_free_phases(*c.op) && is_complex(d)) return;
  const Tensors want = samples::apply_to(c, with_dtype(c, was, other, d));
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i, to_string(got[i]), to_string(want[i]));
    CHECK(got[i].shape() == want[i].shape());
    if (got[i].dtype() == string) continue;  // the text of a number depends on its dtype
    if (tolerance_of(d) == 0) CHECK(same_bits(got[i], cast(want[i], got[i].dtype())));
    else CHECK(relative_error(as_doubles(got[i]), as_doubles(want[i]), largest_input(c)) <= tolerance_of(d));
  }
}

}  // namespace

namespace {
// Rows that name all dtypes, whose shape rule refuses the others with a text of its own.
bool refuses(const OpDef& op, DType d) {
  const std::string name = op.name;
  if (name == "transfer") return d == string;  // which lives in host memory alone
  if (name == "cast" || name == "whole_cast") return d == string;
  if (name == "bitcast" || name == "invert_permutation") return true;  // not numbers: bytes, or a permutation
  if (name == "all_reduce" || name == "all_combine") return !dtypes::floating.has(d);  // by the attribute
  if (name.find("table_") != std::string::npos) return true;  // the sample's table has keys of one dtype
  return name == "check_written" || name == "mark_written" || name == "random_uniform" || name == "random_normal" ||
         name == "truncated_normal" || name == "random_bits";
}
}  // namespace

TEST_CASE("op table: a dtype that the row names computes what another one does") {
  std::set<std::string> refused;
  for_each_call(float32, [&](const Call& c) {
    const auto typed = static_cast<std::size_t>(c.op->dtype_input < 0 ? 0 : c.op->dtype_input);
    const DType was = c.in[typed].dtype();
    for (int k = 0; k < dtype_count; ++k) {
      const auto d = static_cast<DType>(k);
      if (!c.op->dtypes.has(d) || d == was || was == string || refuses(*c.op, d)) continue;
      if (dtypes::half_floating.has(d) && has_factor(c)) continue;  // tests/optim/half_test
      CAPTURE(name(d));
      try {
        check_against_reference(c, was, d);
      } catch (const errors::OpError& e) {
        refused.insert(c.op->name + std::string(" ") + name(d) + ": " + e.what());
      }
    }
  });
  for (const std::string& r : refused) UNSCOPED_INFO(r);
  CHECK(refused.empty());
}

TEST_CASE("op table: half precision without a kernel of its own is float32's result, rounded") {
  for_each_call(float32, [](const Call& c) {
    const bool takes_others = std::string(c.op->name).find("_update") != std::string::npos;  // float32 learning rates
    if (c.op->dtype_input < 0 || !c.op->dtypes.has(float32) || c.op->flags.own_width || takes_others) return;
    if (c.op->flags.cuda_takes_half && !c.in.empty() && c.in[0].device().kind == Device::gpu) return;  // has one there
    for (const DType half : {float16, bfloat16}) {
      if (c.op->dtypes.has(half)) continue;
      CAPTURE(name(half));
      std::vector<Tensor> narrow = c.in, wide = c.in;
      for (std::size_t i = 0; i < c.in.size(); ++i)
        if (is_floating(c.in[i].dtype()) && !names_input(c.op->rare.wide_inputs, i)) {
          narrow[i] = c.in[i].is_symbolic() ? Tensor::symbol({c.in[i].shape(), half, {}}) : cast(c.in[i], half);
          if (!c.in[i].is_symbolic()) wide[i] = cast(narrow[i], float32);
        }
      const Tensors got = samples::apply_to(c, narrow), want = samples::apply_to(c, wide);
      REQUIRE(got.size() == want.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool rounds = want[i].dtype() == float32 && !names_input(c.op->rare.wide_outputs, i);
        CHECK(same_bits(got[i], rounds ? cast(want[i], half) : want[i]));
      }
    }
  });
  for (const OpDef* op : {&nextafter_op}) {
    const Tensor x = cast(constant({1.f, 2.f}), float16);
    CHECK_THROWS_AS(apply1(*op, no_attrs, no_options, x, x), errors::UnimplementedError);
  }
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
