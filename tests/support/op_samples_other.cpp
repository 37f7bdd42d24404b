// Samples of reductions, scans, products, neural-net ops, random ops and optimizer updates.
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/rules.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

using Reduction = Tensor (*)(const Tensor&, ReduceOptions);

template <Reduction f>
void reduced(Numbers& n) {
  f(n.reals({3, 4}), {});
  f(n.reals({3, 4}), {.axis = {1}});
  f(n.reals({3, 4}), {.axis = {0}, .keepdims = true});
}
template <Reduction f>
void flags_reduced(Numbers& n) {
  f(n.flags({3, 4}), {.axis = {1}});
}
void lstm(Numbers& n, bool with_lengths, bool backward) {
  const Tensor x = n.reals({3, 2, 2}), h = n.reals({2, 3}), c = n.reals({2, 3}), k = n.reals({2, 12}, -.5, .5),
               r = n.reals({3, 12}, -.5, .5), b = n.reals({12}, -.5, .5);
  const Tensor lengths = with_lengths ? constant({2, 3}) : Tensor();
  GradientTape tape;
  if (backward) tape.watch(x);
  const Tensor y = nn::lstm(x, {h, c}, k, r, b, {.sequence_length = lengths}).output;
  if (backward) tape.gradient(square(y), x);
}
void gru(Numbers& n, bool with_lengths, bool backward) {
  const Tensor x = n.reals({3, 2, 2}), h = n.reals({2, 3}), k = n.reals({2, 9}, -.5, .5), r = n.reals({3, 9}, -.5, .5),
               b = n.reals({2, 9}, -.5, .5);
  const Tensor lengths = with_lengths ? constant({2, 3}) : Tensor();
  GradientTape tape;
  if (backward) tape.watch(x);
  const Tensor y = nn::gru(x, h, k, r, b, {.sequence_length = lengths}).output;
  if (backward) tape.gradient(square(y), x);
}

