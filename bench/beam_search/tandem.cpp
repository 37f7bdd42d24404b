// Beam search in Tandem: eager, and (@traced) as a loop in a traced function.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::beam_search;
using tandem::Tensor;

struct Model {
  Tensor embedding = bench::tandem_normal({tokens, units}, 1, embedding_scale),
         recurrent = bench::tandem_normal({units, units}, 2, recurrent_scale),
         output = bench::tandem_normal({units, tokens}, 3, output_scale), start = tandem::zeros({batch, units});

  Tensor search(const Tensor& state) const {
    const auto step = [&](const Tensor& ids, const Tensor& h) {
      const Tensor next = tandem::tanh(tandem::gather(embedding, ids) + tandem::matmul(h, recurrent));
      return std::pair(tandem::matmul(next, output), next);
    };
    return tandem::nn::rnn_beam_search(step, state, {.sequence_length = length, .beam_width = width}).log_probs;
  }
};

template <class Prepare>
bench::Work work(Prepare prepare) {
  const auto m = std::make_shared<Model>();
  return bench::repeat([m, f = prepare([m](const Tensor& h) { return m->search(h); })] { return f(m->start); });
}

[[maybe_unused]] const bool added[] = {bench::add(search, [] { return work([](const auto& f) { return f; }); }),
                                       bench::add(std::string(search) + "@traced", [] {
                                         return work([](const auto& f) { return tandem::function(f); });
                                       })};
}  // namespace
