// HParams: named hyper-parameters with types and defaults, set by a text, a file or the command line.
#pragma once
#include <concepts>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::train {

using io::Metadata;

/// What a hyper-parameter may be: true or false, a whole number, a number, a text, or a list of the last three.
struct HParamValue {
  using Texts = std::vector<std::string>;
  std::variant<bool, i64, double, std::string, std::vector<i64>, std::vector<double>, Texts> value;

  HParamValue(bool x) : value(x) {}
  HParamValue(std::string x) : value(std::move(x)) {}
  HParamValue(const char* x) : value(std::string(x)) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  HParamValue(T x) : value(static_cast<i64>(x)) {}
  template <std::floating_point T>
  HParamValue(T x) : value(static_cast<double>(x)) {}
  HParamValue(std::vector<i64> list) : value(std::move(list)) {}
  HParamValue(std::vector<double> list) : value(std::move(list)) {}
  HParamValue(Texts list) : value(std::move(list)) {}
  template <class T>
  HParamValue(std::initializer_list<T> list) {
    if constexpr (std::integral<T>) value = std::vector<i64>(list.begin(), list.end());
    else if constexpr (std::floating_point<T>) value = std::vector<double>(list.begin(), list.end());
    else value = Texts(list.begin(), list.end());
  }
  bool operator==(const HParamValue&) const = default;
};

struct HParam {
  std::string name;   ///< letters, digits, '_', '-', '.' and '/'
  HParamValue value;  ///< the default, which says what type it has
  std::string description = {};
  bool operator==(const HParam&) const = default;
};

/// The hyper-parameters of a program. Each has a type and a default, so a value that nobody has set is never an error.
///
///   train::HParams h{{"lr", 0.01, "learning rate"}, {"units", 32}, {"layers", {64, 32}}, {"augment", false}};
///   h.parse("lr=0.1,layers=[128,64]");
///   const optimizers::Adam adam(h.get<double>("lr"));
///
/// Each function that sets several values sets all of them or, if it raises, none.
class TANDEM_API HParams {
 public:
  ///   throws  errors::InvalidArgumentError for a name that is empty, has other characters, is there twice, or is
  ///           "help" or "hparams", which are arguments
  HParams(std::initializer_list<HParam> parameters);
  explicit HParams(std::vector<HParam> parameters);

  /// The value of a parameter.
  ///   T       bool, an integer or floating type, std::string, or a std::vector of i64, double or std::string. A whole
  ///           number may be read as a floating one.
  ///   throws  errors::NotFoundError, which lists the names, for another name; errors::InvalidArgumentError for a
  ///           parameter of another type, or a number that T cannot hold
  template <class T>
  T get(std::string_view name) const;
  /// All, in their order.
  const std::vector<HParam>& parameters() const { return parameters_; }

  /// Sets a value. A parameter that is a number also takes whole numbers.
  ///   throws  errors::InvalidArgumentError, which lists the names, for another name, and for a value of another type
  HParams& set(std::string_view name, HParamValue value);
  /// Sets a value given as text: "0.1", "64", "true" or "1", "adam", "[64,32]" or "64,32".
  ///   throws  as set
  HParams& set_text(std::string_view name, std::string_view text);
  /// Sets the values of a text such as to_string() makes: lr=0.1,units=64,layers=[64,32],title="a, b". Texts with
  /// commas, brackets, quotes or outer spaces stand in quotes, in which \" and \\ are a quote and a backslash.
  ///   throws  as set; errors::InvalidArgumentError for a name that is set twice, and other texts
  HParams& parse(std::string_view text);
  /// Sets the values of a JSON file, one object of names and values, such as save() writes.
  ///   throws  as set; as io::read_file; errors::DataLossError if it is not such a file
  HParams& load(const std::string& path);
  /// Writes all values to a JSON file, atomically.
  ///   throws  errors::InvalidArgumentError for a text that is not UTF-8; otherwise as io::write_file
  void save(const std::string& path) const;
  /// Sets the values of main()'s arguments, from the left to the right: --lr=0.1 or --lr 0.1, --augment for
  /// --augment=true, --hparams=FILE for load(FILE).
  ///
  ///   if (!h.parse_arguments(argc, argv)) {
  ///     std::cout << h.help();
  ///     return 0;
  ///   }
  ///
  ///   returns  false, and sets nothing, if --help is among them
  ///   throws   as set and load; errors::InvalidArgumentError for what is not an argument of these
  bool parse_arguments(int argc, const char* const* argv);
  /// All arguments, with the present values and the descriptions, a line for each.
  std::string help() const;

  /// The values as texts, for RunDirectory and FitOptions::configuration: a run with other values is another run.
  Metadata configuration() const;
  bool operator==(const HParams&) const = default;

 private:
  HParam& find(std::string_view name);
  const HParamValue& value_of(std::string_view name) const;
  [[noreturn]] void raise_type(std::string_view name, const char* wanted) const;
  double number(std::string_view name) const;
  i64 whole_number(std::string_view name, i64 least, i64 most) const;
  std::vector<HParam> parameters_;
};

/// The value as text: 0.1, true, [64,32].
TANDEM_API std::string to_string(const HParamValue& value);
/// The text from which parse() makes the same values.
TANDEM_API std::string to_string(const HParams& parameters);

namespace detail {
template <class T>
inline constexpr const char* hparam_kind = "a text";
template <>
inline constexpr const char* hparam_kind<bool> = "true or false";
template <>
inline constexpr const char* hparam_kind<i64> = "a whole number";
template <>
inline constexpr const char* hparam_kind<double> = "a number";
template <>
inline constexpr const char* hparam_kind<std::vector<i64>> = "a list of whole numbers";
template <>
inline constexpr const char* hparam_kind<std::vector<double>> = "a list of numbers";
template <>
inline constexpr const char* hparam_kind<std::vector<std::string>> = "a list of texts";
}  // namespace detail

template <class T>
T HParams::get(std::string_view name) const {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    static_assert(sizeof(T) < 8 || std::signed_integral<T>, "HParams: use i64, which whole numbers are");
    return static_cast<T>(whole_number(name, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number(name));
  } else {
    const T* const at = std::get_if<T>(&value_of(name).value);
    if (!at) raise_type(name, detail::hparam_kind<T>);
    return *at;
  }
}

}  // namespace TANDEM_NS::train
