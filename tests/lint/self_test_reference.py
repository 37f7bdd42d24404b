"""Tests of what makes the reference of ops and of classes, and of the list of ops: as self_test.py, which has the other lints."""

import importlib.util
import pathlib
import sys
import tempfile
import unittest

import op_coverage
import op_reference
import sources

sys.path.insert(0, str(sources.ROOT / "docs"))
import class_reference  # noqa: E402


class OpReference(unittest.TestCase):
    def header(self, text):
        header = op_reference.Header.__new__(op_reference.Header)
        header.functions, header.options, header.types = [], {}, {}
        header.parse(text.splitlines())
        return header

    def test_functions(self):
        header = self.header("""namespace TANDEM_NS {
namespace nn {
struct FOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;  ///< the axis,
                  ///< from the end
  /// How far,
  /// in steps.
  i64 step = 1;
  i64 more = 0;
};
/// One thing.
///   x         numbers,
///             any shape
///   gradient  g
TANDEM_API Tensor f(const Tensor& x, FOptions = {});
TANDEM_ONE_AXIS_OVERLOAD(f, FOptions, axis)
}  // namespace nn
/// Another. gradient: -g
TANDEM_API Tensor g(const Tensor& x,
                    OpOptions = {});
TANDEM_API Tensor h(const Tensor& x, OpOptions = {});
namespace detail {
/// Hidden.
TANDEM_API Tensor i(const Tensor& x);
}  // namespace detail
/// For ops.
Specs infer_j(const InferCall& c);
}  // namespace TANDEM_NS""")
        self.assertEqual([(scope, names) for scope, names, _, _ in header.functions], [("nn", ["f"]), ("", ["g", "h"])])
        self.assertEqual(header.options, {"FOptions": [["axis", "-1", "the axis, from the end"], ["step", "1", "How far, in steps."],
                                                       ["more", "0", ""]]})
        page = "\n".join(op_reference.entry(*header.functions[0], header.options, {"f": ("all", "has", "x")}, {"f"}))
        for part in ("### `nn::f`", "- *x*: numbers, any shape", "- *gradient*: g", "- *kernel*: all; CPU",
                     "- *.axis* = `-1`: the axis, from the end"):
            self.assertIn(part, page)
        self.assertIn("- *gradient*: -g", op_reference.entry(*header.functions[1], {}, {}, set()))

    def test_types(self):
        header = self.header("""namespace TANDEM_NS {
enum class Side : std::uint8_t { left, right };
namespace nn {
/// What f finds.
struct Found {
  Tensor y, at = {};  ///< values,
                      ///< and places
  /// How many.
  i64 count = 0;
  Side side() const;
};
struct Built {
  Built(int n);
  int number;
};
/// Finds.
TANDEM_API Found f(const Tensor& x, Side side, Built built);
}  // namespace nn
}  // namespace TANDEM_NS""")
        side, found = header.types["Side"], header.types["Found"]
        self.assertEqual([*header.types], ["Side", "Found"])
        self.assertEqual(op_reference.types_of(header.functions[0][2], {}, header.types), [found, side])
        self.assertTrue(found.is_described())
        self.assertFalse(side.is_described())
        self.assertEqual(found.markdown(), ["- `struct nn::Found { Tensor y, at = {}; i64 count = 0; }`: What f finds.",
                                            "    - *y, at*: values, and places", "    - *count*: How many."])
        self.assertEqual(side.markdown(), ["- `enum class Side : std::uint8_t { left, right }`"])

    def test_members(self):
        header = self.header("""/// A class.
template <class T>
class A {
 public:
  /// A member.
  template <class F>
  A map(F f) const;
};
/// A function.
TANDEM_API bool is_a(const Tensor& x);""")
        self.assertEqual([names for _, names, _, _ in header.functions], [["is_a"]])

    def test_keys(self):
        header = self.header("""/// One thing.
///   x, axis   numbers,
///   of any size
///   throws    if a b or c
///   d e  holds
///   gradient none
TANDEM_API Tensor f(const Tensor& x, FOptions = {});""")
        scope, names, texts, comment = header.functions[0]
        items = dict(op_reference.prose(comment)[1])
        self.assertEqual(items["x, axis"], "numbers, of any size")
        self.assertEqual(items["gradient"], "none")
        problems = op_reference.unknown_keys(names, texts, comment, {"FOptions": [["axis", "-1", ""]]})
        self.assertEqual(len(problems), 1)
        self.assertIn("f: 'd e' names no", problems[0])

    def test_names_of_inputs(self):
        texts = ["Tensor f(const Tensor& x, const TensorList& list);"]
        self.assertFalse(op_reference.wrong_names(["f"], texts, {"f": ("all", "has", "x, list...")}))
        self.assertEqual(len(op_reference.wrong_names(["f"], texts, {"f": ("all", "has", "x, values...")})), 1)

    def test_host_only(self):
        self.assertLessEqual({"shape", "rank", "range"}, op_reference.host_only())
        self.assertFalse({"matmul", "reduce_sum", "expand_dims", "random_uniform", "fft"} & op_reference.host_only())
        self.assertFalse({"all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"} & op_reference.host_only())


