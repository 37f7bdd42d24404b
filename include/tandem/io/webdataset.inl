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
TANDEM_INLINE bool WebDatasetReader::next(WebDatasetSample& sample) {
  WebDatasetSample r;
  for (;;) {
    i64 at = pending_at_;
    TarEntry entry;
    if (pending_) {
      entry = std::move(*pending_);
      pending_.reset();
    } else {
      at = tar_.position();
      if (!tar_.next(entry)) break;
    }
    const std::size_t extension = detail::extension_of(entry.name);
    if (extension == 0) continue;
    std::string key = entry.name.substr(0, extension - 1), rest = entry.name.substr(extension);
    std::transform(rest.begin(), rest.end(), rest.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    if (!r.files.empty() && key != r.key) {
      pending_ = std::move(entry), pending_at_ = at;
      break;
    }
    if (std::any_of(r.files.begin(), r.files.end(), [&](const auto& f) { return f.first == rest; }))
      errors::raise<errors::DataLossError>("WebDatasetReader", path_ + ": sample " + tandem::detail::escaped_text(key) +
                                                                   " has two files with the extension " +
                                                                   tandem::detail::escaped_text(rest));
    r.key = std::move(key);
    r.files.emplace_back(std::move(rest), std::move(entry.data));
  }
  if (r.files.empty()) return false;
  sample = std::move(r);
  return true;
}
TANDEM_INLINE void WebDatasetReader::seek(i64 position) {
  tar_.seek(position);
  pending_.reset();
}

}  // namespace TANDEM_NS::io
