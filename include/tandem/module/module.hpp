// Module: a handle to named Variables and child Modules, the base class of models and layers. Model (module/model.hpp)
// is a Module whose members register themselves.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/core/variable.hpp"
#include "tandem/module/asset.hpp"
#include "tandem/module/regularizer.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// Owns Variables and child modules by name. Copies are handles to the same ones.
///
///   struct Net : Module {
///     layers::Dense hidden{64, {.activation = Activation::relu}}, out{10};
///     Net() { add_module("hidden", hidden), add_module("out", out); }
///     Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
///   };
///
/// Lists may be requested while another thread builds the module: they contain all of a build or nothing of it.
class TANDEM_API Module {
 public:
  struct Named {
    std::string path;  ///< "hidden/kernel"
    Variable variable;
    Variable weight = {};          ///< of an optimizer's slot: the weight it belongs to
    std::string slot = {};         ///< of an optimizer's slot: "momentum"
    bool is_frozen = false;        ///< by set_trainable(false) of its module or an enclosing one
    Regularizer regularizer = {};  ///< its penalty, for losses()
  };

  struct NamedAsset {
    std::string path;  ///< "lookup/vocabulary"
    Ref<Asset> asset;
    Ref<Opaque> owner = {};  ///< the state of its module,
    std::size_t index = 0;   ///< and its number there
  };

  Module();
  Module(const Module& other);
  Module& operator=(const Module& other);
  ~Module();
  /// All Variables, including those of children, each once, in the order in which they were added. A layer has none
  /// before its first call.
  std::vector<Variable> variables() const;
  /// The Variables that optimizers update: created as trainable and not in a frozen module.
  std::vector<Variable> trainable_variables() const;
  /// The Variables with their paths. A Variable of a module that was added under two names is listed under both.
  std::vector<Named> named_variables() const;
  /// The Variables with a path equal to `name` or ending in "/name", each once.
  std::vector<Variable> variables_by_name(const std::string& name) const;
  /// The number of elements in the trainable variables.
  i64 count_params() const;
  /// What to add to the loss: the penalties of the trainable Variables that have a regularizer, computed from their
  /// present values, and those of outputs (.activity_regularizer), from each layer's latest call. Those of a traced
  /// call have a value in that trace only; elsewhere their use raises.
  std::vector<Tensor> losses() const;
  /// A table of the layers below this module: names, classes, output shapes as far as they are known, and numbers of
  /// parameters.
  [[nodiscard]] std::string summary() const;
  /// The path of this module in the outermost one that contains it, "net/dense_1"; empty if none does.
  std::string path_in_model() const;
  /// Freezes or unfreezes this module. false freezes it with its children, including children created later:
  /// trainable_variables() then omits their Variables. true makes those that were created as trainable trainable
  /// again. layers::BatchNormalization infers while it is frozen. The next call of a traced function that asks for
  /// trainable variables, regularization losses or this mode follows the change: it is traced again, or finds the trace
  /// that it made when the same modules were frozen.
  void set_trainable(bool trainable) const;
  /// The values of variables(), in the same order.
  std::vector<Tensor> get_weights() const;
  /// Sets the values of variables(), in the same order.
  ///   throws  errors::InvalidArgumentError, with the Variable's path, for a wrong number of values or a wrong shape
  ///           or dtype; in that case no value is set
  void set_weights(const std::vector<Tensor>& values) const;

  /// For train::Checkpoint: the assets, including those of children, as named_variables() lists Variables.
  std::vector<NamedAsset> named_assets() const;
  /// For train::Checkpoint: replaces a listed asset in its module.
  static void replace(const NamedAsset& listed, const Ref<Asset>& asset);

  /// For train::Checkpoint: values for Variables that do not exist yet. A Variable takes its value when it is
  /// created.
  class TANDEM_API Expected {
   public:
    /// made: the checkpoint's Variables that exist; names: all names in the file, sorted.
    Expected(const std::map<std::string, Variable>& made, std::vector<std::string> names);
    /// Removes from `values` those that modules under `prefix` can still create a Variable for, and notes them.
    void give(const Module& module, const std::string& prefix, std::map<std::string, Tensor>& values);
    /// Gives the modules what was noted for them.
    void set();

   private:
    struct Given {
      Ref<Opaque> contents;  // a Contents
      std::string prefix;
      std::map<std::string, Tensor> values;  // by name below the prefix
    };
    Ref<Opaque> paths_;  // a Paths
    std::vector<std::string> names_;
    LeanVector<Given> given_;
  };

