// Collective operations on tensors in the memory of GPUs: what NCCL is asked for, the order with other work, errors.
// Ranks are threads that Gloo connects; GPUs and NCCL are those of stand_in.hpp. It has not been run on a GPU.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute_gloo/transport.hpp"
#include "tandem/distribute_nccl.hpp"
#include "tandem/tensor.hpp"
#include "tests/distribute_nccl/stand_in.hpp"
#include "tests/support/catch.hpp"

namespace nccl_transport_test {

using namespace tandem;
using Catch::Matchers::StartsWith;
using distribute::Communicator;
using distribute::ReduceOp;
using Texts = std::vector<std::string>;

Device gpu(int index) { return {Device::gpu, static_cast<std::uint8_t>(index)}; }
std::string text(const Tensor& t) {
  std::string r;
  for (const double x : cast(t.cpu(), float64).to_vector<double>())
    r += (r.empty() ? "" : " ") + std::to_string(static_cast<i64>(x));
  return r;
}

// Runs f(world) on a thread for each rank, and returns what they say by rank: a text, or an error's.
Texts run(int ranks, double timeout, const std::function<std::string(const Communicator&)>& f) {
  const stand_in::Installed gpus;
  const int port = distribute::TcpStoreServer("127.0.0.1").port();
  Texts said(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      distribute::LaunchInfo l{.launcher = "tandem_run", .rank = r, .size = ranks, .local_rank = r};
      l.local_size = ranks, l.master_address = "127.0.0.1", l.master_port = port;
      std::string& s = said[static_cast<std::size_t>(r)];
      const distribute::impl::GroupsScope groups;
      try {
        const Communicator world("world", distribute::impl::gloo_transport(l, timeout), timeout);
        s = f(world);
      } catch (const errors::OpError& e) {
        s = e.what();
      }
    });
  for (std::thread& t : threads) t.join();
  for (int r = 0; r < ranks; ++r) stand_in::take_calls(r);
  stand_in::clear_faults();
  return said;
}
// 1, 2, 3 ... times the rank plus one, on the rank's GPU.
Tensor own(const Communicator& world, i64 count, DType dtype = float32) {
  return cast(range(1, count + 1) * (world.rank() + 1), dtype).to(gpu(world.rank()));
}
std::string called(const Communicator& world) {
  std::string r;
  for (const std::string& call : stand_in::take_calls(world.rank())) r += (r.empty() ? "" : " | ") + call;
  return r;
}

TEST_CASE("NCCL: all_reduce by each operation, and what NCCL is asked for") {
  const auto by = [](ReduceOp op, DType dtype = float32) {
    return run(2, 20, [=](const Communicator& world) {
      const Tensor y = distribute::all_reduce(own(world, 3, dtype), {.op = op, .group = world});
      if (!(y.device() == gpu(world.rank())) || y.dtype() != dtype) return std::string("not on the GPU");
      return text(y) + ": " + called(world);
    });
  };
  CHECK(by(ReduceOp::sum) == Texts(2, "3 6 9: all_reduce float32 3 sum"));
  CHECK(by(ReduceOp::mean, float64) == Texts(2, "1 3 4: all_reduce float64 3 mean"));
  CHECK(by(ReduceOp::min, int32) == Texts(2, "1 2 3: all_reduce int32 3 min"));
  CHECK(by(ReduceOp::max, int64) == Texts(2, "2 4 6: all_reduce int64 3 max"));
  CHECK(by(ReduceOp::prod, uint8) == Texts(2, "2 8 18: all_reduce uint8 3 prod"));
  CHECK(by(ReduceOp::sum, bfloat16) == Texts(2, "3 6 9: all_reduce bfloat16 3 sum"));
  CHECK(by(ReduceOp::mean, float16) == Texts(2, "1 3 4: all_reduce float32 3 mean"));
  CHECK(by(ReduceOp::sum, float16) == Texts(2, "3 6 9: all_reduce float16 3 sum"));
}

