// Samples of the pointwise ops.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

using Unary = Tensor (*)(const Tensor&, OpOptions);
using Binary = Tensor (*)(const Tensor&, const Tensor&, OpOptions);

template <Unary f>
void any(Numbers& n) {
  f(n.reals({2, 3}), {});
  f(n.reals({}), {});
  f(n.reals({19}), {});
  f(n.near_zero({7}), {});
}
// Complex numbers stay away from poles, and from 0, where second differences in float32 have too few digits.
template <Unary f>
void any_real(Numbers& n) {
  if (!is_complex(n.real())) return any<f>(n);
  f(n.reals({2, 3}, -0.9, 0.9), {});
  f(n.reals({19}, 0.4, 0.9), {});
}
template <Unary f>
void positive(Numbers& n) {
  f(n.reals({2, 3}, 0.2, 3), {});
}
template <Unary f>
void inside(Numbers& n) {
  f(n.reals({2, 3}, -0.9, 0.9), {});
  f(n.near_zero({7}), {});
}
template <Unary f>
void above_one(Numbers& n) {
  f(n.reals({2, 3}, 1.2, 3), {});
}
template <Unary f>
void bits_of_one(Numbers& n) {
  f(n.whole({2, 3}, -9, 9), {});
  f(n.whole({5}, 0, 200, uint8), {});
}
template <Binary f>
void pair(Numbers& n) {
  f(n.reals({2, 3}), n.reals({2, 3}), {});
  f(n.reals({2, 3}), n.reals({3}), {});
  f(n.reals({2, 1}), n.reals({1, 3}), {});
  f(n.reals({}), n.reals({4}), {});
}
template <Binary f>
void positive_pair(Numbers& n) {
  f(n.reals({2, 3}, 0.3, 2), n.reals({3}, 0.3, 2), {});
  f(n.reals({2, 3}, 0.3, 2), n.reals({2, 3}, 0.3, 2), {});
}
template <Binary f>
void whole_pair(Numbers& n) {
  f(n.whole({2, 3}, -9, 9), n.whole({3}, 1, 7), {});
}
template <Binary f>
void logical(Numbers& n) {
  f(n.flags({2, 3}), n.flags({3}), {});
}
template <Unary f>
void gradient_of(Numbers& n) {
  back([](const Tensor& x) { return f(x, {}); }, n.reals({2, 3}));
}

