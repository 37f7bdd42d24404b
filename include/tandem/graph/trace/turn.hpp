// Turn: lets one thread at a time trace a function. Not a mutex: functions may call each other in any order, so
// threads that trace several of them could deadlock.
#pragma once
#include <vector>

#include "tandem/config.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct TurnThread;

/// The turn of one function. A thread that requests the turn waits for the thread that holds it. If that thread in
/// turn waits, directly or indirectly, for the requesting one, waiting would deadlock; so the requesting thread
/// takes the turn over until it is done, as if the other thread called the function again.
class TANDEM_API Turn {
 public:
  /// Holds the turn for as long as it lives; a thread may nest it.
  class TANDEM_API Taken {
   public:
    TANDEM_LAZY explicit Taken(Turn& turn);
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken();

   private:
    Turn& turn_;
  };
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  TANDEM_LAZY bool is_free_for(const TurnThread& thread) const;
  LeanVector<TurnThread*> holders_;  // the last one holds the turn; all turns are guarded by one mutex
};

}  // namespace TANDEM_NS
