"""Tests of the lints: each one reports a planted violation and accepts a similar but valid input."""

import pathlib
import shutil
import tempfile
import unittest

import comments
import components
import headers_alone
import layering
import needed
import pages
import release
import sizes
import symbols
import walk


def body(lines):
    return "void f(int a) {\n" + "  a += 1;\n" * (lines - 2) + "}\n"


class Comments(unittest.TestCase):
    def test_files_that_comments_name(self):
        texts = {"include/tandem/a/b.hpp": "// see a/b.hpp, b.hpp: not gone.inl, nor x/b.hpp\nint i;  // c.cpp\n",
                 "tests/c.cpp": '#include "none.hpp"\n// *_half.inl and _test.cpp; "none.hpp"\n'}
        self.assertEqual([line[-8:] for line in comments.missing(texts)], ["gone.inl", " x/b.hpp"])


class Walk(unittest.TestCase):
    def test_names(self):
        page = walk.TITLES[0] + "\n\n1. `ns::f<T>` (`a.hpp`) of `a`.\n2. `gone` and `x.g`.\n\nEvery op"
        problems = walk.check(page, {"a.hpp": "int f(int); // gone\nint g();"}.get)
        self.assertEqual(len(problems), 1)
        self.assertIn("`gone`", problems[0])


class Layering(unittest.TestCase):
    def problems(self, name, header):
        return layering.check(name, f'#include "{header}"\n' if not header.startswith("<") else f"#include {header}\n")

    def test_layers(self):
        for name, header in [
                ("tandem/base/shape.hpp", "tandem/core/tensor.hpp"),
                ("tandem/core/tensor.hpp", "tandem/ops/rule.hpp"),
                ("tandem/core/tensor.inl", "tandem/autodiff/tape.hpp"),
                ("tandem/ops/reduce/sum.hpp", "tandem/cpu/reduce/reduce.hpp"),
                ("tandem/ops/reduce/sum.hpp", "tandem/ops/shape/reshape.hpp"),
                ("tandem/ops/reduce/sum.inl", "tandem/autodiff/tape.hpp"),
                ("tandem/cpu/reduce/reduce.hpp", "tandem/core/apply.hpp"),
                ("tandem/cpu/reduce/reduce.inl", "tandem/ops/reduce/reduce.hpp"),
                ("tandem/cpu/fused/run.inl", "tandem/ops/pointwise/rules.inl"),
                ("tandem/base/shape.hpp", "tandem/util/ref.hpp"),
                ("tandem/attrs/reduce.hpp", "tandem/core/op.hpp"),
                ("tandem/core/variable.hpp", "tandem/module/module.hpp"),
                ("tandem/cpu/reduce/reduce.inl", "tandem/autodiff/tape.hpp"),
                ("cuda/reduce/reduce.cu", "tandem/graph/trace/trace.hpp"),
                ("tandem/autodiff/tape.inl", "tandem/graph/trace/trace.hpp"),
                ("tandem/graph/trace/trace.inl", "tandem/layers/dense.hpp"),
                ("tandem/graph/trace/trace.inl", "tandem/cpu/parallel.hpp"),
                ("tandem/io/graph_file.inl", "tandem/op_table.hpp"),
                ("tandem/saved_model/load.hpp", "tandem/op_table.hpp"),
                ("tandem/module/module.hpp", "tandem/train/checkpoint.hpp")]:
            self.assertTrue(self.problems(name, header), (name, header))

    def test_allowed(self):
        for name, header in [
                ("tandem/base/shape.hpp", "tandem/config.hpp"),
                ("tandem/saved_model/load.inl", "tandem/op_table.hpp"),
                ("tandem/core/variable.inl", "tandem/ops/pointwise/arith.hpp"),
                ("tandem/ops/reduce/sum.hpp", "tandem/ops/rule.hpp"),
                ("tandem/ops/reduce/sum.inl", "tandem/cpu/reduce/reduce.hpp"),
                ("tandem/ops/reduce/sum.inl", "tandem/ops/shape/reshape.hpp"),
                ("tandem/cpu/reduce/reduce.hpp", "tandem/core/kernel.hpp"),
                ("tandem/cpu/reduce/reduce.hpp", "tandem/attrs/reduce.hpp"),
                ("cuda/reduce/reduce.cu", "cuda/launch.cuh"),
                ("cuda/reduce/reduce.cu", "<cuda_runtime.h>"),
                ("tandem/graph/trace/trace.hpp", "tandem/autodiff/tape.hpp"),
                ("tandem/tensor.hpp", "tandem/ops/cast.inl"),
                ("tandem/train/checkpoint.hpp", "tandem/module/module.hpp")]:
            self.assertFalse(self.problems(name, header), (name, header))

    def test_users_include_topics(self):
        self.assertFalse(layering.private_includes("README.md", "#include <tandem/tensor.hpp>\n#include <vector>\n"))
        self.assertTrue(layering.private_includes("README.md", "#include <tandem/core/tensor.hpp>\n"))

    def test_topics_reach_public_headers(self):
        texts = {"tandem/layers.hpp": '#include "tandem/layers/all.hpp"\n#if TANDEM_IS_HEADER_ONLY\n#include "tandem/layers/c.hpp"\n#endif\n',
                 "tandem/layers/all.hpp": '#include "tandem/layers/a.hpp"\n', "tandem/layers/a.hpp": '#include "tandem/layers/b.hpp"\n',
                 **dict.fromkeys([f"tandem/{name}.hpp" for name in ("layers/b", "layers/c", "layers/d", "cpu/e", "signal/f_kernels")], "")}
        problems = layering.unreached(texts, lambda name: name != "tandem/layers/d.hpp")
        self.assertEqual(len(problems), 1)
        self.assertIn("tandem/layers/c.hpp: no header", problems[0])
        self.assertTrue(layering.is_public("tandem/layers/dense.hpp"))
        self.assertFalse(layering.is_public("tandem/layers/by_frequency.hpp"))

    def test_declarations_are_light(self):
        for header in ["<iostream>", "<functional>", "<Eigen/Core>", "tandem/ops/reduce/row.hpp"]:
            self.assertTrue(self.problems("tandem/ops/reduce/sum.hpp", header), header)
            self.assertFalse(self.problems("tandem/ops/reduce/sum.inl", header), header)
        for header in ["<fmt/format.h>", "<span>"]:
            self.assertTrue(self.problems("tandem/core/tensor.inl", header), header)
        self.assertTrue(self.problems("tandem/cuda.hpp", "<cuda_runtime.h>"))

        texts = {"a.hpp": '#include "b.hpp"\n#include "b.inl"\n', "b.hpp": "#include <memory>\n", "c.hpp": "#include <memory>\n",
                 "b.inl": "#include <memory>\n"}
        self.assertEqual(len(layering.heavy_for_all(texts, "a.hpp")), 1)

    def test_definitions(self):
        for name in ["tandem/ops/reduce/sum.hpp", "tandem/ops/reduce/sum.inl"]:
            self.assertTrue(self.problems(name, "tandem/ops/reduce/mean.inl"), name)
        headers = {"tandem/core/a.hpp", "tandem/core/b.hpp"}
        for name, header, wrong in [("tandem/core/a.inl", "tandem/core/a.hpp", False), ("tandem/core/a.inl", "tandem/core/b.hpp", True),
                                    ("tandem/core/c.inl", "tandem/core/b.hpp", False), ("tandem/core/c.inl", "tandem/base/b.hpp", True)]:
            self.assertEqual(bool(layering.check_definition(name, f'#include "{header}"\n', headers)), wrong, (name, header))
        self.assertEqual(layering.included_once({"a.inl", "b.inl", "c.inl"}, {"units": ["a.inl", "a.inl", "b.inl"]}),
                         ["a.inl: is in 2 units, not in one", "c.inl: is in 0 units, not in one"])

    def test_lists_of_ops(self):
        header = {"tandem/ops/shape/tile.hpp": "TANDEM_OPS(tile_ops, tile)\n"}
        self.assertFalse(layering.missing_lists(header, "rows_of(tile_ops)"))
        self.assertTrue(layering.missing_lists(header, "rows_of(more_tile_ops)"))
        of_component = {"tandem/linalg/qr.hpp": "TANDEM_OPS(linalg_qr_ops, qr)\n"}
        self.assertFalse(layering.missing_lists(of_component, ""))
        self.assertTrue(layering.missing_lists(of_component, "", "tandem/linalg_op_table.hpp", ("linalg",)))

    def test_components(self):
        for name, header, wrong in [("tandem/linalg/qr.inl", "tandem/cpu/parallel.hpp", False), ("tandem/linalg/qr.hpp", "tandem/cpu/parallel.hpp", True),
                                    ("tandem/linalg/lu_kernels.hpp", "tandem/cpu/gemm/gemm.hpp", False), ("tandem/io/npy.inl", "tandem/cpu/parallel.hpp", True),
                                    ("tandem/ops/linalg/norm.inl", "tandem/linalg/svd.hpp", True), ("tandem/linalg/qr.hpp", "<Eigen/Dense>", True)]:
            self.assertEqual(bool(self.problems(name, header)), wrong, (name, header))

    def test_passes(self):
        for head, wrong in [("Benchmark row: chain100.", False), ("Benchmark row: nothing.", True), ("Like chain100.", True)]:
            text = f"// A pass. {head}\n#pragma once\n"
            self.assertEqual(bool(layering.unpaid_pass("tandem/graph/passes/a.inl", text, {"chain100"})), wrong, head)

    def test_laziness(self):
        for name, text, wrong in [
                ("tandem/graph/ir/a.inl", "TANDEM_LAZY TANDEM_INLINE int f(int x) {", False), ("tandem/graph/ir/a.inl", "TANDEM_INLINE int f(int x) {", True),
                ("tandem/graph/ir/a.inl", "TANDEM_INLINE A::~A() {", False), ("tandem/graph/ir/a.hpp", "inline bool g() { return true; }", True),
                ("tandem/graph/ir/a.hpp", "inline constexpr int limit = 3;", False), ("tandem/core/a.hpp", "TANDEM_LAZY void f();", True),
                ("tandem/core/a.hpp", "void f();  // as TANDEM_LAZY", False)]:
            self.assertEqual(bool(layering.laziness(name, text + "\n")), wrong, (name, text))

    def test_printing(self):
        for name, text, wrong in [
                ("tandem/core/a.inl", 'std::snprintf(s, sizeof s, "%d", x);', False), ("tandem/core/a.inl", 'std::snprintf(s, n, "%5.1f s", x);', True),
                ("cuda/a.cpp", 'snprintf(s, n, "%s%g", t, x);', True), ("tandem/core/a.inl", '// printf("%g", x);\n', False),
                ("tandem/core/a.inl", 'std::snprintf(s, n, "%08x%08x", a, b); g("%f");', False), ("bench/a/b.cpp", 'std::printf("%d", 1);', True),
                ("bench/a/b.cpp", 'fmt::fprintf(f, "%d", 1); s = "printf(";', False), ("bench/startup/b.cpp", 'std::printf("%d", 1);', False),
                ("examples/a.cpp", "return std::fprintf(stderr, s), 2;", True), ("examples/a.cpp", '::printf("%d", 1);', True),
                ("examples/a.cpp", "return ::printf(s);", True), ("examples/a.cpp", 'puts("a");', True), ("bench/a.cpp", 'std::puts("a");', True),
                ("examples/a.cpp", 'std::cout << "a";', True), ("bench/a.cpp", "std::cerr << 1;", True), ("examples/first_a.cpp", "std::cout << x;", False),
                ("examples/a.cpp", "{.output = &std::cout}", False), ("examples/a.cpp", "std::fputs(text.c_str(), stderr);", False),
                ("examples/a.cpp", "fmt::printf(s); log.puts(s); my::printf(s); to->puts(s);", False)]:
            self.assertEqual(bool(layering.printed(name, text)), wrong, (name, text))
        for text, wrong in [
                ("%lf", True), ("%Lg", True), ("%.f", True), ("%'f", True), ("%1$f", True), ("%-8.*e", True), ("a; %g", True), ("http://a.org %g", True),
                ('\\"; %g', True), ("%%%e", True), ("100 %%e", False), ("%%%%g", False), ("%d %% of %ld, free", False), ("%s.%%f", False),
                ("%.3d", False), ("%lld:%02lld", False), ("%x e", False)]:
            self.assertEqual(bool(layering.printed("tandem/core/a.inl", f'std::snprintf(s, n, "{text}", x);')), wrong, text)
        for text in ['snprintf(s, n, "%d;" "%g", x);', "snprintf(s, f(';'), \"%g\", x);", "snprintf(s, n, /* ; */ \"%g\", x);",
                     "snprintf(s, 1'000, \"%g;\", x, 'c');", "snprintf(s, n,  // ;\n \"%g\", x);"]:
            self.assertTrue(layering.printed("tandem/core/a.inl", text), text)

    def test_cycles(self):
        self.assertEqual(layering.cycles({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}), [])
        self.assertEqual(layering.cycles({"a": ["b"], "b": ["c"], "c": ["b"]}), ["b c: include each other"])

    def test_sources_hold_no_code(self):
        self.assertFalse(layering.check_source("src/a.cpp", '// A.\n#include "tandem/a.inl"\n'))
        self.assertTrue(layering.check_source("src/a.cpp", '#include "tandem/a.inl"\nint f() { return 1; }\n'))
        self.assertTrue(layering.check_source("src/a.cpp", '#include "tandem/a.hpp"\n'))
        self.assertFalse(layering.wrong_unit("src/ops/a.cpp", '#include "tandem/ops/shape/a.inl"\n'))
        self.assertTrue(layering.wrong_unit("src/ops/a.cpp", '#include "tandem/cpu/a.inl"\n'))


