# SPDX-License-Identifier: MIT
"""The rooms that are mutated, and the tests that are to notice."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Room:
    # The beginning of the names of its archives in the build directory.
    archive: str
    # What is copied: sources find the headers beside them.
    folders: tuple
    # What is mutated, of that.
    patterns: tuple
    # Executables in the order in which they run.
    tests: tuple
    # Headers with code.
    headers: tuple = ()
    # Of an archive whose symbols others do not see the room's objects are linked themselves.
    hidden: bool = False
    # For the compiler: the less, the sooner a mutant is compiled.
    optimise: str = "-O2"

    def sources(self, root):
        """What is compiled."""
        found = sorted(p for pattern in self.patterns for p in root.glob(pattern))
        return [p.relative_to(root).as_posix() for p in found]

    def mutated(self, root):
        return self.sources(root) + list(self.headers)


ROOMS = {
    "firmware": Room(
        archive="firmware/libnvdla_firmware.a",
        folders=("firmware", "uapi"),
        patterns=("firmware/**/*.c",),
        headers=("firmware/compile/compile.h",),
        tests=("tests/test_compile", "tests/test_engine"),
    ),
    "packing": Room(
        archive="runtime/packing/",
        folders=("runtime/packing",),
        patterns=("runtime/packing/*.cpp",),
        tests=("tests/test_layout", "tests/test_network", "tests/test_network_large"),
        hidden=True,
        optimise="-O1",
    ),
    "compiler": Room(
        archive="runtime/compiler/",
        folders=("runtime/compiler",),
        patterns=("runtime/compiler/**/*.cpp",),
        tests=("tests/test_compiler_text", "tests/test_network", "tests/test_network_large", "tests/test_requests",
               "tests/test_compiled"),
        hidden=True,
        optimise="-O1",
    ),
    "loadable": Room(
        archive="runtime/loadable/",
        folders=("runtime/loadable",),
        patterns=("runtime/loadable/**/*.cpp",),
        tests=("tests/test_loadable",),
        hidden=True,
        optimise="-O1",
    ),
    "lut": Room(
        archive="runtime/lut/",
        folders=("runtime/lut",),
        patterns=("runtime/lut/*.cpp",),
        tests=("tests/test_lut", "tests/test_network"),
        hidden=True,
        optimise="-O1",
    ),
}
