// Definitions of summary/file_writer.hpp: embeddings, which the projector reads from files beside the events
// (tensorboard/plugins/projector/projector_config.proto).
#pragma once
#include <algorithm>

#include "tandem/io/file.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/values.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::summary {

namespace impl {

// The projector separates values by tabs and lines and leaves out blank lines: such labels are written as in C++.
TANDEM_INLINE std::string label_text(const std::string& s) {
  const auto is_blank = [](char c) { return c == ' '; };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  const bool plain = !std::all_of(s.begin(), s.end(), is_blank) && std::none_of(s.begin(), s.end(), is_control) &&
                     tandem::detail::is_utf8(s);
  return plain ? s : tandem::detail::escaped_text(s);
}
TANDEM_INLINE void append_line(std::string& to, const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) to += (i ? "\t" : "") + label_text(values[i]);
  to += '\n';
}
TANDEM_INLINE std::string matrix_text(const std::vector<float>& x, i64 columns) {
  std::string to;
  for (std::size_t i = 0; i < x.size(); ++i)
    (to += tandem::detail::shortest_text(x[i])) += static_cast<i64>(i + 1) % columns ? '\t' : '\n';
  return to;
}
// One column has no header, several have.
TANDEM_INLINE std::string metadata_text(const EmbeddingOptions& o, i64 rows) {
  const bool table = !o.columns.empty();
  const std::size_t given = table ? o.metadata.size() : o.labels.size();
  if (table && (!o.labels.empty() || o.columns.size() < 2))
    detail::refuse("embedding", "give labels, or two or more columns with metadata");
  if (given == 0 && !table && o.metadata.empty()) return "";
  if (given != static_cast<std::size_t>(rows))
    detail::refuse("embedding", std::to_string(given) + (table ? " rows of metadata" : " labels") + " for " +
                                    std::to_string(rows) + " rows");
  std::string to;
  if (table) append_line(to, o.columns);
  for (const std::string& label : o.labels) append_line(to, {label});
  for (const auto& row : o.metadata) {
    if (row.size() != o.columns.size())
      detail::refuse("embedding", "a row of metadata has " + std::to_string(row.size()) + " values for " +
                                      std::to_string(o.columns.size()) + " columns");
    append_line(to, row);
  }
  return to;
}
// The name as that of a file: other characters than these as in a URL, so that two names stay two. Dots are among the
// others: what follows one is ours.
TANDEM_INLINE std::string file_stem(std::string_view name) {
  std::string r;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_') r += c;
    else (r += '%') += {"0123456789ABCDEF"[byte / 16], "0123456789ABCDEF"[byte % 16]};
  }
  return r;
}
TANDEM_INLINE std::string config_entry(std::string_view name, bool has_metadata) {
  const std::string stem = file_stem(name);
  return "embeddings {\n  tensor_name: " + tandem::detail::escaped_text(name) + "\n  tensor_path: \"" + stem +
         ".tsv\"\n" + (has_metadata ? "  metadata_path: \"" + stem + ".metadata.tsv\"\n" : "") + "}\n";
}

}  // namespace impl

TANDEM_INLINE void FileWriter::embedding(std::string_view name, const Tensor& embeddings, const EmbeddingOptions& o) {
  detail::check_not_traced("embedding");
  recorder_->check_open("embedding");
  detail::check_dtypes("embedding", embeddings, detail::real_numbers, "real numbers");
  if (name.empty() || !tandem::detail::is_utf8(name)) detail::refuse("embedding", "the name is empty, or not UTF-8");
  if (embeddings.rank() != 2 || embeddings.shape().dim(1) == 0)
    detail::refuse("embedding", "takes a matrix [n, size], not " + to_string(embeddings.spec()));
  const std::string metadata = impl::metadata_text(o, embeddings.shape().dim(0));
  const std::string stem = recorder_->folder() + "/" + impl::file_stem(name);
  io::write_file(stem + ".tsv", impl::matrix_text(detail::elements<float>(embeddings), embeddings.shape().dim(1)));
  if (!metadata.empty()) io::write_file(stem + ".metadata.tsv", metadata);
  recorder_->add_embedding(std::string(name), impl::config_entry(name, !metadata.empty()));
}

}  // namespace TANDEM_NS::summary
