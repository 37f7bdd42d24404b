// Turn: one thread at a time traces a function. Not a mutex: functions may call each other in any order, so threads
// that trace several of them could wait for each other in a circle.
#pragma once
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS {

struct TurnThread;

/// Of one function. A thread that waits for its turn waits for the thread that has it. Where that one waits in turn,
/// however indirectly, for the present thread, it could not go on before the present one is done; so the present thread
/// does not wait but takes the turn over until it is done, as if it were the other one that calls the function again.
class TANDEM_API Turn {
 public:
  /// Has the turn while it lives; as often as a thread likes.
  class TANDEM_API Taken {
   public:
    explicit Taken(Turn& turn);
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
  bool is_free_for(const TurnThread& thread) const;
  std::vector<TurnThread*> holders_;  // the last one has the turn; all turns are guarded by one mutex
};

}  // namespace TANDEM_NS
