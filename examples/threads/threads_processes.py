"""What the chapters on threads that share and on Eigen run in processes and threads of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

# Each task in a fork of a process that has imported TensorFlow and done nothing else.
SCRIPT = """
import json, os, re, resource, signal, sys
import numpy as np
import tensorflow as tf
from threads import steady_sum
from wrong_threads import count_at_once, nested, play_backwards_by
numbers = np.random.default_rng(5).random(1_000_000, np.float32)

def sums(threads):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    print(json.dumps([float(way(tf.constant(numbers))) for way in (tf.reduce_sum, steady_sum)]), flush=True)

def at_once(intra, inter, ops, blocks):
    tf.config.threading.set_intra_op_parallelism_threads(intra)
    tf.config.threading.set_inter_op_parallelism_threads(inter)
    together = tf.function(lambda *numbers: [count_at_once(x, blocks) for x in numbers])
    numbers = [tf.constant(i, tf.int64) for i in range(ops)]
    print(max(int(most) for _ in range(3) for most in together(*numbers)), flush=True)

def waits_for_itself():
    tf.config.threading.set_intra_op_parallelism_threads(4)
    signal.alarm(5)
    print(all(nested(16, 16) == 256 for _ in range(200)), flush=True)

def with_little_memory(way):
    signal = tf.zeros([2**25])
    op = tf.function(lambda signal: play_backwards_by(signal, way=way), autograph=False)
    op(signal[:9])
    (used,) = (int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
    resource.setrlimit(resource.RLIMIT_AS, [used * 1024 + 200 * 2**20] * 2)
    try:
        op(signal)
    except tf.errors.ResourceExhaustedError as error:
        print("ResourceExhaustedError:", re.search("OOM.*?(?= and type)", error.message)[0], flush=True)

for line in sys.stdin:
    if not (fork := os.fork()):
        eval(line)
        os._exit(0)
    if os.WIFSIGNALED(status := os.waitpid(fork, 0)[1]):
        print("signal", os.WTERMSIG(status), flush=True)
"""


def in_forks(tasks: Iterable[str]) -> tuple[list[str], list[str]]:
    """Runs lines of Python, each in a fork, and returns the lines of their output and of what else they said."""
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input="\n".join(tasks),
        capture_output=True,
        text=True,
        check=True,
        # Else malloc takes 64 MiB of addresses whenever another thread asks for the first time.
        env=os.environ
        | {"MALLOC_ARENA_MAX": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return run.stdout.splitlines(), run.stderr.splitlines()


def sums(threads: Iterable[int]) -> list[list[float]]:
    """The sums of TensorFlow and of SteadySum in processes with so many threads."""
    lines, _ = in_forks(f"sums({n})" for n in threads)
    return [json.loads(line) for line in lines]


def at_once(settings: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """How many blocks run at once.

    Args:
      settings: The numbers of intra-op and of inter-op threads, in a process of their own.

    Returns:
      For each of them: one op with eight blocks; four ops with one, with eight, and with one for each intra-op thread.
    """
    tasks = [
        (intra, inter, *work)
        for intra, inter in settings
        for work in ((1, 8), (4, 1), (4, 8), (4, intra))
    ]
    lines, _ = in_forks(f"at_once{task}" for task in tasks)
    found = iter(map(int, lines))
    return list(zip(found, found, found, found))


def waits_for_itself() -> bool:
    """Whether Shard inside of Shard does not end within seconds."""
    lines, _ = in_forks(["waits_for_itself()"])
    return lines == [f"signal {signal.SIGALRM.value}"]


def with_little_memory() -> tuple[list[str], list[str]]:
    """Turns a signal around in processes with too little memory.

    Returns:
      How they ended, through `allocate_temp` and through a vector; and what they said.
    """
    lines, said = in_forks(f"with_little_memory({way!r})" for way in ("temp", "vector"))
    ends = [
        signal.Signals(int(line.split()[1])).name
        if line.startswith("signal ")
        else line
        for line in lines
    ]
    return ends, said


def settled_threads() -> int:
    """How many threads the process has when none has come or gone for a while: those that end take their time."""
    counts = [-1]
    while counts.count(counts[-1]) < 5:
        time.sleep(0.02)
        count = len(os.listdir("/proc/self/task"))
        counts = [*counts, count] if count == counts[-1] else [count]
    return counts[-1]


def new_threads(function: Callable[[], object], callers: int) -> int:
    """How many threads the process has more after calls at once than before."""
    together = Barrier(callers)

    def call(_: int) -> int:
        together.wait()
        before = settled_threads()
        together.wait()
        function()
        together.wait()
        after = settled_threads()
        together.wait()
        return after - before

    with ThreadPoolExecutor(callers) as threads:
        return list(threads.map(call, range(callers)))[0]
