// Communicator::State: what a group has. For the definitions of communicator.hpp.
#pragma once
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tandem/distribute/bucket.hpp"
#include "tandem/distribute/call_history.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute/device_transport.hpp"

namespace TANDEM_NS::distribute {

namespace impl {
// What the ranks of a group compare before an operation: a text that ends at a zero.
using Fingerprint = std::array<char, 192>;
}  // namespace impl

struct Communicator::State final : Opaque, DeviceErrors {
  const char* kind() const override { return "communicator"; }

  std::string name;
  std::unique_ptr<Transport> transport;
  double timeout = 0;
  int local_rank = 0, local_size = 1, node = 0, nodes = 1;
  i64 step = -1, splits = 0;
  impl::CallHistory history;
  std::vector<impl::CallTimes*> reports;  // of the strategies that train by it
  bool checks_all = false;
  bool admits = false;  // all ranks know that there are newcomers
  const pid_t process = ::getpid();
  std::string failure;  // why the group is dead; empty: it is not
  std::map<i64, impl::Bucket> buckets;
  std::map<int, std::unique_ptr<DeviceTransport>> on_gpu;  // by the number of this rank's GPU

  void check_process(const char* op) const;
  void check_world(const char* op, const char* advice) const;
  bool is_dead();
  void check_alive(const char* op);
  void check(const Collective& call, const char* op, const std::string& label, bool on_gpu);
  void find_nodes();
  void check_history(const char* op, const std::string& what);
  [[noreturn]] void raise_different(const char* op, const std::vector<impl::Fingerprint>& all, std::size_t rank,
                                    i64 operation);
  template <class T>
  std::vector<T> gather(const T& own, const char* op, const std::string& what);
  void wait(Pending& pending, const char* op, const std::string& what);
  [[noreturn]] void fail(const char* op, const std::string& what, i64 at_step);
  TANDEM_INLINE std::string text(const CallText& call, const std::string& why) const override;
  void die(const std::string& why);
};

namespace impl {
// "all_reduce 'dense/kernel' (4.2 MB)".
inline std::string call_text(const std::string& op, const std::string& label) {
  return label.empty() ? op : op + " " + label;
}
inline std::string step_text(i64 step) { return step < 0 ? std::string() : " at step " + std::to_string(step); }
}  // namespace impl

// An object of each rank.
template <class T>
std::vector<T> Communicator::State::gather(const T& own, const char* op, const std::string& what) {
  std::vector<T> all(static_cast<std::size_t>(transport->size()));
  const std::vector<i64> each(all.size(), static_cast<i64>(sizeof own));
  const Collective call{.kind = Collective::all_gather,
                        .input = &own,
                        .output = all.data(),
                        .count = static_cast<i64>(sizeof own),
                        .receive = each};
  wait(*transport->start(call), op, what);
  return all;
}

}  // namespace TANDEM_NS::distribute
