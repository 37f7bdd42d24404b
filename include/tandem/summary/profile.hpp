// write_profile: what a Profiler has recorded, for TensorBoard's page "Profile". Part of the component tandem::summary.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/profile.hpp"

namespace TANDEM_NS::summary {

struct ProfileOptions {
  std::string run = {};   ///< the name under which the page lists it; default: the local time, "2026_11_27_10_30_00"
  std::string host = {};  ///< default: the machine's name. Processes that profile the same run each need their own
};

/// Writes what a profiler has recorded to logdir/plugins/profile/RUN/HOST.xplane.pb, for TensorBoard's page "Profile"
/// (pip install tensorboard-plugin-profile): its trace viewer has each op with its thread, shapes, bytes and source
/// location, its framework op stats the time of each op. A ProfileScope named "step 12" is that step of a training.
///
///   Profiler profiler;
///   for (i64 step = 0; step < 10; ++step) {
///     const ProfileScope scope("step " + std::to_string(step));
///     train_step();
///   }
///   summary::write_profile(profiler, "logs/run1");
///
///   logdir   as for FileWriter
///   returns  the path of the file. One that exists is replaced
///   throws   errors::InvalidArgumentError for a run or host that is not the name of a file; as io::write_file
///   source   the messages: tsl/profiler/protobuf/xplane.proto
TANDEM_API std::string write_profile(const Profiler& profiler, const std::string& logdir, const ProfileOptions& = {});

namespace detail {
/// One of several profilers, and when it began, in nanoseconds of a clock that they share.
struct ProfilePart {
  const Profiler* profiler;
  i64 begin = 0;
};
TANDEM_API std::string write_profile(const std::vector<ProfilePart>& parts, const std::string& logdir,
                                     const ProfileOptions& options);
}  // namespace detail

}  // namespace TANDEM_NS::summary
