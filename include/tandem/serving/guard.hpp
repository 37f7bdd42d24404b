// Guard: who may use a server. For the definitions of serving.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving::impl {

/// The tokens of a file, a line each. Without tokens everybody is let in.
class Guard {
 public:
  ///   throws  errors::NotFoundError for a file that cannot be read; errors::InvalidArgumentError for one without
  ///           tokens, and for an address that others reach without tokens or .allow_insecure
  explicit Guard(const Options& options);
  /// Whether a header `Authorization: Bearer TOKEN` has one of them. Takes the same time wherever tokens differ.
  bool lets_in(std::string_view authorization) const;

 private:
  std::vector<std::string> tokens_;
};

}  // namespace TANDEM_NS::serving::impl
