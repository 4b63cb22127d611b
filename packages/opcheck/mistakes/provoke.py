"""Makes every mistake of this folder, and its cure, unless nothing has changed since it did.

A file is named after its entry in `opcheck/errors.toml`, its folder after the entry's phase. What begins with the
comment `[wrong]` is the mistake, with `[cured]` its cure, and what is before and behind, `[both]`, belongs to both.
`[ends]` says how a mistake ends of which nothing is printed, `[call]` what calls an op, `[needs]` what a machine needs.
"""

import contextlib
import fcntl
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "examples" / "common")]

import precompiled  # noqa: E402

from opcheck.errors import entries  # noqa: E402

ROOT = HERE.parents[2]
OUT = ROOT / "build" / "errors"
CXX = os.environ.get("CXX", "c++")
PREAMBLE = """\
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"
"""
OPTIONS = "-w", "-DNDEBUG", "-fPIC"
# After so many seconds a process hangs. One that does nothing wrong takes two, and more on a busy machine.
PATIENCE = {"timeout": 4, "": 600}
PROCESSES = 2
SECTION = re.compile(r"^(?://|#) \[(\w+)\] ?(.*)\n?", re.M)
FORMS = "wrong", "cured"


@dataclass(frozen=True)
class Mistake:
    """One file.

    Attributes:
      id: The entry.
      path: The file.
      parts: From the name of a section to its text; `before` is what precedes the first.
      first_lines: The number of the first line of each section.
    """

    id: str
    path: Path
    parts: dict[str, str]
    first_lines: dict[str, int]

    @property
    def name(self) -> str:
        """The id as a name of C++."""
        return self.path.stem

    def shown(self, form: str) -> str:
        """The mistake or its cure, without the head of a function around it."""
        text = self.parts.get(form, "").strip("\n")
        inner = re.fullmatch(
            r"((?:#include .*\n+)*)[\w:]+ (?:wrong|cured)\(.*?\) \{\s*?(.*)\}",
            text,
            re.S,
        )
        if inner:
            lines = inner[2].strip("\n").split("\n")
            text = "\n".join(line.removeprefix("  ") for line in lines).strip()
            text = re.sub(r"\n+", "\n", inner[1]) + text
        return text

    def code(self, form: str) -> str:
        """All that is run, of a file in Python or for the shell."""
        names = "before", form, "both"
        return "\n".join(self.parts.get(name, "") for name in names)


@dataclass
class Outcome:
    """What came of a mistake or of a cure.

    Attributes:
      text: What was printed.
      ends: "" when all went well, "error" after an error, the name of a signal, or "timeout".
    """

    text: str = ""
    ends: str = ""


def read(path: Path) -> Mistake:
    """A file in its sections."""
    text = path.read_text()
    openings = list(SECTION.finditer(text))
    parts = {"before": text[: openings[0].start()]}
    first_lines = {}
    for opening, following in zip(openings, [*openings[1:], None]):
        end = following.start() if following else len(text)
        name = opening[1]
        body = text[opening.end() : end]
        if opening[2]:  # the text is in the line itself, what follows is set-up
            parts[name] = opening[2]
            parts["before"] += body
        else:
            parts[name] = body
        first_lines[name] = text.count("\n", 0, opening.end()) + 1
    return Mistake(path.stem.replace("_", "-"), path, parts, first_lines)


@functools.cache
def mistakes() -> dict[str, Mistake]:
    """All of them, by the ids of their entries."""
    files = sorted(HERE.glob("*/*.*"))
    found = [read(path) for path in files if path.suffix in (".cc", ".py", ".sh")]
    return {mistake.id: mistake for mistake in found}


