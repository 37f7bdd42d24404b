// GlooTransport with threads as ranks: operations, parts of a group, time limits, a rank that goes, and a store that is
// not there. With real processes: tests/distribute/processes.py.
#include "tandem/distribute_gloo/transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute_gloo/no_sigpipe.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace gloo_transport_test {

using namespace tandem;
using distribute::Collective;
using distribute::LaunchInfo;
using distribute::ReduceOp;
using distribute::Transport;
using distribute::impl::gloo_transport;

LaunchInfo member(int rank, int size, int port) {
  LaunchInfo l{.launcher = "tandem_run", .rank = rank, .size = size, .local_rank = rank, .local_size = size};
  l.master_address = "127.0.0.1", l.master_port = port;
  return l;
}
// A port that is free a moment later, too, unless another program takes it.
int free_port() { return distribute::TcpStoreServer("127.0.0.1").port(); }

// Runs f(transport) on a thread for each rank and returns what they say, empty if all is well.
std::string run(int ranks, double timeout, const std::function<std::string(Transport&)>& f) {
  const int port = free_port();
  std::vector<std::string> said(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        said[static_cast<std::size_t>(r)] = f(*gloo_transport(member(r, ranks, port), timeout));
      } catch (const errors::OpError& e) {
        said[static_cast<std::size_t>(r)] = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  std::string all;
  for (int r = 0; r < ranks; ++r)
    if (const std::string& s = said[static_cast<std::size_t>(r)]; !s.empty())
      all += std::to_string(r) + ": " + s + "\n";
  return all;
}

Collective sum(std::vector<float>& values) {
  Collective c{.kind = Collective::all_reduce, .dtype = float32, .input = values.data(), .output = values.data()};
  c.count = static_cast<i64>(values.size());
  c.combine = distribute::impl::combine_fn(ReduceOp::sum, float32);
  return c;
}
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

TEST_CASE("GlooTransport: ranks, operations and their order") {
  CHECK(run(3, 20, [](Transport& t) -> std::string {
          if (t.size() != 3 || std::string(t.kind()) != "gloo" || t.node().empty()) return "not the group";
          std::vector<std::vector<float>> values(8, std::vector<float>(1000));
          std::vector<std::unique_ptr<distribute::Pending>> pending;
          for (std::size_t k = 0; k < values.size(); ++k) {
            std::fill(values[k].begin(), values[k].end(), static_cast<float>(k) + static_cast<float>(t.rank()));
            pending.push_back(t.start(sum(values[k])));
          }
          for (std::size_t k = values.size(); k-- > 0;) {  // waited for in another order
            if (!pending[k]->wait(20)) return "no answer";
            if (values[k][999] != 3 * static_cast<float>(k) + 3) return "sum " + std::to_string(k);
          }
          return "";
        }) == "");
}

TEST_CASE("GlooTransport: different operations find each other, and exchange nothing") {
  const auto differ = [](const auto& change) {
    std::atomic<int> raised{0};
    return run(2, 300, [&](Transport& t) -> std::string {
      std::vector<float> values(64, 1);
      for (int i = 0; i < 3; ++i) t.start(sum(values))->wait(300);
      Collective c = sum(values);
      if (t.rank() == 1) change(c);
      const std::string error = testing::error_of<errors::OpError>([&] { t.start(c)->wait(300); });
      for (++raised; raised < 2;) pause();  // the other one asks the store, which rank 0 keeps
      t.abort();
      if (values[0] != 8) return "something was exchanged";
      return error.find("float32 by sum, 64 elements") == std::string::npos ? error : "";
    });
  };
  CHECK(differ([](Collective& c) { c.count = 2; }) == "");  // a message that the other one's buffer does not hold
  CHECK(differ([](Collective& c) {
          c.dtype = int32, c.combine = distribute::impl::combine_fn(ReduceOp::sum, int32);
        }) == "");
  CHECK(differ([](Collective& c) { c.kind = Collective::barrier; }) == "");
}

TEST_CASE("GlooTransport: groups of different sizes") {
  const int port = free_port();
  std::string said[2];
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      said[r] = testing::error_of<errors::FailedPreconditionError>([&] { gloo_transport(member(r, 2 + r, port), 20); });
    });
  for (std::thread& t : threads) t.join();
  CHECK(said[0].find("rank 0 belongs to a group of 2 ranks, but rank 1 to one of 3") != std::string::npos);
  CHECK(said[1].find("rank 1 belongs to a group of 3 ranks, but rank 0 to one of 2") != std::string::npos);
}

