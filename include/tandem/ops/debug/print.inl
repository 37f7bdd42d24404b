// Definitions of ops/debug/print.hpp.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tandem/ops/debug/print.hpp"
#include "tandem/ops/debug/summary.hpp"

namespace TANDEM_NS {

namespace detail {

inline constexpr std::string_view file_stream = "file://";

// Replaces the i-th placeholder of the format with the text value(i), and counts the placeholders.
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
        c.op.name, "unknown stream \"" + a.stream + "\"; .output_stream is \"stderr\", \"stdout\" or \"file://PATH\"");
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
// Writes the text in one call, so that lines from different threads do not interleave.
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
  InlinedVector<const Tensor*, 8> in;
  bool first = true;
  for (const PrintArg& arg : args) {
    if (!first) append_literal(attrs.format, o.sep);
    first = false;
    if (const Tensor* t = arg.tensor()) {
      attrs.format += "{}";
      in.push_back(t);
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
                                       .input_names = "data...",
                                       .infer = &detail::infer_print,
                                       .cpu = &detail::print_kernel,
                                       .dtype_input = -1,
                                       .inputs = at_least(0),
                                       .outputs = 0,
                                       .saves = Saves::nothing,
                                       .host_inputs = 0xffff,
                                       .flags = {.stateful = true, .non_differentiable = true},
                                       .attrs = &detail::attr_type<rules::PrintAttrs>};

}  // namespace TANDEM_NS
