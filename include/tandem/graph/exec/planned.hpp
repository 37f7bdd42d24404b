// PlannedProgram: kernel calls built once over the state of an execution (an arena and the operands' pointers), run in
// order. For the definitions of program.hpp.
#pragma once
#include <atomic>
#include <memory>

#include "tandem/core/invoke.hpp"
#include "tandem/graph/exec/capture.hpp"
#include "tandem/graph/exec/device_memory.hpp"
#include "tandem/graph/exec/plan_parts.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/exec/run_node.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/inter_op.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

class PlannedProgram : public Program {
 public:
  TANDEM_LAZY explicit PlannedProgram(Ref<Graph> graph)
      : Program(std::move(graph)), plan_(make_plan(*graph_)), producers_(graph_->producers()) {
    compile();
  }
  TANDEM_LAZY std::string text_of_plan() const { return to_string(plan_, *graph_); }

  TANDEM_LAZY Tensors run_plan(Inputs arguments, Span<Tensor> donated) {
    Lease execution(*this);
    execution->donated = donated;
    for (std::size_t i = 0; i < arguments.size(); ++i) execution->point(graph_->arguments[i], *arguments[i]);
    CallValues in_bodies(read_in_bodies_);
    const VariableLocks locks(to_lock(), only_read_, [&] {
      in_bodies.read();  // first: the early reads take its values
      run_steps(early_, *execution, arguments);
    });
    try {
      if (is_profiling() || (segments_.empty() && (branches_.empty() || config::inter_op_parallelism_threads() == 1)))
        run_steps(steps_, *execution, arguments);
      else run_parts(*execution, arguments);
    } catch (...) {
      if (!early_begins_.empty()) leave_early_work(execution);
      throw;
    }
    Tensors out;
    out.reserve(static_cast<unsigned>(graph_->outputs.size()));
    for (ValueId v : graph_->outputs) out.push_back(execution->tensor(v, arguments));
    return out;
  }

 private:
  struct Step {
    // resolved: a kernel whose result's sizes depend on data
    enum Kind : std::uint8_t { kernel, resolved, read, assign, execute } kind = execute;
    bool locked = false;        // read: of a Variable that this program's own nodes assign
    bool last = false;          // assign: the old value is dead after it
    Stream stream = {};         // kernel: where it runs
    const OpDef* op = nullptr;  // kernel
    const Node* node = nullptr;
    std::uint32_t call = 0;                // kernel
    VariableIndex variable = {};           // read, assign
    std::uint32_t fresh = 0, freshes = 0;  // kernel: the outputs that need separate buffers
  };
  struct CallAt {
    std::uint32_t operands, inputs, outputs;
    NodeId node;
  };
  struct Use {
    std::uint32_t operand;
    std::size_t offset;
  };

  static constexpr std::size_t nowhere = ~std::size_t(0);
  // Steps, from `first` to `end`, that only launch kernels of one device on operands there: what a capture can hold.
  struct Segment {
    std::uint32_t first, end, first_operand, operands;
    std::size_t result_bytes;
  };
  // Of a segment in an execution. Small results are computed in memory of its own and copied to tensors from there:
  // else a program whose results are kept would never have the same operands again.
  struct SegmentState {
    Captures captures;
    DeviceMemory results;
  };
  // Steps that may run at the same time: those from `first` to `end`, dealt to branches.
  struct Region {
    std::uint32_t first, end, first_branch, branches;
  };

  // The state of one running call: an arena, the operands with their pointers, the tensors that outlive the call.
  struct Execution {
    PlannedProgram& program;
    LeanVector<DeviceMemory> arenas;  // as Plan::arenas
    LeanVector<Operand> operands;
    LeanVector<KernelCall> calls;
    ById<ValueId, Tensor> tensors;                       // by base: fresh values and read Variables
    LeanVector<ValueId> filled;                          // bases in tensors, to be cleared after the call
    std::vector<Tensor> retired;                         // old values of Variables that are still read
    ById<ValueId, char> in_place;                        // by base: whether it was computed in the Variable's buffer
    Span<Tensor> donated;                                // donated arguments, whose buffers results may reuse
    LeanVector<std::unique_ptr<SegmentState>> segments;  // of each segment
    std::unique_ptr<Execution> next;

