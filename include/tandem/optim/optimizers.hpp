// Optimizers: AdamW, Adamax, Nadam, Lamb, Lion, Adagrad, Adadelta, Ftrl, ScheduleFreeAdamW. SGD, RMSprop and Adam are
// in optimizer.hpp, with the base class; not here: Adafactor, Muon. Formulas, defaults and the places of epsilon are
// those of Keras 3; t counts steps from 1.
#pragma once
#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS::optimizers {

struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  double weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  detail::Amsgrad amsgrad = {};
  TANDEM_CLIP_OPTIONS;
};
/// Adam with decoupled weight decay (Loshchilov & Hutter 2019): w -= lr weight_decay w, then Adam's step. Range
/// of gradients: see Optimizer.
class TANDEM_API AdamW : public Optimizer {
 public:
  explicit AdamW(AdamWOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit AdamW(R learning_rate, double weight_decay = 0.004, double beta_1 = 0.9, double beta_2 = 0.999)
      : AdamW(AdamWOptions{
            .learning_rate = learning_rate, .weight_decay = weight_decay, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Adam by the infinity norm (Kingma & Ba 2015, section 7): m = b1 m + (1 - b1) g; u = max(b2 u, |g|);
/// w -= lr / (1 - b1^t) m / (u + eps).
class TANDEM_API Adamax : public Optimizer {
 public:
  explicit Adamax(AdamaxOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Adamax(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.999)
      : Adamax(AdamaxOptions{.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Adam with Nesterov momentum (Dozat 2015): with u_t = b1 (1 - 0.5 * 0.96^t) and U = u_1 ... u_t,
/// w -= lr (u_(t+1) m / (1 - U u_(t+1)) + (1 - u_t) g / (1 - U)) / (sqrt(v / (1 - b2^t)) + eps). Range of g: see
/// Optimizer.
class TANDEM_API Nadam : public Optimizer {
 public:
  explicit Nadam(NadamOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Nadam(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.999)
      : Nadam(NadamOptions{.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

struct LambOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// LAMB (You et al. 2020), for large batches: u = m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps), with m and v as in
/// Adam; w -= lr |w| / |u| u, where the ratio of the norms of the whole tensors is 1 if one of them is 0. With
/// row-sparse gradients the norms are those of the named rows. The weight decay precedes the step, as in Keras (in the
/// paper it is part of u). Range of gradients: see Optimizer.
class TANDEM_API Lamb : public Optimizer {
 public:
  explicit Lamb(LambOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Lamb(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.999)
      : Lamb(LambOptions{.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

struct LionOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;  ///< not 0, with which each step is the sign of the gradient alone
  double beta_2 = 0.99;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Lion (Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms"): w -= lr sign(b1 m + (1 - b1) g);
/// m = b2 m + (1 - b2) g. Each weight moves by the learning rate, or not at all: choose it 3 to 10 times smaller than
/// for AdamW.
class TANDEM_API Lion : public Optimizer {
 public:
  explicit Lion(LionOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Lion(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.99)
      : Lion(LionOptions{.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;  ///< not negative
  double epsilon = 1e-7;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Adagrad (Duchi et al. 2011): a += g^2; w -= lr g / sqrt(a + eps). Range of g: see Optimizer.
class TANDEM_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(AdagradOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Adagrad(R learning_rate, double initial_accumulator_value = 0.1)
      : Adagrad(
            AdagradOptions{.learning_rate = learning_rate, .initial_accumulator_value = initial_accumulator_value}) {}
};

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Adadelta (Zeiler 2012): a = rho a + (1 - rho) g^2; x = sqrt(d + eps) / sqrt(a + eps) g;
/// d = rho d + (1 - rho) x^2; w -= lr x. A learning rate of 1 is the paper's form. Range of g: see
/// Optimizer.
class TANDEM_API Adadelta : public Optimizer {
 public:
  explicit Adadelta(AdadeltaOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Adadelta(R learning_rate, double rho = 0.95)
      : Adadelta(AdadeltaOptions{.learning_rate = learning_rate, .rho = rho}) {}
};

struct FtrlOptions {
  LearningRate learning_rate = 0.001;  ///< positive
  double learning_rate_power = -0.5;   ///< not positive; 0: the rate does not fall
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;  ///< of the loss, not of the steps
  double beta = 0;
  TANDEM_OPTIMIZER_OPTIONS;
};
/// FTRL-proximal (McMahan et al. 2013): n' = n + g^2; z += g + 2 shrinkage w - (n'^p - n^p) / lr w with
/// p = -learning_rate_power; w = (sign(z) l1 - z) / (n'^p / lr + 2 l2 + beta / lr) where |z| > l1, and 0 elsewhere. A
/// learning rate that becomes 0 (a schedule's) makes the weights NaN. Range of g: see Optimizer.
class TANDEM_API Ftrl : public Optimizer {
 public:
  explicit Ftrl(FtrlOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit Ftrl(R learning_rate) : Ftrl(FtrlOptions{.learning_rate = learning_rate}) {}
};

struct ScheduleFreeAdamWOptions {
  LearningRate learning_rate = 0.0025;
  double beta_1 = 0.9;  ///< the part of the average in the weights
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  i64 warmup_steps = 0;  ///< the learning rate grows to its value over so many steps
  TANDEM_OPTIMIZER_OPTIONS;
};
/// Schedule-free AdamW (Defazio et al. 2024, "The Road Less Scheduled"): v = b2 v + (1 - b2) g^2;
/// z -= lr g / (sqrt(v / (1 - b2^t)) + eps); x = (1 - 1/t) x + 1/t z, the average of all z; w = (1 - b1) z + b1 x. The
/// average takes the place of a schedule that ends at 0, and no length of the training need be known. As in Keras, the
/// weights stay w at evaluation, where the paper takes x; weights of half precision know x to their own digits.
/// (Keras 3.15 on TensorFlow reads z after its update where the formula of x has the one before.) Where no gradient has
/// come yet, z is w: weights may be assigned after build(), and .weight_decay acts from the first step, in Keras from
/// the second. Range of g: see Optimizer.
class TANDEM_API ScheduleFreeAdamW : public Optimizer {
 public:
  explicit ScheduleFreeAdamW(ScheduleFreeAdamWOptions options = {});
  template <tandem::detail::PositionalRate R>
  explicit ScheduleFreeAdamW(R learning_rate, double beta_1 = 0.9, double beta_2 = 0.999)
      : ScheduleFreeAdamW(
            ScheduleFreeAdamWOptions{.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2}) {}
};

}  // namespace TANDEM_NS::optimizers
