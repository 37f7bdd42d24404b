// Definitions of distribute/communicator_state.hpp: what the ranks of a group compare.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/base/error.hpp"
#include "tandem/distribute/communicator_state.hpp"
#include "tandem/distribute/texts.hpp"

namespace TANDEM_NS::distribute {

// Compares the call with those of the other ranks, before it is made: different ones would wait for each other or
// exchange nonsense. After the first ones, all that there were since the last comparison are compared at once.
TANDEM_INLINE void Communicator::State::check(const Collective& call, const char* op, const std::string& label,
                                              bool gpu) {
  const auto size = static_cast<std::size_t>(transport->size());
  if (size == 1) return;
  history.add(call, gpu);
  if (history.count() > impl::CallHistory::length && !checks_all) {
    if (history.count() % impl::CallHistory::length == 0) check_history(op, impl::call_text(op, label));
    return;
  }
  impl::Fingerprint own{};
  const std::string common = impl::common_text(call) + (gpu ? " on a GPU" : ""), text = common + '\0' + label;
  std::memcpy(own.data(), text.data(), std::min(text.size(), own.size() - 1));
  const std::vector<impl::Fingerprint> all = gather(own, op, impl::call_text(op, label));
  for (std::size_t i = 1; i < size; ++i)
    if (std::strcmp(all[i].data(), all[0].data()) != 0) raise_different(op, all, i, history.count());
}
// `operation` counts from 1.
TANDEM_INLINE void Communicator::State::raise_different(const char* op, const std::vector<impl::Fingerprint>& all,
                                                        std::size_t rank, i64 operation) {
  const auto label_of = [&](std::size_t of) {
    const char* const first = all[of].data();
    const std::string l(first + std::strlen(first) + 1);  // the last character is a zero, so is one before
    return l.empty() ? std::string() : " for " + l;
  };
  die("ranks called different operations: rank 0 " + std::string(all[0].data()) + label_of(0) + ", rank " +
      std::to_string(rank) + " " + all[rank].data() + label_of(rank));
  const bool is_past = operation < history.count();
  errors::raise<errors::FailedPreconditionError>(
      op,
      failure + " (operation " + std::to_string(operation) + " of group '" + name +
          "': all ranks must run the same program" +
          (is_past ? "; what they have exchanged since then is wrong, TANDEM_DISTRIBUTED_CHECK=1 compares all before"
                   : "") +
          ")");
}
// Compares the operations of all ranks since the last comparison, this one included, by their hashes.
TANDEM_INLINE void Communicator::State::check_history(const char* op, const std::string& what) {
  const auto differs = [](const auto& all) {
    return std::find_if(all.begin(), all.end(), [&](const auto& x) { return x != all[0]; }) != all.end();
  };
  if (!differs(gather(history.hash(), op, what))) return;
  const auto hashes = gather(history.hashes(), op, what);
  std::size_t first = 0;
  const auto differs_there = [&](const auto& h) { return h[first] != hashes[0][first]; };
  constexpr auto length = static_cast<std::size_t>(impl::CallHistory::length);
  while (first < length && std::none_of(hashes.begin(), hashes.end(), differs_there)) ++first;
  if (first == length) {  // the answers do not belong together: what differs has mixed them up
    die("ranks called different operations among the last " + std::to_string(length));
    errors::raise<errors::FailedPreconditionError>(
        op, failure + " (of group '" + name +
                "': all ranks must run the same program; what they have exchanged since then is wrong, "
                "TANDEM_DISTRIBUTED_CHECK=1 compares all before)");
  }
  const i64 number = history.count() - impl::CallHistory::length + static_cast<i64>(first);
  impl::Fingerprint own{};
  const std::string text = history.text(number);
  std::memcpy(own.data(), text.data(), std::min(text.size(), own.size() - 2));
  const auto other = std::find_if(hashes.begin(), hashes.end(), differs_there) - hashes.begin();
  raise_different(op, gather(own, op, what), static_cast<std::size_t>(other), number + 1);
}
// Which ranks share a machine.
TANDEM_INLINE void Communicator::State::find_nodes() {
  const auto size = static_cast<std::size_t>(transport->size());
  if (size == 1) return;
  impl::Fingerprint own{};
  const std::string here = transport->node();
  std::memcpy(own.data(), here.data(), std::min(here.size(), own.size() - 2));
  char& asks_for_checks = own.back();  // an environment variable may not reach all ranks
  asks_for_checks = static_cast<char>(checks_all);
  std::vector<impl::Fingerprint> all = gather(own, "Communicator", "meeting the other ranks");
  for (impl::Fingerprint& of_rank : all) checks_all |= of_rank.back() != 0, of_rank.back() = 0;
  asks_for_checks = 0;
  std::vector<impl::Fingerprint> distinct;
  local_size = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (std::find(distinct.begin(), distinct.end(), all[i]) == distinct.end()) distinct.push_back(all[i]);
    if (all[i] != own) continue;
    local_rank += static_cast<int>(i) < transport->rank();
    ++local_size;
  }
  nodes = static_cast<int>(distinct.size());
  node = static_cast<int>(std::find(distinct.begin(), distinct.end(), own) - distinct.begin());
}

}  // namespace TANDEM_NS::distribute
