// Definitions of io/tar.hpp: samples.
#pragma once
#include <algorithm>

#include "tandem/base/error.hpp"
#include "tandem/io/tar.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace detail {

// Where the extension of a name begins, behind the first dot after the last slash; 0 if it has none, or no key.
inline std::size_t extension_of(std::string_view name) {
  const std::size_t base = name.rfind('/') + 1, dot = name.find('.', base);  // npos + 1 == 0
  return dot == name.npos || dot == base ? 0 : dot + 1;
}
inline std::exception_ptr doubled_extension(const std::string& path, const std::string& key,
                                            const std::string& extension) {
  try {
    errors::raise<errors::DataLossError>("WebDatasetReader", path + ": sample " + tandem::detail::escaped_text(key) +
                                                                 " has two files with the extension " +
                                                                 tandem::detail::escaped_text(extension));
  } catch (const errors::DataLossError&) {
    return std::current_exception();
  }
}

}  // namespace detail

TANDEM_INLINE const std::string& WebDatasetSample::operator[](std::string_view extension) const {
  std::string all;
  for (const auto& [e, content] : files) {
    if (e == extension) return content;
    all += (all.empty() ? "" : ", ") + e;
  }
  errors::raise<errors::NotFoundError>(
      "WebDatasetSample", "sample " + tandem::detail::escaped_text(key) + " has no file with the extension " +
                              tandem::detail::escaped_text(extension) + " among " + all);
}

TANDEM_INLINE WebDatasetReader::WebDatasetReader(const std::string& path, TarOptions o) : tar_(path, o), path_(path) {}
// The next file with a key and an extension; false at the archive's end.
TANDEM_INLINE bool WebDatasetReader::read(File& file) {
  if (pending_) {
    file = std::move(*pending_);
    pending_.reset();
    return true;
  }
  for (;;) {
    file = {.at = tar_.position()};
    TarEntry entry;
    try {
      if (!tar_.next(entry)) return false;
    } catch (const errors::OpError&) {
      file.error = std::current_exception();
      if (entry.name.empty()) return true;
    }
    const std::size_t extension = detail::extension_of(entry.name);
    if (extension == 0) continue;
    file.key = entry.name.substr(0, extension - 1), file.extension = entry.name.substr(extension);
    for (char& c : file.extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    file.data = std::move(entry.data);
    return true;
  }
}
TANDEM_INLINE bool WebDatasetReader::next(WebDatasetSample& sample) {
  WebDatasetSample r;
  std::exception_ptr error;  // the first one of the sample, whose other files are passed over
  bool begun = false;
  for (File file; read(file);) {
    // An error that hides its file may be one of the sample.
    if (begun && (file.key.empty() ? error != nullptr : file.key != r.key)) {
      pending_ = std::move(file);
      break;
    }
    begun = true;
    if (!error) error = file.error;
    if (file.key.empty()) break;
    r.key = std::move(file.key);
    if (!error && std::any_of(r.files.begin(), r.files.end(), [&](const auto& f) { return f.first == file.extension; }))
      error = detail::doubled_extension(path_, r.key, file.extension);
    if (!error) r.files.emplace_back(std::move(file.extension), std::move(file.data));
  }
  if (error) std::rethrow_exception(error);
  if (begun) sample = std::move(r);
  return begun;
}
TANDEM_INLINE void WebDatasetReader::seek(i64 position) {
  tar_.seek(position);
  pending_.reset();
}

}  // namespace TANDEM_NS::io
