// ElasticReplication: a replication that processes may join while it trains. Implemented by strategies (the component
// tandem::distribute).
#pragma once
#include "tandem/core/replication.hpp"

namespace TANDEM_NS {

/// A Replication whose processes can be met by others that come later: all end what they do together behind a step, and
/// begin anew with them.
struct TANDEM_API ElasticReplication : Replication {
  /// Whether processes wait to take part, as far as this one knows. Cheap.
  virtual bool sees_newcomers() = 0;
  /// Ends what the replicas do together, so that newcomers can be taken in; behind a step, in all of them.
  ///   throws  errors::UnavailableError
  virtual void end_for_newcomers(i64 step) = 0;

 protected:
  ~ElasticReplication() = default;
};

}  // namespace TANDEM_NS