 protected:
  /// For layers: `kind` is their name in a Model ("dense"). They keep no handles to their Variables other than
  /// variable(i), so that clone() can replace the Variables of a copy.
  explicit Module(const char* kind);
  /// Adds a Variable.
  ///   throws  errors::AlreadyExistsError if this module has a variable or child of that name
  Variable add_variable(const std::string& name, const Tensor& initial, bool trainable = true,
                        const Regularizer& regularizer = {}, const Constraint& constraint = {}) const;
  /// Adds existing Variables under their paths as names: all of them, or none if a name is in use.
  void add_variables(const std::vector<Named>& named) const;
  /// Adds an asset.
  ///   throws  errors::AlreadyExistsError as add_variable
  void add_asset(const std::string& name, const Ref<Asset>& asset) const;
  /// The i-th asset of this module itself, an A. set_asset() replaces it for all copies.
  template <class A>
  Ref<A> asset(std::size_t i = 0) const {
    return Ref<A>(static_cast<A*>(asset_at(i).get()));
  }
  void set_asset(std::size_t i, const Ref<Asset>& asset) const;
  /// Adds a child module.
  ///   throws  errors::AlreadyExistsError as add_variable; errors::InvalidArgumentError for the module itself
  void add_module(const std::string& name, const Module& child) const;
  /// Adds a child module under the name of its class: "dense", then "dense_1".
  void add_module(const Module& child) const;
  /// The i-th Variable of this module itself.
  const Variable& variable(std::size_t i) const;
  /// The number of its own Variables.
  std::size_t weight_count() const;
  /// Runs build() once for all copies of this handle, outside of tapes and traces. For layers whose shapes depend on
  /// their first input. If it raises, everything it added to this module is removed, and the next call builds again.
  template <class F>
  void build_once(const F& build) const {
    if (!is_built()) build_locked({[](void* f) { (*static_cast<const F*>(f))(); }, const_cast<F*>(&build)});
  }
  bool is_built() const;
  /// Whether train::Checkpoint keeps values for Variables that this module has not created yet.
  bool is_expected() const;
  /// Whether set_trainable(false) froze this module, itself or with an enclosing one.
  bool is_frozen() const;
  /// Sets the name of this module's class, shown in lists of Models.
  void set_kind(std::string kind) const;
  std::string class_name() const;
  /// Keeps the loss of a layer's latest call, for losses(); replaces that of the call before.
  void set_call_loss(const Tensor& loss) const;
  /// Keeps the shape of a module's result, for summary().
  static void note_output(const Module& module, const Shape& shape);
  /// Makes it unknown again.
  void forget_output() const;
  /// Declares that this module creates slots, for Variables owned by others.
  void set_makes_slots() const;
  /// Exists during a layer's call, whose errors say where the layer is: "(in net/dense_1)", the path in the outermost
  /// module that contains it. run_with_weights() and Sequential make one; a layer without weights does so itself.
  class InCall {
   public:
    explicit InCall(const Module& layer) : here_{&layer, layer.state_.get(), &place_error, detail::layer_call} {
      detail::layer_call = &here_;
    }
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;
    ~InCall() { detail::layer_call = here_.outer; }

   private:
    detail::LayerCall here_;
  };
  /// For a layer's first call, before it has Variables: checks that no Model refers to the layer, or to the one in
  /// whose call this is, without having it as a child.
  ///   throws  errors::FailedPreconditionError, which names the Model
  [[gnu::cold]] void check_registered() const;
  /// Whether that has been done: for layers that have their Variables from the beginning.
  bool is_checked() const;
  /// For Model: this object has `size` bytes, and the Modules inside it are its members.
  void set_extent(std::size_t size);
  /// For new Variables: one in the bytes of a Model is the Model's.
  static void own_member(const Variable& v, std::string_view name);
  /// For Model: gives modules, copies of others, their own Variables with the same values.
  ///   throws  errors::FailedPreconditionError if one of them keeps handles to its Variables
  static void separate(const LeanVector<Module*>& modules);
  /// Records which Modules this thread creates during the object's lifetime.
  class TANDEM_API Noted {
   public:
    Noted();
    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;
    ~Noted();
    const LeanVector<Module*>& list() const { return list_; }

   private:
    friend class Module;
    static Noted*& innermost();
    void forget(const Module* m);
    LeanVector<Module*> list_;
    Noted* outer_;
  };

 private:
  struct Contents;
  struct Handle;
  struct Members;
  class Names;
  struct Paths;
  struct Places;
  struct Walk;
  struct Search;
  struct Separation;
  bool may_be_child() const;
  static std::string path_of(Contents&);
  static void place_error(Opaque& contents, errors::OpError&);
  void build_locked(Callable build) const;
  Ref<Asset> asset_at(std::size_t i) const;
  struct Marks;
  Marks frozen_marks(bool in_frozen) const;
  Handle handle() const;
  static Places& places();
  static const bool places_made;
  void enter();
  Contents& contents() const;
  Ref<Opaque> state_;    // a Contents
  Ref<Opaque> members_;  // a Members: of a plain Module that was copied from a Model
};

}  // namespace TANDEM_NS
