// Definitions of optim/options.hpp.
#pragma once
#include <limits>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/segment.hpp"
#include "tandem/ops/index/unique.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/options.hpp"
#include "tandem/optim/rules.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE void decay_weights(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                                 const Tensor& lr, const Tensor& step, double weight_decay) {
  const rules::DecayAttrs attrs{weight_decay};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Gradient& g = gradients[i];
    if (!g.is_set()) continue;
    if (g.is_sparse()) {
      const IndexedSlices s = g.slices();
      const Tensor* const extra[] = {&s.values, &s.indices, &lr, &step};
      update(decay_update_sparse_op, {&variables[i], 1}, extra, attrs);
    } else {
      const Tensor* const extra[] = {&g.dense(), &lr, &step};
      update(decay_update_op, {&variables[i], 1}, extra, attrs);
    }
  }
}
// Raises unless norms are finite: with another one, clipping makes NaN of the weights.
[[gnu::cold]] TANDEM_INLINE void require_finite(const char* option, const Tensor& norms, const std::string& of) {
  debugging::impl::compared(option, debugging::impl::Relation::less, norms, std::numeric_limits<double>::infinity(),
                            {.message = "the norm of " + of +
                                        " is not finite, so that clipping cannot scale it; nothing has changed. Find "
                                        "its origin with debugging::enable_check_numerics(), or use clipvalue"});
}
// The same, naming the first gradient to blame.
[[gnu::cold]] TANDEM_INLINE void require_each_finite(const char* option, const std::vector<Gradient>& gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].is_set()) continue;
    const Tensor& values = gradients[i].values();
    require_finite(option, norm_to_clip(values),
                   "gradient " + std::to_string(i) + ", " + to_string(values.spec()) + ",");
  }
}
// Checks all norms at once, which reads one value. In a trace it is one assert.
TANDEM_INLINE void check_norms(const char* option, const Tensor& norms, const std::vector<Gradient>& gradients,
                               const char* of_all) {
  if (norms.has_data()) {
    if (reduce_all(is_finite(norms)).item<bool>()) return;
    require_each_finite(option, gradients);
  }
  require_finite(option, norms, of_all);
}
// Row-sparse gradients with each row once, so that their values have the norm of the dense form, however many processes
// have added up rows before.
TANDEM_INLINE std::vector<Gradient> with_distinct_rows(std::vector<Gradient> gradients) {
  for (Gradient& g : gradients) {
    if (!g.is_sparse() || g.first_row() >= 0) continue;
    const Unique rows = unique(g.indices());
    g = IndexedSlices{unsorted_segment_sum(g.values(), rows.idx, get_shape(rows.y)[0]), rows.y, g.like()};
  }
  return gradients;
}
TANDEM_INLINE std::vector<Gradient> clip_each_norm(const std::vector<Gradient>& unclipped, double clip_norm) {
  const std::vector<Gradient> gradients = with_distinct_rows(unclipped);
  std::vector<Tensor> norms;
  const Tensor all = norms_to_clip(gradients, &norms);
  if (!all.is_set()) return gradients;
  check_norms("clipnorm", all, gradients, "a gradient");
  std::vector<Gradient> r = gradients;
  std::size_t next = 0;
  for (Gradient& g : r)
    if (g.is_set()) g = scaled_to_norm(g, clip_factor(norms[next++], clip_norm));
  return r;
}
TANDEM_INLINE std::vector<Gradient> clip_each_value(const std::vector<Gradient>& gradients, double clip_value) {
  return clip_by_value(with_distinct_rows(gradients), -clip_value, clip_value);
}
TANDEM_INLINE std::vector<Gradient> clip_joint_norm(const std::vector<Gradient>& unclipped, double clip_norm) {
  const std::vector<Gradient> gradients = with_distinct_rows(unclipped);
  const Tensor norm = global_norm(gradients);
  check_norms("global_clipnorm", norm, gradients, "all gradients");
  return clip_by_global_norm(gradients, clip_norm, {.use_norm = norm}).gradients;
}

// Whether the lists have a Variable.
TANDEM_INLINE bool is_undecayed(const Undecayed& excluded, const Variable& v) {
  if (excluded.variables.find(v.id()) >= 0) return true;
  for (const std::string& part : excluded.names)
    if (v.name().find(part) != std::string::npos) return true;
  return false;
}

}  // namespace TANDEM_NS::detail

namespace TANDEM_NS {

TANDEM_INLINE void Optimizer::exclude_from_weight_decay(const WeightDecayExclusions& excluded) const {
  const char* const op = "exclude_from_weight_decay";
  if (!slots_->all().empty())
    errors::raise<errors::FailedPreconditionError>(op, "the optimizer has been built; call this before its first step");
  for (const std::string& part : excluded.var_names)
    if (part.empty() || part.find_first_of("^$|*+?()[]{}\\") != std::string::npos)
      errors::raise<errors::InvalidArgumentError>(
          op, "'" + part + "' is not a part of a name; here var_names are not regular expressions");
  IdMap variables;
  for (const Variable& v : excluded.var_list) variables.set(v.id(), 1);
  std::vector<std::string> names = excluded.var_names;
  std::swap(excluded_->variables, variables);
  excluded_->names.swap(names);
  excluded_->has = &detail::is_undecayed;
}
TANDEM_INLINE std::string Optimizer::settings() const {
  std::string r = class_name() + " learning_rate=";
  r += rate_.is_schedule()         ? "schedule"
       : rate_.variable().is_set() ? "variable"
                                   : detail::shortest_text(rate_.number());
  if (const std::string own = to_string(attrs_); !own.empty()) r += " " + own;
  const auto add = [&](const char* name, const auto& option) {
    if (option.is_set()) r += std::string(" ") + name + "=" + detail::shortest_text(option.value());
  };
  add("weight_decay", options_.weight_decay);
  add("clipnorm", options_.clipnorm);
  add("clipvalue", options_.clipvalue);
  add("global_clipnorm", options_.global_clipnorm);
  return r;
}

}  // namespace TANDEM_NS
