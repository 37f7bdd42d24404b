// IDX files, the format of the MNIST digits: one tensor each. Part of the component tandem::data.
#pragma once
#include <string>
#include <string_view>

#include "tandem/core/tensor.hpp"
#include "tandem/data/file.hpp"

namespace TANDEM_NS::data {

/// Loads a tensor from an IDX file, plain or compressed by gzip.
///   returns  uint8, int8, int16, int32, float32 or float64, of the shape in the file, on the CPU
///   throws   errors::DataLossError, naming the defect and its offset, if the file is not IDX, ends early, is longer
///            than its header says, or its shape needs more memory than such a file can fill; otherwise as read_file
///   source   Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits": two zero bytes, the dtype,
///            the rank, the sizes and the elements, big-endian
TANDEM_API Tensor load_idx(const std::string& path, ReadOptions = {});
/// Parses an IDX file in memory; `path` is used in error messages only.
TANDEM_API Tensor parse_idx(std::string_view bytes, const std::string& path);

}  // namespace TANDEM_NS::data
