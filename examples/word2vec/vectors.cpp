#include "vectors.hpp"

#include <algorithm>
#include <stdexcept>

using namespace tandem;

Vectors::Vectors(const Vocabulary& vocabulary, const Tensor& table)
    : vocabulary_(vocabulary), units_(nn::l2_normalize(table, -1)) {}

std::int64_t Vectors::id_of(const std::string& word) const {
  const std::int64_t id = vocabulary_.find(word);
  if (id == 0) throw std::runtime_error("'" + word + "' has no vector: it is not in the vocabulary");
  return id;
}

std::vector<Vectors::Neighbour> Vectors::nearest_to(const Tensor& direction, const std::vector<std::int64_t>& without,
                                                    std::int64_t count) const {
  const Tensor similarities = linalg::matvec(units_, nn::l2_normalize(direction));
  const auto wanted = std::min(count + static_cast<std::int64_t>(without.size()), vocabulary_.size());
  const nn::TopK top = nn::top_k(similarities, wanted);
  const auto values = top.values.to_vector<float>();
  const auto ids = top.indices.to_vector<std::int32_t>();
  std::vector<Neighbour> r;
  for (std::size_t i = 0; i < ids.size() && static_cast<std::int64_t>(r.size()) < count; ++i)
    if (std::find(without.begin(), without.end(), ids[i]) == without.end())
      r.push_back({vocabulary_.word(ids[i]), values[i]});
  return r;
}

std::vector<Vectors::Neighbour> Vectors::nearest(const std::string& word, std::int64_t count) const {
  const std::int64_t id = id_of(word);
  return nearest_to(units_[id], {0, id}, count);
}

std::vector<Vectors::Neighbour> Vectors::analogy(const std::string& a, const std::string& b, const std::string& c,
                                                 std::int64_t count) const {
  const std::int64_t i = id_of(a), j = id_of(b), k = id_of(c);
  return nearest_to(units_[j] - units_[i] + units_[k], {0, i, j, k}, count);
}

Tensor Vectors::plane(std::int64_t first_word, std::int64_t last_word) const {
  const Tensor x = units_(Slice(first_word, last_word)), centred = x - reduce_mean(x, 0, {.keepdims = true});
  const Tensor covariance = matmul(centred, centred, {.transpose_a = true});
  // The two eigenvectors with the largest eigenvalues, by orthogonal iteration.
  Tensor first = random::stateless_normal({covariance.shape()[0]}, {1, 1}),
         second = random::stateless_normal({covariance.shape()[0]}, {1, 2});
  for (int i = 0; i < 200; ++i) {
    first = nn::l2_normalize(linalg::matvec(covariance, first));
    second = linalg::matvec(covariance, second);
    second = nn::l2_normalize(second - reduce_sum(first * second) * first);
  }
  return stack({linalg::matvec(centred, first), linalg::matvec(centred, second)}, 1);
}
