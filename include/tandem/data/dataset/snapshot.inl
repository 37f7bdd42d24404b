// Definitions of data/dataset/snapshot.hpp. A folder snapshot-HASH has files of elements, shard-00000 and so on, a file
// `lock`, which the process that writes them holds, and last of all `complete`, a text:
//
//   tandem snapshot 1
//   elements 1000 1000 87       (of each shard)
//   fingerprint ...
#pragma once
#include <sys/file.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "tandem/data/dataset/order.hpp"
#include "tandem/data/dataset/snapshot.hpp"
#include "tandem/io/file.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::data::detail {

namespace impl {

inline constexpr const char* snapshot_start = "tandem snapshot 1\nelements";

inline std::string shard_path(const std::string& folder, std::size_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "/shard-%05zu", number);
  return folder + name;
}
inline std::string complete_path(const std::string& folder) { return folder + "/complete"; }
// Removes the files of an attempt that did not come to its end: shards with their indexes, temporary files of these and
// of `complete`. The lock is held.
inline void remove_attempt(const std::string& folder) {
  std::error_code error;  // a file that cannot be removed is replaced, or raises then
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("shard-") || name.starts_with("complete."))
      std::filesystem::remove(entry.path(), error);
}

// The lock of the process that writes; the system releases it when that ends in whatever way.
inline io::detail::Descriptor locked(const std::string& folder, bool& held) {
  const std::string path = folder + "/lock";
  io::detail::Descriptor file(
      io::detail::uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666); }));
  held = file.get() >= 0 && io::detail::uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0;
  if (!held && (file.get() < 0 || errno != EWOULDBLOCK))
    errors::raise<errors::UnavailableError>("snapshot", "cannot lock " + path + ": " + std::strerror(errno));
  return file;
}

class SnapshotSink final : public ElementSink {
 public:
  SnapshotSink(std::string folder, std::string type, const SnapshotOptions& options, io::detail::Descriptor lock)
      : folder_(std::move(folder)), type_(std::move(type)), options_(options), lock_(std::move(lock)) {
    remove_attempt(folder_);
  }
  SnapshotSink(const SnapshotSink&) = delete;
  ~SnapshotSink() override {
    shard_.reset();
    if (!published_) remove_attempt(folder_);
  }
  void write(std::string_view element) override {
    if (!shard_) {
      shard_ = std::make_unique<ElementWriter>(shard_path(folder_, sizes_.size()), type_);
      sizes_.push_back(0);
      bytes_ = 0;
    }
    shard_->write(element);
    ++sizes_.back();
    bytes_ += static_cast<i64>(element.size());
    if (bytes_ >= options_.shard_bytes) end_shard();
  }
  void publish() override {
    if (shard_) end_shard();
    std::string text = snapshot_start;
    for (const i64 n : sizes_) text += " " + std::to_string(n);
    io::write_file(complete_path(folder_), text + "\nfingerprint " + options_.fingerprint + "\n");
    published_ = true;
  }

 private:
  void end_shard() {
    shard_->publish();
    shard_.reset();
  }
  std::string folder_, type_;
  SnapshotOptions options_;
  io::detail::Descriptor lock_;
  std::unique_ptr<ElementWriter> shard_;
  std::vector<i64> sizes_;  // of the shards so far
  i64 bytes_ = 0;           // of the present one
  bool published_ = false;
};

class SnapshotStore final : public ElementStore {
 public:
  SnapshotStore(std::string folder, const SnapshotOptions& options, std::string type)
      : folder_(std::move(folder)), options_(options), type_(std::move(type)) {}
  std::shared_ptr<const ElementFiles> open() const override { return open_snapshot("snapshot", folder_, type_); }
  std::unique_ptr<ElementSink> write() const override {
    io::ensure_directory(folder_);
    bool held = false;
    io::detail::Descriptor lock = locked(folder_, held);
    // Another process may have come to the end between open() and here.
    if (!held || std::filesystem::exists(complete_path(folder_))) return nullptr;
    return std::make_unique<SnapshotSink>(folder_, type_, options_, std::move(lock));
  }

 private:
  std::string folder_;
  SnapshotOptions options_;
  std::string type_;
};

}  // namespace impl

TANDEM_INLINE std::string snapshot_folder(const std::string& dir, const SnapshotOptions& options,
                                          const std::string& type) {
  return io::cache_path(dir, "snapshot", type + "\n" + options.fingerprint);
}
TANDEM_INLINE std::shared_ptr<const ElementFiles> open_snapshot(const char* op, const std::string& folder,
                                                                const std::string& type) {
  const std::string path = impl::complete_path(folder);
  if (!std::filesystem::exists(path)) return nullptr;
  const auto damaged = [&](const std::string& what) {
    errors::raise<errors::DataLossError>(op, folder + ": " + what + "; remove the folder to write it again");
  };
  const std::string text = io::read_file(path);
  if (text.rfind(impl::snapshot_start, 0) != 0) damaged("the file `complete` is damaged");
  const std::string_view start = impl::snapshot_start;
  std::istringstream sizes(text.substr(start.size(), text.find('\n', start.size()) - start.size()));
  auto files = std::make_shared<ElementFiles>();
  std::size_t shard = 0;
  for (i64 n = 0; sizes >> n; ++shard) {
    const std::string file = impl::shard_path(folder, shard);
    const i64 before = files->size();
    if (!std::filesystem::exists(file)) damaged(file + " is missing");
    files->add(op, file, type);
    if (files->size() - before != n)
      damaged(file + " has " + std::to_string(files->size() - before) + " elements in place of " + std::to_string(n));
  }
  if (!sizes.eof()) damaged("the file `complete` is damaged");
  return files;
}
TANDEM_INLINE std::unique_ptr<ElementStore> snapshot_store(const std::string& dir, const SnapshotOptions& options,
                                                           const std::string& type) {
  check_at_least("snapshot", "shard_bytes", options.shard_bytes, 1);
  return std::make_unique<impl::SnapshotStore>(snapshot_folder(dir, options, type), options, type);
}
TANDEM_INLINE Workers snapshot_readers(const SnapshotOptions& options) {
  return {.threads = threads_of("snapshot", options.num_parallel_reads),
          .adapt = options.num_parallel_reads == autotune};
}

}  // namespace TANDEM_NS::data::detail
