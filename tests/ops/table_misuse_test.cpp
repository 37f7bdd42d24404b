// Generated from the op table: calls that are wrong. Operands of another rank or dtype, indices and sizes at the ends
// of their dtype, NaN and infinities, attributes (axes, sizes, counts) out of any range: an op computes or raises an
// error in its name, and never reads beyond its operands. Not here: wrong sizes (table_test.cpp), the texts of errors
// (the families' tests).
#include <limits>
#include <set>

#include "tandem/core/allocator.hpp"
#include "tests/ops/table_calls.hpp"
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

// The fields of an attribute struct, and a struct that is read back with one number of them replaced.
class Fields final : AttrVisitor, AttrReader {
 public:
  struct Value {
    i64 number = 0;
    double real = 0;
    std::string text;
    std::vector<i64> numbers;
    bool absent = false;  // Axes that are not given
    Ref<Opaque> opaque;
  };
  using AttrVisitor::list;
  explicit Fields(const Attrs& a) { a.visit(*this); }

  // The places that can be replaced: (field, element), elements of lists from 0, and -1 for a number by itself.
  std::vector<std::pair<std::size_t, int>> places() const { return places_; }
  Attrs with(const detail::AttrType& type, std::size_t field, int element, i64 value) {
    std::vector<Value> kept = values_;
    if (element < 0) values_[field].number = value, values_[field].real = double(value);
    else values_[field].numbers[static_cast<std::size_t>(element)] = value;
    at_ = 0;
    struct Restore {
      Fields& f;
      std::vector<Value> kept;
      ~Restore() { f.values_ = std::move(kept); }
    } restore{*this, std::move(kept)};
    return type.read(*this);
  }

  void number(const char*, i64 value) override { places_.push_back({values_.size(), -1}), add().number = value; }
  void real(const char*, double value) override { places_.push_back({values_.size(), -1}), add().real = value; }
  void text(const char*, const std::string& value) override { add().text = value; }
  void numbers(const char*, const i64* values, int count) override {
    for (int i = 0; i < count; ++i) places_.push_back({values_.size(), i});
    Value& v = add();
    v.absent = count < 0;
    if (count > 0) v.numbers.assign(values, values + count);
  }
  void opaque(const char*, const Opaque* value) override { add().opaque = Ref<Opaque>(const_cast<Opaque*>(value)); }

  i64 number(const char*) override { return values_[at_++].number; }
  double real(const char*) override { return values_[at_++].real; }
  std::string text(const char*) override { return values_[at_++].text; }
  int numbers(const char*, i64* values) override {
    const Value& v = values_[at_++];
    std::copy(v.numbers.begin(), v.numbers.end(), values);
    return v.absent ? -1 : static_cast<int>(v.numbers.size());
  }
  IntList list(const char*) override {
    IntList r;
    for (const i64 v : values_[at_++].numbers) r.push(v);
    return r;
  }
  Ref<Opaque> opaque(const char*) override { return values_[at_++].opaque; }
  [[noreturn]] void misfit(const char* name) override {
    errors::raise<errors::InvalidArgumentError>("attributes", std::string("no such value of ") + name);
  }

 private:
  Value& add() { return values_.emplace_back(); }
  std::vector<Value> values_;
  std::vector<std::pair<std::size_t, int>> places_;
  std::size_t at_ = 0;
};

}  // namespace

TEST_CASE("op table: attributes out of any range raise or compute") {
  const MemoryLimit limit;
  for_each_call(float32, [](const Call& c) {
    if (is_excluded(c) || c.attrs.empty()) return;
    Fields fields(c.attrs);
    for (const auto& [field, element] : fields.places())
      for (const i64 value : {i64{-1}, i64{0}, i64{7}, i64{1'000'000}, i64{INT32_MIN}, i64{INT32_MAX},
                              std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()}) {
        CAPTURE(field, element, value);
        Call other = c;
        try {
          other.attrs = fields.with(*c.op->attrs, field, element, value);
        } catch (const errors::OpError&) {
          continue;  // the attribute's type does not hold it
        }
        answers(other, c.in);
      }
  });
}
