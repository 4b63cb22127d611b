"""The build of the examples: what it refuses, and what it says."""

import functools
import json
import os
import re
import sys
import venv
from pathlib import Path

import pytest
from running import program, run

import examples

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "compiler", "message"),
    [
        ("zero_out", "no-cc", "no C++ compiler (no-cc): sudo apt-get install g++"),
        ("nothing", "c++", "no example nothing; there are "),
    ],
)
def test_what_cannot_be_compiled_is_said_in_one_line(name, compiler, message):
    made = run(sys.executable, ROOT / "tools" / "examples.py", name, CXX=compiler)
    assert made.returncode == 1
    assert made.stderr.startswith(f"make examples: {message}")
    assert len(made.stderr.splitlines()) == 1


@pytest.fixture
def no_kernels(tmp_path):
    """A project that only looks for a CUDA compiler, and what CMake says of it."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.26)\nproject(none LANGUAGES CXX)\n"
        f"include({ROOT}/cmake/CudaKernels.cmake)\n"
    )

    python = f"-DPython3_EXECUTABLE={sys.executable}"
    places = "-S", tmp_path, "-B", tmp_path / "build"
    return functools.partial(run, examples.CMAKE, *places, python)


def test_without_cuda_no_compiler_is_looked_for(no_kernels):
    done = no_kernels("-DCUDA=off", CUDACXX="/no/nvcc")
    assert done.returncode == 0, done.stderr
    assert "CUDA: off, every example is built for the CPU" in done.stderr


def test_a_choice_of_cuda_that_is_none(no_kernels):
    done = no_kernels("-DCUDA=yes")
    assert done.returncode
    assert "CUDA is auto, on or off, not yes\n" in done.stderr


@pytest.mark.parametrize("choice", ["auto", "on"])
def test_a_named_cuda_compiler_that_is_not_there(no_kernels, choice):
    done = no_kernels(f"-DCUDA={choice}", CUDACXX="/no/nvcc")
    assert done.returncode
    assert "CUDACXX names /no/nvcc, which is not there" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("missing", [True, False])
def test_a_library_without_the_cuda_runtime_fails_the_build(
    no_kernels, tmp_path, missing
):
    """What is undefined in it stands for what TensorFlow's names would hide."""
    (tmp_path / "host.cc").write_text("int Host() { return 0; }\n")
    (tmp_path / "kernel.cu.cc").write_text(
        "__global__ void Kernel() {}\n"
        'extern "C" int cudaNowhere();\n'
        f"int Launch() {{ Kernel<<<1, 1>>>(); return {'cudaNowhere()' if missing else '0'}; }}\n"
    )
    with (tmp_path / "CMakeLists.txt").open("a") as lists:
        lists.write(
            "if(CUDA_KERNELS)\nadd_library(kernels MODULE host.cc)\n"
            "target_link_libraries(kernels PRIVATE m)\n"
            "add_cuda_kernels(kernels kernel.cu.cc)\nendif()\n"
        )
    done = no_kernels("-DCUDA=auto", CUDAARCHS="75-real")
    if "no compiler found" in done.stderr:
        pytest.skip("no CUDA compiler")
    assert done.returncode == 0, done.stderr
    made = run(examples.CMAKE, "--build", tmp_path / "build")
    assert (made.returncode != 0) == missing, made.stdout + made.stderr
    said = "libkernels.so lacks 1 CUDA functions, cudaNowhere"
    assert (said in made.stderr) == missing
    assert (tmp_path / "build" / "libkernels.so").exists() != missing


@pytest.fixture
def broken_compilers(tmp_path):
    """Folders `named` and `path`, each with an nvcc that compiles nothing."""
    for folder in ("named", "path"):
        (tmp_path / folder).mkdir()
        program(tmp_path / folder, "nvcc", "echo no licence >&2\nexit 1")
    return tmp_path


@pytest.mark.parametrize("named", [True, False])
def test_cudacxx_comes_before_the_path(no_kernels, broken_compilers, named):
    """Both to CMake and to what compiles without it; what does not work is named, with the ways on."""
    path = f"{broken_compilers / 'path'}:{os.environ['PATH']}"
    environment = {"PATH": path, "CUDACXX": ""}
    expected = broken_compilers / ("named" if named else "path") / "nvcc"
    if named:
        environment["CUDACXX"] = str(expected)
    done = no_kernels(**environment)
    assert done.returncode
    error = " ".join(done.stderr.split())
    assert f"{expected} does not work: no licence Name another CUDA compiler" in error
    assert "CUDACXX=/path/to/nvcc" in error and "CUDA=off" in error
    find = "import cuda_on_host; print(cuda_on_host.find_nvcc())"
    for choice, found in (("auto", str(expected)), ("off", "None")):
        environment["CUDA"] = choice
        folder = ROOT / "examples" / "common"
        launch = run(sys.executable, "-c", find, cwd=folder, **environment)
        assert launch.stdout.strip() == found, launch.stderr


