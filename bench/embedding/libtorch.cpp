// Embedding look-ups in LibTorch: the rows, and their gradient as a sparse and as a dense tensor.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::embedding;
using bench::torch_normal;

at::Tensor table() { return torch_normal({vocabulary, width}, 1); }
at::Tensor rows() { return bench::torch_indices({batch}, vocabulary, 3); }

bench::Work embedding_forward() {
  return bench::repeat_no_grad([w = table(), ids = rows()] { return torch::embedding(w, ids); });
}

bench::Work index_select() {
  return bench::repeat_no_grad([w = table(), ids = rows()] { return w.index_select(0, ids); });
}

at::Tensor gradient(const at::Tensor& w, const at::Tensor& ids, const at::Tensor& g, bool is_sparse) {
  return torch::autograd::grad({torch::embedding(w, ids, -1, false, is_sparse)}, {w}, {g})[0];
}

bench::Work forward_backward(bool is_sparse) {
  const at::Tensor w = table().requires_grad_(), ids = rows(), g = torch_normal({batch, width}, 2);
  bench::Work work = bench::repeat([=] { return gradient(w, ids, g, is_sparse); });
  work.result = [=] {  // sparse or dense, the rows that were looked up
    const at::Tensor all = gradient(w, ids, g, is_sparse);
    return bench::Values<at::Tensor>::of((is_sparse ? all.to_dense() : all).index_select(0, ids));
  };
  return work;
}

[[maybe_unused]] const bool added[] = {bench::add(gather, embedding_forward),
                                       bench::add(std::string(gather) + "@index_select", index_select),
                                       bench::add(sparse, [] { return forward_backward(true); }),
                                       bench::add(dense, [] { return forward_backward(false); })};
}  // namespace
