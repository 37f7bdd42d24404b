// tandem::print: tensors, numbers and text on stderr, stdout or at the end of a file. An op: in a traced function it
// prints at every call, in program order. Not here: how values are written (core/print), `stream << tensor`.
#pragma once
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tandem/core/apply.hpp"
#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

namespace detail {
/// A C++ number as print writes it: 1.0f is "1.0".
TANDEM_API std::string number_text(DType dtype, const void* number);
}  // namespace detail

/// One thing to print: a tensor or a Variable, whose value is read when the print runs, or what is known at once.
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
  PrintArg(const Shape& shape) : text_(tuple_of(shape)) {}
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
  std::string output_stream = "stderr";  ///< "stderr", "stdout", or "file://PATH", to whose end the text is added
  i64 summarize = 3;                     ///< so many values at both ends of each axis; -1: all
  std::string sep = " ";                 ///< between two arguments
  std::string end = "\n";                ///< after the last
};

namespace detail {
TANDEM_API Tensor print_all(std::initializer_list<PrintArg> args, const PrintOptions& options);
}  // namespace detail

/// Prints its arguments: print("loss", loss, {.summarize = -1}). Up to eight, or a list of any length in braces.
///   args      tensors of any dtype, shape and device (copied to the host), Variables, numbers, text, shapes, dtypes
///   returns   the last tensor argument unchanged, so that a print can stand inside an expression; an unset tensor
///             where there is none
///   throws    errors::InvalidArgumentError for another stream or a summarize below -1; errors::UnavailableError if the
///             text cannot be written
///   gradient  passes through what is returned as if nobody had printed it
/// In a traced function it prints at each call, also where nothing uses the result. A scalar string prints without
/// quotes.
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

extern TANDEM_API const OpDef print_op;
inline constexpr const OpDef* print_ops[] = {&print_op};

namespace rules {
/// The whole line: "{}" stands for the next input, "{{" and "}}" for a brace.
struct PrintAttrs {
  std::string format;
  i64 summarize;
  std::string stream;
  static constexpr auto fields =
      field_list(field("format", &PrintAttrs::format), field("summarize", &PrintAttrs::summarize),
                 field("stream", &PrintAttrs::stream));
};
}  // namespace rules
}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_DEBUG
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tandem/ops/debug/summary_impl.hpp"

namespace TANDEM_NS {

namespace detail {

inline constexpr std::string_view file_stream = "file://";

// The format with value(i), a text, in place of the i-th slot; counts the slots.
template <class Value>
std::string fill_format(const char* op, const std::string& format, std::size_t& slots, const Value& value) {
  std::string r;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i], next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (c != '{' && c != '}') {
      r += c;
      continue;
    }
    if (c == '{' && next == '}') r += value(slots++);
    else if (next == c) r += c;
    else errors::raise<errors::InvalidArgumentError>(op, "a single brace in the format \"" + format + "\"");
    ++i;
  }
  return r;
}
inline void append_literal(std::string& format, std::string_view text) {
  for (const char c : text) {
    format += c;
    if (c == '{' || c == '}') format += c;
  }
}

TANDEM_INLINE Specs infer_print(const InferCall& c) {
  const auto& a = c.get<rules::PrintAttrs>();
  debugging::impl::check_summarize(c.op.name, a.summarize);
  if (a.stream != "stderr" && a.stream != "stdout" &&
      (a.stream.size() == file_stream.size() || a.stream.compare(0, file_stream.size(), file_stream) != 0))
    errors::raise<errors::InvalidArgumentError>(
        c.op.name, "no stream \"" + a.stream + "\"; .output_stream is \"stderr\", \"stdout\" or \"file://PATH\"");
  std::size_t slots = 0;
  fill_format(c.op.name, a.format, slots, [](std::size_t) { return std::string(); });
  if (slots != c.in.size())
    errors::raise<errors::InvalidArgumentError>(c.op.name, "the format \"" + a.format + "\" has " +
                                                               std::to_string(slots) + " slots for " +
                                                               std::to_string(c.in.size()) + " tensors");
  return {};
}

[[noreturn]] TANDEM_INLINE void raise_unwritten(const char* op, const std::string& stream) {
  errors::raise<errors::UnavailableError>(op, "cannot write to " + stream + ": " + std::strerror(errno));
}
// One call for the whole text: lines of several threads do not mix.
inline bool write_whole(std::FILE* file, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}
TANDEM_INLINE void write_text(const char* op, const std::string& stream, const std::string& text) {
  if (stream == "stderr" || stream == "stdout") {
    if (!write_whole(stream == "stderr" ? stderr : stdout, text)) raise_unwritten(op, stream);
    return;
  }
  std::FILE* file = std::fopen(stream.c_str() + file_stream.size(), "ae");
  if (!file) raise_unwritten(op, stream);
  const bool written = write_whole(file, text);
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = error;
  if (!written || !closed) raise_unwritten(op, stream);
}

TANDEM_INLINE void print_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::PrintAttrs>();
  std::size_t slots = 0;
  write_text(c.op, a.stream, fill_format(c.op, a.format, slots, [&](std::size_t i) -> std::string {
               const Operand& x = c.in[i];
               if (x.spec->dtype == DType::string && x.shape().rank() == 0)
                 return std::string(x.as<const Bytes>()->view());
               return debugging::impl::summary(x, a.summarize);
             }));
}

TANDEM_INLINE std::string number_text(DType dtype, const void* number) {
  const Spec spec{Shape{}, dtype, {}};
  return element_to_string({const_cast<void*>(number), &spec}, 0);
}

TANDEM_INLINE Tensor print_all(std::initializer_list<PrintArg> args, const PrintOptions& o) {
  rules::PrintAttrs attrs{{}, o.summarize, o.output_stream};
  Small<const Tensor*, 8> in;
  bool first = true;
  for (const PrintArg& arg : args) {
    if (!first) append_literal(attrs.format, o.sep);
    first = false;
    if (const Tensor* t = arg.tensor()) {
      attrs.format += "{}";
      in.push(t);
    } else {
      append_literal(attrs.format, arg.text());
    }
  }
  append_literal(attrs.format, o.end);
  apply(print_op, {in.begin(), in.size()}, attrs, {o.name, o.where});
  return in.empty() ? Tensor::unset("this print had no tensor to return") : *in.back();
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef print_op{.name = "print",
                                       .infer = &detail::infer_print,
                                       .cpu = &detail::print_kernel,
                                       .typed = -1,
                                       .inputs = at_least(0),
                                       .outputs = 0,
                                       .saves = Saves::nothing,
                                       .host_inputs = 0xffff,
                                       .flags = {.stateful = true, .blocked = true},
                                       .attrs = &detail::attr_type<rules::PrintAttrs>};

}  // namespace TANDEM_NS
#endif
