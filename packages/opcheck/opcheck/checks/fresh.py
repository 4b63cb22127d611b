"""Checks that need processes of their own from the start."""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from opcheck.checks.derivatives import gradients_of_larger, other_gradients
from opcheck.findings.compare import compared, difference
from opcheck.findings.report import BY_RACE, KEPT, MUCH_LARGER, Findings, Skip
from opcheck.findings.source import in_turn
from opcheck.inputs.memory import show_filling
from opcheck.processes import calls
from opcheck.processes.calls import NEARLY
from opcheck.processes.children import Child, Crash, WorkerError
from opcheck.subject import (
    AFTER_LARGER,
    UNREPEATED,
    UNWRITTEN,
    Subject,
    is_builtin,
    kept,
    shown_by,
)

_BY_ORDER = (
    "a sum whose order depends on the threads, such as atomic additions of floats; "
    "or random numbers that depend on them"
)
_IN_PYTHON = "Could not find callback with key=pyfunc"
_UNTRACKED = "a function which references an 'untracked' resource"
_TWICE = "two calls in one graph"
_UNNOTICED = (
    "the same values, or an op that is stateful",
    "other values, though nothing in the graph has state",
    "a missing .SetIsStateful(): TensorFlow may compute such an op once in place of twice, or while the graph is made",
)
_FULL = os.strerror(errno.ENOSPC)


def determinism(make: Callable[..., Child], sample, found: Findings) -> str:
    """Repeats the call with 1, 2 and 4 or more threads inside the op, also with larger and smaller inputs.

    All runs have to give the same bits, and so have many calls with a much larger input. Memory is filled with
    different bytes before each run, which shows where an output is not written. A larger call must leave nothing
    behind, and the machine's time zone must not matter. An op whose results depend on the calls before, also with a
    switch in its other position or with other attrs, has to be stateful. If the op is meant to be random, no random
    numbers may recur within a call or in the next one, and the attrs `seed` and `seed2` must have an effect. The
    gradient of a larger sample may differ by rounding alone.
    """
    if sample.options.get("nondeterministic"):
        with make() as child:
            if not child.ask(Subject.varies_unnoticed):
                if _repeats_chance(child, found):
                    return ""
                raise Skip("nondeterministic=True was given")
        found.fail(_TWICE, *_UNNOTICED)
        return ""
    counts = [1, 2, max(4, os.cpu_count() or 1)]
    repeats = sample.options.get("repeats", 5)
    first, samples, gradients = None, {}, []
    for count in counts:
        with make(threads=count) as child:
            try:
                if not samples:
                    if child.ask(Subject.by_chance):
                        different, unseeded = child.ask(Subject.varies_for_one_seed)
                        if different:
                            found.fail(
                                "two calls with one seed",
                                "the same values",
                                different,
                                f"drawn from the generator of the process, not from the seed: {unseeded}",
                                line=sample.line(
                                    sample.inputs, sample.attrs, ["repeated"]
                                ),
                            )
                            return ""
                        found.note(
                            "stateful, and gives other values at each call: nondeterministic=True "
                            "says that this is meant"
                        )
                        with make() as other:
                            _repeats_chance(other, found)
                        return ""
                    if draws := child.ask(Subject.equal_draws):
                        found.fail(
                            "two draws of one call",
                            "other numbers",
                            f"{draws} twice, with the same seed, shape and dtype",
                            "these are the same numbers: tf.random.experimental.stateless_split makes two seeds of one",
                        )
                        return ""
                    different, larger = child.ask(kept)
                    if different:
                        some = sample.inputs, sample.pack(larger), sample.inputs
                        line = in_turn(*(sample.line(x, sample.attrs) for x in some))
                        found.fail(*AFTER_LARGER, different, KEPT, line=line)
                        return ""
                    samples = {"": sample.flat, **child.ask(calls.other_sizes)}
                    if different := child.ask(calls.by_time_zone):
                        found.fail(
                            "with the environment variable TZ set to two time zones",
                            "the same values",
                            different,
                            "localtime_r and mktime go by the machine's time zone, gmtime_r and timegm do not",
                        )
                        return ""
                    if switched := child.ask(calls.switched_unnoticed):
                        name, *call = switched
                        line = sample.line(*call, modes=["graph", "graph"])
                        found.fail(
                            f"{_TWICE}, with another {name}", *_UNNOTICED, line=line
                        )
                        return ""
                    if _kept_for_attrs(make, count, child, sample, found):
                        return ""
                runs = child.ask(
                    calls.repeat, samples=list(samples.values()), times=repeats
                )
                met, other = ("", False), ""
                if first is None:
                    gradients = child.ask(gradients_of_larger)
                elif count == counts[-1] and not found.failures:
                    met = child.ask(calls.agree, seconds=repeats / 10)
                    other = child.ask(other_gradients, samples=gradients)
            except Crash as crash:
                doing = f", {crash.doing}" if crash.doing else ""
                found.fail(
                    f"with {count} intra-op threads{doing}",
                    "a result",
                    str(crash),
                    "only with more than one thread" if count > 1 and first else "",
                    line="" if crash.hung else _dying(make, sample, crash, samples),
                )
                if crash.hung:
                    return ""
                continue
        if first is None:
            first = runs[0]
        for number, label, wanted, outputs, of_label in (
            (number, label, first[i], run[i], [one[i] for one in runs])
            for number, run in enumerate(runs)
            for i, label in enumerate(samples)
        ):
            different = difference(wanted, outputs, exact=True)
            if not different:
                continue
            cause = _by_threads(make, count, samples[label], wanted, of_label)
            inputs = sample.pack(samples[label])
            mode = "repeated" if cause == BY_RACE else shown_by(cause)
            if mode == "guarded":
                mode = _shown_alone(make, inputs, sample.attrs)
            found.fail(
                f"run {number + 1} with {count} intra-op threads"
                + (f", {label}" if label else ""),
                "the bits of the first run with 1 thread",
                different,
                cause,
                line=""
                if mode == "eager"
                else sample.line(inputs, sample.attrs, [mode]),
            )
            break
        if count == 1 and found.failures:
            return ""
        if met[0] and not found.failures:
            different, far = met
            found.fail(
                f"calls with {count} intra-op threads, {MUCH_LARGER}",
                "the same bits each time",
                different,
                _with_one_thread(make, repeats)
                or (BY_RACE if far else f"only with more than one thread: {_BY_ORDER}"),
            )
        if other and not found.failures:
            found.fail(
                f"the gradient with {count} intra-op threads, a larger sample",
                "that with 1 thread, but for rounding",
                other,
                _of_gradient(make, gradients),
            )
    return (
        f"{repeats} runs each with {', '.join(map(str, counts))} threads: the same bits"
    )


