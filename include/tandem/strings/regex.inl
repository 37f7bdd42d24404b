// Definitions of strings/regex.hpp.
#pragma once
#if !__has_include(<re2/re2.h>)
#error "tandem/strings.hpp needs RE2 (Debian: libre2-dev) in header-only mode, and a program that links re2"
#endif
#include <re2/re2.h>

#include <memory>

#include "tandem/strings/regex.hpp"
#include "tandem/strings/string_kernels.hpp"

namespace TANDEM_NS {
namespace strings::impl {

inline re2::StringPiece piece(std::string_view s) { return {s.data(), s.size()}; }
// A compiled pattern.
class Pattern {
 public:
  Pattern(const char* op, const std::string& pattern) : re_(pattern, options()) {
    if (!re_.ok()) raise(op, "the pattern " + in_quotes(pattern) + " is not valid: " + re_.error());
  }
  const RE2& operator*() const { return re_; }
  void check_rewrite(const char* op, const std::string& rewrite) const {
    std::string reason;
    if (!re_.CheckRewriteString(piece(rewrite), &reason))
      raise(op, "the rewrite " + in_quotes(rewrite) + " is not valid: " + reason);
  }

 private:
  static RE2::Options options() {
    RE2::Options o;
    o.set_log_errors(false);
    return o;
  }
  RE2 re_;
};
// Each thread keeps its last compiled pattern, because compiling takes longer than most uses.
inline constinit thread_local std::shared_ptr<const Pattern> last_pattern;
inline std::shared_ptr<const Pattern> compiled(const char* op, const std::string& pattern) {
  if (!last_pattern || (**last_pattern).pattern() != pattern)
    last_pattern = std::make_shared<const Pattern>(op, pattern);
  return last_pattern;
}
// A pattern that is applied now is compiled by the kernel, which also checks it.
inline void check_pattern(const InferCall& c) {
  if (!context.stager) return;
  const auto& a = c.get<rules::RegexAttrs>();
  compiled(c.op.name, a.pattern)->check_rewrite(c.op.name, a.rewrite);
}
TANDEM_INLINE Specs infer_regex_replace(const InferCall& c) {
  check_pattern(c);
  return Specs(host_spec(c.spec(0).shape, DType::string));
}
TANDEM_INLINE void regex_replace_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RegexAttrs>();
  const std::shared_ptr<const Pattern> pattern = compiled(c.op, a.pattern);
  pattern->check_rewrite(c.op, a.rewrite);
  map_strings<Bytes>(c, [&](std::string_view s) {
    std::string result(s);
    if (a.global) RE2::GlobalReplace(&result, **pattern, piece(a.rewrite));
    else RE2::Replace(&result, **pattern, piece(a.rewrite));
    return Bytes(result);
  });
}
TANDEM_INLINE Specs infer_regex_full_match(const InferCall& c) {
  check_pattern(c);
  return Specs(host_spec(c.spec(0).shape, DType::bool_));
}
TANDEM_INLINE void regex_full_match_kernel(const KernelCall& c) {
  const std::shared_ptr<const Pattern> pattern = compiled(c.op, c.attrs.get<rules::RegexAttrs>().pattern);
  map_strings<bool>(c, [&](std::string_view s) { return RE2::FullMatch(piece(s), **pattern); });
}

}  // namespace strings::impl

TANDEM_INLINE constexpr OpDef regex_replace_op{.name = "regex_replace",
                                               .infer = &strings::impl::infer_regex_replace,
                                               .cpu = &strings::impl::regex_replace_kernel,
                                               .dtypes = strings::impl::text,
                                               .host_inputs = strings::impl::all_on_host,
                                               .flags = {.non_differentiable = true},
                                               .attrs = &detail::attr_type<rules::RegexAttrs>};
TANDEM_INLINE constexpr OpDef regex_full_match_op{.name = "regex_full_match",
                                                  .infer = &strings::impl::infer_regex_full_match,
                                                  .cpu = &strings::impl::regex_full_match_kernel,
                                                  .dtypes = strings::impl::text,
                                                  .host_inputs = strings::impl::all_on_host,
                                                  .flags = {.non_differentiable = true},
                                                  .attrs = &detail::attr_type<rules::RegexAttrs>};

namespace strings {

TANDEM_INLINE Tensor regex_replace(const Tensor& x, const std::string& pattern, const std::string& rewrite,
                                   RegexReplaceOptions o) {
  return apply1(regex_replace_op, rules::RegexAttrs{pattern, rewrite, o.replace_global}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor regex_full_match(const Tensor& x, const std::string& pattern, OpOptions o) {
  return apply1(regex_full_match_op, rules::RegexAttrs{pattern, "", false}, o, x);
}

}  // namespace strings
}  // namespace TANDEM_NS
