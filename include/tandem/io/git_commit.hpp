// git_commit: which commit of a git repository a folder is at. Reads the repository's files, without the program git.
#pragma once
#include <string>

#include "tandem/config.hpp"

namespace TANDEM_NS::io {

/// The hash of the commit that is checked out in a folder, in hexadecimal: by default, in the one that the program runs
/// in. Changes that are not committed are not seen. A worktree has its own commit.
///   returns  "" if neither the folder nor one that it is in belongs to a git repository, if that has no commit, and if
///            it keeps its branches in another format than files (git's "reftable")
TANDEM_API std::string git_commit(const std::string& folder = ".");

}  // namespace TANDEM_NS::io
