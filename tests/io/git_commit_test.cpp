// git_commit: the forms in which a repository names its commit.
#include "tandem/io/git_commit.hpp"

#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace git_commit_test {
using tandem::io::git_commit;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

const std::string a(40, 'a'), b = std::string(39, 'b') + "0", c(64, 'c');

// Writes a file, and the folders that it is in.
void put(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  fs::create_directories(fs::path(folder / name).parent_path());
  folder.file(name, text);
}

TEST_CASE("git_commit: a branch, a detached HEAD, packed branches, folders below") {
  const TemporaryFolder folder;
  const std::string& path = folder.path;
  put(folder, ".git/HEAD", "ref: refs/heads/feature/x\n");
  CHECK(git_commit(path).empty());  // no commit yet
  put(folder, ".git/packed-refs",
      "# pack-refs with: peeled fully-peeled sorted \n" + b + " refs/heads/feature/x/y\n" + a +
          " refs/heads/feature/x\n^" + b + "\n");
  CHECK(git_commit(path) == a);
  put(folder, ".git/refs/heads/feature/x", b + "\n");  // newer than what was packed
  CHECK(git_commit(path) == b);
  fs::create_directories(folder / "runs/a");
  CHECK(git_commit(folder / "runs/a") == b);
  CHECK(git_commit(folder / "runs/a/") == b);
  CHECK(git_commit(folder / "runs/no/such") == b);
  put(folder, ".git/HEAD", c + "\n");
  CHECK(git_commit(path) == c);
  put(folder, ".git/HEAD", "ref: refs/heads/alias\n");
  put(folder, ".git/refs/heads/alias", "ref: refs/heads/feature/x\n");
  CHECK(git_commit(path) == b);
}

TEST_CASE("git_commit: a worktree has its own HEAD and shares the branches; a submodule has a repository elsewhere") {
  const TemporaryFolder folder;
  put(folder, "main/.git/HEAD", "ref: refs/heads/main\n");
  put(folder, "main/.git/refs/heads/main", a + "\n");
  put(folder, "main/.git/packed-refs", b + " refs/heads/side\n");
  put(folder, "main/.git/worktrees/side/HEAD", "ref: refs/heads/side\n");
  put(folder, "main/.git/worktrees/side/commondir", "../..\n");
  put(folder, "side/.git", "gitdir: " + (folder / "main/.git/worktrees/side") + "\n");
  CHECK(git_commit(folder / "side") == b);
  CHECK(git_commit(folder / "main") == a);
  put(folder, "main/.git/modules/sub/HEAD", c + "\n");
  put(folder, "main/sub/.git", "gitdir: ../.git/modules/sub\n");
  CHECK(git_commit(folder / "main/sub") == c);
}

TEST_CASE("git_commit: no text for what is no repository, or damaged") {
  const TemporaryFolder folder;
  const auto commit_with = [&](const std::string& head) {
    put(folder, ".git/HEAD", head);
    return git_commit(folder.path);
  };
  put(folder, "secret", a + "\n");
  put(folder, ".git/refs/heads/round", "ref: refs/heads/round\n");
  for (const std::string& head :
       {std::string(), std::string("\n"), std::string("ref:"), std::string("ref: refs/../../secret"),
        std::string("ref: secret"), std::string("ref: refs/heads/round"), std::string("ref: refs/heads/.invalid"),
        a.substr(1), a + "0", std::string(40, 'g')})
    CHECK(commit_with(head).empty());
  CHECK(commit_with(a + "\r\n") == a);
  fs::remove_all(folder / ".git");
  folder.file(".git", "gitdir: /no/such/folder\n");
  CHECK(git_commit(folder.path).empty());
  CHECK(git_commit("/").empty());
}

}  // namespace git_commit_test
