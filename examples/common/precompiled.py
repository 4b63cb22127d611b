"""For tests and cells that compile: TensorFlow's headers as `make examples` has compiled them."""

from pathlib import Path

TARGETS = Path(__file__).parents[2] / "build" / "examples" / "CMakeFiles"


def flags() -> list[str]:
    """Flags for a library of ops, as `make examples` has them.

    With others, as with a version of C++ in their number, g++ would read the headers again, which takes five seconds.
    EIGEN_USE_THREADS is defined.
    """
    from tensorflow import sysconfig

    usual = [
        flag
        for flag in sysconfig.get_compile_flags()
        if not flag.startswith(("-I", "-std", "--std"))
    ]
    headers = TARGETS / "tensorflow_headers.dir" / "cmake_pch.hxx"
    made = headers.with_suffix(".hxx.gch").exists()
    return [
        *("-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", *usual),
        *(("-include", str(headers)) if made else ("-std=c++17",)),
        *("-isystem", sysconfig.get_include()),
    ]


if __name__ == "__main__":
    print(*flags())
