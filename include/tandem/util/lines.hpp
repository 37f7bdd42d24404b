// The lines of a text. For definitions.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// The lines of a text without their ends, LF or CR LF; the last one need not have one.
inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool carriage_return = end > at && text[end - 1] == '\r';
    lines.push_back(text.substr(at, end - at - carriage_return));
    at = end + 1;
  }
  return lines;
}

}  // namespace TANDEM_NS::detail
