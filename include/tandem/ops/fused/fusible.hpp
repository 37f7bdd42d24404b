// The ops of which fused programs are made: the one list for the chains and loops of the CPU (lower.inl, chain.inc) and
// the interpreter of a GPU (cuda/fused/program.hpp). tests/graph/fusible_test.cpp finds an op of the op table that no
// list has, and a name of an op that the CPU cannot fuse. f(name) for an op of that name.
#pragma once

// Superinstructions of a chain on the CPU, instructions on a GPU.
#define TANDEM_FUSED_UNARY(f) \
  f(negative) f(abs) f(square) f(sqrt) f(rsqrt) f(reciprocal) f(relu) f(exp) f(log) f(tanh) f(sigmoid)
#define TANDEM_FUSED_BINARY(f)                                                                                   \
  f(add) f(subtract) f(multiply) f(divide) f(maximum) f(minimum) f(squared_difference) f(relu_grad) f(tanh_grad) \
      f(sigmoid_grad)
// f(name, op): superinstructions whose carried value is the second operand of the op. Commutative ops need none; others
// may return a different zero or NaN with operands swapped.
#define TANDEM_FUSED_SWAPPED(f) f(subtract_from, subtract) f(divide_into, divide)

// A loop over a tile on the CPU, instructions on a GPU.
#define TANDEM_FUSED_LOOP_UNARY(f)                                                                                \
  f(sign) f(expm1) f(log1p) f(log_sigmoid) f(softplus) f(erf) f(relu6) f(elu) f(selu) f(softsign) f(hard_sigmoid) \
      f(gelu) f(gelu_tanh) f(silu) f(mish) f(floor) f(ceil) f(trunc) f(round)
#define TANDEM_FUSED_LOOP_BINARY(f) \
  f(div_no_nan) f(multiply_no_nan) f(relu6_grad) f(elu_grad) f(leaky_relu) f(gelu_grad) f(gelu_tanh_grad) f(silu_grad)
#define TANDEM_FUSED_LOOP_COMPARISON(f) f(equal) f(not_equal) f(less) f(less_equal) f(greater) f(greater_equal)
// The same; cuda/fused/compute.inc has a line for each.
#define TANDEM_FUSED_LOOP_OTHER(f)                                                                            \
  f(leaky_relu_grad) f(select) f(logical_and) f(logical_or) f(logical_xor) f(logical_not) f(is_nan) f(is_inf) \
      f(is_finite)
// Casts: an instruction by the dtype of the result, or none.
#define TANDEM_FUSED_CASTS(f) f(cast) f(whole_cast)

// A loop over a tile on the CPU; on a GPU the op ends a program.
#define TANDEM_FUSED_CPU_LOOP(f)                                                                                      \
  f(acos) f(acosh) f(asin) f(asinh) f(atan) f(atan2) f(atanh) f(bessel_i0) f(bessel_i0e) f(bessel_i1) f(bessel_i1e)   \
      f(betainc) f(betainc_grad_a) f(betainc_grad_b) f(betainc_grad_x) f(bitwise_and) f(bitwise_or) f(bitwise_xor)    \
          f(conj) f(cos) f(cosh) f(digamma) f(erfc) f(erfcinv) f(erfinv) f(gamma_sample_grad) f(hypot) f(igamma)      \
              f(igamma_grad_a) f(igamma_grad_x) f(igammac) f(invert) f(left_shift) f(lgamma) f(ndtri) f(nextafter)    \
                  f(polygamma) f(population_count) f(right_shift) f(sigmoid_cross_entropy_with_logits) f(sin) f(sinh) \
                      f(tan) f(xdivy) f(xlog1py) f(xlogy) f(zeta)
