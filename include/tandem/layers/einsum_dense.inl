// Definitions of layers/einsum_dense.hpp.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "tandem/layers/einsum_dense.hpp"
#include "tandem/ops/linalg/einsum.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {

[[noreturn, gnu::cold]] TANDEM_INLINE void raise_einsum_dense(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("EinsumDense", what);
}
TANDEM_INLINE bool has_letter(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

TANDEM_INLINE DenseEquation::DenseEquation(const std::string& text) {
  const std::size_t comma = text.find(','), arrow = text.find("->");
  const auto fail = [&] {
    raise_einsum_dense("the equation \"" + text +
                       "\" must have the form \"ab,bc->ac\", \"...b,bc->...c\" or \"ab...,bc->ac...\", without a "
                       "letter twice in one part");
  };
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma) fail();
  input = text.substr(0, comma), kernel = text.substr(comma + 1, arrow - comma - 1), output = text.substr(arrow + 2);
  left = input.starts_with("...") && output.starts_with("...");
  right = !left && input.ends_with("...") && output.ends_with("...");
  for (std::string* part : {&input, &output})
    if (left || right) part->erase(left ? 0 : part->size() - 3, 3);
  for (const std::string* part : {&input, &kernel, &output}) {
    std::string letters = *part;
    std::sort(letters.begin(), letters.end());
    const bool are_letters = std::all_of(letters.begin(), letters.end(),
                                         [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    if (letters.empty() || !are_letters || std::adjacent_find(letters.begin(), letters.end()) != letters.end()) fail();
  }
  for (const char c : output)
    if (!has_letter(input, c) && !has_letter(kernel, c))
      raise_einsum_dense("\"" + text + "\": neither the input nor the kernel has the output's letter " + c);
  for (const char c : kernel)
    if (!has_letter(input, c) && !has_letter(output, c))
      raise_einsum_dense("\"" + text + "\": neither the input nor the output has the kernel's letter " + c);
}

}  // namespace detail

TANDEM_INLINE EinsumDense::EinsumDense(const std::string& equation, const Shape& output_shape,
                                       EinsumDenseOptions options)
    : Layer("einsum_dense"),
      text_(equation),
      equation_(equation),
      output_shape_(output_shape),
      options_(std::move(options)) {
  const std::size_t letters = equation_.output.size() - (equation_.left ? 0 : 1);
  if (static_cast<std::size_t>(output_shape.rank()) != letters)
    detail::raise_einsum_dense("output_shape must have " + std::to_string(letters) + " sizes for \"" + equation + "\"" +
                               (equation_.left ? "" : ", without the batch") + "; it is " + to_string(output_shape));
  for (const char c : options_.bias_axes)
    if (!detail::has_letter(equation_.output, c))
      detail::raise_einsum_dense("\"" + equation + "\": the output does not have the letter of bias_axes " + c);
}
TANDEM_INLINE detail::DenseSizes EinsumDense::sizes_for(const Tensor& x) const {
  const detail::DenseEquation& e = equation_;
  const int letters = static_cast<int>(e.input.size()), elided = x.rank() - letters;
  if (elided < 0 || (elided > 0 && !e.left && !e.right))
    detail::raise_einsum_dense("\"" + text_ + "\" does not fit the rank of the input " + to_string(x.spec()));
  const auto of_input = [&](char c) {
    const auto at = e.input.find(c);
    return at == std::string::npos ? none : x.shape().dim(static_cast<int>(at) + (e.left ? elided : 0));
  };
  const auto of_output = [&](char c) {
    const auto at = static_cast<int>(e.output.find(c)) - (e.left ? 0 : 1);
    const i64 given = at < 0 ? none : output_shape_.dim(at), found = of_input(c);
    if (given != none && found != none && given != found)
      detail::raise_einsum_dense("\"" + text_ + "\": output_shape " + to_string(output_shape_) + " has the size " +
                                 std::to_string(given) + " for " + c + ", the input " + to_string(x.spec()) + " " +
                                 std::to_string(found));
    return given == none ? found : given;
  };
  const auto known = [&](i64 size, char c) {
    if (size == none)
      detail::raise_einsum_dense("\"" + text_ + "\": the size of " + c + " must be known for the weights: input " +
                                 to_string(x.spec()) + ", output_shape " + to_string(output_shape_));
    return size;
  };
  detail::DenseSizes r;
  for (const char c : e.output) (void)of_output(c);  // all are compared with the input's
  for (int i = 0; i < static_cast<int>(e.kernel.size()); ++i) {
    const char c = e.kernel[static_cast<std::size_t>(i)];
    const bool is_output = detail::has_letter(e.output, c);
    r.kernel.push_back(known(is_output ? of_output(c) : of_input(c), c));
    (is_output ? r.outputs : r.inputs).push_back(i);
  }
  const std::size_t first = e.output.find_first_of(options_.bias_axes);
  for (std::size_t i = first; i < e.output.size(); ++i) {
    const char c = e.output[i];
    r.bias.push_back(detail::has_letter(options_.bias_axes, c) ? known(of_output(c), c) : 1);
  }
  for (int i = 0; e.right && first != std::string::npos && i < elided; ++i) r.bias.push_back(1);
  return r;
}
TANDEM_INLINE Layer::Weights EinsumDense::weights_for(const detail::DenseSizes& sizes) const {
  const EinsumDenseOptions& o = options_;
  Weights w{{"kernel", sizes.kernel, o.kernel_initializer, o.dtype, o.kernel_regularizer, o.kernel_constraint}};
  if (!o.bias_axes.empty())
    w.push_back({"bias", sizes.bias, o.bias_initializer, o.dtype, o.bias_regularizer, o.bias_constraint});
  return w;
}
// An initializer takes the last two axes for inputs and outputs, which are others here.
TANDEM_INLINE void EinsumDense::make_weights(const detail::DenseSizes& sizes) const {
  build_once([&] {
    const Weights list = weights_for(sizes);
    Weights drawn = list;
    drawn.data()[0].shape = Shape{1, 1};
    Shape apart;                                                            // inputs first
    std::vector<int> place(static_cast<std::size_t>(sizes.kernel.rank()));  // of the kernel's axes among them
    for (const Axes* axes : {&sizes.inputs, &sizes.outputs})
      for (int i = 0; i < axes->size(); ++i) {
        const int axis = (*axes)[i];
        place[static_cast<std::size_t>(axis)] = apart.rank();
        apart.push_back(sizes.kernel.dim(axis));
        const int side = axes == &sizes.inputs ? 0 : 1;
        drawn.data()[0].shape.set(side, drawn.data()[0].shape.dim(side) * sizes.kernel.dim(axis));
      }
    std::vector<Tensor> values = initial_values(drawn);
    Axes perm = Axes::none();
    for (const int at : place) perm.push_back(at);
    values[0] = transpose(reshape(values[0], apart), {.perm = perm});
    add_weights(list, values);
  });
}
TANDEM_INLINE Tensor EinsumDense::run(const Tensor& x, const Tensors& w) const {
  if (x.dtype() != options_.dtype) detail::raise_input_dtype("EinsumDense", x, options_.dtype);
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor y = einsum(text_, x, w[0]);
  return options_.activation(w.size() > 1 ? y + w[1] : y);
}
TANDEM_INLINE Tensor EinsumDense::operator()(const Tensor& x) const {
  const InCall here(*this);
  if (!is_built()) {
    check_registered();
    const detail::DenseSizes sizes = sizes_for(x);
    Tensor y;
    tandem::detail::check_call([&] { y = run(x, placeholders(weights_for(sizes))); });
    make_weights(sizes);
    note_output(*this, y.shape());
  }
  return penalized(run(x, weights()), options_.activity_regularizer);
}

}  // namespace TANDEM_NS::layers
