// tandem::print: prints tensors, numbers and text to stderr, stdout or the end of a file. It is an op: in a traced
// function it prints at every call, in program order.
// Not here: how values are formatted (core/print), `stream << tensor`.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tandem/core/apply.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

namespace detail {
/// Formats a C++ number as print does: 1.0f is "1.0".
TANDEM_API std::string number_text(DType dtype, const void* number);
}  // namespace detail

/// An argument of print: a tensor or a Variable, whose value is read when the print runs, or a value that is known
/// immediately.
class PrintArg {
 public:
  PrintArg(const Tensor& x) : tensor_(x), is_tensor_(true) {}
  PrintArg(const Variable& v) : PrintArg(v.read_value()) {}
  PrintArg(const char* text) : text_(text) {}
  PrintArg(std::string_view text) : text_(text) {}
  PrintArg(const std::string& text) : text_(text) {}
  PrintArg(char c) : text_(1, c) {}
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, char>)
  PrintArg(T number) : text_(detail::number_text(dtype_of<T>(), &number)) {}
  PrintArg(const Shape& shape) : text_(to_string(shape)) {}
  PrintArg(DType dtype) : text_(tandem::name(dtype)) {}
  PrintArg(Device device) : text_(to_string(device)) {}

  /// The tensor, or null.
  const Tensor* tensor() const { return is_tensor_ ? &tensor_ : nullptr; }
  const std::string& text() const { return text_; }

 private:
  Tensor tensor_;
  std::string text_;
  bool is_tensor_ = false;
};

struct PrintOptions {
  TANDEM_OP_OPTIONS;
  std::string output_stream = "stderr";  ///< "stderr", "stdout", or "file://PATH", to which the text is appended
  i64 summarize = 3;                     ///< number of values shown at both ends of each axis; -1: all
  std::string sep = " ";                 ///< separator between arguments
  std::string end = "\n";                ///< printed after the last argument
};

namespace detail {
TANDEM_API Tensor print_all(std::initializer_list<PrintArg> args, const PrintOptions& options);
}  // namespace detail

/// Prints its arguments: print("loss", loss, {.summarize = -1}). Takes up to eight arguments, or a list of any
/// length in braces. In a traced function it prints at each call, even if its result is unused. A scalar string
/// prints without quotes.
///   args      tensors of any dtype, shape and device (copied to the host), Variables, numbers, text, shapes, dtypes
///   returns   the last tensor argument unchanged, so that print can be used inside an expression; an unset tensor
///             if there is no tensor argument
///   throws    errors::InvalidArgumentError for an unknown stream or a summarize below -1; errors::UnavailableError
///             if the text cannot be written
///   gradient  g to the returned argument, as without the print
inline Tensor print(std::initializer_list<PrintArg> args, const PrintOptions& o = {}) {
  return detail::print_all(args, o);
}
inline Tensor print(const PrintArg& a, const PrintOptions& o = {}) { return detail::print_all({a}, o); }
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintOptions& o = {}) {
  return detail::print_all({a, b}, o);
}
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintArg& c, const PrintOptions& o = {}) {
  return detail::print_all({a, b, c}, o);
}
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintArg& c, const PrintArg& d,
                    const PrintOptions& o = {}) {
  return detail::print_all({a, b, c, d}, o);
}
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintArg& c, const PrintArg& d, const PrintArg& e,
                    const PrintOptions& o = {}) {
  return detail::print_all({a, b, c, d, e}, o);
}
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintArg& c, const PrintArg& d, const PrintArg& e,
                    const PrintArg& f, const PrintOptions& o = {}) {
  return detail::print_all({a, b, c, d, e, f}, o);
}
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintArg& c, const PrintArg& d, const PrintArg& e,
                    const PrintArg& f, const PrintArg& g, const PrintOptions& o = {}) {
  return detail::print_all({a, b, c, d, e, f, g}, o);
}
inline Tensor print(const PrintArg& a, const PrintArg& b, const PrintArg& c, const PrintArg& d, const PrintArg& e,
                    const PrintArg& f, const PrintArg& g, const PrintArg& h, const PrintOptions& o = {}) {
  return detail::print_all({a, b, c, d, e, f, g, h}, o);
}

TANDEM_OPS(print_ops, print)

namespace rules {
/// format: the complete line. "{}" is a placeholder for the next input; "{{" and "}}" are literal braces.
struct PrintAttrs {
  std::string format;
  i64 summarize;
  std::string stream;
  TANDEM_ATTRS(PrintAttrs, format, summarize, stream);
};
}  // namespace rules
}  // namespace TANDEM_NS