    TANDEM_LAZY explicit Execution(PlannedProgram& p);
    void point(ValueId base, void* data) {
      for (std::uint32_t u = program.first_use_[base]; u < program.first_use_[base + 1]; ++u)
        operands[program.uses_[u].operand].data = static_cast<char*>(data) + program.uses_[u].offset;
    }
    // A tensor that this call does not write: kernels may find packed forms of it.
    void point(ValueId base, const Tensor& t) {
      point(base, t.raw());
      for (std::uint32_t u = program.first_packer_[base]; u < program.first_packer_[base + 1]; ++u)
        calls[program.packers_[u]].packed = t.packed_forms();
    }
    char* arena(Device device) const {
      for (const DeviceMemory& a : arenas)
        if (a.device() == device) return a.data();
      return nullptr;
    }
    void hold(ValueId base, Tensor t) {
      filled.push_back(base);
      tensors[base] = std::move(t);
    }
    TANDEM_LAZY Tensor tensor(ValueId value, Inputs arguments) const;
    void clear() {
      for (const ValueId r : filled) tensors[r] = Tensor(), in_place[r] = 0;
      filled.clear();
      retired.clear();
    }
  };
  // An execution state for the duration of a call: the spare one, or a new one.
  class Lease {
   public:
    TANDEM_LAZY explicit Lease(PlannedProgram& p)
        : program_(p), execution_(p.ready_.exchange(nullptr, std::memory_order_acquire)) {
      if (!execution_) execution_ = p.take_spare();
    }
    Lease(const Lease&) = delete;
    ~Lease() {
      if (!execution_) return;
      execution_->clear();
      if (Execution* other = program_.ready_.exchange(execution_, std::memory_order_acq_rel)) program_.put_spare(other);
    }
    /// No other call gets it.
    std::unique_ptr<Execution> take() { return std::unique_ptr<Execution>(std::exchange(execution_, nullptr)); }
    Execution* operator->() const { return execution_; }
    Execution& operator*() const { return *execution_; }

   private:
    PlannedProgram& program_;
    Execution* execution_;
  };

 public:
  ~PlannedProgram() override { delete ready_.load(); }

 private:
  TANDEM_LAZY Execution* take_spare() {
    {
      const std::lock_guard lock(mutex_);
      if (spare_) {
        Execution* e = spare_.release();
        spare_ = std::move(e->next);
        return e;
      }
    }
    return new Execution(*this);
  }
  void put_spare(Execution* e) {
    const std::lock_guard lock(mutex_);
    e->next = std::move(spare_);
    spare_.reset(e);
  }

  TANDEM_LAZY void compile();
  TANDEM_LAZY void add_kernel(NodeId node, ById<ValueId, LeanVector<Use>>& uses);
  TANDEM_LAZY void find_packers();
  TANDEM_LAZY void add_operand(ValueId value, ById<ValueId, LeanVector<Use>>& uses);
  TANDEM_LAZY ById<VariableIndex, char> directly_assigned() const;
  // Runs a step; errors get the name of its node.
  template <class F>
  static void named(const Step& s, const F& run) {
    try {
      run();
    } catch (errors::OpError& e) {
      name_error(e, *s.node);
      throw;
    }
  }
  TANDEM_LAZY void find_segments();
  TANDEM_LAZY bool is_launch(const Step& s) const;
  TANDEM_LAZY void run_segment(std::size_t segment, Execution& e) const;
  TANDEM_LAZY void check_sizes(const Step& s, const Execution& e) const;
  TANDEM_LAZY void run_step(const Step& s, Execution& e, Inputs arguments) const;
  TANDEM_LAZY void run_steps(const LeanVector<Step>& steps, Execution& e, Inputs arguments) const;
  TANDEM_LAZY void find_early_begins();
  TANDEM_LAZY void leave_early_work(Lease& lease) const;
  TANDEM_LAZY void find_branches(const ById<NodeId, std::size_t>& first_step);
  TANDEM_LAZY void run_parts(Execution& e, Inputs arguments) const;
  TANDEM_LAZY void run_region(const Region& r, Execution& e) const;
  TANDEM_LAZY void run_timed_steps(const LeanVector<Step>& steps, Execution& e, Inputs arguments) const;
  TANDEM_LAZY void bind_output(std::uint32_t fresh, Execution& e) const;
  TANDEM_LAZY void bind_outputs(const Step& s, Execution& e) const;
  TANDEM_LAZY static Tensor take_donated(ArgumentIndex argument, Execution& e);
  TANDEM_LAZY void read(const Step& s, Execution& e) const;
  TANDEM_LAZY void assign(const Step& s, Execution& e, Inputs arguments) const;
  TANDEM_LAZY void execute(const Node& n, Execution& e, Inputs arguments) const;
  ValueId base(ValueId value) const { return plan_.base[value]; }

  Plan plan_;
  ById<ValueId, NodeId> producers_;
  LeanVector<Step> early_, steps_;          // early_: early_reads()
  LeanVector<std::uint32_t> early_begins_;  // the steps of early ops
  LeanVector<Segment> segments_;            // in order
  LeanVector<Region> branches_;             // the regions, in order
  LeanVector<std::uint32_t> branch_steps_;  // by branch: its steps, in order,
  LeanVector<std::uint32_t> branch_start_;  // and where they begin; one more at the end
  LeanVector<CallAt> calls_;
  LeanVector<ValueId> fresh_;           // the outputs that kernel steps refer to,
  LeanVector<std::size_t> result_at_;   // and where they lie in their segment's results; `nowhere`: in a tensor
  LeanVector<ValueId> operand_values_;  // indexed by operand
  ById<ValueId, std::uint32_t>
      first_use_;  // by base, and one more: its index in uses_, for pointers that change from call to call
  LeanVector<Use> uses_;
  // By base as uses_: the calls that keep packed forms of this value, their input 1.
  ById<ValueId, std::uint32_t> first_packer_;
  LeanVector<std::uint32_t> packers_;
  std::atomic<Execution*> ready_{nullptr};
  std::mutex mutex_;
  std::unique_ptr<Execution> spare_;  // guarded by mutex_
};

}  // namespace detail
}  // namespace TANDEM_NS
