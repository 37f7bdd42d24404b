// The options that all optimizers have: weight decay and the clipping of gradients.
#pragma once
#include <optional>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/core/indexed_slices.hpp"
#include "tandem/optim/learning_rate.hpp"

namespace TANDEM_NS {

namespace detail {

/// w -= lr decay w, for the Variables (or their rows) that have a gradient.
TANDEM_API void decay_weights(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                              const Tensor& lr, const Tensor& step, double weight_decay);
TANDEM_API std::vector<Gradient> clip_each_norm(const std::vector<Gradient>& gradients, double clip_norm);
TANDEM_API std::vector<Gradient> clip_each_value(const std::vector<Gradient>& gradients, double clip_value);
TANDEM_API std::vector<Gradient> clip_joint_norm(const std::vector<Gradient>& gradients, double clip_norm);

/// An optional number, with the function that applies it: a program that does not set the option does not compile it.
template <auto Apply>
class NumberOption {
 public:
  NumberOption() = default;
  NumberOption(std::nullopt_t) {}
  template <Rate R>
  NumberOption(R value) : value_(static_cast<double>(value)), apply_(Apply) {}

  bool is_set() const { return apply_ != nullptr; }
  double value() const { return value_; }
  template <class... A>
  auto apply(const A&... a) const {
    return apply_(a..., value_);
  }

 private:
  double value_ = 0;
  decltype(Apply) apply_ = nullptr;
};
using WeightDecay = NumberOption<&decay_weights>;
using ClipNorm = NumberOption<&clip_each_norm>;
using ClipValue = NumberOption<&clip_each_value>;
using GlobalClipNorm = NumberOption<&clip_joint_norm>;

struct CommonOptions {
  WeightDecay weight_decay;
  ClipNorm clipnorm;
  ClipValue clipvalue;
  GlobalClipNorm global_clipnorm;
};

}  // namespace detail

// The last fields of an optimizer's options; without the weight decay where it is part of the update rule. At most one
// of the three ways of clipping may be set.
//   weight_decay      w -= learning_rate * weight_decay * w before each update
//   clipnorm          scales each gradient to this Euclidean norm at most
//   clipvalue         clamps each element of the gradients to [-clipvalue, clipvalue]
//   global_clipnorm   scales all gradients to this norm of them together at most
// Gradients that are not finite have no norm to be scaled by: clipnorm and global_clipnorm raise
// errors::InvalidArgumentError, before anything has changed, where the weights would become NaN.
#define TANDEM_CLIP_OPTIONS                              \
  ::tandem::detail::ClipNorm clipnorm = {};              \
  ::tandem::detail::ClipValue clipvalue = {};            \
  ::tandem::detail::GlobalClipNorm global_clipnorm = {}; \
  TANDEM_OP_OPTIONS
#define TANDEM_OPTIMIZER_OPTIONS                   \
  ::tandem::detail::WeightDecay weight_decay = {}; \
  TANDEM_CLIP_OPTIONS

}  // namespace TANDEM_NS