class Release(unittest.TestCase):
    def test_changelog(self):
        for text, wrong in [("## 0.2.0\n", False), ("## Unreleased\n## 0.2.0 (2026-01-01)\n", False), ("## 0.1.0\n", True),
                            ("## 0.3.0\n## 0.2.0\n", True)]:
            self.assertEqual(bool(list(release.changelog(text, (0, 2, 0)))), wrong, text)

    def test_port(self):
        port = '{"version": "0.2.0", "features": {"io": {"description": "files"}}}'
        self.assertFalse(list(release.port(port, (0, 2, 0), {"io": {"about": "files"}})))
        self.assertTrue(list(release.port(port, (0, 2, 1), {"io": {"about": "files"}})))
        self.assertTrue(list(release.port(port, (0, 2, 0), {})))

    def test_deprecated_names_go(self):
        for text, wrong in [('[[deprecated("use y, since 0.2")]] void x();', False), ('[[deprecated("use y, since 0.1")]]', True),
                            ("[[deprecated]]", True), ('[[deprecated("old")]]', True)]:
            self.assertEqual(bool(list(release.overdue("a.hpp", text, (0, 3, 0)))), wrong, text)


class Components(unittest.TestCase):
    def test_what_a_component_needs(self):
        signal = {"folders": ["signal"], "ops": True}
        row = "| `tandem::signal`, `tandem::signal_header_only` | transforms | nothing |"
        self.assertFalse(list(components.problems("signal", signal, row, "")))
        self.assertTrue(list(components.problems("signal", signal, "", "")))
        self.assertTrue(list(components.problems("signal", signal | {"needs": ["io"]}, row, "")))
        self.assertFalse(list(components.problems("signal", signal | {"needs": ["io"]}, row, "", ["io"])))
        self.assertTrue(list(components.problems("signal", signal | {"debian": ["libfft-dev"]}, row, "g++")))
        self.assertTrue(list(components.problems("signal", signal | {"libraries": ["fft"]}, row, "")))
        self.assertEqual(len(list(components.problems("nothing", {"folders": ["nothing"]}, "", ""))), 5)

    def test_headers_alone_again(self):
        """A header that has passed is compiled again once a file that it includes has changed."""
        compilers = [c for c in ("g++", "clang++-14") if shutil.which(c)]
        self.assertTrue(compilers)
        for compiler in compilers:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "a.hpp").write_text('#pragma once\n#include "b.hpp"\ninline int a() { return b(); }\n')
                (folder / "b.hpp").write_text("#pragma once\ninline int b() { return 1; }\n")
                passed = headers_alone.Passed(folder / "passed.json")
                self.assertIsNone(headers_alone.compile_alone(compiler, "a.hpp", [f"-I{folder}"], passed))
                (folder / "b.hpp").write_text("#pragma once\ninline int c() { return 1; }\n")
                self.assertIn("does not compile", headers_alone.compile_alone(compiler, "a.hpp", [f"-I{folder}"], passed))

    def test_pages(self):
        signal = {"folders": ["signal", "waves"]}
        table = "| folder | what |\n|---|---|\n| `linalg/`, `signal/` | transforms, `waves/` |\n"
        self.assertEqual(list(components.unexplained("signal", signal, table)),
                         ["signal: docs/walkthrough.md has no row for waves/"])
        self.assertFalse(list(components.undocumented("signal", signal, ["signal/fft.hpp"], ["signal/*.hpp"])))
        self.assertEqual(len(list(components.undocumented("signal", signal, ["signal/fft.hpp", "waves/a.hpp"], ["signal/*.hpp"]))), 1)
        contents = "nav:\n  - Signal: signal.md\n  - 'Ops, all': ops/all.md\n  - Signals: reference_signals.md\n  - Old: old_linalg.md\n"
        readme = "[transforms](docs/signal.md)"
        self.assertFalse(list(components.unlinked(["ops/all.md", "signal.md"], ["signals"], contents, readme)))
        self.assertEqual(list(components.unlinked(["linalg.md"], ["layers"], contents, readme)),
                         ["mkdocs.yml: nav does not have linalg.md", "mkdocs.yml: nav does not have reference_layers.md",
                          "README.md: no link to docs/linalg.md"])

    def test_headers_in_programs(self):
        text = "`a_op_table.hpp`\n```cpp\n#include <tandem/a.hpp>\n\nf();\n```\n```c++\n#include <tandem/b.hpp>\n```\n"
        self.assertFalse(list(components.unnamed(["a.hpp", "a_op_table.hpp", "config.hpp"], [text])))
        self.assertEqual(len(list(components.unnamed(["b.hpp", "b_op_table.hpp", "tandem.hpp"], [text]))), 3)


