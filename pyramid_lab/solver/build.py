"""Makes ``search.wasm`` from ``search.c``: ``python -m pyramid_lab.solver.build`` (needs the extra ``solver-build``).

The compiled file is part of the package, so nobody who only uses Pyramid Lab compiles anything. A test compares it byte
for byte with what this module makes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("search.c")
COMPILED = Path(__file__).with_name("search.wasm")

_FLAGS = (
    "-target",
    "wasm32-freestanding",
    "-mcpu=generic+bulk_memory",
    "-std=c11",
    "-O3",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-nostdlib",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
    "-Wl,-z,stack-size=65536",
)


def compile_search(output: Path) -> None:
    """Compile the search to WebAssembly.

    Args:
        output: the file to write.

    Raises:
        subprocess.CalledProcessError: the compiler failed; its messages are on standard error.
        FileNotFoundError: the compiler is not installed.
    """
    # Run from the source's folder with a bare file name, so that no path of this machine can reach the output.
    command = [sys.executable, "-m", "ziglang", "cc", *_FLAGS, "-o", str(output.resolve()), SOURCE.name]
    subprocess.run(command, check=True, cwd=SOURCE.parent)


if __name__ == "__main__":
    compile_search(COMPILED)
