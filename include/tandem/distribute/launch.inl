// Definitions of LaunchInfo, the table of backends and the world, distribute/{transport,communicator}.hpp.
#pragma once
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tandem/base/error.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute/lone.hpp"
#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS::distribute {

namespace impl {

// The integer in an environment variable; none if it is not set.
TANDEM_INLINE std::optional<int> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (!text) return {};
  i64 n = 0;
  if (!tandem::detail::parse_number(text, n) || n < 0 || n > 1 << 24)
    errors::raise<errors::InvalidArgumentError>(
        "launch_info", std::string(variable) + " is \"" + text + "\"; it must be an integer from 0 on");
  return static_cast<int>(n);
}

// The variables by which one launcher numbers processes.
struct Launcher {
  const char *name, *rank, *size, *local_rank, *local_size;
};
// The innermost first: srun may start tandem_run. Of Slurm those that a step has, and not a batch script.
inline constexpr Launcher launchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"tandem_run", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"}};

TANDEM_INLINE bool is_mpi(const LaunchInfo& launch) {
  return launch.launcher && std::strcmp(launch.launcher, "tandem_run") != 0;
}

struct NamedBackend {
  const char* name;
  MakeTransport make;
};
// Filled while the headers of backends are initialized, by one thread.
inline constinit std::array<NamedBackend, 4> backends{};

TANDEM_INLINE bool add_backend(const char* name, MakeTransport make) noexcept {
  for (NamedBackend& b : backends)
    if (!b.name || std::strcmp(b.name, name) == 0) return b = {name, make}, true;
  return false;
}

TANDEM_INLINE const char* backend_of(const LaunchInfo& launch, Backend chosen) {
  if (chosen == Backend::mpi || (chosen == Backend::automatic && is_mpi(launch))) return "mpi";
  if (chosen == Backend::gloo || launch.size > 1 || launch.is_joinable) return "gloo";
  return "none";
}

TANDEM_INLINE std::unique_ptr<Transport> make_world(const WorldOptions& o) {
  const LaunchInfo launch = launch_info();
  const std::string name = backend_of(launch, o.backend);
  if (name == "none") return std::make_unique<Lone>();
  for (const NamedBackend& b : backends)
    if (b.name && name == b.name) return b.make(launch, o.timeout);
  if (launch.size == 1 && o.backend == Backend::automatic) return std::make_unique<Lone>();
  errors::raise<errors::FailedPreconditionError>(
      "Communicator::world", "this process is rank " + std::to_string(launch.rank) + " of " +
                                 std::to_string(launch.size) +
                                 (launch.launcher ? ", started by " + std::string(launch.launcher) : std::string()) +
                                 ", and needs the backend " + name + ", which is not part of this program: include " +
                                 "tandem/distribute_" + name + ".hpp and link tandem::distribute_" + name);
}

}  // namespace impl

TANDEM_INLINE LaunchInfo launch_info() {
  LaunchInfo r;
  for (const impl::Launcher& l : impl::launchers) {
    const std::optional<int> rank = impl::number_from(l.rank), size = impl::number_from(l.size);
    if (!rank || !size) continue;
    r.launcher = l.name, r.rank = *rank, r.size = *size;
    r.local_rank = impl::number_from(l.local_rank).value_or(0);
    r.local_size = impl::number_from(l.local_size).value_or(1);
    if (*rank >= *size)
      errors::raise<errors::InvalidArgumentError>(
          "launch_info",
          std::string(l.rank) + " is " + std::to_string(*rank) + ", but " + l.size + " is " + std::to_string(*size));
    break;
  }
  const char *const rank = std::getenv("RANK"), *const size = std::getenv("WORLD_SIZE");
  if (!r.launcher && !rank != !size)  // set by hand
    errors::raise<errors::InvalidArgumentError>(
        "launch_info", std::string(rank ? "RANK is set, but not WORLD_SIZE" : "WORLD_SIZE is set, but not RANK") +
                           ": a process of a group needs both, and one alone neither");
  if (const char* const address = std::getenv("MASTER_ADDR")) r.master_address = address;
  if (const std::optional<int> port = impl::number_from("MASTER_PORT")) {
    if (*port < 1 || *port > 65535)
      errors::raise<errors::InvalidArgumentError>(
          "launch_info", "MASTER_PORT is " + std::to_string(*port) + "; it must be a port from 1 to 65535");
    r.master_port = *port;
  }
  r.restarts = impl::number_from("TANDEM_RESTART_COUNT").value_or(0);
  r.joins = impl::number_from("TANDEM_JOIN").value_or(0) != 0;
  r.is_joinable = impl::number_from("TANDEM_JOINABLE").value_or(0) != 0;
  return r;
}

}  // namespace TANDEM_NS::distribute