class Sizes(unittest.TestCase):
    def longest(self, text):
        return max((lines for _, lines in sizes.functions(text)), default=0)

    def test_counts_functions(self):
        self.assertEqual(self.longest(body(61)), 61)
        self.assertEqual(self.longest("namespace a {\nstruct B : C {\n" + body(30) + "int x = 1;\n" * 90 + "};\n}\n"), 30)
        self.assertEqual(self.longest("struct A {\n  A(int b) noexcept : b_{b}, c_(b) {\n" + "    b_ += 1;\n" * 68 + "  }\n};\n"), 70)
        self.assertEqual(self.longest("auto f() const -> std::vector<int> {\n" + "  g();\n" * 70 + "}\n"), 72)
        self.assertEqual(self.longest('TEST_CASE("a { b") {\n' + "  CHECK(true);  // }\n" * 70 + "}\n"), 72)
        self.assertEqual(self.longest("void f() {\n  auto g = [&](int x) {\n" + "    h(x);\n" * 70 + "  };\n}\n"), 74)

    def test_tables_are_not_functions(self):
        self.assertEqual(self.longest("constexpr int table[] = {\n" + "  f(1),\n" * 100 + "};\n"), 0)
        self.assertEqual(self.longest("enum class E {\n" + "  a,\n" * 100 + "};\n"), 0)


