// Records of comma-separated values (RFC 4180). Part of the component tandem::strings.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::io {

struct DecodeCsvOptions {
  TANDEM_OP_OPTIONS;
  std::string field_delim = ",";      ///< one character
  bool use_quote_delim = true;        ///< fields may be quoted; otherwise a quote is a character like others
  std::string na_value = "";          ///< a field with this text is missing, as an empty one is
  std::vector<i64> select_cols = {};  ///< the columns to read, in ascending order; default: all
};
/// Reads columns of values from records. A field may be in double quotes, inside of which two quotes stand for one.
///   records          string, any shape
///   record_defaults  for each column a scalar or list of one element, the value of missing fields, or an empty list
///                    where a field is required; its dtype is that of the column: float32, float64, int32, int64,
///                    string
///   returns          a tensor for each column, in the shape of records
///   throws           errors::InvalidArgumentError, naming field and record, for a required field that is missing, for
///                    one that is not a number, for another number of fields, and for quotes that do not match
///   gradient         none (non-differentiable)
TANDEM_API std::vector<Tensor> decode_csv(const Tensor& records, const TensorList& record_defaults,
                                          DecodeCsvOptions = {});

}  // namespace TANDEM_NS::io

namespace TANDEM_NS {

TANDEM_OPS(csv_ops, decode_csv)

namespace rules {
struct CsvAttrs {
  std::string field_delim, na_value;
  bool use_quote_delim;
  IntList select_cols;
  TANDEM_ATTRS(CsvAttrs, field_delim, na_value, use_quote_delim, select_cols);
};
}  // namespace rules
}  // namespace TANDEM_NS