const Sample pointwise_table[] = {
    {"add", pair<add>},
    {"add", [](Numbers& n) { add(n.whole({4}, -5, 5, int64), n.whole({4}, -5, 5, int64)); }},
    {"add",
     [](Numbers&) {
       add(constant({"a", ""}), constant({"b", "c"}));
     }},
    {"subtract", pair<subtract>},
    {"multiply", pair<multiply>},
    {"divide", pair<divide>},
    {"negative", any<negative>},
    {"abs", any<abs>},
    {"sign", any<sign>},
    {"square", any<square>},
    {"maximum", pair<maximum>},
    {"minimum", pair<minimum>},
    {"exp", any<exp>},
    {"expm1", any<expm1>},
    {"log", positive<log>},
    {"log1p", positive<log1p>},
    {"sqrt", positive<sqrt>},
    {"rsqrt", positive<rsqrt>},
    {"reciprocal",
     [](Numbers& n) {
       reciprocal(n.reals({2, 3}));
       reciprocal(n.reals({}));
       reciprocal(n.reals({19}, is_complex(n.real()) ? 0.4 : -1.5, 1.5));
     }},
    {"sigmoid", any_real<sigmoid>},
    {"log_sigmoid", any<log_sigmoid>},
    {"softplus", any<softplus>},
    {"tanh", any_real<tanh>},
    {"pow", positive_pair<pow>},
    {"tanh_grad", gradient_of<tanh>},
    {"sigmoid_grad", gradient_of<sigmoid>},
    {"sin", any_real<sin>},
    {"cos", any<cos>},
    {"tan", inside<tan>},
    {"asin", inside<asin>},
    {"acos", inside<acos>},
    {"atan", any<atan>},
    {"sinh", any<sinh>},
    {"cosh", any<cosh>},
    {"asinh", any<asinh>},
    {"acosh", above_one<acosh>},
    {"atanh", inside<atanh>},
    {"atan2", pair<atan2>},
    {"floor", any<floor>},
    {"ceil", any<ceil>},
    {"trunc", any<trunc>},
    {"round", any<round>},
    {"equal", pair<equal>},
    {"equal",
     [](Numbers&) {
       equal(constant({"a", "b"}), constant({"b", "b"}));
     }},
    {"not_equal", pair<not_equal>},
    {"less", pair<less>},
    {"less_equal", pair<less_equal>},
    {"greater", pair<greater>},
    {"greater_equal", pair<greater_equal>},
    {"select",
     [](Numbers& n) {
       where(n.flags({2, 3}), n.reals({3}), n.reals({2, 1}));
     }},
    {"select",
     [](Numbers& n) {
       where(n.flags({2}), constant({"a", "b"}), constant({"c", "d"}));
     }},
    {"logical_and", logical<logical_and>},
    {"logical_or", logical<logical_or>},
    {"logical_xor", logical<logical_xor>},
    {"logical_not",
     [](Numbers& n) {
       logical_not(n.flags({2, 3}));
     }},
    {"is_nan", any<is_nan>},
    {"is_inf", any<is_inf>},
    {"is_finite", any<is_finite>},
    {"floordiv", pair<floordiv>},
    {"floordiv", whole_pair<floordiv>},
    {"floormod", pair<floormod>},
    {"floormod", whole_pair<floormod>},
    {"truncatediv", whole_pair<truncatediv>},
    {"truncatemod", whole_pair<truncatemod>},
    {"div_no_nan", pair<div_no_nan>},
    {"multiply_no_nan", pair<multiply_no_nan>},
    {"squared_difference", pair<squared_difference>},
    {"hypot", pair<hypot>},
    {"xlogy", positive_pair<xlogy>},
    {"xlog1py", positive_pair<xlog1py>},
    {"xdivy", positive_pair<xdivy>},
    {"clip_by_value",
     [](Numbers& n) {
       clip_by_value(n.reals({2, 3}), n.reals({3}, -1, -0.4), n.reals({}, 0.3, 1));
     }},
    {"erf", any<erf>},
    {"erfc", any<erfc>},
    {"erfinv", inside<erfinv>},
    {"nextafter", pair<nextafter>},
    {"bitwise_and", whole_pair<bitwise::bitwise_and>},
    {"bitwise_or", whole_pair<bitwise::bitwise_or>},
    {"bitwise_xor", whole_pair<bitwise::bitwise_xor>},
    {"invert", bits_of_one<bitwise::invert>},
    {"left_shift", whole_pair<bitwise::left_shift>},
    {"right_shift", whole_pair<bitwise::right_shift>},
    {"population_count", bits_of_one<bitwise::population_count>},
    {"relu", any<nn::relu>},
    {"relu_grad",
     [](Numbers& n) {
       apply1(relu_grad_op, no_attrs, no_options, n.reals({2, 3}), n.reals({2, 3}));
     }},
    {"relu6", any<nn::relu6>},
    {"relu6_grad",
     [](Numbers& n) {
       apply1(relu6_grad_op, no_attrs, no_options, n.reals({2, 3}), n.reals({2, 3}));
     }},
    {"leaky_relu",
     [](Numbers& n) {
       nn::leaky_relu(n.reals({2, 3}), {.alpha = 0.3});
       nn::leaky_relu(n.near_zero({7}), {.alpha = 0.3});
     }},
    {"leaky_relu_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return nn::leaky_relu(x, {.alpha = 0.3}); }, n.reals({2, 3}));
     }},
    {"elu", any<nn::elu>},
    {"elu_grad", gradient_of<nn::elu>},
    {"selu", any<nn::selu>},
    {"softsign", any<nn::softsign>},
    {"hard_sigmoid", any<nn::hard_sigmoid>},
    {"gelu",
     [](Numbers& n) {
       nn::gelu(n.reals({2, 3}));
       nn::gelu(n.near_zero({7}));
     }},
    {"gelu_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return nn::gelu(x); }, n.reals({2, 3}));
     }},
    {"gelu_tanh",
     [](Numbers& n) {
       nn::gelu(n.reals({2, 3}), {.approximate = true});
       nn::gelu(n.near_zero({7}), {.approximate = true});
     }},
    {"gelu_tanh_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return nn::gelu(x, {.approximate = true}); }, n.reals({2, 3}));
     }},
    {"silu",
     [](Numbers& n) {
       nn::swish(n.reals({2, 3}));
       nn::swish(n.near_zero({7}));
     }},
    {"silu_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return nn::swish(x); }, n.reals({2, 3}));
     }},
    {"mish", any<nn::mish>},
};

}  // namespace

tandem::Span<const Sample> pointwise_samples() { return pointwise_table; }

}  // namespace samples::detail