@pytest.fixture
def cmake_log(tmp_path, monkeypatch):
    """Puts a program in the place of CMake that finds a CUDA compiler once pip was called; returns the log of both."""
    log = tmp_path / "log"
    for name in ("CMAKE", "PIP"):
        script = (
            f"cd {tmp_path}; echo {name} $(ls CMakeCache.txt) $* >>log\n"
            "echo CUDA_COMPILER-NOTFOUND >CMakeCache.txt\n"
            f"[ {name} = CMAKE ] || touch installed; [ -e installed ]"
        )
        program(tmp_path, name, script)
    monkeypatch.setattr(examples, "CMAKE", tmp_path / "CMAKE")
    monkeypatch.setattr(examples, "BUILD", tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "PIP"))
    for name in ("CUDACXX", "CUDAARCHS", "CMAKE_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    return log


def test_a_cuda_compiler_is_installed_where_it_is_wanted_and_missing(
    cmake_log, monkeypatch
):
    monkeypatch.setenv("CUDA", "auto")
    with pytest.raises(SystemExit, match="^make examples: "):
        examples.configure()
    monkeypatch.setenv("CUDA", "on")
    examples.configure()
    programs = [line.split()[0] for line in cmake_log.read_text().splitlines()]
    assert programs == ["CMAKE", "CMAKE", "PIP", "CMAKE"]
    assert f"{ROOT}[cuda]" in cmake_log.read_text()


def test_another_choice_leaves_nothing_of_the_last_one(cmake_log, monkeypatch):
    cmake_log.with_name("installed").touch()
    cached = []
    for cuda, archs in [("off", ""), ("auto", ""), ("auto", "90"), ("auto", "90")]:
        monkeypatch.setenv("CUDA", cuda)
        monkeypatch.setenv("CUDAARCHS", archs)
        examples.configure()
        last = cmake_log.read_text().splitlines()[-1]
        cached.append("CMakeCache.txt" in last)
    assert cached == [False, False, False, True]


@pytest.mark.parametrize(
    ("script", "target"),
    [
        ("gpu_limits.py", "bench-gpu"),
        ("gpu_ops.py", "bench-gpu"),
        ("gpu_profile.py", "bench-gpu"),
        ("gpu_tests.py", "test-gpu"),
    ],
)
def test_what_needs_a_gpu_says_that_there_is_none(tmp_path, script, target):
    bench = run(sys.executable, ROOT / "bench" / script, PATH=str(tmp_path))
    assert bench.returncode == 1
    assert bench.stderr == f"make {target}: no GPU: nvidia-smi finds none\n"


@pytest.mark.parametrize(
    "library", sorted(ROOT.glob("examples/*/lib*.so")), ids=lambda path: path.stem
)
def test_a_library_exports_no_function_of_its_own(library):
    """Two libraries in one process would call each other's."""
    names = run("nm", "-D", "--defined-only", library)
    assert names.returncode == 0 and "op_by_op" not in names.stdout


def test_code_is_compiled_with_warnings_and_for_speed():
    """And where bits are compared, no multiplication is joined to an addition, which the compiler does for arm64."""
    noted = run(examples.NINJA, "-C", examples.BUILD, "-t", "compdb")
    found = set()
    for command in json.loads(noted.stdout):
        path = Path(command["file"])
        if path.is_relative_to(examples.EXAMPLES) and path.suffixes == [".cc"]:
            example = examples.EXAMPLES / path.relative_to(examples.EXAMPLES).parts[0]
            wanted = {"-Wall", "-Wextra", "-DNDEBUG", "-O3", "-fvisibility=hidden"}
            if example.name in ("roi_pool", "ps_roi_align", "lists"):
                wanted.add("-ffp-contract=off")
            assert wanted - set(command["command"].split()) == set(), path
            found.add(example.name)
    assert found == set(examples.examples())


def test_without_ndebug_a_class_of_tensorflow_has_other_members(tmp_path):
    """So says the first chapter, of `-DNDEBUG`."""
    from tensorflow import sysconfig

    source = tmp_path / "size.cc"
    source.write_text(
        '#include "tensorflow/core/graph/edgeset.h"\n'
        "template <size_t> struct Size;\nSize<sizeof(tensorflow::EdgeSet)> size;\n"
    )
    flags = sysconfig.get_compile_flags()
    sizes = []
    for option in ("-DNDEBUG", "-UNDEBUG"):
        made = run("c++", "-fsyntax-only", "-w", option, *flags, source)
        sizes.append(int(re.search(r"Size<(\d+)", made.stderr)[1]))
    assert sizes[0] < sizes[1]


# From each header that is precompiled to what is declared there, of all that the examples use.
PRECOMPILED = {
    "op.h": r"\bREGISTER_OP\(",
    "op_kernel.h": r"\bOpKernel|\bOP_REQUIRES|\bREGISTER_KERNEL_BUILDER\(",
    "shape_inference.h": r"\b(InferenceContext|ShapeHandle|DimensionHandle)\b",
    "common_shape_fns.h": r"\bshape_inference::(?!InferenceContext\b|\w+Handle\b|DimensionOrConstant\b)[A-Z]",
}


def with_its_headers(path: Path) -> str:
    text = path.read_text()
    own = re.findall(r'^#include "(\w+\.h)"', text, re.M)
    return "\n".join([text, *(with_its_headers(path.parent / name) for name in own)])


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("examples/*/*.cc")), ids=lambda path: path.name
)
def test_an_example_that_is_built_alone_needs_no_precompiled_header(path):
    text = with_its_headers(path)
    included = set(re.findall(r"#include .tensorflow/core/framework/(\w+\.h)", text))
    if "common_shape_fns.h" in included:
        included.add("shape_inference.h")  # which it is there for
    if "op_kernel.h" in included:
        included.add("op.h")
    code = re.sub("//.*", "", text)
    used = {header for header, names in PRECOMPILED.items() if re.search(names, code)}
    assert used - included == set()
    threads = re.search(
        r"ThreadPoolDevice|eigen_cpu_device|\bCPUDevice|cwise_ops", code
    )
    assert not threads or "#define EIGEN_USE_THREADS\n" in text.partition("#include")[0]


