// CsvReader: batches of typed columns from files of comma-separated values that need not fit into memory. Part of the
// component tandem::data. Not here: whole files as tables of texts (csv.hpp), texts in memory (io::decode_csv).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/core/tensor.hpp"
#include "tandem/data/table.hpp"
#include "tandem/io/input.hpp"

namespace TANDEM_NS::data {

struct CsvReaderOptions {
  i64 batch_size = 128;                  ///< records in a batch; the last one may have fewer
  bool header = true;                    ///< the first record has the names of the columns
  std::string field_delim = ",";         ///< one character
  bool use_quote_delim = true;           ///< fields may be quoted; otherwise a quote is a character like others
  std::string na_value = "";             ///< a field with this text is missing, as an empty one is
  std::vector<Column> select_cols = {};  ///< the columns to read, in this order; default: all
  i64 max_record_bytes = i64{1} << 28;   ///< of a record, which a quote without an end makes large
  io::Compression compression = io::Compression::automatic;
};
/// Reads a file of comma-separated values (RFC 4180) in batches. Records end with LF, CR LF or CR; a byte order mark
/// and empty lines are skipped. Memory is bounded by a batch and a record.
///
///   data::CsvReader reader("train.csv", {constant(0.f), constant(0.f), constant(-1)}, {.batch_size = 256});
///   for (std::vector<Tensor> columns; reader.next(columns);) use(columns[0], columns[1], columns[2]);
class TANDEM_API CsvReader {
 public:
  ///   record_defaults  for each column that is read a scalar or a list of one element, the value of missing fields, or
  ///                    an empty list where a field is required; its dtype is that of the column: float32, float64,
  ///                    int32, int64, string
  ///   throws  errors::InvalidArgumentError for another number of columns, other defaults and options out of range, and
  ///           for a column that the file does not have; otherwise as next
  CsvReader(const std::string& path, std::vector<Tensor> record_defaults, CsvReaderOptions = {});
  CsvReader(CsvReader&&) noexcept;
  CsvReader& operator=(CsvReader&&) noexcept;
  ~CsvReader();

  /// Reads the next batch: for each column a tensor [records]; false at the end of the file.
  ///   throws  errors::InvalidArgumentError, naming file, record, byte offset and field, for a required field that is
  ///           missing and for a text that is not a number; errors::DataLossError for another number of fields and for
  ///           quotes that do not match: the next call goes on with the batch behind that record;
  ///           errors::ResourceExhaustedError for a record above max_record_bytes; errors::DataLossError if compressed
  ///           data are damaged; errors::UnavailableError if the system cannot read the file, or it became shorter:
  ///           after these three the next call returns what the batch has, then false
  bool next(std::vector<Tensor>& columns);
  /// Where the first record behind the last batch begins, for seek().
  i64 position() const;
  /// Goes on at a position of this or another reader of the file; the batch begins anew.
  ///   throws  errors::InvalidArgumentError for one behind the file's end
  void seek(i64 position);
  /// The names of the columns that are read; without a header "0", "1", ...
  const std::vector<std::string>& columns() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::data