class Symbols(unittest.TestCase):
    def test_baseline(self):
        for name, instruction, found in [
                ("_ZN6tandem3addEv", "vaddps %ymm0,%ymm1,%ymm1", 1), ("_ZN6tandem3addEv", "vaddss %xmm0,%xmm1,%xmm1", 1),
                ("_ZSt3minIfE", "kmovw  %k1,%eax", 1), ("_ZSt3minIfE", "shlxq  %rax,%rbx,%rcx", 1),
                ("_ZN6tandem3cpu2v34loopEv", "vaddps %ymm0,%ymm1,%ymm1", 0), ("_ZN6tandem3cpu2v44loopEv", "kmovw  %k1,%eax", 0),
                ("_ZN6tandem3addEv", "addps  %xmm0,%xmm1", 0), ("_ZN6tandem3addEv", "verr   (%rax)", 0)]:
            listing = [f"0000000000000010 <{name}>:\n", f"      10:\t{instruction}\n"]
            self.assertEqual(len(symbols.beyond_baseline(listing)), found, (name, instruction))

    def test_once(self):
        names = ["lib.a:a.o:0000 T f", "lib.a:b.o:0010 T f", "lib.a:a.o:0020 W g", "lib.a:b.o:0030 W g", "lib.a:a.o:0 T h"]
        self.assertEqual(symbols.defined_twice(names), ["f: defined in lib.a:a.o, lib.a:b.o"])


    def test_others(self):
        self.assertEqual(len(symbols.of_others(["0010 W Eigen::internal::gemm(double*)", "0020 W std::vector<Eigen::Matrix<double> >::size()"])), 2)
        self.assertFalse(symbols.of_others(["0010 W TandemEigen::internal::gemm(double*)", "0020 T tandem::linalg::impl::qr()"]))

    def test_statics(self):
        line = "0000000000000008 b guard variable for tandem::compiled::{}::all"
        self.assertFalse(symbols.made_at_first_use([line.format("detail::turns()"), "0000 T tandem::compiled::f()"]))
        for name in ["io::detail::boot_id[abi:cxx11]()", "f(int, tandem::compiled::Tensor const&)"]:
            self.assertTrue(symbols.made_at_first_use([line.format(name)]), name)


