// Definitions of data/csv_reader.hpp.
#pragma once
#include <algorithm>
#include <optional>

#include "tandem/data/csv_reader.hpp"
#include "tandem/data/decimal.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/csv_scanner.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::data {

namespace detail {

// A column of the batch that is being filled.
struct CsvColumn {
  explicit CsvColumn(const Tensor& d) : missing(d), dtype(d.dtype()), is_required(d.size() == 0) {}
  void begin(i64 rows) {
    values = Tensor::allocate({Shape{rows}, dtype, {}});
    to = values.raw();
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(to);
  }
  // Writes a field; false if its text is not of the column's dtype.
  bool write(i64 row, std::string_view text) const {
    if (dtype == DType::float32) [[likely]]
      return parse_decimal(text, as<float>()[row]);
    switch (dtype) {
      case DType::float64: return parse_decimal(text, as<double>()[row]);
      case DType::int32: return parse_decimal(text, as<std::int32_t>()[row]);
      case DType::int64: return parse_decimal(text, as<i64>()[row]);
      default: as<Bytes>()[row] = Bytes(text); return true;
    }
  }
  void write_missing(i64 row) const {
    if (dtype == DType::string) as<Bytes>()[row] = *static_cast<const Bytes*>(missing.raw());
    else if (size_of(dtype) == 4) as<std::uint32_t>()[row] = *static_cast<const std::uint32_t*>(missing.raw());
    else as<u64>()[row] = *static_cast<const u64*>(missing.raw());
  }

  Tensor missing, values;
  void* to = nullptr;  // the values' elements
  DType dtype;
  bool is_required;
};

}  // namespace detail

struct CsvReader::State {
  State(const std::string& path, std::vector<Tensor> defaults, CsvReaderOptions o)
      : options(std::move(o)), input("CsvReader", path, options.compression) {
    const std::string& d = options.field_delim;
    if (d.size() != 1 || d == "\n" || d == "\r" || (d == "\"" && options.use_quote_delim))
      refuse("field_delim must be one character other than a quote or a line break, not " +
             tandem::detail::escaped_text(d));
    if (options.batch_size <= 0) refuse("batch_size must be positive, not " + std::to_string(options.batch_size));
    if (options.max_record_bytes < 0) refuse("max_record_bytes must not be negative");
    for (const Tensor& t : defaults) {
      check_default(t);
      columns.emplace_back(t.cpu());
    }
    skip_byte_order_mark();
    find_columns();
  }

