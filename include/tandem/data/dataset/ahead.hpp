// Ahead: threads that compute elements before the consumer asks for them, in order or as they come. Behind the stages
// map and prefetch. Part of the component tandem::data.
#pragma once
#include <memory>
#include <mutex>

#include "tandem/data/dataset/report.hpp"

namespace TANDEM_NS::data::detail {

/// A ring of slots between threads and a consumer. The derived class has the slots' elements, and calls finish() in its
/// destructor, before they are destroyed.
class TANDEM_API Ahead {
 public:
  /// How many slots there are, and how many of them are in use unless elements are cheap. 0: as many as the threads
  /// have use for, and all.
  struct Slots {
    i64 all = 0, usual = 0;
  };
  Ahead(const StageInfo& stage, const Workers& workers, const Slots& slots);
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  virtual ~Ahead();

 protected:
  /// Reads the next input into a slot; false at the end. Called on any thread, by one at a time.
  virtual bool read(i64 slot) = 0;
  /// Turns the input in a slot into the element. Called by several threads at once, for different slots.
  virtual void compute(i64 slot) = 0;

  /// From now on elements are handed over one by one, also cheap ones: needed where wait_for_room is called. It also
  /// saves a consumer a millisecond of waiting where read() or compute() waits until it has taken what was read before.
  void hand_over_singly();
  /// Called by compute(), or read() where that makes the element: waits until `fits(context)` is true. False, without
  /// waiting any longer, where the consumer waits for this very slot, and when the threads are to end.
  bool wait_for_room(i64 slot, bool (*fits)(const void*), const void* context);
  /// The number of slots.
  i64 slots() const;
  /// Waits for the next element and returns its slot, which is free again at a following call; -1 at the end. Starts
  /// the threads at the first call.
  ///   throws  what read or compute threw for this element
  i64 take();
  /// Ends and joins the threads. Elements that are being computed are finished first.
  void finish() noexcept;

 private:
  struct State;
  struct Claim;
  void run();
  bool read_some(Claim& mine);
  void compute_some(Claim& mine);
  void hand_over(Claim& mine, std::size_t first, std::size_t last);
  void claim(Claim& mine);
  void leave(Claim& mine);
  void help(std::unique_lock<std::mutex>& lock);
  void start();
  void give();

  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::data::detail
