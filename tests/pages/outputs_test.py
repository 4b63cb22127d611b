"""What the cells of a page show is kept: tools/outputs.py."""

import nbformat
import outputs
import pytest


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page whose kept output is accepted already: `2`."""
    monkeypatch.setattr(outputs, "proven_tensorflow", lambda: True)
    path = tmp_path / "x.md"
    accept(monkeypatch, path, notebook("2"))
    return path


def notebook(*shown: str, tags=()) -> nbformat.NotebookNode:
    """One cell for each text that is printed, behind one that shows nothing."""
    cells = [nbformat.v4.new_code_cell("x = 1")]
    for text in shown:
        output = nbformat.v4.new_output("stream", text=text)
        cells.append(nbformat.v4.new_code_cell("show()", outputs=[output]))
        cells[-1].metadata["tags"] = list(tags)
    return nbformat.v4.new_notebook(cells=cells)


def accept(monkeypatch, path, found) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("ACCEPT", "1")
        assert outputs.difference(path, found) is None


def test_a_changed_output_is_said_with_its_cell_until_it_is_accepted(page, monkeypatch):
    assert outputs.difference(page, notebook("2")) is None
    index, what = outputs.difference(page, notebook("3"))
    assert (index, what.partition(": ")[0]) == (1, "shows `3`, not `2`")
    assert "make page PAGE=x ACCEPT=1" in what
    accept(monkeypatch, page, notebook("3"))
    assert outputs.difference(page, notebook("3")) is None


@pytest.mark.parametrize(
    "now, index, said",
    [((), 0, "shows `nothing`, not `2`"), (("2", "4"), 2, "shows `4`, not `nothing`")],
)
def test_outputs_that_come_or_go_are_found(page, now, index, said):
    place, what = outputs.difference(page, notebook(*now))
    assert place == index and what.startswith(said)


def test_a_cell_that_varies_is_left_out(page):
    both = notebook("2")
    both.cells += notebook("of this machine", tags=["varies"]).cells
    assert outputs.difference(page, both) is None


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("0.12345", "0.12349", True),
        ("0.12345", "0.12395", False),
        ("1.5e-7 of 2", "1.4e-7 of 2", True),  # both are next to nothing
        ("12", "13", False),
        ("a  b\nc", "a b c", True),
        ("[1. 2.]", "[1. 2. 3.]", False),
    ],
)
def test_numbers_with_a_point_may_differ_in_the_fourth_digit(one, other, same):
    assert outputs.same(one, other) == same


def test_addresses_folders_and_seconds_do_not_count(page, monkeypatch):
    accept(
        monkeypatch,
        page,
        notebook("<x at 0x7f0012345678> in /tmp/ab1/x, 2 passed in 3.21s"),
    )
    now = notebook("<x at 0x7f00deadbeef> in /tmp/cd2/x, 2 passed in 72.00s (0:01:12)")
    assert outputs.difference(page, now) is None


def test_recorded_values_are_kept_and_pictures_by_their_alternatives():
    record = nbformat.v4.new_output(
        "display_data",
        {"application/papermill.record/text/plain": "12"},
        metadata={"scrapbook": {"name": "many"}},
    )
    picture = nbformat.v4.new_output(
        "display_data",
        {"text/html": '<svg aria-label="a &amp; b"><text>7</text></svg>'},
    )
    hidden = nbformat.v4.new_code_cell("", outputs=[record])
    hidden.metadata["tags"] = ["remove-cell"]
    cells = [hidden, nbformat.v4.new_code_cell("", outputs=[picture])]
    shown = outputs.shown(nbformat.v4.new_notebook(cells=cells))
    assert shown == [(0, "many = 12"), (1, "a & b")]
