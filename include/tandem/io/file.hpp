// Whole files and folders: reading, replacing, keeping the results of functions. Part of the component tandem::io.
#pragma once
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::io {

/// The bytes of a regular file.
///   throws  errors::NotFoundError if there is none of that name, errors::UnavailableError if it cannot be read
TANDEM_API std::string read_file(const std::string& path);
/// Makes these bytes the content of a file, atomically: a reader sees the old content or the new one. Missing folders
/// are made.
///   throws  as ensure_directory and replace_file (io/replace_file.hpp)
TANDEM_API void write_file(const std::string& path, std::string_view contents);
/// Makes a folder and those that it lies in, where they do not exist. Processes may do so at the same time.
///   throws  errors::UnavailableError, with the path, if that fails, as where a file has its name
TANDEM_API void ensure_directory(const std::string& path);

/// The SHA-256 of bytes, in 64 hexadecimal digits.
///   source  FIPS 180-4
TANDEM_API std::string sha256(std::string_view bytes);
/// The file in which disk_cache keeps what `name` made of the arguments: dir/name-SHA256, equal in every process. The
/// characters of the name that a file name may not have become '_'.
TANDEM_API std::string cache_path(const std::string& dir, const std::string& name, std::string_view arguments);

/// A function of bytes whose results are kept in files of a folder.
///
///   auto embed = io::disk_cache("cache", "embed-v1", [](const std::string& text) { return slow(text); });
///   const std::string bytes = embed("a text");  // the second time from the file
///
///   name  of the function; another one when its results change
///   fn    takes and returns std::string (io::serialize_tensor makes one of a tensor); it runs once for each argument,
///         but twice where threads or processes ask for the same one at the same time
///   throws  from the call: as fn and write_file
template <class F>
auto disk_cache(std::string dir, std::string name, F fn);

/// Fetches a file into a folder unless a file of that name is there, and returns its path. The file has its name once
/// it is complete.
///   url     file:///path, or what the program `curl` fetches: http, https, ftp
///   throws  errors::NotFoundError for a file:// URL of a file that does not exist; errors::UnavailableError if there
///   is no
///           curl, or if it fails, with its exit status; errors::InvalidArgumentError for a URL without a file name
TANDEM_API std::string download(const std::string& url, const std::string& dir);

namespace detail {
/// Whether a file exists; if so reads it.
TANDEM_API bool read_cached(const std::string& path, std::string& content);
}  // namespace detail

template <class F>
auto disk_cache(std::string dir, std::string name, F fn) {
  return [dir = std::move(dir), name = std::move(name), fn = std::move(fn)](const std::string& arguments) {
    const std::string path = cache_path(dir, name, arguments);
    std::string content;
    if (detail::read_cached(path, content)) return content;
    content = fn(arguments);
    write_file(path, content);
    return content;
  };
}

}  // namespace TANDEM_NS::io
