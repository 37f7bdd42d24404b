// Large sets of tensors in several safetensors files and an index of them, as Hugging Face's libraries write them:
// model-00001-of-00003.safetensors, ..., model.safetensors.index.json.
#pragma once
#include <string>
#include <vector>

#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io {

/// What the name of an index ends in.
inline constexpr const char* shards_suffix = ".safetensors.index.json";
/// What the names of shards end in while an earlier save has the names that end in ".safetensors" alone.
inline constexpr const char* second_save = ".2.safetensors";

/// Saves tensors, in their order, in files of at most max_shard_bytes of data each; a tensor that is larger has a file
/// of its own. The index is written last and has a CRC-32C of each tensor, besides those in the files: shards of two
/// saves are not taken for one. An earlier save of the same name is there until the index is replaced, and its files
/// are removed then: as many shards of the new one have other names, m-00001-of-00003.2.safetensors, and the next time
/// the first ones again. On failure the shards of this call are removed.
///   index_path  ends in ".safetensors.index.json"
///   metadata    is in each of the files
///   throws      errors::InvalidArgumentError for another name or a size below 1; otherwise as save_safetensors
TANDEM_API void save_safetensors_shards(const std::string& index_path, const std::vector<NamedTensor>& tensors,
                                        const Metadata& metadata, i64 max_shard_bytes);
/// Loads the tensors that an index lists, by file, with the metadata of the first one.
///   throws  errors::DataLossError, naming the file, if the index or a file is damaged or they do not belong together;
///           errors::NotFoundError if a file is missing; errors::UnavailableError if the system cannot read it
TANDEM_API Safetensors load_safetensors_shards(const std::string& index_path);
/// The paths of the files that an index lists.
///   throws  as load_safetensors_shards
TANDEM_API std::vector<std::string> list_safetensors_shards(const std::string& index_path);

}  // namespace TANDEM_NS::io
