"""What of a chapter's code is in the notebook that readers download."""

from chapter_code import readers_cells
from nbformat.v4 import new_code_cell


def reader(*cells: str) -> list[str]:
    """The cells of a reader's notebook. Of one that begins with `#hidden` or `#output` the page shows no code."""
    found = []
    for text in cells:
        kind, _, rest = text.partition("\n")
        tags = {"#hidden": ["remove-cell"], "#output": ["remove-input"]}.get(kind, [])
        source = rest if tags else text
        found.append(new_code_cell(source, metadata={"tags": tags}))
    return readers_cells(found)


def test_guards_and_values_are_left_out():
    assert reader(
        "x = f(1)\nx",
        "#hidden\nfrom solution_x import solved\n\nis_right(solved)",
        "#hidden\nassert printed() == '1'",
        "#hidden\nrates = {1: 2}\nrecord(rate=rates[1])",
        "from pictures import p\n\nrecord(**p.figures())\np.draw()",
    ) == ["x = f(1)\nx", "", "", "", "from pictures import p\n\np.draw()"]


def test_guards_stay_where_the_page_shows_them():
    guard = "assert x\nfor y in x:\n    np.testing.assert_array_equal(y, 1)"
    assert reader(guard, f"#output\nx = 2\n{guard}\ndraw(x)") == [
        guard,
        "x = 2\ndraw(x)",
    ]


def test_a_solution_that_only_guards_use_is_left_out():
    exercise = "def solve():\n    return solved()"
    solution = "#hidden\nfrom solution_x import solved\n\nis_right(solved)"
    assert reader(exercise, solution) == [exercise, ""]
    assert reader(exercise, solution, "solved()")[1] == "from solution_x import solved"


def test_what_later_cells_need_stays():
    shown = "after(folder)"
    hidden = '''\
#hidden
import other
from pathlib import Path

# Where it lies.
folder = Path("x")


def after(change):
    """What remains."""
    return helper(change)


def helper(change):
    return change


unused = 1'''
    kept = hidden.removeprefix("#hidden\n").replace("import other\n", "")
    kept = kept.removesuffix("\n\n\nunused = 1")
    assert reader("1", hidden, shown) == ["1", kept, shown]


def test_a_name_that_is_bound_again_is_not_needed_from_before():
    assert reader("1", "#hidden\nx = 1\nguards(x)", "x = 2\nx")[1] == ""
    assert (
        reader("def f():\n    return x", "#hidden\nx = 1", "x = 2\nf()")[1] == "x = 1"
    )


def test_settings_stay_and_so_does_what_is_done_before_all():
    assert reader(
        "#hidden\nimport tensorflow as tf\n\ntf.config.set_x(4)\nwrite('data')",
        "run()",
        "#hidden\nimport os\n\nos.environ['X'] = '3'\nos.close(read_end)",
        "run()",
    ) == [
        "import tensorflow as tf\n\ntf.config.set_x(4)\nwrite('data')",
        "run()",
        "import os\n\nos.environ['X'] = '3'",
        "run()",
    ]


def test_what_magics_use_stays():
    cells = reader("#hidden\nx = 1\ny = 2", "%%bash -e\necho {x}", "%time run(y)")
    assert cells[0] == "x = 1\ny = 2"
    assert reader("1", "#hidden\na = 1; guards(a)", "a")[1] == "a = 1"
