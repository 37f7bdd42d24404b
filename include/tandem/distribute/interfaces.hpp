// The addresses by which other machines reach this one. For definitions only. Not here: the sockets (socket.hpp).
#pragma once
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tandem/distribute/socket.hpp"

namespace TANDEM_NS::distribute::detail {

/// The address by which this machine reaches others outside of its network; empty if there is none. Nothing is sent.
inline std::string routed_address() {
  const Socket s(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in a{};
  a.sin_family = AF_INET, a.sin_port = htons(9), a.sin_addr.s_addr = htonl(0xc0000201u);  // 192.0.2.1, of examples
  if (!s.is_open() || ::connect(s.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) != 0) return {};
  return own_address(s);
}

/// A network interface and its first address of IP version 4.
struct Interface {
  std::string name, address;
};
/// Those that are up and not the loopback.
inline std::vector<Interface> interfaces() {
  struct List {
    List() { ::getifaddrs(&first); }
    List(const List&) = delete;
    ~List() { ::freeifaddrs(first); }
    ifaddrs* first = nullptr;
  } const list;
  std::vector<Interface> r;
  for (const ifaddrs* i = list.first; i; i = i->ifa_next) {
    constexpr unsigned up = IFF_UP | IFF_RUNNING;
    if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET) continue;
    if ((i->ifa_flags & up) != up || (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (std::any_of(r.begin(), r.end(), [&](const Interface& other) { return other.name == i->ifa_name; })) continue;
    char text[NI_MAXHOST] = {};
    if (::getnameinfo(i->ifa_addr, sizeof(sockaddr_in), text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      r.push_back({i->ifa_name, text});
  }
  return r;
}

/// The address by which others reach this machine: that of the route to other networks or, without a route, that of its
/// only network interface. Empty if there is no interface.
///   throws  errors::UnavailableError in the name of `op` if there is no route, and there are several interfaces
inline std::string outward_address(const char* op) {
  if (std::string routed = routed_address(); !routed.empty()) return routed;
  const std::vector<Interface> all = interfaces();
  if (all.size() < 2) return all.empty() ? std::string() : all[0].address;
  std::string names;
  for (const Interface& i : all) names += (names.empty() ? "" : ", ") + i.name + " (" + i.address + ")";
  errors::raise<errors::UnavailableError>(
      op, "this machine has several networks and no route that says by which the other processes reach it: " + names +
              ". Set TANDEM_INTERFACE to the name of one");
}

}  // namespace TANDEM_NS::distribute::detail
