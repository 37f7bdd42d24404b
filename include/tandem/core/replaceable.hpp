// Replaceable: what a trace reads as a constant although its owner may replace it later, such as the vocabulary of a
// layer.
#pragma once
#include <atomic>

#include "tandem/base/dtype.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

/// A place whose content may be replaced. Code that is traced has the content in its graph, so a trace compares the
/// version that it has read with the present one at each call. kind() names the content.
class TANDEM_API Replaceable : public Opaque {
 public:
  u64 version() const { return version_.load(std::memory_order_acquire); }

 protected:
  /// Who replaces the content calls this afterwards; who reads it asks for the version before.
  void changed() { version_.fetch_add(1, std::memory_order_release); }

 private:
  std::atomic<u64> version_{0};
};

/// A place and the version of it that was read.
struct PlaceRead {
  Ref<Replaceable> place;
  u64 version = 0;

  bool is_current() const { return place->version() == version; }
};

}  // namespace TANDEM_NS
