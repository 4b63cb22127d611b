"""The check `schema`."""

import sys
from types import SimpleNamespace

import pytest
import tensorflow as tf
from broken_twins import caught, noted
from python_ops import normal, result
from tensorflow.core.framework.op_def_pb2 import OpDef
from tensorflow.python.framework import op_def_registry

from opcheck.checks.schema import check_documentation, description_in
from opcheck.compatibility import problems
from opcheck.findings.report import Findings

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "round_to_new_attr": "digits",
    "round_to_new_default": "digits",
}
test_a_broken_op_is_caught = caught("schema", CAUGHT)
# What is worth a note, and no more.
NOTED = {
    "round_to_undocumented": "digits",
    "round_to_camel_case": "numDigits",
}
test_what_is_not_wrong_is_noted = noted("schema", NOTED)


def op_def(name="Cumsum") -> OpDef:
    copy = OpDef()
    copy.CopyFrom(op_def_registry.get(name))
    return copy


def attr_of(definition: OpDef, name: str):
    [attr] = [attr for attr in definition.attr if attr.name == name]
    return attr


def test_an_attr_with_a_default_may_come_later():
    old = op_def()
    old.attr.remove(attr_of(old, "reverse"))
    assert problems(old, op_def()) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda old: old.attr.add(name="speed", type="int"), "attr speed is gone"),
        (lambda old: old.input_arg.pop(), "inputs"),
        (lambda old: old.output_arg.add(name="sum", type=1), "outputs were"),
        (
            lambda old: setattr(old.output_arg[0], "name", "sums"),
            "output sums is gone, or has another name",
        ),
        (
            lambda old: setattr(old.attr[0].default_value, "b", True),
            "the default of attr exclusive was b: true and is b: false",
        ),
        (
            lambda old: attr_of(old, "T").allowed_values.list.type.append(7),
            "string",
        ),
    ],
)
def test_an_older_definition_that_does_not_fit(change, problem):
    old = op_def()
    change(old)
    assert problem in "\n".join(problems(old, op_def()))


@pytest.mark.slow
def test_every_op_fits_itself():
    """But for ops that TensorFlow 2 does not run: with references, or removed."""
    tried = 0
    for definition in map(op_def_registry.get, dir(tf.raw_ops)):
        if definition is None or definition.HasField("deprecation"):
            continue
        if any(x.is_ref for x in (*definition.input_arg, *definition.output_arg)):
            continue
        assert problems(definition, definition) == [], definition.name
        tried += 1
    assert tried > 1000


def test_a_raised_minimum_is_found():
    old, now = op_def("AudioSummaryV2"), op_def("AudioSummaryV2")
    attr = attr_of(old, "max_outputs")
    assert (attr.minimum, attr.default_value.i) == (1, 3)
    attr.minimum = 0
    assert "at least minimum 1" in "\n".join(problems(old, now))


def test_an_output_that_became_a_list_is_not_found_by_a_saved_model():
    old, now = op_def("Split"), op_def("Split")
    old.output_arg[0].number_attr = ""
    old.attr.remove(attr_of(old, "num_split"))
    problem = "output output became a list, which SavedModels do not find"
    assert problem in problems(old, now)


def test_an_op_that_has_ended_is_found():
    definition = op_def("AdjustContrast")
    [problem] = problems(definition, definition)
    assert "removed in version 2. Use AdjustContrastv2" in problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A `Tensor` of type `float32`.", ""),
        ("A `Tensor`. Must be one of the following types: `half`, `float32`.", ""),
        ("A `Tensor`. Must have the same type as `x`. The weights.", "The weights."),
        ("A list of at least 1 `Tensor` objects with type `float32`.", ""),
        ('An optional `string` from: `"A.B", "C"`. Defaults to `"C"`.', ""),
        ("An `int` that is `>= 1`. How many.", "How many."),
        ("A `tf.DType` from: `tf.float32, tf.half`.", ""),
    ],
)
def test_what_tensorflow_itself_says_of_an_argument_is_no_description(text, said):
    found = description_in(f"Does it.\n\nArgs:\n  it: {text}\n  name: A name.\n", "it")
    assert found.removeprefix("it").strip() == said


def test_older_definitions_are_text_or_objects():
    old = op_def()
    old.attr.add(name="speed", type="int")
    for text in (str(old), f"op {{ {old} }}", [old]):
        options = {"old_op_def": text, "op_types": ["Cumsum"]}
        found = result("schema", tf.cumsum, normal(3), **options)
        assert found.seen == "attr speed is gone"
        assert found.chapter == "backward_compatibility"


def repeats(rows, times: int):
    return tf.raw_ops.Tile(input=rows, multiples=[times])


@pytest.mark.parametrize(
    ("documentation", "told"),
    [
        ("It makes more of the rows.", "Repeats has no documentation of its arguments"),
        ("It makes more of `rows`.", "attr times of Repeats has"),
        ("Copies.\n\nArgs:\n  rows: A vector.", "attr times"),
        ("Copies.\n\n:param tf.Tensor rows: A vector.", "attr times"),
        (
            "Copies.\n\nParameters\n----------\nrows : tf.Tensor\n    A vector.",
            "attr times",
        ),
        ("It makes more of the rows, as often as times says.", ""),
    ],
)
def test_a_word_of_prose_is_no_documentation_of_an_input(
    documentation, told, monkeypatch
):
    monkeypatch.setitem(sys.modules, "a_module_that_is_not_to_be_imported", None)
    op_type = OpDef(name="Repeats")
    op_type.input_arg.add(name="rows", type=1)
    op_type.attr.add(name="times", type="int")
    repeats.__doc__ = documentation
    found = Findings("schema", "")
    check_documentation(SimpleNamespace(op=repeats), op_type, found)
    assert [one[: len(told)] for one in found.notes] == [told] * bool(told)