  [[noreturn]] static void refuse(const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("CsvReader", what);
  }
  static void check_default(const Tensor& t) {
    constexpr DTypes allowed = dtypes_of(DType::float32, DType::float64, DType::int32, DType::int64, DType::string);
    tandem::detail::check_value("CsvReader", t);
    if (!allowed.has(t.dtype()) || t.rank() > 1 || t.size() > 1)
      refuse(
          "a default must be a scalar or a list of at most one element of dtype float32, float64, int32, int64 or "
          "string, not " +
          to_string(t.spec()));
  }
  void skip_byte_order_mark() {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (input.position() == 0 && input.peek(mark.size()).starts_with(mark)) input.skip(mark.size());
  }
  // The first record says how many columns the file has.
  void find_columns() {
    std::vector<std::string> all;
    const auto keep = [&](std::size_t i, std::string_view text) {
      if (i == 0) all.clear();
      all.emplace_back(text);
    };
    const u64 begin = input.position();
    if (!read_record(keep)) return;
    record = -1;
    if (!options.header) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::to_string(i);
      input.seek(begin);
      scanner.reset(), base = 0;
    }
    width = all.size();
    target.assign(width, -1);
    std::vector<Column> selected = options.select_cols;
    if (selected.empty())
      for (std::size_t i = 0; i < width; ++i) selected.emplace_back(i);
    if (selected.size() != columns.size())
      refuse(input.path() + ": " + std::to_string(selected.size()) + " columns need as many defaults, not " +
             std::to_string(columns.size()));
    for (std::size_t i = 0; i < selected.size(); ++i) {
      const std::size_t at = selected[i].among(all, "CsvReader", input.path());
      if (target[at] >= 0)
        refuse(input.path() + ": column " + tandem::detail::escaped_text(all[at]) + " is selected twice");
      target[at] = static_cast<int>(i);
      names.push_back(all[at]);
    }
  }

  // Names the record that is read, or was read last.
  std::string place() const {
    return input.path() + ": record " + std::to_string(record) +
           (start ? " after byte " + std::to_string(start) : std::string()) + " at byte " + std::to_string(record_at) +
           ": ";
  }
  // The scanner of the window; a longer window needs a new one.
  tandem::detail::CsvScanner& scan() {
    if (!scanner) scanner.emplace(input.window(), options.field_delim[0], options.use_quote_delim);
    return *scanner;
  }
  // Makes the window longer; false at the end of the file.
  bool extend() {
    const std::size_t before = input.window().size();
    ended = true;  // unless reading succeeds
    if (before > static_cast<u64>(options.max_record_bytes))
      errors::raise<errors::ResourceExhaustedError>(
          "CsvReader", place() + "it has more than max_record_bytes = " + std::to_string(options.max_record_bytes) +
                           " bytes (a quote without an end?)");
    scanner.reset();
    base = 0;
    const bool longer = input.peek(before + 1).size() > before;
    ended = false;
    return longer;
  }
  // Passes over what the scanner has read.
  void finish_record() {
    const std::size_t at = scan().position();
    input.skip(at - base);
    base = at;
  }
  // After a fault within a record: goes on behind the line's end.
  [[noreturn]] void damaged(const std::string& what, bool within) {
    const std::string text = place() + what;
    finish_record();
    while (within) {
      const std::size_t end = input.window().find('\n');
      input.skip(std::min(end, input.window().size() - 1) + 1);
      scanner.reset(), base = 0;
      if (end != std::string_view::npos || !extend()) break;
    }
    errors::raise<errors::DataLossError>("CsvReader", text);
  }

  // Calls f(number, text) for the fields of the next record that is not an empty line, perhaps more than once; false at
  // the end of the file.
  template <class F>
  bool read_record(const F& f) {
    ++record;
    for (bool last = false;;) {
      if (input.window().empty() && !extend()) {
        --record;
        return false;
      }
      record_at = static_cast<i64>(input.position());
      std::size_t fields = 0;
      const tandem::detail::CsvField end = read_fields(f, fields);
      // What ends with the window may go on behind it: a field, or the LF of a CR.
      if (!last && scan().position() - base == input.window().size()) {
        last = !extend();
        continue;
      }
      if (end.fault) damaged(end.fault, scan().position() - base < input.window().size());
      const bool is_empty_line = fields == 1 && end.raw.empty() && !end.quoted;
      if (width && !is_empty_line && fields != width)
        damaged("Expect " + std::to_string(width) + " fields but have " + std::to_string(fields), false);
      finish_record();
      if (!is_empty_line) return true;
    }
  }
  template <class F>
  tandem::detail::CsvField read_fields(const F& f, std::size_t& fields) {
    for (;;) {
      const tandem::detail::CsvField field = scan().next();
      if (field.fault) return field;
      if (field.doubled) {
        unquoted = field.raw;
        f(fields,
          std::string_view(unquoted).substr(0, tandem::detail::undouble_quotes(unquoted.data(), unquoted.size())));
      } else {
        f(fields, field.raw);
      }
      ++fields;
      if (field.end != field.field) return field;
    }
  }

  // Reads a record into row `rows` of the batch.
  bool read_row() {
    std::size_t bad = width;
    bool is_missing = false;
    std::string text;
    const bool found = read_record([&](std::size_t i, std::string_view s) {
      if (i == 0) bad = width;  // a record is read again once the window is longer
      if (i >= width || target[i] < 0) return;
      const detail::CsvColumn& c = columns[static_cast<std::size_t>(target[i])];
      if (s.empty() || s == options.na_value) {
        if (!c.is_required) return c.write_missing(rows);
        bad = std::min(bad, i), is_missing = true;
      } else if (!c.write(rows, s) && bad == width) {
        bad = i, is_missing = false, text = s.substr(0, 60);
      }
    });
    if (found && bad < width) {
      const std::string field = "Field " + std::to_string(bad) + " (" +
                                tandem::detail::escaped_text(names[static_cast<std::size_t>(target[bad])]) + ")";
      const DType dtype = columns[static_cast<std::size_t>(target[bad])].dtype;
      errors::raise<errors::InvalidArgumentError>(
          "CsvReader",
          place() + field +
              (is_missing ? " is required but missing"
                          : std::string(" is not a valid ") + name(dtype) + ": " + tandem::detail::escaped_text(text)));
    }
    return found;
  }

  CsvReaderOptions options;
  io::detail::Input input;
  std::optional<tandem::detail::CsvScanner> scanner;
  std::size_t base = 0;     // the window's beginning in the scanner's text
  std::vector<int> target;  // for each column of the file that of the batch, or -1
  std::vector<std::string> names;
  std::vector<detail::CsvColumn> columns;
  std::size_t width = 0;
  i64 rows = 0;                               // of the batch
  i64 record = -1, record_at = 0, start = 0;  // the record that was read last, counted from position `start`
  bool filling = false, ended = false;
  std::string unquoted;
};

TANDEM_INLINE CsvReader::CsvReader(const std::string& path, std::vector<Tensor> record_defaults, CsvReaderOptions o)
    : state_(std::make_unique<State>(path, std::move(record_defaults), std::move(o))) {}
TANDEM_INLINE CsvReader::CsvReader(CsvReader&&) noexcept = default;
TANDEM_INLINE CsvReader& CsvReader::operator=(CsvReader&&) noexcept = default;
TANDEM_INLINE CsvReader::~CsvReader() = default;

TANDEM_INLINE const std::vector<std::string>& CsvReader::columns() const { return state_->names; }
TANDEM_INLINE i64 CsvReader::position() const { return static_cast<i64>(state_->input.position()); }
TANDEM_INLINE void CsvReader::seek(i64 position) {
  State& s = *state_;
  if (position < 0) State::refuse("a position is not negative");
  s.input.seek(static_cast<u64>(position));
  s.skip_byte_order_mark();
  s.scanner.reset();
  s.base = 0, s.rows = 0, s.record = -1, s.start = position, s.filling = s.ended = false;
}
TANDEM_INLINE bool CsvReader::next(std::vector<Tensor>& columns) {
  const tandem::detail::OutsideTrace outside;
  State& s = *state_;
  if (!s.filling) {
    for (detail::CsvColumn& c : s.columns) c.begin(s.options.batch_size);
    s.rows = 0, s.filling = true;
  }
  while (s.rows < s.options.batch_size && !s.ended && s.read_row()) ++s.rows;
  s.filling = false;
  if (s.rows == 0) return false;
  columns.clear();
  for (detail::CsvColumn& c : s.columns)
    columns.push_back(s.rows == s.options.batch_size ? std::move(c.values)
                                                     : Tensor::view_of(c.values, {Shape{s.rows}, c.dtype, {}}));
  return true;
}

}  // namespace TANDEM_NS::data