def test_templates_of_the_precompiled_headers_are_instantiated_once(tmp_path):
    """Not again in each file that reads them, where the compiler is g++: that takes 100 MB and a second."""
    headers = "CMakeFiles/tensorflow_headers.dir"
    if not (examples.BUILD / headers / "cmake_pch.hxx.gch").exists():
        pytest.skip("the compiler is not g++")
    ninja = [examples.NINJA, "-C", examples.BUILD, "-t", "compdb"]
    noted = run(*ninja)
    [command] = [
        command["command"].split()
        for command in json.loads(noted.stdout)
        if command["output"] == f"{headers}/empty.cc.o"
    ]
    at = command.index("-o") + 1
    command[at] = tmp_path / "empty.o"
    command.append("-ftime-report")
    made = run(*command, cwd=examples.BUILD, CCACHE_DISABLE="1")
    used = re.search(r"^ template instantiation .* (\d+)([kM]?) \(", made.stderr, re.M)
    assert "TOTAL" in made.stderr and (not used or used[2] != "M"), used[0]


def configure(tmp_path: Path, python: Path, **environment: str) -> str:
    """The error of configuring an example alone with this Python."""
    command = [examples.CMAKE, "-S", ROOT / "examples" / "zero_out"]
    command += ["-B", tmp_path / "build", f"-DPython3_EXECUTABLE={python}"]
    configured = run(*command, **environment)
    assert configured.returncode
    return " ".join(configured.stderr.split())


def test_a_python_without_tensorflow(tmp_path):
    venv.create(tmp_path / "bare")
    error = configure(tmp_path, tmp_path / "bare" / "bin" / "python", PYTHONPATH="")
    assert "has no TensorFlow: run `make env`" in error


@pytest.mark.parametrize("version", ["1.15.0", "2.99.0"])
def test_a_tensorflow_out_of_range(tmp_path, version):
    package = tmp_path / "tensorflow"
    package.mkdir()
    (package / "libtensorflow_framework.so.2").touch()
    (package / "__init__.py").write_text(
        f"__version__ = '{version}'\n"
        "class sysconfig:\n"
        "    get_include = staticmethod(lambda: '/include')\n"
        "    get_compile_flags = staticmethod(lambda: ['-I/include'])\n"
    )
    error = configure(tmp_path, sys.executable, PYTHONPATH=str(tmp_path))
    assert f"TensorFlow {version} is outside the supported range" in error
    assert "run `make env`" in error