TEST_CASE("GlooTransport: parts of a group, of parts, and of one rank") {
  CHECK(run(4, 20, [](Transport& t) -> std::string {
          const auto half = t.split(t.rank() / 2, -t.rank());
          if (half->size() != 2 || half->rank() != 1 - t.rank() % 2) return "half";
          const auto alone = half->split(half->rank(), 0);
          if (alone->size() != 1 || alone->rank() != 0) return "alone";
          std::vector<float> a(10, 1), b(10, 1), c(10, 1);
          const auto in_half = half->start(sum(a)), in_all = t.start(sum(b)), by_itself = alone->start(sum(c));
          if (!in_all->wait(20) || !in_half->wait(20) || !by_itself->wait(20)) return "no answer";
          return a[9] == 2 && b[9] == 4 && c[9] == 1 ? "" : "sums";
        }) == "");
}

// Waits for a result that must not come: empty if it does not. Another rank that has given up before closes its
// connections, so that wait() may raise.
std::string does_not_wait(distribute::Pending& p, double seconds) {
  bool is_here = false;
  const std::string error = testing::error_of<errors::UnavailableError>([&] { is_here = p.wait(seconds); });
  if (is_here) return "it came";
  if (error == "no error") return "";
  for (const char* const closed : {"onnection closed", "onnection reset", "ocket closed", "roken pipe"})
    if (error.find(closed) != std::string::npos) return "";
  return error;
}

