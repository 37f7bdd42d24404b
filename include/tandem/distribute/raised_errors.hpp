// RaisedErrors: what ranks of a group have reported to have raised, in a store, for those that wait for them. Part of
// the component tandem::distribute. For transports.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "tandem/distribute/tcp_store.hpp"

namespace TANDEM_NS::distribute::impl {

/// Used by one thread at a time. A store that does not answer is asked again next time.
class TANDEM_API RaisedErrors {
 public:
  /// Seconds that a rank has for its next operation after it has reported an error, and how often waiting ranks ask.
  static constexpr double patience = 0.5, period = 0.25;

  ///   folder  the keys of the group begin so
  ///   rank, node  this rank, as errors name it
  RaisedErrors(Endpoint store, std::string folder, int rank, std::string node)
      : place_(std::move(store)), folder_(std::move(folder)), node_(std::move(node)), rank_(rank) {}

  /// Reports an error behind so many operations of the group. A further one behind the same operation is not reported,
  /// unless an operation on GPUs, which are not counted, has begun since.
  /// Takes at most four seconds, if the store does not answer.
  void report(i64 operations, const std::string& error);
  /// An operation begins, so that nobody waits for this rank. Cheap if nothing was reported.
  void begin_operation() {
    if (is_reported_) withdraw();
  }
  /// What another rank has raised that did not begin the operation of this number, from 0, within the patience: "rank 2
  /// (node b) has raised: map: ..."; empty if nothing. Not that of a rank behind whose operation this one has raised an
  /// error, too.
  std::string before(i64 operation);
  /// Likewise before any operation, without patience.
  std::string any();

 private:
  std::string find(i64 operation, double least_age);
  TcpStore& store(double timeout);
  void write(const std::string& line);
  void withdraw();

  const Endpoint place_;
  const std::string folder_, node_;
  const int rank_;
  std::optional<TcpStore> store_{};  // connected by the first question
  i64 reported_ = -1;                // behind how many operations this rank has raised
  bool is_reported_ = false;         // and has begun none since
};

}  // namespace TANDEM_NS::distribute::impl
