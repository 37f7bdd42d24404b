// ElementKeys: random numbers of a piece of work that depend on the piece alone, not on the thread that does it or on
// what was drawn before. Defined in generator.inl.
#pragma once
#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::random::detail {

/// While one exists, draws of this thread without a generator of their own take their keys from it: draw number k of
/// the element is a function of set_seed's number, the element's seed and stream, the op's seed if it has one, and k.
/// Traced functions draw from their own generators as always.
class TANDEM_API ElementKeys {
 public:
  ElementKeys(u64 seed, u64 stream);
  ElementKeys(const ElementKeys&) = delete;
  ElementKeys& operator=(const ElementKeys&) = delete;
  ~ElementKeys();

  /// The innermost one of this thread, or null.
  static ElementKeys* current();

 private:
  friend struct ElementDraw;
  u64 seed_, stream_, draws_ = 0;
  ElementKeys* outer_;
};

}  // namespace TANDEM_NS::random::detail