def _kept_for_attrs(
    make: Callable[..., Child], count: int, child: Child, sample, found: Findings
) -> bool:
    """Whether a call depends on those with other attrs that came before it in its process."""
    in_order = child.ask(calls.with_other_attrs)
    if len(in_order) < 2:
        return False
    every = [attrs for attrs, _ in in_order[::-1]]
    with make(threads=count) as other:
        backwards = other.ask(calls.each_once, every=every)
    for (attrs, some), same in zip(in_order[::-1], backwards):
        if not some or not same or not (different := difference(same, some)):
            continue
        earlier = [x for x, results in in_order if results]
        earlier = [sample.attrs] if attrs != sample.attrs else earlier[:0:-1]
        others = ", ".join(
            f"{name} = {value}"
            for name, value in attrs.items()
            if sample.attrs.get(name) != value
        )
        found.fail(
            f"with {others or 'the sample'}, after calls with other attrs",
            "the values of a process that makes this call first",
            different,
            "something is kept from an earlier call that was made for other attrs, such as a table whose key lacks one",
            line=in_turn(*(sample.line(sample.inputs, x) for x in (*earlier, attrs))),
        )
        return True
    return False


def _dying(make: Callable[..., Child], sample, crash: Crash, samples) -> str:
    """The line of a call that ends a process, of those that were made when one ended."""
    made = [(sample.pack(flat), sample.attrs) for flat in samples.values()]
    for inputs, attrs in [crash.call] if crash.call else made:
        with make() as child:
            try:
                child.ask(calls.call, inputs=inputs, attrs=attrs, modes=["eager"])
            except Crash as again:
                mode = again.doing or "eager"
                return sample.line(inputs, attrs, [mode] + ["malloc"] * again.of_heap)
            except WorkerError:
                pass
    return ""


def _shown_alone(make: Callable[..., Child], inputs, attrs) -> str:
    """The mode of a line that shows why a call differs; one that changes its inputs does not do so for equal ones."""
    with make() as child:
        [one] = child.ask(calls.call, inputs=inputs, attrs=attrs, modes=["eager"])
    return shown_by(one.why)


