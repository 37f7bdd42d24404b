// Sequential: layers one after the other. Lambda: a function as a layer.
#pragma once
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/layers/layer.hpp"
#include "tandem/layers/sequence_mask.hpp"
#include "tandem/util/lean_vector.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS::layers {

/// What Sequential can hold: a layer, or anything else that maps one Tensor to one Tensor.
template <class L>
concept LayerLike = std::is_invocable_r_v<Tensor, const L&, const Tensor&>;

/// A function of one Tensor as a layer: Lambda([](const Tensor& x) { return x / 255; }).
template <LayerLike F>
class Lambda : public Layer {
 public:
  static constexpr bool supports_masking = requires { requires F::supports_masking; };  // an Activation does
  explicit Lambda(F f) : Layer("lambda"), f_(std::move(f)) {}
  Tensor operator()(const Tensor& x) const { return f_(x); }

 private:
  F f_;
};

/// Layers one after the other:
///
///   layers::Sequential net{layers::Flatten(), layers::Dense(128, nn::relu), layers::Dropout(0.2), layers::Dense(10)};
///   net.build({none, 28, 28});
///   std::cout << net.summary();
///
/// A mask goes along, as in Keras: Embedding with .mask_zero and Masking make it; recurrent layers, Bidirectional,
/// TimeDistributed, BatchNormalization (in training), GlobalAveragePooling1D, Softmax, MultiHeadAttention and
/// TransformerBlock read it; Dense, activations, other normalizations, dropout and noise pass it on; other layers and
/// functions drop it (call_with_mask has the rules).
///
/// Copies share the layers' Variables, as copies of any layer do; Model::clone() gives a copy its own.
class TANDEM_API Sequential : public Layer {
 public:
  Sequential() : Layer("sequential") {}
  template <LayerLike... L>
    requires(sizeof...(L) > 0 && !(sizeof...(L) == 1 && (std::derived_from<L, Sequential> && ...)))
  explicit Sequential(L... layers) : Sequential() { (add(std::move(layers)), ...); }
  Sequential(const Sequential& other);
  Sequential(Sequential&&) = default;
  Sequential& operator=(Sequential other) {
    Layer::operator=(other);
    elements_ = std::move(other.elements_);
    return *this;
  }

  /// Appends a layer, or a function of one Tensor.
  template <LayerLike L>
  Sequential& add(L layer) {
    if constexpr (std::derived_from<L, Module>) {
      const auto element = make_ref<Holder<L>>(std::move(layer));
      elements_.make_room();
      forget_output();
      add_module(element->module());
      elements_.push_back(Ref<Element>(element.get()));
      return *this;
    } else {
      return add(Lambda<L>(std::move(layer)));
    }
  }
  Tensor operator()(const Tensor& x) const;
  /// The same with a mask of x's steps; sets it to the result's, which has none if a layer dropped it. NaN and
  /// infinities in steps that do not count become 0, so that they reach neither values nor gradients of the others;
  /// other elements of such steps go through layers like Dense as in Keras.
  Tensor call_with_mask(const Tensor& x, SequenceMask& mask) const;
  /// Creates all layers' Variables for inputs of this shape; the sizes that layers do not need to know may be `none`.
  void build(const Shape& input, DType dtype = DType::float32) const;
  /// Resets the states of its recurrent layers with .stateful.
  void reset_states() const;
  std::size_t size() const { return elements_.size(); }

 private:
  struct Element : Opaque {
    const char* kind() const final { return "layer"; }
    virtual Tensor call(const Tensor& x, SequenceMask& mask) const = 0;
    virtual void reset_states() const = 0;
    virtual Ref<Element> copy() const = 0;
    virtual const Module& module() const = 0;
  };
  template <class L>
  struct Holder final : Element {
    explicit Holder(L l) : layer(std::move(l)) {}
    Tensor call(const Tensor& x, SequenceMask& mask) const override {
      const InCall here(layer);
      return layers::call_with_mask(layer, x, mask);
    }
    void reset_states() const override {
      if constexpr (requires { layer.options().stateful; }) {
        if (layer.options().stateful) layer.reset_states();
      } else if constexpr (requires { layer.reset_states(); }) {
        layer.reset_states();
      }
    }
    Ref<Element> copy() const override { return Ref<Element>(new Holder(layer)); }
    const Module& module() const override { return layer; }
    L layer;
  };
  LeanVector<Ref<Element>> elements_;
};

}  // namespace TANDEM_NS::layers
