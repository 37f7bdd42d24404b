// Whole files as text: read_file, and read_lines for a line each. Compressed files (gzip) are inflated while they are
// read. Part of the component tandem::data.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::data {

struct ReadOptions {
  i64 max_bytes = std::numeric_limits<i64>::max();  ///< of the content, once it is inflated
};
/// Reads a file. If it begins as gzip does (bytes 1f 8b), whatever its name, it is inflated.
///   path     a regular file, which may be empty
///   returns  the content
///   throws   errors::NotFoundError if there is no regular file of that name; errors::DataLossError if compressed data
///            are damaged or end early; errors::ResourceExhaustedError for more than `max_bytes`, before they are read;
///            errors::UnimplementedError for gzip if the library was built without zlib (TANDEM_NO_ZLIB);
///            errors::UnavailableError if the system cannot read it
TANDEM_API std::string read_file(const std::string& path, ReadOptions = {});

/// Reads the lines of a text file, without their ends: LF or CR LF. The last line need not have one.
///   throws   as read_file
TANDEM_API std::vector<std::string> read_lines(const std::string& path, ReadOptions = {});
/// The lines of a text, as read_lines. The views refer to it.
TANDEM_API std::vector<std::string_view> lines_of(std::string_view text);

namespace detail {
/// read_file, in the name of `op`.
std::string read_file(const char* op, const std::string& path, i64 max_bytes);
}  // namespace detail

}  // namespace TANDEM_NS::data
