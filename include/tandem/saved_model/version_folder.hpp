// The folder of one version of a saved model: how it is made, published as a whole, and checked. Part of the component
// tandem::saved_model. Not here: what is in it (save.hpp, load.hpp).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tandem/io/regular_file.hpp"
#include "tandem/saved_model/manifest.hpp"

namespace TANDEM_NS::saved_model::impl {

/// The version that a folder's name means: a decimal number from 1 on, without a sign or leading zeros; 0 for another
/// name.
TANDEM_API i64 version_of(std::string_view name);

/// A version that is being made: a folder .tmp-VERSION-PID beside the one that it becomes. Nothing looks like a version
/// before publish(), and all of it has reached the disk then. Destruction removes what was not published; what killed
/// processes left of any version is removed when the next one is saved beside it.
class TANDEM_API NewVersion {
 public:
  /// Makes the folder, and those that it lies in.
  ///   throws  errors::InvalidArgumentError if the name of `directory` is not a version; errors::AlreadyExistsError if
  ///           there is one, unless `overwrite`, or if another thread saves it now; errors::UnavailableError
  NewVersion(const std::string& directory, bool overwrite);
  NewVersion(const NewVersion&) = delete;
  NewVersion& operator=(const NewVersion&) = delete;
  ~NewVersion();

  /// Where a file of the version is written; the folders that it lies in exist.
  std::string path(const std::string& file) const;
  /// Writes a file.
  void write(const std::string& file, std::string_view bytes);
  /// Adds a file that was written to path(file).
  void add(const std::string& file);
  /// The files, without the manifest.
  const std::map<std::string, FileEntry>& files() const;
  /// Makes the folder the version.
  ///   throws  errors::AlreadyExistsError if another process was first; errors::UnimplementedError if a version
  ///           is to be replaced where the file system cannot exchange two folders; errors::UnavailableError
  void publish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The folder of a version that is being read. It stays open, so that no folder that is made meanwhile is taken for it.
class TANDEM_API ReadVersion {
 public:
  ///   throws  errors::NotFoundError if there is no such directory; errors::UnavailableError
  explicit ReadVersion(const std::string& directory);
  /// Whether the directory is still this folder: another process may have exchanged or removed it.
  bool is_current() const;

 private:
  std::string directory_;
  io::detail::Descriptor folder_;
};

/// The size and CRC-32C of a file.
///   throws  errors::NotFoundError, errors::UnavailableError
TANDEM_API FileEntry entry_of_file(const std::string& path);

/// Raises errors::DataLossError, naming the file, unless the folder has the manifest, the files that it lists, with
/// these sizes and checksums, and nothing else: no links, no pipes, no other files.
TANDEM_API void check_files(const std::string& directory, const Manifest& manifest);

}  // namespace TANDEM_NS::saved_model::impl