def digest() -> str:
    """Of all that decides what comes out."""
    says = [sys.version, CXX, importlib.metadata.version("numpy"), str(ROOT)]
    command = [CXX, "--version"]
    says.append(subprocess.run(command, capture_output=True, text=True).stdout)
    for name in ("tensorflow", "tensorflow-cpu", "keras", "auditwheel"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            says.append(name + importlib.metadata.version(name))
    says.append(str(shutil.which("nvcc")))
    files = sorted(path for path in HERE.rglob("*.*") if path.suffix != ".pyc")
    says += [path.read_text() for path in files if path.is_file()]
    return hashlib.sha256("\0".join(says).encode()).hexdigest()


@functools.cache
def outcomes() -> dict[str, dict[str, Outcome]]:
    """What came of each mistake and cure that could be made here; made when something is new, otherwise kept."""
    OUT.mkdir(parents=True, exist_ok=True)
    kept, log, key = OUT / "outcomes.json", OUT / "provoke.log", digest()
    with open(OUT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists() or json.loads(kept.read_text())["digest"] != key:
            with log.open("w") as said:
                command = [sys.executable, __file__, str(kept)]
                run = subprocess.run(command, stdout=said, stderr=subprocess.STDOUT)
            if run.returncode:
                raise RuntimeError(f"{log}: {log.read_text()[-2000:]}")
    found = json.loads(kept.read_text())["outcomes"]
    return {
        id: {form: Outcome(**outcome) for form, outcome in forms.items()}
        for id, forms in found.items()
    }


def counts() -> dict[str, int]:
    """How many entries there are, how many were provoked here, and how many cured."""
    made = outcomes().values()
    cured = sum("cured" in forms for forms in made)
    return {"number": len(entries()), "provoked": len(made), "cured": cured}


def problem(mistake: Mistake, made: dict[str, Outcome]) -> str:
    """What is wrong with an entry, going by what came of its mistake and of its cure; nothing if all is well."""
    entry, wrong, cured = entries()[mistake.id], made["wrong"], made.get("cured")
    if entry.regex is None:
        ends = mistake.parts["ends"].strip()
        if ends != wrong.ends and ends not in wrong.text:
            return f"the mistake ends with {wrong.ends or wrong.text}, not {ends}"
    elif not entry.regex.search(wrong.text):
        return f"the pattern is not in {wrong.text[-1000:]}"
    if cured is None:
        return ""
    if cured.ends not in ("", "error"):
        return f"the cure ends with {cured.ends}: {cured.text[-1000:]}"
    # In the place of a crash, the kernel may report an error.
    reports = r"OP_REQUIRES|CtxFailure|TF_RETURN_IF_ERROR"
    if cured.ends and not re.search(reports, mistake.parts.get("cured", "")):
        return f"the cure fails: {cured.text[-1000:]}"
    if entry.regex and entry.regex.search(cured.text):
        return "the cure gives the message, too"
    return ""


# ---- compiler and linker


def flags() -> tuple[list[str], list[str]]:
    import tensorflow as tf

    return tf.sysconfig.get_compile_flags(), tf.sysconfig.get_link_flags()


def compiler() -> list[str]:
    """The compiler, which reads the headers of every op before anything else."""
    return [CXX, *COMPILE, *OPTIONS, "-include", str(OUT / "preamble.h")]


def compiled(source: str, *flags: str) -> str:
    """What the compiler says of a text that need only be checked, with these flags or as it makes libraries."""
    command = [CXX, *flags] if flags else compiler()
    command += ["-fsyntax-only", "-xc++", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True)
    return run.stderr


def in_namespace(mistake: Mistake, form: str) -> str:
    """A section, with the file and the line that it is from; the file's includes stay outside."""
    text = mistake.parts[form]
    first = mistake.first_lines[form]
    name = f"{mistake.name}_{form}"
    path = mistake.path.relative_to(ROOT)
    outside = "".join(re.findall(r"^#.*\n", text, re.M))
    inside = re.sub(r"^#.*$", "", text, flags=re.M)
    return f'{outside}namespace {name} {{\n#line {first} "{path}"\n{inside}\n}}\n'


def check_sources(found: dict) -> None:
    """The mistakes for the compiler: missing headers alone, the others in one go, and so all cures."""
    files = [m for m in mistakes().values() if m.path.match("compile/*.cc")]
    files = [m for m in files if possible(m)]
    alone = [m for m in files if m.parts["wrong"].startswith("#include")]
    together = [m for m in files if m not in alone]
    cured = [m for m in files if "cured" in m.parts]
    flags = [*COMPILE, *OPTIONS]
    jobs = {m.id: POOL.submit(compiled, m.parts["wrong"], *flags) for m in alone}
    wrong = POOL.submit(compiled, "".join(in_namespace(m, "wrong") for m in together))
    # Of precompiled headers, g++ says less about their macros.
    flags = [*precompiled.flags(), "-w", "-include", str(OUT / "preamble.h")]
    text = "".join(in_namespace(m, "cured") for m in cured)
    cures = POOL.submit(compiled, text, *flags)
    for id, job in jobs.items():
        found[id]["wrong"] = Outcome(job.result(), "error" if job.result() else "")
    blocks = diagnostics(wrong.result())
    for m in together:
        path = str(m.path.relative_to(ROOT))
        text = "\n".join(block for block in blocks if path in block)
        found[m.id]["wrong"] = Outcome(text, "error" if text else "")
    for m in cured:
        errors = cures.result()
        found[m.id]["cured"] = Outcome(errors, "error" if errors else "")


def diagnostics(text: str) -> list[str]:
    """The errors of a compiler's output, each with the lines that belong to it."""
    blocks, before = [], []
    for line in text.splitlines():
        if re.search(r": (fatal )?error: ", line):
            blocks.append([*before, line])
            before = []
        elif re.match(r"In file included from|\S+: (In|At) |\s+from ", line) or (
            re.search(r": (required from|  )", line) and not line.startswith(" ")
        ):
            before.append(line)
        elif blocks:
            blocks[-1] += [*before, line]
            before = []
    return ["\n".join(block) for block in blocks]


def build_library() -> None:
    """One library of all mistakes that ops, kernels and shape functions make, for this TensorFlow and compiler."""
    import tensorflow as tf

    made_for = f"// {tf.__version__} {shlex.join(compiler())}"
    parts, table = [made_for, (HERE / "your_ops.cc").read_text()], []
    for mistake in mistakes().values():
        if mistake.path.suffix != ".cc" or mistake.path.parent.name == "compile":
            continue
        for form in FORMS:
            if form in mistake.parts:
                parts.append(in_namespace(mistake, form))
                name = mistake.name
                table.append(f'Add("{name} {form}", {name}_{form}::{form});')
    parts.append(
        "static const bool added = [] {\n"
        + "\n".join(table)
        + "\nif (auto* mistake = Mistakes<void()>::Chosen()) mistake();\nreturn true;\n}();\n"
    )
    source = OUT / "all.cc"
    text = "\n".join(parts)
    if LIBRARY.exists() and source.exists() and source.read_text() == text:
        return
    LIBRARY.unlink(missing_ok=True)
    source.write_text(text)
    command = [*compiler(), "-shared", str(source), "-o", str(LIBRARY), *LINK]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)


def in_shell(mistake: Mistake, form: str, folder: Path) -> Outcome:
    environment = {
        **os.environ,
        "CXX": CXX,
        "CFLAGS": shlex.join(COMPILE),
        "LFLAGS": shlex.join(LINK),
        "PRECOMPILED": shlex.join(precompiled.flags()),
        "TF": LINK[0].removeprefix("-L"),
        "LC_ALL": "C.UTF-8",
        "PATH": path(),
    }
    run = subprocess.run(
        ["bash", "-ec", mistake.code(form)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return Outcome(run.stdout, "error" if run.returncode else "")


def path() -> str:
    """Where programs are: first those that pip has put beside this Python."""
    return os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])


def possible(mistake: Mistake) -> bool:
    """Whether this machine has all that it needs."""
    needs = mistake.parts.get("needs", "").strip()
    return all(map(is_here, filter(None, needs.split(", "))))


def is_here(need: str) -> bool:
    """Whether this machine has one thing that mistakes need."""
    if need in ("nvcc", "auditwheel"):
        return shutil.which(need, path=path()) is not None
    if need == "cpu":  # TensorFlow's package without CUDA's headers and functions
        include = Path(COMPILE[0].removeprefix("-I"))
        return not (include / "third_party/gpus/cuda/include/cuda_fp16.h").exists()
    if release := re.fullmatch(r"TensorFlow 2\.(\d+)", need):
        import tensorflow as tf

        return int(tf.__version__.split(".")[1]) >= int(release[1])
    raise ValueError(f"nobody knows whether {need} is here")


# ---- Python, in forks of one process


def program(mistake: Mistake, form: str) -> str:
    """The Python that makes the mistake."""
    if mistake.path.suffix == ".py":
        return mistake.code(form)
    if mistake.path.suffix == ".sh":
        return 'import tensorflow as tf\ntf.load_op_library("./op.so")'
    call = mistake.parts.get("call", "your_op(tf.ones([2, 3]))")
    if form == "cured":
        call = mistake.parts.get("cured_call", call)
        if "cured" not in mistake.parts:  # the op is right, the call was wrong
            os.environ["YOUR_MISTAKE"] = f"{mistake.name} wrong"
    imports = "import tensorflow as tf\nfrom your_ops import *\n"
    if mistake.path.parent.name == "register" and "call" not in mistake.parts:
        call = ""
    return imports + call


def child(mistake: Mistake, form: str, folder: Path) -> None:
    """Runs a program in this process, a fork, and ends it."""
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(folder)
    os.setsid()
    # As most machines have it: without a limit, no array is too large for the stack.
    most, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if most == resource.RLIM_INFINITY or most > 8 << 20:
        resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, hard))
    os.environ["YOUR_MISTAKE"] = f"{mistake.name} {form}"
    code = 0
    try:
        source = program(mistake, form)
        file = folder / "program.py"
        file.write_text(source)
        exec(compile(source, str(file), "exec"), {"__name__": "__main__"})
    except BaseException as error:
        print("".join(traceback.format_exception_only(error)), end="")
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run_in_forks(jobs: Iterator[tuple[Mistake, str, Path]], found: dict) -> None:
    """Some at a time."""
    running: dict[int, tuple] = {}
    waiting = list(jobs)
    while waiting or running:
        while waiting and len(running) < PROCESSES:
            mistake, form, folder = waiting.pop()
            if not (pid := os.fork()):
                child(mistake, form, folder)
            ends = mistake.parts.get("ends", "").strip() if form == "wrong" else ""
            limit = PATIENCE.get(ends, PATIENCE[""])
            running[pid] = mistake, form, folder, time.monotonic(), limit
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            for pid, (*_, start, limit) in running.items():
                if time.monotonic() - start > limit:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(pid, signal.SIGKILL)
            time.sleep(0.005)
            continue
        mistake, form, folder, start, limit = running.pop(pid)
        seconds = time.monotonic() - start
        if os.WIFSIGNALED(status):
            hung = seconds > limit
            ends = "timeout" if hung else signal.Signals(os.WTERMSIG(status)).name
        else:
            ends = "error" if os.WEXITSTATUS(status) else ""
        text = (folder / "log").read_text(errors="replace")
        print(f"{seconds:6.2f} {mistake.id} {form} {ends}", flush=True)
        found[mistake.id][form] = Outcome(text, ends)


