// Feature: an option of a layer whose code a program compiles only if it sets the option. For the headers of layers.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::layers::detail {

/// A bool option that selects `code`, a function: where the option is `when`. The code is reached through a pointer
/// that only the constructor names, so header-only programs that leave the option alone do not compile it.
template <auto* code, bool when = true>
class Feature {
 public:
  constexpr Feature() = default;
  constexpr Feature(bool value) : code_(value == when ? code : nullptr) {}
  /// The value of the option.
  constexpr operator bool() const { return (code_ != nullptr) == when; }
  /// The function, or null.
  constexpr decltype(code) selected() const { return code_; }

 private:
  decltype(code) code_ = nullptr;
};

}  // namespace TANDEM_NS::layers::detail
