// Hyper-parameters as text: lists, quotes, numbers. For the definitions of hparams.hpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/train/hparams.hpp"

namespace TANDEM_NS::train {

namespace impl {
[[noreturn]] void refuse_hparam(const std::string& what);
}
namespace detail {

std::string_view trimmed(std::string_view text);
/// The parts between commas that are neither in brackets nor in quotes, trimmed; none of a text that is empty.
///   throws  errors::InvalidArgumentError for brackets or quotes that are not closed
std::vector<std::string_view> hparam_list(std::string_view text);
/// What is in quotes, or the text itself if it does not begin with one.
///   throws  errors::InvalidArgumentError if something follows the quotes
std::string unquoted(std::string_view text);
/// Reads a value of the type that `to` has; false, and `to` as it was, if the text is not one.
bool parse_hparam(std::string_view text, HParamValue& to);

}  // namespace detail

}  // namespace TANDEM_NS::train
