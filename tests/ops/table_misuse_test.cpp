// Generated from the op table: calls that are wrong. Operands of another rank or dtype, indices and sizes at the ends
// of their dtype, NaN and infinities, attributes (axes, sizes, counts) out of any range: an op computes or raises an
// error in its name, and never reads beyond its operands. Not here: wrong sizes (table_test.cpp), the texts of errors
// (the families' tests).
#include <limits>
#include <set>

#include "tandem/core/allocator.hpp"
#include "tests/ops/table_calls.hpp"
#include "tests/support/attr_fields.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

namespace {

using List = std::vector<Tensor>;

// What a wrong call may allocate, so that sizes at the ends of a dtype raise instead of taking the machine's memory.
struct MemoryLimit {
  MemoryLimit() { memory::set_limit(memory::info().live + (64 << 20)); }
  ~MemoryLimit() { memory::set_limit(0); }
};

// Whether errors of an op may have this name. Distributions carry the name of the function that draws from them, with
// or without a seed; transfers are made by Tensor::to and by name.
bool names(const std::string& name, const OpDef& op) {
  const std::string own = op.rare.in_errors ? op.rare.in_errors : op.name;
  const std::string seeded = "random::stateless_";
  if (name.find(seeded) == 0) return "random::" + name.substr(seeded.size()) == own;
  return name == own || (own == "transfer" && (name == "to" || name == "device"));
}
// An error names its op; anything else than an OpError, and a crash, fails.
void answers(const Call& c, const List& in) {
  try {
    for (const Tensor& t : samples::apply_to(c, in)) CHECK(t.is_set());
  } catch (const errors::OpError& e) {
    CAPTURE(e.op());
    CHECK(names(e.op(), *c.op));
    CHECK(std::string(e.what()).size() > e.op().size() + 2);
  }
}
bool is_excluded(const Call& c) { return c.op == &custom_gradient_op; }  // holds the sample's own operands
template <class F>
void with_each_input_replaced(const F& replacements) {
  const MemoryLimit limit;
  for_each_call(float32, [&](const Call& c) {
    if (is_excluded(c)) return;
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      if (c.in[i].is_symbolic()) continue;
      for (const Tensor& t : replacements(c.in[i])) {
        CAPTURE(i, to_string(t.spec()));
        List in = c.in;
        in[i] = t;
        answers(c, in);
      }
    }
  });
}

}  // namespace

TEST_CASE("op table: operands of another rank raise or compute") {
  with_each_input_replaced([](const Tensor& t) {
    List r;
    const Tensor flat = reshape(t, {t.size()});
    r.push_back(flat);
    if (t.rank() < max_rank) r.push_back(expand_dims(t, 0)), r.push_back(expand_dims(t, -1));
    if (t.size() > 0) r.push_back(flat[0]);
    r.push_back(zeros_of({{1, 1, 1, 1, 1, 1, 1, 1}, t.dtype(), {}}));
    r.push_back(zeros_of({{0}, t.dtype(), {}}));
    return r;
  });
}

TEST_CASE("op table: operands of another dtype raise or compute") {
  with_each_input_replaced([](const Tensor& t) {
    List r;
    for (const DType d :
         {float32, float64, int8, int32, int64, uint64, bool_, string, complex64, bfloat16, complex128, DType::qint8})
      if (d != t.dtype()) r.push_back(zeros_of({t.shape(), d, {}}));
    return r;
  });
}

TEST_CASE("op table: integers at the ends of their dtype, NaN and infinities raise or compute") {
  with_each_input_replaced([](const Tensor& t) {
    List r;
    const auto filled = [&](auto value) {
      r.push_back(broadcast_to(cast(constant(value), t.dtype()), Dims(t.shape())));
    };
    if (dtypes::index.has(t.dtype())) {
      for (const i64 value : {std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()})
        r.push_back(broadcast_to(saturate_cast(constant(value), t.dtype()), Dims(t.shape())));
      filled(-1), filled(1'000'000), filled(INT32_MIN), filled(INT32_MAX);
    } else if (is_floating(t.dtype())) {
      for (const float value : {NAN, INFINITY, -INFINITY, 3e38f}) filled(value);
    }
    return r;
  });
}

namespace {
using samples::AttrFields;
// The places that can be replaced: (field, element), elements of lists from 0, and -1 for a number by itself.
std::vector<std::pair<std::size_t, int>> places_of(const AttrFields& fields) {
  std::vector<std::pair<std::size_t, int>> r;
  for (std::size_t f = 0; f < fields.values.size(); ++f) {
    const AttrFields::Value& v = fields.values[f];
    if (v.kind == AttrFields::Value::is_number || v.kind == AttrFields::Value::is_real) r.emplace_back(f, -1);
    for (std::size_t i = 0; i < v.numbers.size(); ++i) r.emplace_back(f, static_cast<int>(i));
  }
  return r;
}
Attrs replaced(AttrFields fields, const detail::AttrType& type, std::size_t field, int element, i64 value) {
  AttrFields::Value& v = fields.values[field];
  if (element < 0) v.number = value, v.real = double(value);
  else v.numbers[static_cast<std::size_t>(element)] = value;
  return fields.read(type);
}
}  // namespace

TEST_CASE("op table: attributes out of any range raise or compute") {
  const MemoryLimit limit;
  for_each_call(float32, [](const Call& c) {
    if (is_excluded(c) || c.attrs.empty()) return;
    const AttrFields fields(c.attrs);
    for (const auto& [field, element] : places_of(fields))
      for (const i64 value : {i64{-1}, i64{0}, i64{7}, i64{1'000'000}, i64{INT32_MIN}, i64{INT32_MAX},
                              std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()}) {
        CAPTURE(field, element, value);
        Call other = c;
        try {
          other.attrs = replaced(fields, *c.op->attrs, field, element, value);
        } catch (const errors::OpError&) {
          continue;  // the attribute's type does not hold it
        }
        answers(other, c.in);
      }
  });
}