def _by_threads(make: Callable[..., Child], count: int, flat, wanted, runs) -> str:
    """Why runs differ from the first one with one thread: unused memory, rounding, or chance."""
    with make(threads=count) as child:
        [*again] = child.ask(calls.repeat, samples=[flat], times=len(runs))
    again = [outputs for [outputs] in again]
    only = "only with more than one thread" if count > 1 else ""
    if only and not any(difference(wanted, one, NEARLY) for one in (*runs, *again)):
        return f"{only}, and by less than 1 %: {_BY_ORDER}"
    if only and not any(difference(again[0], one) for one in (*runs, *again)):
        return f"{only}, and with {count} always the same: it depends on their number"
    if not any(difference(*both) for both in zip(runs, again)) or show_filling(
        *runs, *again
    ):
        return UNWRITTEN  # for the same bytes, the same
    return BY_RACE if only else UNREPEATED


def _with_one_thread(make: Callable[..., Child], repeats: int) -> str:
    """What to say if even one thread does not repeat itself with a much larger sample."""
    with make(threads=1) as child:
        different, _ = child.ask(calls.agree, seconds=repeats / 10)
    return f"also with one thread: {UNREPEATED}" if different else ""


def _of_gradient(make: Callable[..., Child], gradients) -> str:
    """Why gradients differ from what one thread has given."""
    with make(threads=1) as child:
        if child.ask(other_gradients, samples=gradients):
            return f"also with one thread: {UNREPEATED}"
    return (
        "only with more than one thread: in an op of the gradient, several write to one place, such as a sum of which "
        "each stores its part"
    )


def _repeats_chance(child: Child, found: Findings) -> bool:
    if ignored := child.ask(calls.ignored_seeds):
        found.fail(
            "the first calls of new kernels with given seeds",
            "the same values for equal seeds, and others for others",
            ignored,
            "the generator does not start from the attrs seed and seed2: GuardedPhiloxRandom::Init(context) reads them",
        )
        return True
    what, repeated = child.ask(calls.repeated_chance)
    if repeated:
        found.fail(
            what,
            "random numbers that do not come again",
            repeated,
            "the kernel takes more of the generator's stream than it reserves: ReserveSamples32 and the like count all "
            "32-bit numbers that a call draws"
            if "one after the other" in what
            else "threads or blocks that begin at one place of the generator's stream, or too near: each has to Skip "
            "all groups of four numbers that those before it draw",
        )
    return bool(repeated)


def saved_model(make: Callable[..., Child], sample, found: Findings) -> str:
    """Saves a model, loads it in a fresh process, and compares the results.

    In a process without the library, the error has to be TensorFlow's own, `Op type not registered`.
    """
    with _folder() as folder:
        path = str(Path(folder) / "model")
        saved = {"folder": path, "inputs": sample.inputs}
        with make() as child:
            try:
                wanted = child.ask(calls.save_model, folder=path)
            except WorkerError as error:
                if _FULL in str(error):
                    raise Skip(f"a model is to be saved: {_FULL}") from None
                if _UNTRACKED in str(error):
                    raise Skip(
                        "it makes a table or the like, which no model tracks"
                    ) from None
                raise
            op_types = child.ask(Subject.describe).op_types
            options = dict(sample.options)
            if not options.get("nondeterministic") and child.ask(Subject.by_chance):
                options["nondeterministic"] = True
                found.note(
                    "stateful, and gives other values at each call, which are not compared"
                )
        what = "shapes" if options.get("nondeterministic") else "values"
        passed = f"saved, loaded in a fresh process: the same {what}"
        with make() as child:
            outcome = child.ask(calls.load_saved_model, **saved)
        different = (
            outcome.error
            if outcome.outputs is None
            else compared(options, wanted, outcome.outputs)
        )
        if _IN_PYTHON in different:
            raise Skip(
                "it calls Python by tf.py_function or tf.numpy_function, which no model holds"
            )
        if different:
            found.fail(
                "loaded in a fresh process",
                "the values of the process that saved it",
                different,
                "the op depends on something that the SavedModel does not hold",
            )
        own = [name for name in op_types if not is_builtin(name)]
        if not own:
            return passed
        with make(bare=True) as child:
            outcome = child.ask(calls.load_saved_model, **saved)
        clean = [f"Op type not registered '{name}'" for name in own]
        if not any(words in outcome.error for words in clean):
            found.fail(
                "loaded without the library",
                clean[0],
                outcome.error or "it ran",
                "another library in the same process registers an op of this name",
            )
    return f"{passed}; a clean error without the library"


def _folder() -> tempfile.TemporaryDirectory:
    try:
        return tempfile.TemporaryDirectory()
    except OSError as error:
        raise Skip(f"a model is to be saved: {error.strerror}") from None
