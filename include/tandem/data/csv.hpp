// Files of comma-separated and tab-separated values, read as a Table. Part of the component tandem::data.
#pragma once
#include <string>
#include <vector>

#include "tandem/data/file.hpp"
#include "tandem/data/table.hpp"

namespace TANDEM_NS::data {

struct CsvOptions {
  bool header = true;                          ///< the first record has the names of the columns
  std::string field_delim = ",";               ///< one character
  bool use_quote_delim = true;                 ///< fields may be quoted; otherwise a quote is a character like others
  std::string na_value = "";                   ///< a field with this text is missing, as an empty one is
  std::vector<Column> select_cols = {};        ///< the columns to keep, in this order; default: all
  std::vector<std::string> column_names = {};  ///< replace the header's; without a header the default is "0", "1", ...
  i64 max_bytes = ReadOptions().max_bytes;     ///< as ReadOptions::max_bytes
};
/// Reads a file of comma-separated values (RFC 4180), plain or compressed by gzip. A field may be in double quotes,
/// inside of which two quotes stand for one, and delimiters and line breaks for themselves. Records end with LF, CR LF
/// or CR, the last one may end with the file. Empty lines and a byte order mark are skipped.
///   returns  all fields as texts; fields have the white space that the file has
///   throws   errors::DataLossError, naming record and line, for quotes that do not match and for a record with more or
///            fewer fields than the first one; errors::InvalidArgumentError for a delimiter of another length, for an
///            unknown column, and for `column_names` of another number; otherwise as read_file
TANDEM_API Table load_csv(const std::string& path, CsvOptions = {});
/// Reads a text as load_csv; `path` is used in error messages only.
TANDEM_API Table parse_csv(std::string text, CsvOptions = {}, const std::string& path = "the text");

struct TsvOptions {
  bool header = true;  ///< these are as in CsvOptions
  std::string na_value = "";
  std::vector<Column> select_cols = {};
  std::vector<std::string> column_names = {};
  i64 max_bytes = ReadOptions().max_bytes;
};
/// Reads a file of tab-separated values as load_csv. Quotes are characters like others: a field cannot contain tabs or
/// line breaks.
TANDEM_API Table load_tsv(const std::string& path, TsvOptions = {});

}  // namespace TANDEM_NS::data