class ClassReference(unittest.TestCase):
    def page(self, text, **options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.hpp"
            path.write_text(f"namespace TANDEM_NS::layers {{\n{text}\n}}  // namespace TANDEM_NS::layers\n")
            hidden = {found.name: found for found in class_reference.classes(path, is_hidden=True)}
            entries = []
            for found in class_reference.classes(path):
                found.inherit(hidden)
                entries += class_reference.entry(found, options)
            return entries

    def test_public_forms(self):
        for text, form in [
                ("A(const std::string& name, tandem::detail::PairFunction f, tandem::detail::Ignored ignored = {});",
                 "A(const std::string& name, Tensor f(const Tensor& y_true, const Tensor& y_pred));"),
                ("template <detail::LossFunction F> Tensor minimize(F&& loss) const;",
                 "template <class F> Tensor minimize(F&& loss) const;"),
                ("template <tandem::detail::PositionalRate R> explicit A(R rate, bool b = true) : A(Options{.rate = rate});",
                 "explicit A(LearningRate rate, bool b = true);"),
                ("template <std::invocable F> requires(detail::is_set<std::invoke_result_t<F>>) A(const F& f);",
                 "template <std::invocable F> A(const F& f);"),
                ("explicit A(i64 n) : Layer(\"a\"), n_(detail::positive(n));", "explicit A(i64 n);"),
                ("A(detail::Stage stage);", ""), ("const detail::Code* code() const;", "")]:
            self.assertEqual(class_reference.public_form(text), form)

    def test_members(self):
        page = self.page("""/// A call.
struct Call {
  Tensor key = {};   ///< default: the values,
                     ///< all of them
  /// Which may be seen.
  Tensor mask = {};
  using State = std::vector<Tensor>;
  using value_type = int;
  using Base::Base;
};""")
        self.assertEqual([line for line in page if line.startswith("- ")],
                         ["- `Tensor key = {};` default: the values, all of them", "- `Tensor mask = {};` Which may be seen.",
                          "- `using State = std::vector<Tensor>;`"])

    def test_code_in_comments(self):
        page = self.page("""/// A server.
///
///   Signals signals;  // before the server
///   signals.wait();
///
///   throws  Error if it is in use
struct Server {
  int port = 0;
};""")
        self.assertIn("Signals signals;  // before the server\nsignals.wait();", "\n".join(page))
        self.assertIn("- *throws*: Error if it is in use", page)

    def test_base_classes(self):
        page = self.page("""namespace detail {
/// What they have.
class Base : public Layer {
 public:
  /// How many.
  i64 units() const;
};
/// A stack.
///   x        [batch]
template <class Cell>
class Stack : public Base {
 public:
  using State = std::vector<typename Cell::State>;
  Tensor operator()(const Tensor& x) const;
  const Cell& cell() const { return cell_; }
  void build() const;

 protected:
  Stack(int n);
};
}  // namespace detail
/// Of A.
class Net : public detail::Stack<A> {
 public:
  /// With n of them.
  explicit Net(int n, const NetOptions& options = {}, const AOptions& a = {}) : Stack(n) {}
  /// Its own.
  void build() const;
};""", NetOptions=[["dropout", "0", "of the net"]], AOptions=[["dropout", "0", ""]])
        self.assertEqual([line for line in page if line], [
            "## `layers::Net`", "Of A.", "- *x*: [batch]", "```cpp", "// With n of them.",
            "explicit Net(int n, const NetOptions& options = {}, const AOptions& a = {});", "```",
            "- `NetOptions`", "    - *.dropout* = `0`: of the net", "- `AOptions`", "    - *.dropout* = `0`",
            "- `void build() const;` Its own.", "- `using State = std::vector<A::State>;`",
            "- `Tensor operator()(const Tensor& x) const;`", "- `const A& cell() const;`", "- `i64 units() const;` How many."])

    def test_functions(self):
        header = op_reference.Header.__new__(op_reference.Header)
        header.functions, header.options, header.types = [], {}, {}
        header.parse(["namespace TANDEM_NS {", "namespace regularizers {", "/// l2 * sum x^2.",
                      "constexpr Regularizer L2(double l2 = 0.01) { return detail::weighted(l2); }", "/// A scope.",
                      "[[nodiscard]] inline Scope scope(int n) {", "  return Scope(n);", "}", "}", "}"])
        self.assertEqual([texts for _, _, texts, _ in header.functions],
                         [["constexpr Regularizer L2(double l2 = 0.01);"], ["inline Scope scope(int n);"]])


class Site(unittest.TestCase):
    def test_links_to_headings(self):
        # By its path: Python has a module of that name.
        spec = importlib.util.spec_from_file_location("pages_of_site", sources.ROOT / "docs/site.py")
        site = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(site)
        texts = {"a.md": "# One `f_2`: [x](y.md)\n```\n# no heading\n```\n## F\n## F\n[1](#one-f_2-x) [2](b/c.md#gone) [3](#f_1)",
                 "b/c.md": "## nn::f\n[4](../a.md#f) [5](#nnf) [6](../a.md#no-heading) [7](https://a.org/#x)"}
        self.assertEqual(site.missing_anchors(texts), ["a.md: b/c.md has no heading #gone", "b/c.md: ../a.md has no heading #no-heading"])
        # As Python-Markdown's toc makes them.
        self.assertEqual(site.anchors("# Größe des Fensters\n## Éléments ½\n# 大小\n# 大小\n# a_9\n# a_9\n"),
                         {"groe-des-fensters", "elements-12", "_1", "_2", "a_9", "a_10"})
        self.assertEqual(site.missing_anchors({"a.md": "[1](#none)\n```\n[2](#in-code)\n```\n"}), ["a.md: a.md has no heading #none"])


class OpCoverage(unittest.TestCase):
    DECLARED = {("", "f"), ("nn", "g")}

    def problems(self, *lines):
        return op_coverage.check(lines, self.DECLARED, {"unary": {"f"}}.get, op_coverage.Tests("f(x); g(x);"))

    def test_accepted(self):
        self.assertFalse(self.problems("# Title", "", "f: golden unary", "nn::g: golden unary:f", "h: missing no time"))

    def test_violations(self):
        for line in ("f", "f: golden unary:gone", "f: because", "h: exact", "nn::f: exact", "h: missing",
                     "f: missing but there"):
            self.assertTrue(self.problems(line), line)
        self.assertTrue(self.problems("f: exact", "f: exact"))
        self.assertTrue(op_coverage.check(["f: exact"], self.DECLARED, {}.get, op_coverage.Tests("no call")))

    def test_every_op_has_a_line(self):
        ops = {"f": "creation", "nn::g": "softmax"}
        self.assertFalse(op_coverage.unlisted(["# Title", "f: exact", "nn::g: missing no time"], ops))
        self.assertEqual(op_coverage.unlisted(["f: exact", "g: exact"], ops),
                         ["coverage.txt: nn::g, of docs/ops/softmax.md, has no line"])
        self.assertEqual(op_coverage.documented()["nn::scaled_dot_product_attention"], "attention")

    def test_declared_names(self):
        text = "namespace TANDEM_NS {\nnamespace nn {\nTANDEM_API Tensor g(int);\n}\nclass C {};\n// Tensor f(int);\n}\n"
        found = op_coverage.declared_names(text)
        self.assertLessEqual({("nn", "g"), ("", "C")}, found)
        self.assertNotIn(("", "f"), found)


if __name__ == "__main__":
    unittest.main()
