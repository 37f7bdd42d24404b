// Samples of special functions, distributions and quantization.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

using Unary = Tensor (*)(const Tensor&, OpOptions);

template <Unary f>
void of_positive(Numbers& n) {
  f(n.reals({2, 3}, 0.2, 4), {});
  f(n.reals({5}, 9, 12), {});
}
template <Unary f>
void of_any(Numbers& n) {
  f(n.reals({2, 3}, -3, 3), {});
  f(n.reals({5}, 9, 12), {});
  f(n.near_zero({7}), {});
}
// x is moved alone: these have no derivative by their first operand.
Tensor half_integers(Numbers& n, const Shape& shape, int low, int high) {
  return cast(n.whole(shape, low, high), n.real());
}

const Sample special_table[] = {
    {"erfcinv",
     [](Numbers& n) {
       erfcinv(n.reals({2, 3}, 0.15, 1.8));
     }},
    {"ndtri",
     [](Numbers& n) {
       ndtri(n.reals({2, 3}, 0.15, 0.9));
     }},
    {"lgamma", of_positive<lgamma>},
    {"digamma", of_positive<digamma>},
    {"bessel_i0", of_any<bessel_i0>},
    {"bessel_i0e", of_any<bessel_i0e>},
    {"bessel_i1", of_any<bessel_i1>},
    {"bessel_i1e", of_any<bessel_i1e>},
    {"igamma",
     [](Numbers& n) {
       igamma(n.reals({2, 3}, 0.5, 3), n.reals({3}, 0.5, 3));
     }},
    {"igammac",
     [](Numbers& n) {
       igammac(n.reals({2, 3}, 0.5, 3), n.reals({3}, 0.5, 3));
     }},
    {"igamma_grad_a",
     [](Numbers& n) {
       apply1(igamma_grad_a_op, no_attrs, no_options, n.reals({2, 3}, 0.5, 3), n.reals({3}, 0.5, 3));
     }},
    {"igamma_grad_x",
     [](Numbers& n) {
       apply1(igamma_grad_x_op, rules::DensityAttrs{1, 0}, no_options, n.reals({2, 3}, 0.5, 3), n.reals({3}, 0.5, 3));
     }},
    {"gamma_sample_grad",
     [](Numbers& n) {
       apply1(gamma_sample_grad_op, rules::GammaSampleAttrs{false}, no_options, n.reals({2, 3}, 0.5, 3),
              n.reals({3}, 0.5, 3));
       apply1(gamma_sample_grad_op, rules::GammaSampleAttrs{true}, no_options, n.reals({3}, 0.5, 3),
              n.reals({3}, -3, 1));
     }},
    {"betainc",
     [](Numbers& n) {
       betainc(n.reals({2, 3}, 0.5, 3), n.reals({3}, 0.5, 3), n.reals({2, 1}, 0.2, 0.8));
     }},
    {"betainc_grad_a",
     [](Numbers& n) {
       apply1(betainc_grad_a_op, no_attrs, no_options, n.reals({3}, 0.5, 3), n.reals({3}, 0.5, 3),
              n.reals({3}, 0.2, 0.8));
     }},
    {"betainc_grad_b",
     [](Numbers& n) {
       apply1(betainc_grad_b_op, no_attrs, no_options, n.reals({3}, 0.5, 3), n.reals({3}, 0.5, 3),
              n.reals({3}, 0.2, 0.8));
     }},
    {"betainc_grad_x",
     [](Numbers& n) {
       apply1(betainc_grad_x_op, rules::DensityAttrs{1, 1}, no_options, n.reals({3}, 0.5, 3), n.reals({3}, 0.5, 3),
              n.reals({3}, 0.2, 0.8));
     }},
    {"polygamma",
     [](Numbers& n) {
       polygamma(half_integers(n, {3}, 1, 4), n.reals({2, 3}, 0.5, 3));
     }},
    {"zeta",
     [](Numbers& n) {
       zeta(n.reals({3}, 1.5, 4), n.reals({2, 3}, 0.5, 3));
     }},
    {"fake_quant",
     [](Numbers& n) {
       quantization::fake_quant_with_min_max_args(n.reals({2, 3}), {.min = -1, .max = 2});
     }},
    {"quantize_and_dequantize",
     [](Numbers& n) {
       quantization::quantize_and_dequantize(n.reals({2, 3}), -1, 1, {.range_given = true});
     }},
    {"quantize",
     [](Numbers& n) {
       quantization::quantize(n.reals({2, 3}), -1, 1);
     }},
    {"dequantize",
     [](Numbers& n) {
       quantization::dequantize(quantization::quantize(n.reals({2, 3}), -1, 1));
     }},
    {"random_gamma",
     [](Numbers& n) {
       random::stateless_gamma({4, 3}, {1, 2}, n.reals({3}, 0.5, 3));
     }},
    {"random_poisson",
     [](Numbers& n) {
       random::stateless_poisson({4, 3}, {1, 2}, n.reals({3}, 0.5, 30));
     }},
    {"random_binomial",
     [](Numbers&) {
       random::stateless_binomial({4, 3}, {1, 2}, 20, 0.3);
     }},
};

}  // namespace

tandem::Span<const Sample> special_samples() { return special_table; }

}  // namespace samples::detail
