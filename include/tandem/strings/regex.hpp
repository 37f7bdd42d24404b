// Regular expressions in RE2's syntax (https://github.com/google/re2/wiki/Syntax), on UTF-8 text. Part of the component
// tandem::strings.
#pragma once
#include <string>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS::strings {

struct RegexReplaceOptions {
  TANDEM_OP_OPTIONS;
  bool replace_global = true;  ///< all matches, not only the first one
};
/// Replaces the matches of a pattern in each string. In `rewrite`, \1 to \9 are the groups of the match, \0 all of it.
///   x         string
///   returns   string, the shape of x
///   throws    errors::InvalidArgumentError for a pattern or rewrite that is not valid, with RE2's reason
///   gradient  none (non-differentiable)
TANDEM_API Tensor regex_replace(const Tensor& x, const std::string& pattern, const std::string& rewrite,
                                RegexReplaceOptions = {});
/// Whether the pattern matches all of each string.
///   x         string
///   returns   bool_, the shape of x
///   throws    errors::InvalidArgumentError for a pattern that is not valid, with RE2's reason
///   gradient  none (non-differentiable)
TANDEM_API Tensor regex_full_match(const Tensor& x, const std::string& pattern, OpOptions = {});

}  // namespace TANDEM_NS::strings

namespace TANDEM_NS {

TANDEM_OPS(regex_ops, regex_replace, regex_full_match)

namespace rules {
struct RegexAttrs {
  std::string pattern, rewrite;
  bool global;
  TANDEM_ATTRS(RegexAttrs, pattern, rewrite, global);
};
}  // namespace rules
}  // namespace TANDEM_NS
