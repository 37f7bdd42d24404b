"""Conan 2 recipe: conan create packaging/conan --build=missing, from a checkout."""

import json
import os
import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

HERE = pathlib.Path(__file__).parent
CHECKOUT = HERE.parent.parent
TABLE = next(path for path in (HERE / "components.json", CHECKOUT / "cmake/components.json") if path.exists())
COMPONENTS = json.loads(TABLE.read_text())
# The Conan packages of what they need.
PACKAGES = {"nlohmann_json": "nlohmann_json/3.11.3", "Eigen3": "eigen/3.4.0", "re2": "re2/20230301",
            "jpeg": "libjpeg-turbo/[>=2.1 <4]", "png": "libpng/[>=1.6 <2]", "webp": "libwebp/[>=1.2 <2]",
            "rapidjson/reader.h": "rapidjson/cci.20230929",
            "boost/beast.hpp": "boost/[>=1.81 <2]", "prometheus-cpp-core": "prometheus-cpp/1.1.0", "mpi": "openmpi/4.1.0",
            "ssl": "openssl/[>=3 <4]", "crypto": "openssl/[>=3 <4]", "grpc++": "grpc/1.54.3", "grpc": "grpc/1.54.3",
            "gpr": "grpc/1.54.3", "absl_synchronization": "abseil/[>=20230125 <20240000]"}
# What Conan has no package for: such a component is built on demand, with what the system has.
OF_THE_SYSTEM = {"gloo"}


class Tandem(ConanFile):
    name = "tandem"
    description = "Tensors, gradients and traced functions for C++"
    license = "MIT"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], **{name: [True, False] for name in COMPONENTS}}
    default_options = {"shared": False, "fPIC": True,
                       **{name: not OF_THE_SYSTEM & set(row.get("libraries", [])) for name, row in COMPONENTS.items()}}

    @property
    def built(self):
        """The rows of the components that are built."""
        return [row for name, row in COMPONENTS.items() if self.options.get_safe(name)]

    def set_version(self):
        text = (CHECKOUT / "include/tandem/config.hpp").read_text()
        self.version = ".".join(re.search(rf"TANDEM_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export(self):
        copy(self, TABLE.name, TABLE.parent, self.export_folder)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "cuda/*"):
            copy(self, pattern, CHECKOUT, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)
        for row in self.built:
            for other in row.get("needs", []):
                if not self.options.get_safe(other):
                    raise ConanInvalidConfiguration(f"what {row['about']} is for needs the option {other}")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        packages = {}  # in order, each once
        for row in self.built:
            libraries = row.get("libraries", [])
            headers_alone = row.get("headers", [])[len(libraries):]
            for need in ([row["package"]] if "package" in row else []) + libraries + headers_alone:
                if need not in OF_THE_SYSTEM:
                    packages[PACKAGES[need]] = None
        for package in packages:
            self.requires(package)
        if any(row.get("zlib") for row in self.built):
            self.requires("zlib/[>=1.2.11 <2]")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for name in COMPONENTS:
            toolchain.cache_variables[f"TANDEM_WITH_{name.upper()}"] = bool(self.options.get_safe(name))
        for name in ("BUILD_TESTS", "BUILD_EXAMPLES", "COMPILER_HEAP"):
            toolchain.cache_variables[f"TANDEM_{name}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package's own CMake files, which know its targets and modes.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "tandem")]