TEST_CASE("GlooTransport: a rank that is late by more than a fifth of the timeout") {
  CHECK(run(3, 10, [](Transport& t) -> std::string {
          std::vector<float> values(10, 1);
          if (t.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
          if (!t.start(sum(values))->wait(10)) return "no answer";
          return values[9] == 3 ? "" : "sum";
        }) == "");
}

TEST_CASE("GlooTransport: a rank that does not come") {
  std::atomic<int> returned{0};
  std::atomic<bool> named{true};
  CHECK(run(3, 1, [&](Transport& t) -> std::string {
          std::vector<float> values(10, 1);
          std::string problem;
          if (t.rank() != 1) {
            const auto p = t.start(sum(values));
            problem = does_not_wait(*p, 0.8);
            if (t.last_seen().find("rank 1 ") == std::string::npos) named = false;
            t.abort();
            if (testing::error_of<errors::UnavailableError>([&] { p->wait(5); }) == "no error") problem = "no error";
          }
          for (++returned; returned < 3;) pause();
          return problem;
        }) == "");
  CHECK(named);
}

TEST_CASE("GlooTransport: abort() ends what runs, and its buffers are not written afterwards") {
  std::atomic<int> aborted{0};
  CHECK(run(3, 20, [&](Transport& t) -> std::string {
          std::vector<float> values(100'000, 1), part(100'000, 1);
          std::vector<i64> each(3, 100'000);
          std::string problem;
          if (t.rank() != 1) {
            const auto p = t.start(sum(values));
            each.assign(3, 33'333);
            Collective scatter = sum(part);
            scatter.kind = Collective::reduce_scatter, scatter.count = 99'999, scatter.receive = each;
            const auto q = t.start(scatter);
            problem = does_not_wait(*p, 0.2);
            const double begin = now();
            t.abort();
            if (now() - begin > 2) problem = "abort() waits for the time limit";
            std::fill(values.begin(), values.end(), 7.f);
            std::fill(part.begin(), part.end(), 7.f);
            each.clear();
          }
          for (++aborted; aborted < 3;) pause();
          if (t.rank() == 1) {  // what it sends now must not arrive
            if (testing::error_of<errors::UnavailableError>([&] { t.start(sum(values))->wait(20); }) == "no error")
              problem = "the group lives";
            return problem;
          }
          for (int i = 0; i < 20; ++i) pause();
          const auto is_7 = [](float x) { return x == 7; };
          if (!std::all_of(values.begin(), values.end(), is_7) || !std::all_of(part.begin(), part.end(), is_7))
            problem += "; a buffer was written";
          return problem;
        }) == "");
}

TEST_CASE("GlooTransport: split() that runs into the time limit leaves nobody who writes to its buffers") {
  std::atomic<int> raised{0};
  CHECK(run(2, 1, [&](Transport& t) -> std::string {
          std::string problem;
          if (t.rank() == 0) {
            const std::string error = testing::error_of<errors::UnavailableError>([&] { t.split(0, 0); });
            if (error.find("not all ranks have called it") == std::string::npos) problem = error;
            if (testing::error_of<errors::UnavailableError>([&] { t.start({})->wait(1); }).find("aborted") ==
                std::string::npos)
              problem += "; the group lives";
          }
          for (++raised; raised < 2;) pause();
          return problem;
        }) == "");
}

TEST_CASE("GlooTransport: a rank that goes ends the operations of the others") {
  std::atomic<int> raised{0};
  CHECK(run(3, 20, [&](Transport& t) -> std::string {
          if (t.rank() == 2) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            t.abort();  // closes its connections
            while (raised < 2) pause();
            return "";
          }
          std::vector<float> values(10, 1);
          const double begin = now();
          const std::string error =
              testing::error_of<errors::UnavailableError>([&] { t.start(sum(values))->wait(20); });
          ++raised;
          if (error == "no error") return error;
          return now() - begin < 5 ? "" : "late";
        }) == "");
}

TEST_CASE("NoSigpipe: a write to a closed pipe fails, and leaves no signal behind") {
  const auto write_to_closed = [] {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    const ssize_t n = ::write(ends[1], "x", 1);
    const int error = errno;
    ::close(ends[1]);
    return n < 0 ? error : 0;
  };
  {
    const distribute::impl::gloo_backend::NoSigpipe outer;
    {
      const distribute::impl::gloo_backend::NoSigpipe inner;
      CHECK(write_to_closed() == EPIPE);
      int in_thread = 0;
      std::thread([&] { in_thread = write_to_closed(); }).join();
      CHECK(in_thread == EPIPE);
    }
    CHECK(write_to_closed() == EPIPE);
  }
  sigset_t mask, pending;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, nullptr, &mask) == 0);
  REQUIRE(::sigpending(&pending) == 0);
  CHECK(sigismember(&mask, SIGPIPE) == 0);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("GlooTransport: places to meet that do not exist") {
  CHECK(testing::error_of<errors::FailedPreconditionError>([] {
          gloo_transport({.size = 2}, 1);
        }).find("MASTER_ADDR and MASTER_PORT") != std::string::npos);
  CHECK(testing::error_of<errors::UnavailableError>([] {
          gloo_transport(member(1, 2, free_port()), 0.3);
        }).find("cannot be reached") != std::string::npos);
  const distribute::TcpStoreServer taken("127.0.0.1");
  CHECK(testing::error_of<errors::UnavailableError>([&] {
          gloo_transport(member(0, 2, taken.port()), 0.3);
        }).find("cannot listen") != std::string::npos);
  CHECK(testing::error_of<errors::UnavailableError>([] { gloo_transport(member(0, 2, free_port()), 0.5); }) !=
        "no error");  // the other one does not come
  ::setenv("TANDEM_STORE", "nonsense", 1);
  CHECK(testing::error_of<errors::InvalidArgumentError>([] { gloo_transport({.size = 2}, 1); }) != "no error");
  ::unsetenv("TANDEM_STORE");
}

TEST_CASE("GlooTransport: a network interface that does not exist") {
  ::setenv("TANDEM_INTERFACE", "none7", 1);
  CHECK(testing::error_of<errors::UnavailableError>([] {
          gloo_transport(member(0, 1, free_port()), 1);
        }).find("'none7'") != std::string::npos);
  ::unsetenv("TANDEM_INTERFACE");
}

}  // namespace gloo_transport_test
