// ElementKeys: random numbers of a piece of work that depend on the piece alone, not on the thread that does it or on
// what was drawn before. Defined in generator.inl.
#pragma once
#include <optional>

#include "tandem/core/variable.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::random::detail {

/// While one exists, draws of this thread without a generator of their own take their keys from it: draw number k of
/// the element is a function of set_seed's number, the element's seed and stream, the op's seed if it has one, and k.
/// So do such draws of traced functions, which read and advance own_state() in the place of the library's Variables.
class TANDEM_API ElementKeys {
 public:
  ElementKeys(u64 seed, u64 stream);
  ElementKeys(const ElementKeys&) = delete;
  ElementKeys& operator=(const ElementKeys&) = delete;
  ~ElementKeys();

  /// The innermost one of this thread, or null.
  static ElementKeys* current();
  /// The state of the draws of ops with this seed, or of those with none: a Variable of this element, int64[2] like
  /// that of a Generator.
  const Variable& own_state(std::optional<i64> op_seed);

 private:
  friend struct ElementDraw;
  struct Sequence {
    std::optional<i64> op_seed;
    Variable state;
  };
  const Sequence* find(std::optional<i64> op_seed) const;

  u64 seed_, stream_, draws_ = 0;
  LeanVector<Sequence> own_;  // what traced functions have drawn from
  ElementKeys* outer_;
};

/// Whether a Variable is the state of the global generator or of an op's seed; then `op_seed` is set.
TANDEM_API bool is_sequence(const Variable& state, std::optional<i64>& op_seed);
/// What this thread reads and assigns in the place of a Variable: the element's own state for one of those, otherwise
/// the Variable itself.
TANDEM_API const Variable& own_or_same(const Variable& variable);

}  // namespace TANDEM_NS::random::detail
