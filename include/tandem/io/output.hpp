// Output: a file that is written from its beginning on, plain or compressed, through a buffer. For the writers of
// files. Not here: files that are replaced as a whole (io/replace_file.hpp).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "tandem/io/compression.hpp"

namespace TANDEM_NS::io::detail {

class TANDEM_API Output {
 public:
  /// Creates the file, or empties it. `op` is used in error messages; `level` is zlib's, -1 (its default) to 9.
  ///   throws  errors::UnavailableError if it cannot be written; errors::InvalidArgumentError for `automatic` and for
  ///           another level; errors::UnimplementedError for compression if the library was built without zlib
  Output(const char* op, std::string path, Compression compression, int level);
  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  /// Closes the file; errors are lost.
  ~Output();

  /// Appends bytes.
  ///   throws  errors::FailedPreconditionError once the file is closed; errors::ResourceExhaustedError for a full disk,
  ///           errors::UnavailableError for other system errors
  void write(std::string_view bytes);
  /// Passes what was written to the system.
  void flush();
  /// Completes the file; no effect if it is closed.
  void close();

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace TANDEM_NS::io::detail
