"""Code for wide vectors runs only where the processor has all that it is compiled with."""

import platform
import re
from pathlib import Path

import pytest
from running import run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
# From a source to the file that says for which instructions its avx512 is compiled.
CHOICES = {
    "conv2d/conv2d.cc": ROOT / "cmake" / "SimdPaths.cmake",
    "elementwise/log_cosh.cc": EXAMPLES / "elementwise" / "CMakeLists.txt",
    "max_pool/max_pool.h": EXAMPLES / "max_pool" / "max_pool.h",
    "roi_pool/roi_pool_cpu.cc": ROOT / "cmake" / "SimdPaths.cmake",
    "roi_pool/roi_pool_variants.cc": ROOT / "cmake" / "SimdPaths.cmake",
}
COMPILED_FOR = (
    r"SIMD_FLAGS_avx512 (.*)\)|cosh_avx512.cc PROP.*\"(.*)\"|target\(\"(avx512.*)\"\)"
)
# What a choice calls returns its name here, and a processor has all but what the arguments name.
PROGRAM = """\
#include <cstdio>
#include <set>
#include <string>
std::set<std::string> missing;
bool Has(const std::string& name) { return missing.count(name) == 0; }
#define __builtin_cpu_supports(name) Has(name)
namespace tensorflow::port {
struct CPUFeature {
  static constexpr const char *AVX2 = "avx2", *FMA = "fma", *AVX512F = "avx512f", *AVX512BW = "avx512bw",
                              *AVX512DQ = "avx512dq", *AVX512VL = "avx512vl";
};
bool TestCPUFeature(const char* name) { return Has(name); }
}
#define PATH(space, spaced, Run) \\
  template <typename T> const char* Run(T) { return #space; } \\
  namespace space { \\
  template <typename T> const char* GetPath() { return #space; } \\
  template <typename T> const char* GetMultiplier() { return #space; } \\
  } \\
  namespace spaced { const char* LogCoshOfFloats = #space; }
PATH(avx2, op_by_op_avx2, RunAvx2)
PATH(avx512, op_by_op_avx512, RunAvx512)
using T = float;
const char* Chosen(const std::string& name, int work) {
CHOICE
  return "baseline";
}
int main(int count, char** arguments) {
  missing = {arguments + 1, arguments + count};
  std::puts(Chosen("avx512", 0));
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="no x86-64")
@pytest.mark.parametrize("source", CHOICES)
def test_a_path_asks_for_all_that_it_is_compiled_with(source, tmp_path):
    blocks = re.findall(
        r"(?m)^#if.*x86_64.*\n((?:(?!#).*\n)*)", (EXAMPLES / source).read_text()
    )
    [choice] = [block for block in blocks if re.search("_supports|TestCPU", block)]
    program = tmp_path / "choice.cc"
    program.write_text(PROGRAM.replace("CHOICE", choice))
    compiled = run("c++", "-std=c++17", program, "-o", tmp_path / "choice")
    assert compiled.returncode == 0, compiled.stderr

    def chosen(*missing: str) -> str:
        return run(tmp_path / "choice", *missing).stdout.strip()

    flags = "".join(re.search(COMPILED_FOR, CHOICES[source].read_text()).groups(""))
    needed = re.findall(r"avx512\w+|fma", flags)
    assert len(needed) >= 4
    assert chosen() == "avx512"
    for name in needed:
        assert chosen(name) != "avx512", f"{source} does not ask for {name}"
    assert chosen(*needed, "avx2") == "baseline"
