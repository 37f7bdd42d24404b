// Where random numbers' keys come from: Generators, the global one, seeds of single ops.
// Not here: the ops that turn a key into numbers (draw.hpp, sample.hpp, dropout.hpp).
#pragma once
#include <optional>

#include "tandem/core/variable.hpp"

namespace TANDEM_NS {
class Dims;
}
namespace TANDEM_NS::random {

struct NormalOptions;
struct UniformOptions;

/// A sequence of keys. Its state is a Variable, int64[2] = {seed, draws so far}: a checkpoint that holds it continues
/// the sequence, and a traced function that draws from it draws anew on each call. Copies share the state. Draw number
/// k of Generator(s) gives what the stateless form gives for the seed {s, k}. Several threads may draw from one.
class TANDEM_API Generator {
 public:
  explicit Generator(i64 seed);
  static Generator from_seed(i64 seed) { return Generator(seed); }
  /// Seeded by the operating system's entropy.
  static Generator from_non_deterministic_state();
  /// random::normal, truncated_normal and uniform, from this generator (draw.hpp).
  ///   throws  errors::InvalidArgumentError also if the options have a .seed
  Tensor normal(const Dims& shape) const;
  Tensor normal(const Dims& shape, NormalOptions options) const;
  Tensor truncated_normal(const Dims& shape) const;
  Tensor truncated_normal(const Dims& shape, NormalOptions options) const;
  Tensor uniform(const Dims& shape) const;
  Tensor uniform(const Dims& shape, UniformOptions options) const;
  Tensor uniform(const Dims& shape, Scalar minval, Scalar maxval) const;
  Tensor uniform(const Dims& shape, Scalar minval, Scalar maxval, UniformOptions options) const;

  /// The key of the next draw, int64[2]; advances the state. In a trace: two nodes, nothing of the host is frozen.
  Tensor next_key() const;
  /// Begins the sequence of a seed.
  void reset(i64 seed) const;
  /// {seed, draws so far}, not trainable. Save and restore it like any Variable.
  const Variable& state() const;

 private:
  struct Shared;
  Shared& shared() const;
  Ref<Opaque> shared_;
};

/// Where a draw's key comes from. Without either: the global generator. With `seed`: a sequence of its own, which
/// depends on that number and on set_seed's, and starts anew with set_seed.
struct KeySource {
  std::optional<i64> seed;
  const Generator* generator;
};

/// Makes all that is drawn from now on depend on n alone: the global generator and the sequences of op seeds start
/// anew. Without it the global generator starts from entropy, op seeds from fixed numbers.
TANDEM_API void set_seed(i64 n);
/// The generator of draws that name no other.
TANDEM_API const Generator& global_generator();
/// throws errors::InvalidArgumentError if both a seed and a generator are given
TANDEM_API Tensor next_key(const char* op, const KeySource& source);

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
extern TANDEM_API const OpDef random_advance_op;
namespace detail {
/// Raises in the op's name unless input i is a key, int64[2].
TANDEM_API void check_key(const InferCall& c, std::size_t i);
}  // namespace detail
}  // namespace TANDEM_NS
