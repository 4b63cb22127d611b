"""Complex numbers, each as two real ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import tensorflow as tf

from opcheck.subject import Subject


@dataclass(frozen=True)
class InRealNumbers:
    """An op on complex numbers as an op on their real and imaginary parts, each a tensor of its own."""

    subject: Subject

    def joined(self, parts: Sequence, join: Callable) -> list:
        """What `join` makes of each two parts that belong together."""
        rest, kinds = iter(parts), [x.dtype.kind for x in self.subject.flat]
        return [join(next(rest), next(rest)) if k == "c" else next(rest) for k in kinds]

    def progress(self, label: str, flat=None, attrs=None) -> None:
        whole = flat and self.joined(
            flat, lambda real, imaginary: real + 1j * imaginary
        )
        self.subject.progress(label, whole, attrs)

    def __call__(self, *parts, **attrs):
        found = []
        for y in self.subject.outputs(self.joined(parts, tf.complex), attrs):
            found += [tf.math.real(y), tf.math.imag(y)] if y.dtype.is_complex else [y]
        return found


def in_real_numbers(subject: Subject) -> Subject:
    """What the checks of real gradients take: for complex numbers, TensorFlow's gradient is grad * conj(f')."""
    described = subject.describe()
    flat, names, type_attrs = [], [], []
    for x, label, attr in zip(subject.flat, described.labels, described.type_attrs):
        if x.dtype.kind != "c":
            flat, names, type_attrs = [*flat, x], [*names, [label]], [*type_attrs, attr]
            continue
        flat += [np.array(x.real), np.array(x.imag)]
        names += [[f"the real part of {label}"], [f"the imaginary part of {label}"]]
        type_attrs += [attr, attr]
    op = InRealNumbers(subject)
    real = replace(subject, op=op, inputs=flat, progress=op.progress)
    real.described_as(replace(described, names=names, type_attrs=type_attrs))
    return real
