// Id: the index of a thing in a graph (a value, a node, a Variable, an argument), a type for each kind, so that one is
// not passed for another. ById: a list that has an element for each of these things.
#pragma once
#include <cstddef>
#include <type_traits>

#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

template <class Kind>
class Id {
 public:
  /// Of no thing.
  constexpr Id() = default;
  /// An index that an int does not hold is that of no thing.
  template <class I>
    requires std::is_integral_v<I>
  constexpr explicit Id(I index)
      : number_(static_cast<I>(static_cast<int>(index)) == index ? static_cast<int>(index) : -1) {}

  constexpr bool is_set() const { return number_ >= 0; }
  /// The number that texts show; negative for no thing.
  constexpr int number() const { return number_; }
  /// Huge for no thing.
  constexpr std::size_t index() const { return static_cast<std::size_t>(number_); }

  constexpr Id& operator++() { return ++number_, *this; }
  constexpr Id& operator--() { return --number_, *this; }
  constexpr Id operator++(int) { return Id(number_++); }
  constexpr Id operator--(int) { return Id(number_--); }
  friend constexpr Id operator+(Id a, int n) { return Id(a.number_ + n); }
  friend constexpr int operator-(Id a, Id b) { return a.number_ - b.number_; }
  friend constexpr bool operator==(Id a, Id b) { return a.number_ == b.number_; }
  friend constexpr bool operator<(Id a, Id b) { return a.number_ < b.number_; }
  friend constexpr bool operator>(Id a, Id b) { return b < a; }
  friend constexpr bool operator<=(Id a, Id b) { return !(b < a); }
  friend constexpr bool operator>=(Id a, Id b) { return !(a < b); }

 private:
  int number_ = -1;
};

/// In Graph::specs: what a node produces.
using ValueId = Id<struct ValueKind>;
/// In Graph::nodes.
using NodeId = Id<struct NodeKind>;
/// In Graph::variables.
using VariableIndex = Id<struct VariableKind>;
/// In Graph::arguments, and among the tensors of a call.
using ArgumentIndex = Id<struct ArgumentKind>;

/// Successive ids, for a range-based loop.
template <class I>
class IdRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(I at) : at_(at) {}
    constexpr I operator*() const { return at_; }
    constexpr Iterator& operator++() { return ++at_, *this; }
    friend constexpr bool operator==(Iterator a, Iterator b) { return a.at_ == b.at_; }

   private:
    I at_;
  };
  constexpr IdRange(I first, I end) : first_(first), end_(end) {}
  constexpr Iterator begin() const { return Iterator(first_); }
  constexpr Iterator end() const { return Iterator(end_); }

 private:
  I first_, end_;
};

/// A LeanVector whose elements are found by ids of one kind alone.
template <class I, class T>
class ById : public LeanVector<T> {
 public:
  using LeanVector<T>::LeanVector;
  T& operator[](I i) { return this->data()[i.index()]; }
  const T& operator[](I i) const { return this->data()[i.index()]; }
  /// Whether there is an element of this id.
  bool contains(I i) const { return i.index() < this->size(); }
  /// The ids of all elements, in order.
  IdRange<I> ids() const { return {I(0), end_id()}; }
  /// The id behind the last: that of the element which the next push_back() adds.
  I end_id() const { return I(this->size()); }
};

}  // namespace TANDEM_NS