// A multi-tensor update of two Variables of different shapes, also with a factor for the gradients.
template <int states>
void updated_together(const OpDef& op, Numbers& n, const Attrs& attrs) {
  std::vector<Tensor> in, gradients;
  for (const Shape& s : {Shape{4, 3}, Shape{5}}) {
    for (int i = 0; i < states; ++i) in.push_back(i == 1 ? n.reals(s, 20, 30) : n.reals(s, i ? 2 : 0, 3));
    gradients.push_back(n.reals(s));
  }
  in.insert(in.end(), gradients.begin(), gradients.end());
  std::vector<Tensor> scaled = in;
  scaled.push_back(n.reals({}));
  for (auto* list : {&in, &scaled}) {
    list->push_back(constant(0.1f));
    list->push_back(constant(i64{3}));
    apply_to({&op, {}, attrs}, *list);
  }
}
// (w, slots..., g, lr, step), with its multi-tensor and row-sparse variants; accumulators of squares are positive.
template <int states>
void updated(const OpDef& dense, const OpDef& sparse, Numbers& n, const Attrs& attrs) {
  std::vector<Tensor> in;
  for (int i = 0; i < states; ++i) in.push_back(i ? n.reals({4, 3}, 2, 3) : n.reals({4, 3}));
  std::vector<Tensor> rows = in;
  in.push_back(n.reals({4, 3}));
  rows.push_back(n.reals({2, 3}));
  rows.push_back(constant({2, 0}));
  for (auto* list : {&in, &rows}) {
    list->push_back(constant(0.1f));
    list->push_back(constant(i64{3}));
  }
  apply_to({&dense, {}, attrs}, in);
  apply_to({&sparse, {}, attrs}, rows);
  updated_together<states>(*dense.rare.multi_tensor, n, attrs);
}
void sgd(Numbers& n) { updated<1>(sgd_update_op, sgd_update_sparse_op, n, rules::SgdAttrs{0, false}); }
void momentum(Numbers& n) { updated<2>(momentum_update_op, momentum_update_sparse_op, n, rules::SgdAttrs{0.9, true}); }
void rmsprop(Numbers& n) {
  updated<2>(rmsprop_update_op, rmsprop_update_sparse_op, n, rules::RmspropAttrs{0.9, 0, 1e-7, false});
}
void rmsprop_momentum(Numbers& n) {
  updated<3>(rmsprop_momentum_update_op, rmsprop_momentum_update_sparse_op, n,
             rules::RmspropAttrs{0.9, 0.5, 1e-7, false});
}
void rmsprop_centered(Numbers& n) {  // the mean square exceeds the squared mean
  std::vector<Tensor> in{n.reals({4, 3}), n.reals({4, 3}, 20, 30), n.reals({4, 3}), n.reals({4, 3})};
  std::vector<Tensor> rows = in;
  in.push_back(n.reals({4, 3}));
  rows.push_back(n.reals({2, 3}));
  rows.push_back(constant({2, 0}));
  for (auto* list : {&in, &rows}) list->push_back(constant(0.1f)), list->push_back(constant(i64{3}));
  apply_to({&rmsprop_centered_update_op, {}, rules::RmspropAttrs{0.9, 0.5, 1e-7, true}}, in);
  apply_to({&rmsprop_centered_update_sparse_op, {}, rules::RmspropAttrs{0.9, 0.5, 1e-7, true}}, rows);
  updated_together<4>(rmsprop_centered_updates_op, n, rules::RmspropAttrs{0.9, 0.5, 1e-7, true});
}
void adam(Numbers& n) { updated<3>(adam_update_op, adam_update_sparse_op, n, rules::AdamAttrs{0.9, 0.999, 1e-7}); }
void amsgrad(Numbers& n) {
  updated<4>(amsgrad_update_op, amsgrad_update_sparse_op, n, rules::AdamAttrs{0.9, 0.999, 1e-7});
}
void adamw(Numbers& n) {
  updated<3>(adamw_update_op, adamw_update_sparse_op, n, rules::AdamwAttrs{0.9, 0.999, 1e-7, 0.02});
}
void adamax(Numbers& n) {
  updated<3>(adamax_update_op, adamax_update_sparse_op, n, rules::AdamAttrs{0.9, 0.999, 1e-7});
}
void nadam(Numbers& n) { updated<3>(nadam_update_op, nadam_update_sparse_op, n, rules::AdamAttrs{0.9, 0.999, 1e-7}); }
void adagrad(Numbers& n) { updated<2>(adagrad_update_op, adagrad_update_sparse_op, n, rules::AdagradAttrs{1e-7}); }
void adadelta(Numbers& n) {
  updated<3>(adadelta_update_op, adadelta_update_sparse_op, n, rules::AdadeltaAttrs{0.95, 1e-7});
}
void ftrl(Numbers& n) {
  updated<3>(ftrl_update_op, ftrl_update_sparse_op, n, rules::FtrlAttrs{-0.5, 0.1, 0.2, 0.1, 0.3});
  updated<3>(ftrl_update_op, ftrl_update_sparse_op, n, rules::FtrlAttrs{-0.7, 0.1, 0, 0, 0});
}
void lion(Numbers& n) { updated<2>(lion_update_op, lion_update_sparse_op, n, rules::LionAttrs{0.9, 0.99}); }
void schedule_free(Numbers& n) {
  updated<3>(schedule_free_update_op, schedule_free_update_sparse_op, n, rules::ScheduleFreeAttrs{0.9, 0.999, 1e-8, 5});
}
void decay(Numbers& n) { updated<1>(decay_update_op, decay_update_sparse_op, n, rules::DecayAttrs{0.02}); }
void average(Numbers& n) { updated<1>(average_update_op, average_update_sparse_op, n, no_attrs); }