TEST_CASE("NCCL: every number of a complex element is added; true and false are numbers") {
  CHECK(run(2, 20, [](const Communicator& world) {
          const Tensor x = cast(constant({1.f, 2.f}), complex64).to(gpu(world.rank()));
          const Tensor y = distribute::all_reduce(x, {.group = world});
          const Tensor b = constant({true, world.rank() == 0}).to(gpu(world.rank()));
          const Tensor all = distribute::all_reduce(b, {.op = ReduceOp::min, .group = world});
          return text(cast(y.cpu(), float32)) + ", " + text(all) + ": " + called(world);
        }) == Texts(2, "2 4, 1 0: all_reduce float32 4 sum | all_reduce uint8 2 min"));
}

TEST_CASE("NCCL: a dtype that it cannot combine is an error before anything is begun") {
  const Texts said = run(2, 20, [](const Communicator& world) {
    std::string r;
    try {
      distribute::all_reduce(own(world, 3, int16), {.group = world});
    } catch (const errors::UnimplementedError& e) {
      r = e.message();
    }
    return r + "; " + text(distribute::all_reduce(own(world, 1), {.group = world}));
  });
  for (const std::string& s : said) {
    CHECK_THAT(s, ContainsSubstring("NCCL has no sum of int16 (move the operand by .cpu(), or cast it)"));
    CHECK_THAT(s, ContainsSubstring("; 3"));
  }
}

TEST_CASE("NCCL: broadcast, all_gather and reduce_scatter") {
  const Texts said = run(2, 20, [](const Communicator& world) {
    const auto two_rows = [&](i64 rows) { return reshape(own(world, 2 * rows), {rows, 2}); };
    std::string r = text(distribute::broadcast(own(world, 2, int16), {.root = 1, .group = world}));
    r += ", " + text(distribute::all_gather(two_rows(1), {.equal_rows = true, .group = world}));
    r += ", " + text(distribute::reduce_scatter(two_rows(2), {.group = world}));
    return r + ": " + called(world);
  });
  const std::string calls = ": broadcast int8 4 from 1 | all_gather int8 8 | reduce_scatter float32 2 sum";
  CHECK(said[0] == "2 4, 1 2 2 4, 3 6" + calls);
  CHECK(said[1] == "2 4, 1 2 2 4, 9 12" + calls);
}

TEST_CASE("NCCL: unequal rows are a group of calls; none from a rank without rows") {
  const Texts said = run(3, 20, [](const Communicator& world) {
    const i64 rows = world.rank();  // 0, 1, 2
    const Tensor x = reshape(own(world, 2 * rows), {rows, 2});
    GradientTape tape;
    tape.watch(x);
    const Tensor y = distribute::all_gather(x, {.group = world});
    const Tensor g = tape.gradient(reduce_sum(y * y), x);
    Texts calls = stand_in::take_calls(world.rank());
    std::string r = text(y) + ", " + text(g) + ": ";
    for (const std::string& call : calls)
      if (call.find("; ") != std::string::npos) r += call + " | ";
    return r;
  });
  const std::string calls =
      ": broadcast int8 8 from 1; broadcast int8 16 from 2 | reduce float32 2 sum to 1; reduce float32 4 sum to 2 | ";
  CHECK(said[0] == "2 4 3 6 9 12, " + calls);
  CHECK(said[1] == "2 4 3 6 9 12, 12 24" + calls);
  CHECK(said[2] == "2 4 3 6 9 12, 18 36 54 72" + calls);
}

TEST_CASE("NCCL: all_to_all sends what each rank wants, and nothing where that is nothing") {
  const Texts said = run(2, 20, [](const Communicator& world) {
    // Rank 0 sends one row to itself and two to rank 1; rank 1 sends all three to rank 0.
    const Tensor splits = world.rank() == 0 ? constant({1, 2}, {.dtype = int64}) : constant({3, 0}, {.dtype = int64});
    const auto [rows, from] = distribute::all_to_all(own(world, 3), splits, {.group = world});
    return text(rows) + ", " + text(from) + ": " + called(world);
  });
  CHECK(said[0] == "1 2 4 6, 1 3: send int8 4 to 0; receive int8 4 from 0; send int8 8 to 1; receive int8 12 from 1");
  CHECK(said[1] == "2 3, 2 0: send int8 12 to 0; receive int8 8 from 0");
  CHECK(run(2, 20, [](const Communicator& world) {
          const Tensor y = distribute::all_to_all(own(world, 4), {.group = world});
          return text(y) + ": " + called(world);
        })[0] == "1 2 2 4: send int8 8 to 0; receive int8 8 from 0; send int8 8 to 1; receive int8 8 from 1");
}

