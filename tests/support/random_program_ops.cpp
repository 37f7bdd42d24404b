// The functions that random programs call.
#include <algorithm>

#include "tandem/ops/all.hpp"
#include "tests/support/random_program.hpp"

namespace programs {
namespace {

using namespace tandem;
using In = tandem::Span<const Tensor>;

std::size_t at(i64 i) { return static_cast<std::size_t>(i); }
int axis(const Numbers& n) { return static_cast<int>(n[0]); }
Shape shape_from(const Numbers& n, std::size_t from, std::size_t count) {
  Shape s;
  for (std::size_t i = 0; i < count; ++i) s.push_back(n[from + i]);
  return s;
}

Numbers an_axis(Random& r, In in) { return {r.below(in[0].rank()), r.below(2)}; }
// -1 means all axes.
Numbers some_axis(Random& r, In in) { return {r.below(in[0].rank() + 1) - 1, r.below(2)}; }
ReduceOptions reduce(const Numbers& n) { return {.axis = n[0] < 0 ? Axes() : Axes(n[0]), .keepdims = n[1] == 1}; }
Numbers other_shape(Random& r, In in) {
  const i64 size = in[0].size();
  const Numbers shapes[] = {{-1}, {1, -1}, {-1, 1}, {size, 1, 1}, {1, 1, size}};
  if (size % 2 == 0 && size && r.chance(50)) return r.chance(50) ? Numbers{2, size / 2} : Numbers{size / 2, 2};
  if (size == 0) return {0, 3};
  return r.pick(shapes);
}
Numbers a_permutation(Random& r, In in) {
  Numbers p(at(in[0].rank()));
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<i64>(i);
  for (std::size_t i = p.size(); i > 1; --i) std::swap(p[i - 1], p[at(r.below(static_cast<i64>(i)))]);
  return p;
}
Numbers a_slice(Random& r, In in) {
  Numbers begin, size;
  for (i64 d : in[0].shape()) {
    begin.push_back(r.chance(40) ? 0 : r.below(d + 1));
    size.push_back(r.chance(40) ? d - begin.back() : r.below(d - begin.back() + 1));
  }
  begin.insert(begin.end(), size.begin(), size.end());
  return begin;
}
Numbers indices(Random& r, In in) {
  if (in[0].rank() == 0) return {0};
  const i64 a = r.below(in[0].rank()), size = in[0].shape()[static_cast<int>(a)];
  Numbers n{a};
  for (i64 k = size ? r.below(4) : 0; k > 0; --k) n.push_back(r.below(size));
  return n;
}
Numbers paddings(Random& r, In in) {
  Numbers n;
  for (int i = 0; i < 2 * in[0].rank(); ++i) n.push_back(r.below(2));
  return n;
}
Numbers larger_shape(Random& r, In in) {
  Numbers n;
  if (r.chance(50)) n.push_back(1 + r.below(3));
  for (i64 d : in[0].shape()) n.push_back(d == 1 ? 1 + r.below(3) : d);
  return n;
}
Numbers a_dtype(Random& r, In) {
  static constexpr DType to[] = {DType::float32, DType::float64, DType::int32, DType::int64, DType::bool_};
  return {static_cast<i64>(r.pick(to))};
}
Numbers a_new_axis(Random& r, In in) { return {r.below(in[0].rank() + 1)}; }
Numbers three_flags(Random& r, In) { return {r.below(2), r.below(2), r.below(2)}; }
Numbers multiples(Random& r, In in) {
  Numbers n;
  for (int i = 0; i < in[0].rank(); ++i) n.push_back(r.below(3));
  return n;
}
Numbers a_part(Random& r, In in) {
  if (in[0].rank() == 0) return {0, 1, 0};
  const i64 a = r.below(in[0].rank()), size = in[0].shape()[static_cast<int>(a)];
  i64 parts = 1 + r.below(3);
  while (size % parts) --parts;
  return {a, parts, r.below(parts)};
}
// The steps of a loop over the leading axis, whose identical operations the passes combine.
Numbers all_rows(Random&, In in) { return {in[0].rank() && in[0].shape()[0] ? in[0].shape()[0] : 1}; }
Tensor sum_of_products(In x, const Numbers& n) {
  Tensor sum;
  for (i64 i = 0; i < n[0]; ++i) {
    const Tensor row = reshape(x[0][i], {1, -1}), term = matmul(row, row + row, {.transpose_a = true});
    sum = sum.is_set() ? sum + term : term;
  }
  return sum;
}
Tensor products_of_rows(In x, const Numbers&) {
  const std::vector<Tensor> steps = split(concat({x[0], x[0] + x[0], negative(x[0])}, 0), 3);
  const auto product = [&](std::size_t i) { return matmul(steps[i], x[0], {.transpose_b = true}); };
  return product(0) * product(1) - product(2);
}
Numbers a_row(Random& r, In in) { return {in[0].rank() ? r.below(in[0].shape()[0]) : 0}; }

#define UNARY(fn)                                         \
  Op {                                                    \
#fn, 1, [](In x, const Numbers&) { return fn(x[0]); } \
  }
#define BINARY(fn)                                              \
  Op {                                                          \
#fn, 2, [](In x, const Numbers&) { return fn(x[0], x[1]); } \
  }
#define REDUCTION(fn)                                                              \
  Op {                                                                             \
#fn, 1, [](In x, const Numbers& n) { return fn(x[0], reduce(n)); }, &some_axis \
  }

const Op table[] = {
    UNARY(negative),
    UNARY(abs),
    UNARY(sign),
    UNARY(square),
    UNARY(exp),
    UNARY(expm1),
    UNARY(log),
    UNARY(log1p),
    UNARY(sqrt),
    UNARY(rsqrt),
    UNARY(reciprocal),
    UNARY(sigmoid),
    UNARY(log_sigmoid),
    UNARY(nn::softplus),
    UNARY(tanh),
    UNARY(sin),
    UNARY(cos),
    UNARY(atan),
    UNARY(asinh),
    UNARY(floor),
    UNARY(ceil),
    UNARY(round),
    UNARY(erf),
    UNARY(nn::relu),
    UNARY(nn::elu),
    UNARY(nn::selu),
    UNARY(nn::gelu),
    UNARY(nn::swish),
    UNARY(nn::softsign),
    UNARY(is_nan),
    UNARY(is_finite),
    UNARY(logical_not),
    UNARY(identity),
    UNARY(stop_gradient),
    UNARY(zeros_like),
    UNARY(ones_like),
    UNARY(rank),
    UNARY(size),
    UNARY(nn::l2_loss),
    UNARY(bitwise::invert),
    Op{"shape", 1, [](In x, const Numbers&) { return shape(x[0]); }},
    BINARY(add),
    BINARY(subtract),
    BINARY(multiply),
    BINARY(divide),
    BINARY(maximum),
    BINARY(minimum),
    BINARY(floordiv),
    BINARY(floormod),
    BINARY(squared_difference),
    BINARY(div_no_nan),
    BINARY(atan2),
    BINARY(pow),
    BINARY(equal),
    BINARY(less),
    BINARY(greater_equal),
    BINARY(not_equal),
    BINARY(logical_and),
    BINARY(logical_or),
    BINARY(bitwise::bitwise_and),
    BINARY(bitwise::bitwise_xor),
    BINARY(add),
    BINARY(multiply),
    BINARY(subtract),
    Op{"where", 3, [](In x, const Numbers&) { return where(x[0], x[1], x[2]); }},
    Op{"clip_by_value", 1, [](In x, const Numbers&) { return clip_by_value(x[0], -1, 1); }},
    Op{"scaled", 1, [](In x, const Numbers& n) { return x[0] * n[0] + n[1]; }, &three_flags},
    REDUCTION(reduce_sum),
    REDUCTION(reduce_mean),
    REDUCTION(reduce_prod),
    REDUCTION(reduce_max),
    REDUCTION(reduce_min),
    REDUCTION(reduce_any),
    REDUCTION(reduce_all),
    REDUCTION(reduce_logsumexp),
    REDUCTION(reduce_variance),
    REDUCTION(count_nonzero),
    REDUCTION(reduce_sum),
    Op{"argmax", 1, [](In x, const Numbers& n) { return argmax(x[0], n[0]); }, &an_axis},
    Op{"cumsum", 1, [](In x, const Numbers& n) { return cumsum(x[0], {.axis = axis(n), .reverse = n[1] == 1}); },
       &an_axis},
    Op{"cumprod", 1, [](In x, const Numbers& n) { return cumprod(x[0], {.axis = axis(n), .exclusive = n[1] == 1}); },
       &an_axis},
    Op{"sort", 1, [](In x, const Numbers& n) { return sort(x[0], {.axis = n[0]}); }, &an_axis},
    Op{"softmax", 1, [](In x, const Numbers& n) { return nn::softmax(x[0], {.axis = axis(n)}); }, &an_axis},
    Op{"log_softmax", 1, [](In x, const Numbers& n) { return nn::log_softmax(x[0], {.axis = axis(n)}); }, &an_axis},
    Op{"reverse", 1, [](In x, const Numbers& n) { return reverse(x[0], Axes(n[0])); }, &an_axis},
    Op{"reshape", 1, [](In x, const Numbers& n) { return reshape(x[0], shape_from(n, 0, n.size())); }, &other_shape},
    Op{"flatten_by_shape", 1, [](In x, const Numbers&) { return reshape(x[0], reshape(size(x[0]), {1})); }},
    Op{"transpose", 1,
       [](In x, const Numbers& n) {
         Axes perm = Axes::none();
         for (i64 a : n) perm.push_back(a);
         return transpose(x[0], {.perm = perm});
       },
       &a_permutation},
    Op{"slice", 1,
       [](In x, const Numbers& n) {
         return slice(x[0], shape_from(n, 0, n.size() / 2), shape_from(n, n.size() / 2, n.size() / 2));
       },
       &a_slice},
    Op{"row", 1, [](In x, const Numbers& n) { return x[0][n[0]]; }, &a_row},
    Op{"strided", 1, [](In x, const Numbers&) { return x[0](Slice(1, {}, 2), Ellipsis); }},
    Op{"gather", 1,
       [](In x, const Numbers& n) {
         const std::vector<i64> rows(n.begin() + 1, n.end());
         return gather(x[0], constant(rows), {.axis = n[0]});
       },
       &indices},
    Op{"pad", 1,
       [](In x, const Numbers& n) {
         std::vector<std::pair<i64, i64>> p;
         for (std::size_t i = 0; i + 1 < n.size(); i += 2) p.emplace_back(n[i], n[i + 1]);
         return pad(x[0], p);
       },
       &paddings},
    Op{"broadcast_to", 1, [](In x, const Numbers& n) { return broadcast_to(x[0], shape_from(n, 0, n.size())); },
       &larger_shape},
    Op{"tile", 1, [](In x, const Numbers& n) { return tile(x[0], shape_from(n, 0, n.size())); }, &multiples},
    Op{"expand_dims", 1, [](In x, const Numbers& n) { return expand_dims(x[0], n[0]); }, &a_new_axis},
    Op{"squeeze", 1, [](In x, const Numbers& n) { return squeeze(x[0], n[0]); }, &an_axis},
    Op{"split", 1, [](In x, const Numbers& n) { return split(x[0], n[1], {.axis = n[0]})[at(n[2])]; }, &a_part},
    Op{"concat", -1, [](In x, const Numbers& n) { return concat(x, n[0]); }, &an_axis},
    Op{"stack", -1, [](In x, const Numbers& n) { return stack(x, {.axis = n[0]}); }, &a_new_axis},
    Op{"cast", 1, [](In x, const Numbers& n) { return cast(x[0], static_cast<DType>(n[0])); }, &a_dtype},
    Op{"one_hot", 1, [](In x, const Numbers&) { return one_hot(x[0], 3); }},
    Op{"matmul", 2,
       [](In x, const Numbers& n) { return matmul(x[0], x[1], {.transpose_a = n[0] == 1, .transpose_b = n[1] == 1}); },
       &three_flags},
    Op{"gram", 1, [](In x, const Numbers&) { return matmul(x[0], x[0], {.transpose_b = true}); }},
    Op{"sum_of_products", 1, &sum_of_products, &all_rows},
    Op{"products_of_rows", 1, &products_of_rows},
    Op{"masked_sum", 1, [](In x, const Numbers&) { return reduce_sum(boolean_mask(x[0], x[0] > zeros_like(x[0]))); }},
    Op{"broadcast_like", 2, [](In x, const Numbers&) { return broadcast_to(x[0], shape(x[1])); }},
    Op{"normal_like", 1, [](In x, const Numbers& n) { return random::stateless_normal(shape(x[0]), {n[0], n[1]}); },
       &three_flags},
};

}  // namespace

tandem::Span<const Op> ops() { return table; }

}  // namespace programs
