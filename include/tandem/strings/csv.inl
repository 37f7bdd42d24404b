// Definitions of strings/csv.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/strings/csv.hpp"
#include "tandem/strings/string_kernels.hpp"
#include "tandem/util/csv_scanner.hpp"
#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS {
namespace io::impl {

using strings::impl::raise;

inline constexpr DTypes column_dtypes =
    dtypes_of(DType::float32, DType::float64, DType::int32, DType::int64, DType::string);

TANDEM_INLINE Specs infer_decode_csv(const InferCall& c) {
  const auto& a = c.get<rules::CsvAttrs>();
  const std::size_t columns = c.in.size() - 1;
  if (a.field_delim.size() != 1 || a.field_delim == "\"" || a.field_delim == "\n" || a.field_delim == "\r")
    raise(c.op.name, "field_delim must be one character other than a quote or a line break, not " +
                         strings::impl::in_quotes(a.field_delim));
  if (!a.select_cols.empty() && a.select_cols.size() != columns)
    raise(c.op.name, std::to_string(a.select_cols.size()) + " selected columns need as many defaults, not " +
                         std::to_string(columns));
  for (std::size_t i = 0; i < a.select_cols.size(); ++i)
    if (a.select_cols.begin()[i] < 0 || (i && a.select_cols.begin()[i] <= a.select_cols.begin()[i - 1]))
      raise(c.op.name, "select_cols must be ascending and not negative");
  Specs r;
  for (std::size_t i = 1; i <= columns; ++i) {
    const Spec& s = c.spec(i);
    const std::string which = "the default of column " + std::to_string(i - 1);
    if (!column_dtypes.has(s.dtype))
      raise(c.op.name, which + " must be float32, float64, int32, int64 or string, not " + to_string(s));
    if (s.shape.rank() > 1 || (s.shape.rank() == 1 && s.shape.dim(0) != none && s.shape.dim(0) > 1))
      raise(c.op.name, which + " must be a scalar or a list of at most one element, not " + to_string(s));
    r.push_back(strings::impl::host_spec(c.spec(0).shape, s.dtype));
  }
  return r;
}

// Reads the fields of one record in turn.
class CsvRecord {
 public:
  CsvRecord(const KernelCall& c, i64 record, std::string_view text)
      : CsvRecord(c, record, text, c.attrs.get<rules::CsvAttrs>()) {}

  bool at_end() const { return at_end_; }
  /// The next field; valid until the one after it is read.
  std::string_view next() {
    const tandem::detail::CsvField f = fields_.next();
    if (f.fault) fail(f.fault);
    if (f.end == f.record) fail("an unquoted field has a line break");
    at_end_ = f.end == f.text;
    if (!f.doubled) return f.raw;
    unquoted_ = f.raw;
    return std::string_view(unquoted_).substr(0, tandem::detail::undouble_quotes(unquoted_.data(), unquoted_.size()));
  }

 private:
  CsvRecord(const KernelCall& c, i64 record, std::string_view text, const rules::CsvAttrs& a)
      : c_(c), record_(record), fields_(text, a.field_delim[0], a.use_quote_delim) {}
  [[noreturn]] void fail(const std::string& what) const {
    raise(c_.op, what + " in record " + std::to_string(record_));
  }

  const KernelCall& c_;
  i64 record_;
  tandem::detail::CsvScanner fields_;
  bool at_end_ = false;
  std::string unquoted_;
};

template <class T>
void write_number(const KernelCall& c, std::size_t column, i64 record, std::string_view s, const char* kind) {
  if (!tandem::detail::parse_number(s, c.out[column].as<T>()[record]))
    raise(c.op, "Field " + std::to_string(column) + " in record " + std::to_string(record) + " is not a valid " + kind +
                    ": " + std::string(s));
}
inline void write_field(const KernelCall& c, std::size_t column, i64 record, std::string_view s) {
  const Operand &out = c.out[column], &missing = c.in[column + 1];
  if (s.empty() || s == c.attrs.get<rules::CsvAttrs>().na_value) {
    if (missing.size() == 0)
      raise(c.op, "Field " + std::to_string(column) + " is required but missing in record " + std::to_string(record));
    if (out.spec->dtype == DType::string) out.as<Bytes>()[record] = *missing.as<const Bytes>();
    else if (size_of(out.spec->dtype) == 4) out.as<std::uint32_t>()[record] = *missing.as<const std::uint32_t>();
    else out.as<u64>()[record] = *missing.as<const u64>();
    return;
  }
  switch (out.spec->dtype) {
    case DType::float32: return write_number<float>(c, column, record, s, "float");
    case DType::float64: return write_number<double>(c, column, record, s, "double");
    case DType::int32: return write_number<std::int32_t>(c, column, record, s, "int32");
    case DType::int64: return write_number<std::int64_t>(c, column, record, s, "int64");
    default: out.as<Bytes>()[record] = Bytes(s);
  }
}
// The columns of one record. Their number is checked before any of them is read.
inline void decode_record(const KernelCall& c, i64 record, std::string_view text) {
  const IntList& selected = c.attrs.get<rules::CsvAttrs>().select_cols;
  const std::size_t columns = c.out.size();
  std::size_t found = 0;
  for (const bool write : {false, true}) {
    CsvRecord fields(c, record, text);
    std::size_t column = 0;
    for (i64 i = 0; !fields.at_end(); ++i) {
      const std::string_view s = fields.next();
      if (!selected.empty() && (column == columns || selected.begin()[column] != i)) continue;
      if (write) write_field(c, column, record, s);
      ++column;
    }
    found = column;
    if (found != columns)
      raise(c.op, "Expect " + std::to_string(columns) + " fields but have " + std::to_string(found) + " in record " +
                      std::to_string(record));
  }
}
TANDEM_INLINE void decode_csv_kernel(const KernelCall& c) {
  strings::impl::for_each_or_raise(c.in[0].size(), 64,
                                   [&](i64 i) { decode_record(c, i, c.in[0].as<const Bytes>()[i].view()); });
}

}  // namespace io::impl

TANDEM_INLINE constexpr OpDef decode_csv_op{.name = "decode_csv",
                                            .input_names = "records, record_defaults...",
                                            .infer = &io::impl::infer_decode_csv,
                                            .cpu = &io::impl::decode_csv_kernel,
                                            .dtypes = strings::impl::text,
                                            .inputs = at_least(2),
                                            .outputs = -1,
                                            .host_inputs = strings::impl::all_on_host,
                                            .flags = {.non_differentiable = true},
                                            .attrs = &detail::attr_type<rules::CsvAttrs>};

TANDEM_INLINE std::vector<Tensor> io::decode_csv(const Tensor& records, const TensorList& record_defaults,
                                                 DecodeCsvOptions o) {
  const tandem::detail::CallSite call(o);
  if (record_defaults.list().empty()) impl::raise("decode_csv", "there are no record_defaults");
  rules::CsvAttrs a{o.field_delim, o.na_value, o.use_quote_delim, {}};
  for (const i64 column : o.select_cols) a.select_cols.push_back(column);
  InlinedVector<const Tensor*, 8> in;
  in.push_back(&records);
  for (const Tensor& t : record_defaults.list()) in.push_back(&t);
  const Tensors out = apply(decode_csv_op, {in.begin(), in.size()}, a, {o.name, o.where});
  return {out.begin(), out.end()};
}

}  // namespace TANDEM_NS
