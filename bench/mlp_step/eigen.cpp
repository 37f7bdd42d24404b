// A training step of the MLP by hand in Eigen: the cost of the arithmetic without a framework.
#include "../support/eigen_adam.hpp"
#include "work.hpp"

namespace {
using namespace bench::mlp;
using bench::Matrix;

struct Model {
  bench::EigenAdam adam{.learning_rate = learning_rate, .epsilon = epsilon};
  bench::EigenParameter kernel[layers], bias[layers];
  Matrix activation[layers + 1], delta[layers];
  std::vector<std::int64_t> labels = bench::indices(batch, classes, label_seed);

  Model() {
    for (int l = 0; l < layers; ++l) {
      const auto w = weights(l);
      kernel[l] = bench::EigenParameter(Eigen::Map<const Matrix>(w.data(), widths[l], widths[l + 1]));
      bias[l] = bench::EigenParameter(Matrix::Zero(1, widths[l + 1]));
      activation[l + 1] = delta[l] = Matrix(batch, widths[l + 1]);
    }
    activation[0] = bench::eigen_normal(batch, widths[0], input_seed);
  }

  void forward() {
    for (int l = 0; l < layers; ++l) {
      Matrix& out = activation[l + 1];
      out.noalias() = activation[l] * kernel[l].value;
      out.rowwise() += bias[l].value.row(0);
      if (l + 1 < layers) out = out.cwiseMax(0.f);
    }
  }

  /// Returns the mean cross entropy; stores its gradient with respect to the logits in the last delta.
  float loss() {
    float sum = 0;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto row = activation[layers].row(i).array();
      auto out = delta[layers - 1].row(i).array();
      const float largest = row.maxCoeff();
      out = (row - largest).exp();
      const float total = out.sum();
      sum += std::log(total) + largest - row(labels[i]);
      out *= 1.f / (total * batch);
      out(labels[i]) -= 1.f / batch;
    }
    return sum / batch;
  }

  void backward() {
    for (int l = layers - 1; l >= 0; --l) {
      kernel[l].gradient.noalias() = activation[l].transpose() * delta[l];
      bias[l].gradient = delta[l].colwise().sum();
      if (l == 0) break;
      delta[l - 1].noalias() = delta[l] * kernel[l].value.transpose();
      delta[l - 1] = (activation[l].array() > 0.f).select(delta[l - 1], 0.f);
    }
  }

  float step() {
    forward();
    const float value = loss();
    backward();
    adam.advance();
    for (auto& p : kernel) p.update(adam);
    for (auto& p : bias) p.update(adam);
    return value;
  }
};

bench::Work training_step() {
  auto model = std::make_shared<Model>();
  return bench::steps([model] { benchmark::DoNotOptimize(model->step()); },
                      [model] {
                        std::vector<float> losses;
                        for (int i = 0; i < checked_steps; ++i) losses.push_back(model->step());
                        return losses;
                      });
}

[[maybe_unused]] const bool added = bench::add(name, training_step);
}  // namespace
