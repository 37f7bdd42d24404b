// The folder of a snapshot: elements in several files, of which a last one says that they are complete. Behind
// data/dataset.hpp. Part of the component tandem::data. Not here: the stage that writes and reads it (saved.hpp).
#pragma once
#include <memory>
#include <string>

#include "tandem/data/dataset/map.hpp"
#include "tandem/data/dataset/saved.hpp"

namespace TANDEM_NS::data {

struct SnapshotOptions {
  /// What the elements depend on, in your words: "v2, 224x224". Each fingerprint and each type of elements has a
  /// snapshot of its own.
  std::string fingerprint = "";
  i64 shard_bytes = i64{256} << 20;  ///< a file ends with the element that reaches this size
  i64 num_parallel_reads = 0;        ///< threads that read a complete snapshot; 0: the consumer's; or autotune
};

namespace detail {

/// The folder of a snapshot with these options.
TANDEM_API std::string snapshot_folder(const std::string& dir, const SnapshotOptions& options, const std::string& type);
/// Opens a complete snapshot; null if there is none.
///   throws  errors::DataLossError in the name of `op` for files that are missing or not as long as they were; what
///           opening them raises
TANDEM_API std::shared_ptr<const ElementFiles> open_snapshot(const char* op, const std::string& folder,
                                                             const std::string& type);
///   throws  errors::InvalidArgumentError for shard_bytes below 1
TANDEM_API std::unique_ptr<ElementStore> snapshot_store(const std::string& dir, const SnapshotOptions& options,
                                                        const std::string& type);
/// The threads that read it.
TANDEM_API Workers snapshot_readers(const SnapshotOptions& options);

}  // namespace detail
}  // namespace TANDEM_NS::data
