// Sources of keys for random numbers: Generators, the global generator, seeds of single ops.
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

/// A sequence of keys. Its state is a Variable, int64[2] = {seed, number of draws so far}: restoring it from a
/// checkpoint continues the sequence, and a traced function that uses the generator draws new numbers on each call.
/// Copies share the state. Draw number k of Generator(s) returns the same numbers as the stateless function with the
/// seed {s, k}. Several threads may draw from one generator.
class TANDEM_API Generator {
 public:
  explicit Generator(i64 seed);
  static Generator from_seed(i64 seed) { return Generator(seed); }
  /// Creates a generator seeded with entropy from the operating system.
  static Generator from_non_deterministic_state();
  /// random::normal, truncated_normal and uniform, drawing from this generator (draw.hpp).
  ///  throws  errors::InvalidArgumentError also if the options have a .seed
  Tensor normal(const Dims& shape) const;
  Tensor normal(const Dims& shape, NormalOptions options) const;
  Tensor truncated_normal(const Dims& shape) const;
  Tensor truncated_normal(const Dims& shape, NormalOptions options) const;
  Tensor uniform(const Dims& shape) const;
  Tensor uniform(const Dims& shape, UniformOptions options) const;
  Tensor uniform(const Dims& shape, Scalar minval, Scalar maxval) const;
  Tensor uniform(const Dims& shape, Scalar minval, Scalar maxval, UniformOptions options) const;

  /// Returns the key of the next draw, int64[2], and advances the state. In a trace this adds two nodes; no host
  /// value is frozen. A draw that raises, because memory is exhausted, has taken its key already.
  Tensor next_key() const;
  /// Restarts the generator with the given seed.
  void reset(i64 seed) const;
  /// The state {seed, number of draws so far}, not trainable. Save and restore it like any Variable.
  const Variable& state() const;

 private:
  struct Shared;
  Shared& shared() const;
  Ref<Opaque> shared_;
};

/// The source of a draw's key. Without seed and generator it is the global generator. A `seed` selects a separate
/// sequence, which depends on that number and on set_seed's, and restarts with set_seed.
struct KeySource {
  std::optional<i64> seed;
  const Generator* generator;
};

/// Makes all following draws depend on n only: restarts the global generator and the sequences of op seeds. Without
/// a call, the global generator starts from entropy and op seeds from fixed numbers.
TANDEM_API void set_seed(i64 n);
/// The generator of draws that specify no other.
TANDEM_API const Generator& global_generator();
/// Returns the next key of a source. Throws errors::InvalidArgumentError if both a seed and a generator are given.
TANDEM_API Tensor next_key(const char* op, const KeySource& source);

}  // namespace TANDEM_NS::random
namespace TANDEM_NS {
extern TANDEM_API const OpDef random_advance_op;
namespace detail {
/// Raises an error in the op's name unless input i is a key, int64[2].
TANDEM_API void check_key(const InferCall& c, std::size_t i);
}  // namespace detail
}  // namespace TANDEM_NS
