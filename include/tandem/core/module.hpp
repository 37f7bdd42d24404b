// Module: a handle on named Variables and child Modules. Models and layers derive from it; Model (nn/model.hpp) is one
// whose members register themselves.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/core/variable.hpp"

namespace TANDEM_NS {

/// Owns Variables and child modules by name. Copies are handles on the same ones.
///
///   struct Net : Module {
///     layers::Dense hidden{64, {.activation = Activation::relu}}, out{10};
///     Net() { add_module("hidden", hidden), add_module("out", out); }
///     Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
///   };
///
/// Lists may be asked for while another thread builds: they show a build as a whole or not at all.
class TANDEM_API Module {
 public:
  struct Named {
    std::string path;  ///< "hidden/kernel"
    Variable variable;
    Variable weight = {};    ///< of an optimizer's slot: what it belongs to
    std::string slot = {};   ///< of an optimizer's slot: "momentum"
    bool is_frozen = false;  ///< by set_trainable(false) of its module or of one around that
  };

  Module();
  Module(const Module& other);
  Module& operator=(const Module& other);
  ~Module();
  /// All Variables, children's included, in the order they were added, each once. A layer has none before its first
  /// call.
  std::vector<Variable> variables() const;
  /// Those of them that optimizers change: made as trainable, and of no module that is frozen.
  std::vector<Variable> trainable_variables() const;
  /// The same with their paths; a Variable of a module that was added under two names is listed under both.
  std::vector<Named> named_variables() const;
  /// The Variables that have a path which is `name` or ends in "/name", each once.
  std::vector<Variable> variables_by_name(const std::string& name) const;
  /// The number of elements in the trainable variables.
  i64 count_params() const;
  /// false freezes this module with its children, also what they have not made yet: trainable_variables() leaves their
  /// Variables out. true makes those that were made as trainable so again.
  void set_trainable(bool trainable) const;
  /// The values of variables(), in their order.
  std::vector<Tensor> get_weights() const;
  /// Sets them.
  ///   throws  errors::InvalidArgumentError for another number of values, or one of another shape or dtype, by the
  ///           Variable's path; none is set then
  void set_weights(const std::vector<Tensor>& values) const;

  /// For train::Checkpoint: values for Variables that are yet to be made, which then begin with them.
  class TANDEM_API Expected {
   public:
    /// made: the checkpoint's Variables that there are; names: all that the file has, sorted.
    Expected(const std::map<std::string, Variable>& made, std::vector<std::string> names);
    /// Takes those of the values out that modules under `prefix` can still make; keeps them for that if `keep`.
    void give(const Module& module, const std::string& prefix, std::map<std::string, Tensor>& values, bool keep) const;

   private:
    Ref<Opaque> paths_;  // a Paths
    std::vector<std::string> names_;
  };

 protected:
  /// For layers: `kind` names them in a Model ("dense"). They hold no handles on their Variables beside variable(i),
  /// so that clone() can give a copy others.
  explicit Module(const char* kind);
  /// throws errors::AlreadyExistsError if this module has a variable or child of that name
  Variable add_variable(const std::string& name, const Tensor& initial, bool trainable = true) const;
  /// Adds Variables that were made elsewhere, under their paths as names: all of them or, if one is taken, none.
  void add_variables(const std::vector<Named>& named) const;
  ///   throws  errors::AlreadyExistsError as add_variable; errors::InvalidArgumentError for the module itself
  void add_module(const std::string& name, const Module& child) const;
  /// Variable number i of this module itself.
  const Variable& variable(std::size_t i) const;
  /// Runs build() once for all copies of this handle, outside of tapes and traces. For layers whose shapes depend on
  /// their first input. If it raises, what it added to this module is gone, and the next call builds anew.
  template <class F>
  void build_once(const F& build) const {
    if (!is_built()) build_locked({[](void* f) { (*static_cast<const F*>(f))(); }, const_cast<F*>(&build)});
  }
  bool is_built() const;
  /// The name of this module's class, in lists of Models.
  void set_kind(std::string kind) const;
  /// This module makes slots, for Variables that others own.
  void set_makes_slots() const;
  /// For Model: this object has `size` bytes, and the Modules inside of it are its members.
  void set_extent(std::size_t size);
  /// For Model: gives modules, copies of others, Variables of their own with the same values.
  ///   throws  errors::FailedPreconditionError if one of them keeps handles on its Variables
  static void separate(const std::vector<Module*>& modules);
  /// Notes which Modules this thread makes while it lives.
  class TANDEM_API Noted {
   public:
    Noted();
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;
    ~Noted();
    const std::vector<Module*>& list() const { return list_; }

   private:
    friend class Module;
    static Noted*& innermost();
    std::vector<Module*> list_;
    Noted* outer_;
  };

 private:
  struct Contents;
  struct Handle;
  struct Members;
  struct Paths;
  struct Places;
  struct Walk;
  struct Separation;
  void build_locked(Callable build) const;
  Handle handle() const;
  static Places& places();
  static const bool places_made;
  void enter();
  Contents& contents() const;
  Ref<Opaque> state_;    // a Contents
  Ref<Opaque> members_;  // a Members: of a plain Module that was copied from a Model
};

}  // namespace TANDEM_NS
