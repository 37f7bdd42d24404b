// Compressed HTTP bodies. For the definitions of rest.hpp. Part of the component tandem::serving.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// What a body of the Content-Encoding gzip or deflate holds, or nothing if that is more than most_bytes.
///   throws  errors::InvalidArgumentError if the body is damaged or cut off; errors::UnimplementedError without zlib
///   and
///           for other codings
TANDEM_API std::optional<std::string> decoded_body(std::string_view coding, std::string_view body,
                                                   std::size_t most_bytes);
/// Whether an Accept-Encoding header allows gzip (RFC 9110, section 12.5.3).
TANDEM_API bool accepts_gzip(std::string_view header);
/// The body as gzip, or nothing without zlib.
TANDEM_API std::optional<std::string> gzip_body(std::string_view body);

}  // namespace TANDEM_NS::serving::impl