class Needed(unittest.TestCase):
    def test_libraries(self):
        section = " 0x1 (NEEDED)   Shared library: [{}]\n"
        for library in ["libstdc++.so.6", "libc.so.6", "ld-linux-x86-64.so.2", "libtandem.so.0.1"]:
            self.assertFalse(needed.beyond("p", section.format(library)), library)
        for library in ["libcudart.so.13", "libcublasLt.so.13", "libfmt.so.9", "libcuda.so.1", "libmkl.so"]:
            self.assertTrue(needed.beyond("p", section.format(library)), library)


class Readme(unittest.TestCase):
    def test_blocks(self):
        blocks = pages.blocks("a\n```cpp\nint x;\n```\n```sh\nls\n```\n```cpp\nint main() {}\n```\n")
        self.assertEqual(blocks, [(3, "int x;\n"), (9, "int main() {}\n")])

    def test_prose(self):
        page = "```cpp\nint f();\nint main() {\n  return 1;\n}\n```\nCall `f()`\nor `g(\nx)`; `later`.\n```sh\n`h()`\n```\n"
        source = pages.prose_program(page, "int f", ["f()", "g( x)"], "  {0}; {1};\n")
        self.assertIn("int f();\nint main() {\n  f(); g( x);\n}\n", source)
        self.assertNotIn("return 1", source)
        with self.assertRaises(SystemExit):
            pages.prose_program(page, "int f", ["h()"], "{0};")


if __name__ == "__main__":
    unittest.main()
