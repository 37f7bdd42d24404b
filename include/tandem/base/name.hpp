// Name: the user's name of a call, as an option. Read during the call, never kept.
#pragma once
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS {

/// A view of a string of any type; empty if no name is given. Code that keeps the name must copy it: the text need
/// not outlive the call.
class Name {
 public:
  constexpr Name() = default;
  constexpr Name(const char* text) : text_(text ? std::string_view(text) : std::string_view()) {}
  constexpr Name(std::string_view text) : text_(text) {}
  Name(const std::string& text) : text_(text) {}
  // Name is the first field of every options struct, and 0 is a null pointer constant: without this, f(x, {0}) would
  // compile as an empty name.
  template <std::integral I>
  Name(I) = delete;
  Name(std::nullptr_t) = delete;

  constexpr explicit operator bool() const { return !text_.empty(); }
  constexpr std::string_view view() const { return text_; }
  /// A copy of the name, or of `otherwise` if no name is given.
  std::string str(std::string_view otherwise = {}) const { return std::string(text_.empty() ? otherwise : text_); }

 private:
  std::string_view text_;
};

/// The first field of options that have a choice given as a string: f(x, {"ij"}), which would be the call's name, does
/// not compile.
class Designated {
 public:
  explicit Designated() = default;
};

}  // namespace TANDEM_NS
