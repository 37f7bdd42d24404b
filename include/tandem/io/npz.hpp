// .npz files: named tensors, as numpy.savez writes and numpy.load reads them: a ZIP archive of .npy files.
#pragma once
#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "tandem/io/npy.hpp"
#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io {

struct NpzOptions {
  bool compressed = false;  ///< deflates the tensors, as numpy.savez_compressed does (needs zlib)
};

/// Saves named tensors of any shape and device. The file is replaced atomically: on failure it is left unchanged.
///   throws  errors::InvalidArgumentError for dtypes that NumPy does not have (see save_npy), a name that is empty or
///           occurs twice, or a file or a tensor of 4 GiB (see save_safetensors, which has no limit);
///           errors::UnimplementedError if `compressed` is set and the library was built without zlib; otherwise as
///           save_npy
TANDEM_API void save_npz(const std::string& path, const std::vector<NamedTensor>& tensors, NpzOptions = {});
/// The same for a map, in the order of the names.
template <std::same_as<std::map<std::string, Tensor>> M>  // a template, so that braces select the list overload above
void save_npz(const std::string& path, const M& tensors, NpzOptions options = {}) {
  std::vector<NamedTensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back({name, tensor});
  save_npz(path, list, options);
}

/// Loads all tensors of a file to the CPU, in the file's order. Memory and time are proportional to the size of the
/// tensors, which together a damaged file cannot overstate by more than deflate's largest ratio (1032).
///   throws  errors::NotFoundError if there is no regular file of that name; errors::DataLossError, naming the member
///           and the defect (a wrong CRC-32 too), if it is damaged; errors::InvalidArgumentError for dtypes that a
///           tensor cannot have (see load_npy); errors::UnimplementedError for compressed members if the library was
///           built without zlib, for encrypted ones and for other methods than deflate;
///           errors::ResourceExhaustedError beyond the memory limit (memory::set_limit)
TANDEM_API std::vector<NamedTensor> load_npz(const std::string& path);
/// Loads one tensor of a file.
///   throws  errors::NotFoundError, with the names that there are, if it has none of that name
TANDEM_API Tensor load_npz(const std::string& path, const std::string& name);
/// Parses an .npz file in memory; `path` is used in error messages only.
TANDEM_API std::vector<NamedTensor> parse_npz(const char* data, std::size_t size, const std::string& path);

}  // namespace TANDEM_NS::io
