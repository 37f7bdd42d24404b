// Folders with a subfolder of files for each class, as data sets of pictures are kept. Part of the component
// tandem::io.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::io {

struct ClassFolderOptions {
  /// The files to take, by the end of their names in either case; empty: all.
  std::vector<std::string> extensions = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp"};
};
/// The classes and files of a folder.
struct ClassFolder {
  std::vector<std::string> class_names;            ///< the subfolders, sorted by their bytes
  std::vector<std::pair<std::string, i64>> files;  ///< path and label (an index of class_names), sorted by both
};
/// Lists root/CLASS/... with its subfolders. Names that begin with a dot are passed over. A class without files is
/// kept, so that labels do not depend on them.
///   throws  errors::NotFoundError if there is no folder of that name; errors::InvalidArgumentError if it has no
///           subfolders; errors::UnavailableError if a folder cannot be read
TANDEM_API ClassFolder list_class_folder(const std::string& root, ClassFolderOptions = {});

}  // namespace TANDEM_NS::io
