// Definitions of data/csv.hpp: a text divided into cells, which refer to it. Doubled quotes are made single in place.
#pragma once
#include "tandem/data/csv.hpp"
#include "tandem/util/csv_scanner.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::data {

namespace detail {

class TableReader {
 public:
  TableReader(const char* op, std::string text, const CsvOptions& options, const std::string& path)
      : op_(op), options_(options), path_(path), text_(std::make_shared<std::string>(std::move(text))) {
    const std::string& d = options.field_delim;
    if (d.size() != 1 || d == "\n" || d == "\r" || (d == "\"" && options.use_quote_delim))
      errors::raise<errors::InvalidArgumentError>(
          op, "field_delim must be one character other than a quote or a line break, not " +
                  tandem::detail::escaped_text(d));
  }

  Table read() {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    std::string_view text = *text_;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    begin_ = static_cast<std::size_t>(text.data() - text_->data());
    tandem::detail::CsvScanner fields(text, options_.field_delim[0], options_.use_quote_delim);
    std::vector<std::string_view> record;
    while (fields.position() < text.size()) {
      if (!read_record(fields, record)) continue;
      if (width_ == 0) start(record);
      if (record.size() != width_) fail(std::to_string(record.size()) + " fields instead of " + std::to_string(width_));
      if (is_header_) is_header_ = false;
      else add(record);
    }
    if (width_ == 0) start({});
    return table();
  }

 private:
  // False for an empty line.
  bool read_record(tandem::detail::CsvScanner& fields, std::vector<std::string_view>& record) {
    record.clear();
    record_begin_ = fields.position();
    for (;;) {
      const tandem::detail::CsvField f = fields.next();
      if (f.fault) fail(f.fault);
      record.push_back(f.doubled ? undoubled(f.raw) : f.raw);
      if (f.end == f.field) continue;
      return record.size() > 1 || f.quoted || !f.raw.empty();
    }
  }
  std::string_view undoubled(std::string_view raw) {
    char* const s = text_->data() + (raw.data() - text_->data());
    const std::size_t n = tandem::detail::undouble_quotes(s, raw.size());
    std::fill(s + n, s + raw.size(), '"');  // what is left has no line breaks, which fail() counts
    return {s, n};
  }
  // The first record says how many columns there are.
  void start(const std::vector<std::string_view>& first) {
    is_header_ = options_.header && !first.empty();
    width_ = first.size();
    if (options_.header) names_.assign(first.begin(), first.end());
    if (!options_.column_names.empty()) {
      if (options_.column_names.size() != width_ && width_)
        errors::raise<errors::InvalidArgumentError>(
            op_, path_ + " has " + std::to_string(width_) + " columns, but there are " +
                     std::to_string(options_.column_names.size()) + " column_names");
      names_ = options_.column_names;
    }
    for (std::size_t i = names_.size(); i < width_; ++i) names_.push_back(std::to_string(i));
    for (const Column& c : options_.select_cols) selected_.push_back(c.among(names_, op_, path_));
  }
  void add(const std::vector<std::string_view>& record) {
    ++records_;
    if (options_.select_cols.empty()) cells_.insert(cells_.end(), record.begin(), record.end());
    for (const std::size_t at : selected_) cells_.push_back(record[at]);
  }
  Table table() {
    Table t;
    if (options_.select_cols.empty()) t.columns_ = std::move(names_);
    for (const std::size_t at : selected_) t.columns_.push_back(names_[at]);
    t.content_ = std::move(text_);
    t.cells_ = std::make_shared<std::vector<std::string_view>>(std::move(cells_));
    t.path_ = path_, t.na_value_ = options_.na_value;
    return t;
  }
  // Names the record and the line on which it begins.
  [[noreturn]] void fail(const std::string& what) const {
    const std::string_view before = std::string_view(*text_).substr(0, begin_ + record_begin_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const bool header = options_.header && (width_ == 0 || is_header_);
    errors::raise<errors::DataLossError>(op_, path_ + ": " + what + " in " +
                                                  (header ? "the header" : "record " + std::to_string(records_ + 1)) +
                                                  " (line " + std::to_string(line) + ")");
  }

  const char* op_;
  const CsvOptions& options_;
  const std::string& path_;
  std::shared_ptr<std::string> text_;
  std::size_t begin_ = 0, record_begin_ = 0, width_ = 0;  // begin_: behind a byte order mark
  i64 records_ = 0;
  bool is_header_ = false;
  std::vector<std::string> names_;
  std::vector<std::size_t> selected_;
  std::vector<std::string_view> cells_;
};

}  // namespace detail

TANDEM_INLINE Table load_csv(const std::string& path, CsvOptions o) {
  return detail::TableReader("load_csv", detail::read_file("load_csv", path, o.max_bytes), o, path).read();
}
TANDEM_INLINE Table parse_csv(std::string text, CsvOptions o, const std::string& path) {
  return detail::TableReader("parse_csv", std::move(text), o, path).read();
}
TANDEM_INLINE Table load_tsv(const std::string& path, TsvOptions o) {
  const CsvOptions csv{.header = o.header,
                       .field_delim = "\t",
                       .use_quote_delim = false,
                       .na_value = o.na_value,
                       .select_cols = o.select_cols,
                       .column_names = o.column_names};
  return detail::TableReader("load_tsv", detail::read_file("load_tsv", path, o.max_bytes), csv, path).read();
}

}  // namespace TANDEM_NS::data