TEST_CASE("NCCL: operations keep their order with kernels and copies, and nothing waits for the GPU") {
  const Texts said = run(2, 20, [](const Communicator& world) -> std::string {
    Tensor x = own(world, 1000);
    distribute::all_reduce(x, {.group = world});  // connects
    const std::int64_t before = stand_in::waits(world.rank());
    for (int k = 0; k < 30; ++k) x = distribute::all_reduce(x, {.op = ReduceOp::mean, .group = world}) + 1.f;
    const Tensor y = distribute::all_reduce(x, {.group = world});
    const Tensor z = distribute::all_gather(y(Slice(0, 2)), {.equal_rows = true, .group = world});
    if (stand_in::waits(world.rank()) != before) return "waited";
    return text(z);
  });
  CHECK(said == Texts(2, "63 66 63 66"));  // 2 (1.5 n + 30)
}

TEST_CASE("NCCL: a bucket is summed beside what follows it") {
  CHECK(
      run(2, 20,
          [](const Communicator& world) {
            std::string r;
            for (int step = 0; step < 3; ++step) {
              const Tensor a = own(world, 2), b = reshape(own(world, 4), {2, 2});
              const Tensor token = distribute::impl::start_bucket(world, 0, "bucket 1 of 1", {a, b});
              const Tensor other = a * 2.f;
              const std::vector<Tensor> sums = distribute::impl::wait_bucket(world, 0, "bucket 1 of 1", token, {a, b});
              r += text(sums[0]) + ", " + text(sums[1]) + "; ";
              if (!(sums[1].shape() == b.shape()) || other.size() != 2) return std::string("another shape");
            }
            return r + called(world);
          }) == Texts(2,
                      "3 6, 3 6 9 12; 3 6, 3 6 9 12; 3 6, 3 6 9 12; all_reduce float32 32 sum | all_reduce float32 32 "
                      "sum | all_reduce float32 32 sum"));
}

TEST_CASE("NCCL: parts of a group have connections of their own, which end with them") {
  const Texts said = run(4, 20, [](const Communicator& world) {
    const Communicator pair = world.split(world.rank() % 2);
    std::string r = text(distribute::all_reduce(own(world, 1), {.group = pair}));
    r += " " + text(distribute::all_reduce(own(world, 1), {.group = world}));
    world.barrier();
    r += " of " + std::to_string(stand_in::live_communicators());
    world.barrier();
    return r;
  });
  CHECK(said == Texts{"4 10 of 8", "6 10 of 8", "4 10 of 8", "6 10 of 8"});
  CHECK(stand_in::live_communicators() == 0);
}

TEST_CASE("NCCL: a group of one rank needs none") {
  CHECK(run(1, 20, [](const Communicator& world) {
          return text(distribute::all_reduce(own(world, 2), {.group = world})) + called(world);
        }) == Texts{"1 2"});
}

TEST_CASE("NCCL: a rank whose GPU does not answer ends the group, at the timeout, when a value is read") {
  const int before = stand_in::aborted_communicators();
  std::atomic<bool> is_over{false};
  const Texts said = run(2, 10, [&](const Communicator& world) -> std::string {
    struct End {  // however rank 0 ends
      std::atomic<bool>* is_over;
      ~End() {
        if (is_over) *is_over = true;
      }
    } const end{world.rank() == 0 ? &is_over : nullptr};
    const Tensor x = own(world, 2);
    if (text(distribute::all_reduce(x, {.group = world})) != "3 6") return "not the sum";
    world.set_step(7);
    if (world.rank() == 1) stand_in::lose_operations(1);
    world.barrier();
    const Tensor y = distribute::all_reduce(x, {.name = "dense/kernel", .group = world});
    if (world.rank() == 1) {  // keeps its process alive
      while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return "lost";
    }
    std::string r;
    const auto add_error = [&](const std::function<void()>& f) {
      try {
        f();
        r += "no error\n";
      } catch (const errors::UnavailableError& e) {
        r += e.message().substr(0, e.message().find(';')) + "\n";
      }
    };
    std::thread(add_error, [&] { text(y); }).join();
    add_error([&] { text(y); });
    add_error([&] { distribute::all_reduce(x, {.group = world}); });
    add_error([&] { text(y); });
    return r;
  });
  const std::string lost = "all_reduce 'dense/kernel': no answer within 10 s at step 7\n";
  CHECK(said[0] == "all_reduce: " + lost + "all_reduce: " + lost + "all_reduce: group 'world' is dead since " + lost +
                       "no error\n");
  CHECK(stand_in::aborted_communicators() > before);
  CHECK(stand_in::live_communicators() == 0);
}

