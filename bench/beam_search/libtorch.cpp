// The same beam search, written with LibTorch ops.
#include <limits>

#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::beam_search;

struct Model {
  at::Tensor embedding = bench::torch_normal({tokens, units}, 1, embedding_scale),
             recurrent = bench::torch_normal({units, units}, 2, recurrent_scale),
             output = bench::torch_normal({units, tokens}, 3, output_scale);

  at::Tensor search() const {
    at::Tensor h = torch::zeros({batch * width, units}), last = torch::zeros({batch * width}, torch::kInt64);
    at::Tensor log_probs = torch::full({batch, width}, -std::numeric_limits<float>::infinity());
    log_probs.select(1, 0).zero_();  // all hypotheses start equal, so only the first is continued
    at::Tensor ids = torch::zeros({batch, width, length}, torch::kInt64);
    const at::Tensor first_rows = torch::arange(batch).unsqueeze(1) * width;
    for (std::int64_t t = 0; t < length; ++t) {
      h = torch::tanh(embedding.index_select(0, last) + torch::matmul(h, recurrent));
      const at::Tensor next = torch::log_softmax(torch::matmul(h, output), 1).view({batch, width, tokens});
      const at::Tensor all = (log_probs.unsqueeze(2) + next).view({batch, width * tokens});
      const auto [best, at] = all.topk(width, 1);
      const at::Tensor beam = at.div(tokens, "floor"), token = at.remainder(tokens);
      log_probs = best;
      h = h.index_select(0, (first_rows + beam).view({-1}));
      ids = ids.gather(1, beam.unsqueeze(2).expand({batch, width, length}));
      ids.select(2, t).copy_(token);
      last = token.reshape({-1});
    }
    return log_probs;
  }
};

[[maybe_unused]] const bool added =
    bench::add(search, [] { return bench::repeat_no_grad([m = Model()] { return m.search(); }); });
}  // namespace
