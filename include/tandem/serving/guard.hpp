// Guard: who may use a server. For the definitions of serving.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving::impl {

struct Token {
  std::string text;
  bool is_admin = false;
};

/// The tokens of a file, a line each. Without tokens everybody is let in.
class Guard {
 public:
  ///   throws  errors::NotFoundError for a file that cannot be read; errors::InvalidArgumentError for one without
  ///           tokens, and for an address that others reach without tokens, TLS or .allow_insecure
  explicit Guard(const Options& options);
  /// Reads the file again.
  ///   throws  as the constructor; then the tokens stay as they are
  void reload();
  /// Whether a header `Authorization: Bearer TOKEN` has one of them. Takes the same time wherever tokens differ.
  TANDEM_API bool lets_in(std::string_view authorization) const;
  /// Whether it has one that may change the configuration. Without tokens nobody may.
  TANDEM_API bool is_admin(std::string_view authorization) const;

 private:
  using Tokens = std::shared_ptr<const std::vector<Token>>;
  Tokens tokens() const;

  const std::string path_;
  mutable std::mutex mutex_;
  Tokens tokens_;  // null: everybody is let in
};

}  // namespace TANDEM_NS::serving::impl
