// Definitions of optim/muon.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/optim/check_options.hpp"
#include "tandem/optim/muon.hpp"

namespace TANDEM_NS {

namespace rules {
struct MuonAttrs {
  double beta_1, beta_2, epsilon, adam_weight_decay, adam_lr_ratio;
  double momentum, weight_decay, a, b, c, rms_rate;  // a rate of 0: no scale
  i64 ns_steps;
  bool nesterov;
  TANDEM_ATTRS(MuonAttrs, beta_1, beta_2, epsilon, adam_weight_decay, adam_lr_ratio, momentum, weight_decay, a, b, c,
               rms_rate, ns_steps, nesterov);
};
}  // namespace rules

namespace optimizers {
namespace detail {

// The matrices that AdamW updates.
struct MuonExclusions final : Opaque {
  const char* kind() const override { return "muon exclusions"; }
  IdMap variables;  // by id
  bool embeddings = true;
};
TANDEM_INLINE Ref<Opaque> muon_exclusions(const MuonOptions& o) {
  auto* const e = new MuonExclusions;
  Ref<Opaque> owner(e);
  for (const Variable& v : o.exclude_variables) {
    if (!v.is_set()) errors::raise<errors::InvalidArgumentError>("Muon", "exclude_variables has an empty Variable");
    e->variables.set(v.id(), 1);
  }
  e->embeddings = o.exclude_embeddings;
  return owner;
}
inline constexpr tandem::detail::SlotKind adam_slots[] = {{.name = "m"}, {.name = "v"}};
inline constexpr tandem::detail::SlotKind matrix_slots[] = {{.name = "momentum"}};

TANDEM_INLINE Span<const tandem::detail::SlotKind> muon_slots(const Variable& w, const Opaque* excluded) {
  const auto& e = *static_cast<const MuonExclusions*>(excluded);
  if (w.rank() != 2 || e.variables.find(w.id()) >= 0) return adam_slots;
  if (e.embeddings && w.name().find("embedding") != std::string::npos) return adam_slots;
  if (!w.aggregate())
    errors::raise<errors::UnimplementedError>(
        "Muon", "needs the whole of '" + w.name() +
                    "', but other processes have parts of it (.aggregate = false): list it in .exclude_variables");
  return matrix_slots;
}
TANDEM_INLINE Attrs muon_undecayed(const Attrs& attrs) {
  auto a = attrs.get<rules::MuonAttrs>();
  a.weight_decay = a.adam_weight_decay = 0;
  return a;
}
// With its singular values near to 1, by Newton-Schulz iterations on the shorter side.
TANDEM_INLINE Tensor orthogonalized(const Tensor& g, const rules::MuonAttrs& a, bool tall) {
  Tensor x = tall ? transpose(g) : g;
  x = x / (reduce_euclidean_norm(x) + 1e-7);
  for (i64 i = 0; i < a.ns_steps; ++i) {
    const Tensor gram = matmul(x, x, {.transpose_b = true});
    x = a.a * x + matmul(a.b * gram + a.c * matmul(gram, gram), x);
  }
  return tall ? transpose(x) : x;
}
TANDEM_INLINE void muon_matrix_update(const tandem::detail::UpdateCall& c) {
  const auto& a = c.attrs.get<rules::MuonAttrs>();
  const DType dtype = tandem::detail::slot_dtype(c.state[0].dtype());
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor weight = cast(c.state[0], dtype), lr = cast(c.lr, DType::float64);
  const Tensor g = c.gradient.with_values(cast(c.gradient.values(), dtype)).tensor();
  const Tensor momentum = a.momentum * c.state[1] + g;
  const i64 rows = weight.shape().dim(0), columns = weight.shape().dim(1);
  const Tensor x = orthogonalized(a.nesterov ? a.momentum * momentum + g : momentum, a, rows > columns);
  const double scale = a.rms_rate == 0 ? 1 : a.rms_rate * std::sqrt(static_cast<double>(std::max(rows, columns)));
  // Computed before the first assignment.
  const Tensor decayed = weight - cast(lr * a.weight_decay, dtype) * weight;
  const Tensor new_weight = cast(decayed - cast(lr * scale, dtype) * x, c.state[0].dtype());
  c.state[1].assign(momentum);
  c.state[0].assign(new_weight);
}
TANDEM_INLINE void muon_update(const tandem::detail::UpdateCall& c) {
  if (c.state.size() == 2) return muon_matrix_update(c);
  const auto& a = c.attrs.get<rules::MuonAttrs>();
  // The decay is that of .learning_rate alone.
  const rules::AdamwAttrs adamw{a.beta_1, a.beta_2, a.epsilon, a.adam_weight_decay / a.adam_lr_ratio};
  const Tensor lr = a.adam_lr_ratio == 1 ? c.lr : cast(c.lr, DType::float64) * a.adam_lr_ratio;
  if (c.gradient.is_sparse()) {
    const IndexedSlices s = c.gradient.slices();
    const Tensor* const extra[] = {&s.values, &s.indices, &lr, &c.step};
    update(adamw_update_sparse_op, c.state, extra, adamw);
  } else {
    const Tensor* const extra[] = {&c.gradient.dense(), &lr, &c.step};
    update(adamw_update_op, c.state, extra, adamw);
  }
}
TANDEM_INLINE tandem::detail::UpdateRule muon_rule(const MuonOptions& o) {
  const tandem::detail::CallSite call(o);
  check_common("Muon", o);
  check_share("Muon", "adam_beta_1", o.adam_beta_1);
  check_share("Muon", "adam_beta_2", o.adam_beta_2);
  check_not_negative("Muon", "adam_weight_decay", o.adam_weight_decay);
  check_not_negative("Muon", "epsilon", o.epsilon);
  check_positive("Muon", "adam_lr_ratio", o.adam_lr_ratio);
  check_share("Muon", "momentum", o.momentum);
  check_not_negative("Muon", "ns_steps", static_cast<double>(o.ns_steps));
  if (o.rms_rate) check_positive("Muon", "rms_rate", *o.rms_rate);
  return {.dense = nullptr,
          .sparse = nullptr,
          .slots = {},
          .composite = &muon_update,
          .undecayed = &muon_undecayed,
          .slots_for = &muon_slots,
          .settings = muon_exclusions(o)};
}
TANDEM_INLINE rules::MuonAttrs muon_attrs(const MuonOptions& o) {
  return {o.adam_beta_1, o.adam_beta_2, o.epsilon, o.adam_weight_decay,    o.adam_lr_ratio, o.momentum, o.weight_decay,
          o.muon_a,      o.muon_b,      o.muon_c,  o.rms_rate.value_or(0), o.ns_steps,      o.nesterov};
}

}  // namespace detail

// The weight decay is part of the rule.
TANDEM_INLINE Muon::Muon(MuonOptions o)
    : Optimizer(detail::muon_rule(o), detail::muon_attrs(o), o.learning_rate,
                {{}, o.clipnorm, o.clipvalue, o.global_clipnorm}) {
  set_kind("muon");
}

}  // namespace optimizers
}  // namespace TANDEM_NS