def main(out: Path, *only: str) -> None:
    global COMPILE, LINK, LIBRARY, POOL
    start, key = time.monotonic(), digest()  # of what is read now
    POOL = ThreadPoolExecutor(PROCESSES)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    COMPILE, LINK = flags()
    LIBRARY = OUT / "libyour_ops.so"
    found = {id: {} for id in mistakes()}
    if unknown := [name for name in only if name not in found]:
        sys.exit(f"provoke.py: there is no mistake {', '.join(unknown)}")
    if only and not out.exists():
        sys.exit(f"provoke.py: there is no {out} yet: make all of them first")
    chosen = {id: m for id, m in mistakes().items() if not only or id in only}
    with tempfile.TemporaryDirectory() as folder:
        folders = {(id, form): Path(folder, id, form) for id in found for form in FORMS}
        for path in folders.values():
            path.mkdir(parents=True)
        # To precompile it takes longer than to read it three times.
        (OUT / "preamble.h").write_text(PREAMBLE)
        library = POOL.submit(build_library)
        scripts = {
            (m.id, form): POOL.submit(in_shell, m, form, folders[m.id, form])
            for m in chosen.values()
            for form in FORMS
            if m.path.suffix == ".sh" and form in m.parts and possible(m)
        }
        if not only:
            check_sources(found)
        for (id, form), job in scripts.items():
            found[id][form] = job.result()
        library.result()
        POOL.shutdown()
        print(f"{time.monotonic() - start:6.1f} compiled", flush=True)
        os.environ["YOUR_OPS"] = str(LIBRARY)
        sys.path[:0] = [str(HERE)]
        run_in_forks(
            (
                (m, form, folders[m.id, form])
                for m in chosen.values()
                for form in FORMS
                if form in m.parts or ("cured_call" in m.parts and form == "cured")
                if m.path.suffix == ".py"
                or m.path.suffix == ".cc"
                and m.path.parent.name != "compile"
                or m.path.parent.name == "load"
                and not found[m.id].get(form, Outcome(ends="x")).ends
            ),
            found,
        )
        old = json.loads(out.read_text())["outcomes"] if only else {}
        text = json.dumps(
            {
                "digest": key,
                "outcomes": old
                | {
                    id: {
                        form: asdict(Outcome(o.text.replace(folder + "/", ""), o.ends))
                        for form, o in forms.items()
                    }
                    for id, forms in found.items()
                    if forms
                },
            }
        )
    out.write_text(text)
    print(f"{time.monotonic() - start:6.1f} all", flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]), *sys.argv[2:])
    elif mistakes():
        outcomes()
