// Embedding look-ups in Tandem: the rows, and their gradient as IndexedSlices and as a dense tensor.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::embedding;
using bench::tandem_normal;
using tandem::Tensor;

Tensor rows() { return bench::tandem_indices({batch}, vocabulary, 3); }

bench::Work embedding_forward() {
  return bench::repeat([w = tandem_normal({vocabulary, width}, 1), ids = rows()] { return tandem::gather(w, ids); });
}

struct Lookup {
  tandem::Variable table{tandem_normal({vocabulary, width}, 1)};
  Tensor ids = rows(), g = tandem_normal({batch, width}, 2);
  std::vector<tandem::Variable> sources{table};

  tandem::Gradient sparse_gradient() const {
    tandem::GradientTape tape;
    return tape.gradient(tandem::gather(table, ids), sources, {.output_gradients = {g}})[0];
  }
  Tensor dense_gradient() const {
    tandem::GradientTape tape;
    return tape.gradient(tandem::gather(table, ids), table, {.output_gradients = {g}});
  }
};

bench::Work forward_backward_sparse() {
  auto lookup = std::make_shared<Lookup>();
  bench::Work work;
  work.run = [lookup](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      auto gradient = lookup->sparse_gradient();
      benchmark::DoNotOptimize(gradient);
    }
  };
  work.result = [lookup] {  // of the rows that were looked up
    if (!lookup->sparse_gradient().is_sparse()) throw std::runtime_error("the gradient is not sparse");
    return bench::Values<Tensor>::of(tandem::gather(lookup->dense_gradient(), lookup->ids));
  };
  return work;
}

bench::Work forward_backward_dense() {
  auto lookup = std::make_shared<Lookup>();
  bench::Work work = bench::repeat([lookup] { return lookup->dense_gradient(); });
  work.result = [lookup] { return bench::Values<Tensor>::of(tandem::gather(lookup->dense_gradient(), lookup->ids)); };
  return work;
}

[[maybe_unused]] const bool added[] = {bench::add(gather, embedding_forward),
                                       bench::add(sparse, forward_backward_sparse),
                                       bench::add(dense, forward_backward_dense)};
}  // namespace