TEST_CASE("NCCL: an error that it finds itself ends the group before the timeout") {
  const Texts said = run(2, 60, [](const Communicator& world) -> std::string {
    if (world.rank() == 1) stand_in::lose_operations(1);
    if (world.rank() == 0) stand_in::break_connection(0);
    world.barrier();
    const Tensor y = distribute::all_reduce(own(world, 2), {.name = "w", .group = world});
    return world.rank() == 0 ? text(y) : "lost";
  });
  CHECK_THAT(said[0], ContainsSubstring("all_reduce 'w': NCCL: remote process exited"));
}

TEST_CASE("NCCL: a rank that goes on with an operation on its GPU has withdrawn the error that it has reported") {
  const Texts said = run(2, 60, [](const Communicator& world) {
    Tensor x = own(world, 1);
    for (int k = 0; k < 100; ++k) x = distribute::all_reduce(x, {.op = ReduceOp::max, .group = world});  // compared
    if (world.rank() == 1) world.report_error("caught");
    const std::string r = text(distribute::all_reduce(x, {.group = world}));
    if (world.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    world.barrier();
    return r;
  });
  CHECK(said == Texts(2, "4"));
}

TEST_CASE("NCCL: ranks that it does not connect within the timeout") {
  const Texts said = run(2, 10, [](const Communicator& world) {
    stand_in::never_connect(world.rank());
    return text(distribute::all_reduce(own(world, 2), {.group = world}));
  });
  for (const std::string& s : said)
    CHECK_THAT(s, ContainsSubstring("nccl: cannot connect the GPUs: not all ranks have come within 10 s"));
  CHECK(stand_in::live_communicators() == 0);
}

TEST_CASE("NCCL: a group that cannot be made leaves no connection") {
  const int before = stand_in::aborted_communicators();
  const Texts said = run(2, 20, [](const Communicator& world) {
    stand_in::refuse_questions(world.rank());
    return text(distribute::all_reduce(own(world, 2), {.group = world}));
  });
  for (const std::string& s : said) CHECK_THAT(s, ContainsSubstring("no room"));
  CHECK(stand_in::live_communicators() == 0);
  CHECK(stand_in::aborted_communicators() == before + 2);
}

TEST_CASE("NCCL: all ranks say which of them has none, or which share a GPU, and go on") {
  const auto fails = [](const std::function<Device(const Communicator&)>& device) {
    return run(2, 20, [&](const Communicator& world) {
      std::string r;
      try {
        distribute::all_reduce(constant({1.f}).to(device(world)), {.group = world});
      } catch (const errors::FailedPreconditionError& e) {
        r = e.message();
      }
      return r + "; " + text(distribute::all_reduce(constant({1.f}), {.group = world}));
    });
  };
  for (const std::string& s : fails([](const Communicator& world) {
         if (world.rank() == 1) stand_in::hide_library();
         return gpu(world.rank());
       }))
    CHECK_THAT(s, StartsWith("nccl: rank 1 cannot use NCCL: libnccl.so.2 cannot be opened: hidden; 2"));
  for (const std::string& s : fails([](const Communicator&) { return gpu(2); }))
    CHECK_THAT(
        s, StartsWith("nccl: ranks 0 and 1 use the same GPU, 0000:02:00.0 of node 0: each rank needs one of its own"));
}

TEST_CASE("NCCL: a rank that calls with a tensor on the CPU is told so") {
  for (const std::string& s : run(2, 20, [](const Communicator& world) {
         const Tensor x = world.rank() == 0 ? own(world, 2) : constant({1.f, 2.f});
         return text(distribute::all_reduce(x, {.group = world}));
       }))
    CHECK_THAT(s, ContainsSubstring("rank 0 all_reduce of float32 by sum, 2 elements on a GPU for ") &&
                      ContainsSubstring("rank 1 all_reduce of float32 by sum, 2 elements for "));
}

}  // namespace nccl_transport_test
