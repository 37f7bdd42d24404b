// Runs the samples and captures their calls. The samples themselves: op_samples_*.cpp.
#include "tests/support/op_samples.hpp"

#include <cmath>
#include <complex>
#include <string_view>

#include "tandem/ops/create/constant.hpp"

namespace samples {

using namespace tandem;

namespace {
// Fills a tensor with numbers from `next`, two for each complex number.
template <class F>
Tensor filled(const Shape& shape, DType dtype, const F& next) {
  const bool complex = is_complex(dtype);
  std::vector<float> v(static_cast<std::size_t>(shape.size()) * (complex ? 2 : 1));
  for (float& x : v) x = static_cast<float>(next());
  if (!complex) return constant(v, {.dtype = dtype, .shape = shape});
  std::vector<std::complex<float>> z;
  for (std::size_t i = 0; i < v.size(); i += 2) z.emplace_back(v[i], v[i + 1]);
  return constant(z, {.shape = shape});
}
}  // namespace

Tensor Numbers::reals(const Shape& shape, double low, double high) {
  std::uniform_real_distribution<double> spread(low, high);
  return filled(shape, real_, [&] {
    double x;
    do x = spread(random_);
    while (std::fabs(static_cast<float>(x)) < 0.12f);
    return x;
  });
}
Tensor Numbers::near_zero(const Shape& shape) {
  std::uniform_real_distribution<double> spread(0.001, 0.01);
  return filled(shape, real_, [&] { return random_() % 2 ? spread(random_) : -spread(random_); });
}
Tensor Numbers::whole(const Shape& shape, int low, int high, DType dtype) {
  std::vector<std::int32_t> v(static_cast<std::size_t>(shape.size()));
  for (std::int32_t& x : v) x = std::uniform_int_distribution<int>(low, high - 1)(random_);
  return constant(v, {.dtype = dtype, .shape = shape});
}
Tensor Numbers::flags(const Shape& shape) { return whole(shape, 0, 2, bool_); }
Tensor Numbers::key() { return constant(std::vector<i64>{77, 3}); }

namespace {

// Records the calls of one op.
struct Catcher final : Observer {
  const OpDef& op;
  std::vector<Call> calls;

  explicit Catcher(const OpDef& wanted) : op(wanted) {
    next = context.observers;
    context.observers = this;
  }
  ~Catcher() {
    for (Observer** o = &context.observers; *o; o = &(*o)->next)
      if (*o == this) {
        *o = next;
        return;
      }
  }
  void record(const Applied& a) override {
    if (&a.op != &op) return;
    Call& c = calls.emplace_back(Call{&a.op, {}, a.attrs});
    for (const Tensor* t : a.in) c.in.push_back(*t);
  }
  void read(const Variable&, const Tensor&) override {}
};

template <class F>
void for_each_sample(const F& f) {
  const tandem::Span<const detail::Sample> families[] = {
    detail::pointwise_samples(),
    detail::special_samples(),
    detail::shape_samples(),
    detail::index_samples(),
    detail::conv_samples(),
    detail::norm_samples(),
    detail::other_samples(),
    detail::debug_samples(),
#if TANDEM_WITH_LINALG
    detail::linalg_samples(),
#endif
#if TANDEM_WITH_SIGNAL
    detail::signal_samples(),
#endif
#if TANDEM_WITH_STRINGS
    detail::string_samples(),
#endif
#if TANDEM_WITH_IMAGE
    detail::image_samples(),
#endif
#if TANDEM_WITH_DISTRIBUTE
    detail::distribute_samples(),
#endif
  };
  for (const auto& family : families)
    for (const detail::Sample& s : family) f(s);
}

}  // namespace

std::vector<Call> calls_of(const OpDef& op, DType real) {
  std::vector<Call> calls;
  for_each_sample([&](const detail::Sample& s) {
    if (std::string_view(s.op) != op.name) return;
    Numbers n(real);
    Catcher catcher(op);
    try {
      s.run(n);
    } catch (const errors::OpError&) {
      if (!is_complex(real)) throw;
    }
    calls.insert(calls.end(), catcher.calls.begin(), catcher.calls.end());
  });
  return calls;
}

std::vector<std::string> sampled_names() {
  std::vector<std::string> names;
  for_each_sample([&](const detail::Sample& s) { names.emplace_back(s.op); });
  return names;
}

Tensors apply_to(const Call& call, const std::vector<Tensor>& in) {
  InlinedVector<const Tensor*, 8> pointers;
  for (const Tensor& t : in) pointers.push_back(&t);
  return apply(*call.op, {pointers.begin(), pointers.size()}, call.attrs);
}

}  // namespace samples