const Sample other_table[] = {
    {"reduce_sum", reduced<reduce_sum>},
    {"reduce_sum",
     [](Numbers& n) {
       reduce_sum(n.whole({3, 4}, -9, 9, int64), 0);
     }},
    {"reduce_mean", reduced<reduce_mean>},
    {"reduce_prod", reduced<reduce_prod>},
    {"reduce_max", reduced<reduce_max>},
    {"reduce_min", reduced<reduce_min>},
    {"reduce_any", flags_reduced<reduce_any>},
    {"reduce_all", flags_reduced<reduce_all>},
    {"reduce_logsumexp", reduced<reduce_logsumexp>},
    {"reduce_variance", reduced<reduce_variance>},
    {"reduce_std", reduced<reduce_std>},
    {"reduce_euclidean_norm", reduced<reduce_euclidean_norm>},
    {"count_nonzero", reduced<count_nonzero>},
    {"argmax",
     [](Numbers& n) {
       argmax(n.reals({3, 4}), 1);
     }},
    {"argmin",
     [](Numbers& n) {
       argmin(n.reals({3, 4}), 0, {.output_type = int32});
     }},
    {"cumsum",
     [](Numbers& n) {
       cumsum(n.reals({3, 4}), 1);
     }},
    {"cumsum",
     [](Numbers& n) {
       cumsum(n.reals({3, 4}), {.exclusive = true, .reverse = true});
     }},
    {"cumprod",
     [](Numbers& n) {
       cumprod(n.reals({3, 4}), 1);
     }},
    {"cumprod",
     [](Numbers& n) {
       cumprod(n.reals({3, 4}), {.exclusive = true, .reverse = true});
     }},
    {"linear_scan",
     [](Numbers& n) {
       tandem::detail::linear_scan(n.reals({4, 2}), n.reals({4, 2}), 0, true);
     }},
    {"shift",
     [](Numbers& n) {
       tandem::detail::shift(n.reals({4, 2}), 0, false);
     }},
    {"sum_to_like",
     [](Numbers& n) {
       tandem::detail::sum_to_like(n.reals({2, 3, 4}), n.reals({3, 1}));
     }},
    {"broadcast_like",
     [](Numbers& n) {
       tandem::detail::broadcast_like(n.reals({3, 1}), n.reals({2, 3, 4}));
     }},
    {"reshape_like",
     [](Numbers& n) {
       tandem::detail::reshape_like(n.reals({2, 6}), n.reals({3, 4}));
     }},
    {"size_of",
     [](Numbers& n) {
       tandem::detail::size_over(n.reals({2, 3}), {1}, n.real());
     }},
    {"matmul",
     [](Numbers& n) {
       matmul(n.reals({3, 4}), n.reals({4, 5}));
     }},
    {"matmul",
     [](Numbers& n) {
       matmul(n.reals({4, 3}), n.reals({5, 4}), {.transpose_a = true, .transpose_b = true});
     }},
    {"matmul",
     [](Numbers& n) {
       matmul(n.reals({2, 3, 4}), n.reals({4, 2}));
     }},
    {"matmul",
     [](Numbers& n) {
       matmul(n.reals({2, 1, 3, 4}), n.reals({3, 4, 2}));
     }},
    {"dense",
     [](Numbers& n) {
       nn::dense(n.reals({3, 4}), n.reals({4, 2}), n.reals({2}));
     }},
    {"dense",
     [](Numbers& n) {
       for (const auto a : {FusedActivation::relu, FusedActivation::tanh, FusedActivation::sigmoid})
         nn::dense(n.reals({2, 2, 3}), n.reals({3, 2}), n.reals({2}), {.activation = a});
     }},
    {"softmax",
     [](Numbers& n) {
       nn::softmax(n.reals({3, 4}));
     }},
    {"softmax",
     [](Numbers& n) {
       nn::softmax(n.reals({3, 4}), 0);
     }},
    {"log_softmax",
     [](Numbers& n) {
       nn::log_softmax(n.reals({3, 4}));
     }},
    {"softmax_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return nn::softmax(x); }, n.reals({3, 4}));
     }},
    {"log_softmax_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return nn::log_softmax(x); }, n.reals({3, 4}));
     }},
    {"softmax_cross_entropy_with_logits",
     [](Numbers& n) {
       nn::softmax_cross_entropy_with_logits(n.reals({3, 4}, .2, 1), n.reals({3, 4}));
     }},
    {"softmax_cross_entropy_grad",
     [](Numbers& n) {
       const Tensor labels = n.reals({3, 4}, .2, 1);
       back([&](const Tensor& x) { return nn::softmax_cross_entropy_with_logits(labels, x); }, n.reals({3, 4}));
     }},
    {"sparse_softmax_cross_entropy_with_logits",
     [](Numbers& n) {
       nn::sparse_softmax_cross_entropy_with_logits(n.whole({3}, 0, 4), n.reals({3, 4}));
     }},
    {"sparse_softmax_cross_entropy_grad",
     [](Numbers& n) {
       const Tensor labels = n.whole({3}, 0, 4);
       back([&](const Tensor& x) { return nn::sparse_softmax_cross_entropy_with_logits(labels, x); }, n.reals({3, 4}));
     }},
    {"one_hot_like",
     [](Numbers& n) {
       const Tensor labels = n.whole({3}, 0, 4);
       back([&](const Tensor& x) { return nn::sparse_softmax_cross_entropy_with_logits(labels, x); }, n.reals({3, 4}));
     }},
    {"sigmoid_cross_entropy_with_logits",
     [](Numbers& n) {
       nn::sigmoid_cross_entropy_with_logits(n.reals({3, 4}, .2, .9), n.reals({3, 4}));
     }},
    {"lstm", [](Numbers& n) { lstm(n, false, false); }},
    {"lstm", [](Numbers& n) { lstm(n, true, false); }},
    {"lstm_grad", [](Numbers& n) { lstm(n, false, true); }},
    {"lstm_grad", [](Numbers& n) { lstm(n, true, true); }},
    {"gru", [](Numbers& n) { gru(n, false, false); }},
    {"gru", [](Numbers& n) { gru(n, true, false); }},
    {"gru_grad", [](Numbers& n) { gru(n, false, true); }},
    {"gru_grad", [](Numbers& n) { gru(n, true, true); }},
    {"random_uniform",
     [](Numbers& n) {
       random::stateless_uniform({3, 5}, {1, 2}, {.dtype = n.real()});
     }},
    {"random_uniform",
     [](Numbers&) {
       random::stateless_uniform({9}, {1, 2}, {.maxval = 7, .dtype = int32});
     }},
    {"random_normal",
     [](Numbers& n) {
       random::stateless_normal({3, 5}, {1, 2}, {.dtype = n.real()});
     }},
    {"truncated_normal",
     [](Numbers& n) {
       random::stateless_truncated_normal({3, 5}, {1, 2}, {.dtype = n.real()});
     }},
    {"random_bits",
     [](Numbers&) {
       random::stateless_bits({3, 5}, {1, 2}, {.dtype = uint64});
     }},
    {"random_advance", [](Numbers& n) { apply1(random_advance_op, no_attrs, no_options, n.key()); }},
    {"categorical",
     [](Numbers& n) {
       random::categorical(n.reals({3, 5}), 4);
     }},
    {"categorical",
     [](Numbers& n) {
       random::sample_with_temperature(n.reals({3, 5}), 0.5);
     }},
    {"log_uniform_candidate_sampler",
     [](Numbers& n) {
       random::log_uniform_candidate_sampler(n.whole({3, 2}, 0, 9), 2, 5, true, 9);
     }},
    {"uniform_candidate_sampler",
     [](Numbers& n) {
       random::uniform_candidate_sampler(n.whole({3, 1}, 0, 9), 1, 4, false, 9);
     }},
    {"shuffle",
     [](Numbers& n) {
       random::shuffle(n.reals({6, 2}));
     }},
    {"dropout",
     [](Numbers& n) {
       nn::dropout(n.reals({4, 5}), {.rate = 0.4});
     }},
    {"band_part",
     [](Numbers& n) {
       linalg::band_part(n.reals({3, 4}), 1, 0);
       linalg::band_part(n.reals({2, 3, 3}), -1, 1);
     }},
    {"custom_gradient",
     [](Numbers& n) {
       custom_gradient([](const Tensor& x) { return std::pair(x * x, [x](const Tensor& g) { return g * (2 * x); }); },
                       n.reals({2, 3}));
     }},
    {"sgd_update", sgd},
    {"sgd_updates", sgd},
    {"sgd_update_sparse", sgd},
    {"momentum_update", momentum},
    {"momentum_updates", momentum},
    {"momentum_update_sparse", momentum},
    {"rmsprop_update", rmsprop},
    {"rmsprop_updates", rmsprop},
    {"rmsprop_update_sparse", rmsprop},
    {"rmsprop_momentum_update", rmsprop_momentum},
    {"rmsprop_momentum_updates", rmsprop_momentum},
    {"rmsprop_momentum_update_sparse", rmsprop_momentum},
    {"rmsprop_centered_update", rmsprop_centered},
    {"rmsprop_centered_updates", rmsprop_centered},
    {"rmsprop_centered_update_sparse", rmsprop_centered},
    {"adam_update", adam},
    {"adam_updates", adam},
    {"adam_update_sparse", adam},
    {"amsgrad_update", amsgrad},
    {"amsgrad_updates", amsgrad},
    {"amsgrad_update_sparse", amsgrad},
    {"adamw_update", adamw},
    {"adamw_updates", adamw},
    {"adamw_update_sparse", adamw},
    {"adamax_update", adamax},
    {"adamax_updates", adamax},
    {"adamax_update_sparse", adamax},
    {"nadam_update", nadam},
    {"nadam_updates", nadam},
    {"nadam_update_sparse", nadam},
    {"adagrad_update", adagrad},
    {"adagrad_updates", adagrad},
    {"adagrad_update_sparse", adagrad},
    {"adadelta_update", adadelta},
    {"adadelta_updates", adadelta},
    {"adadelta_update_sparse", adadelta},
    {"ftrl_update", ftrl},
    {"ftrl_updates", ftrl},
    {"ftrl_update_sparse", ftrl},
    {"lion_update", lion},
    {"lion_updates", lion},
    {"lion_update_sparse", lion},
    {"schedule_free_update", schedule_free},
    {"schedule_free_updates", schedule_free},
    {"schedule_free_update_sparse", schedule_free},
    {"decay_update", decay},
    {"decay_updates", decay},
    {"decay_update_sparse", decay},
    {"average_update", average},
    {"average_updates", average},
    {"average_update_sparse", average},
};

}  // namespace

tandem::Span<const Sample> other_samples() { return other_table; }

}  // namespace samples::detail
