"""make new: what it writes, and which names it refuses."""

import sys

import new
import pytest


@pytest.mark.parametrize(
    "name, reason",
    [
        ("SoftThreshold", "a name is like soft_threshold"),
        ("my-op", "a name is like soft_threshold"),
        ("zero_out", "there is a page or an example zero_out"),
        ("lint", "lint is a target of make or a folder of the book"),
        ("json", "Python has a module json"),
        ("sliding_max", "there is a page or an example sliding_max"),
        ("mat_mul", "there is a page or an example mat_mul"),
        ("soft_plus", ""),
        ("softplus", "TensorFlow has an op Softplus"),
    ],
)
def test_a_name_that_will_not_do_is_refused(name, reason):
    op = "".join(word.capitalize() for word in name.split("_"))
    said = new.refusal(name, op)
    assert said.startswith(reason) and bool(said) == bool(reason)
    assert "\n" not in said


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["SoftPlus"]])
def test_the_reason_is_one_line(monkeypatch, arguments):
    monkeypatch.setattr(sys, "argv", ["new.py", *arguments])
    with pytest.raises(SystemExit, match="^make new: [^\n]*$"):
        new.main()


@pytest.fixture
def book(tmp_path, monkeypatch):
    """An empty one, for which `make new NAME=soft_plus` is asked."""
    docs, examples = tmp_path / "docs", tmp_path / "examples"
    (docs / "support" / "outputs").mkdir(parents=True)
    examples.mkdir()
    index = docs / "index.md"
    index.write_text("```{chapters}\nFirst:\n- zero_out\n\nSecond:\n- gpu\n```\n")
    for name, value in {"DOCS": docs, "EXAMPLES": examples, "INDEX": index}.items():
        monkeypatch.setattr(new, name, value)
    monkeypatch.setattr(sys, "argv", ["new.py", "soft_plus"])
    return tmp_path


def test_what_fails_leaves_nothing(book, monkeypatch):
    monkeypatch.setattr(new, "INDEX", book)  # a folder: the last step cannot be taken
    before = {*book.rglob("*")}
    with pytest.raises(IsADirectoryError):
        new.main()
    assert {*book.rglob("*")} == before


def test_a_chapter_and_its_example_are_written(book):
    docs, examples = book / "docs", book / "examples"
    new.main()
    assert (
        (docs / "index.md")
        .read_text()
        .startswith("```{chapters}\nFirst:\n- zero_out\n- soft_plus\n\nSecond:")
    )
    example = examples / "soft_plus"
    kinds = "_reference.py", "_test.py", "_fuzz.py", ".py", ".cc"
    files = {f"soft_plus{kind}" for kind in kinds} | {"CMakeLists.txt"}
    assert {path.name for path in example.iterdir()} == files
    for path in [*example.iterdir(), docs / "soft_plus.md"]:
        text = path.read_text()
        assert "soft_plus" in text or "SoftPlus" in text
        assert "my_op" not in text and "MyOp" not in text
        assert "[[" not in text.replace("[[1, -2]", "") and "[%" not in text
    for line in (docs / "soft_plus.md").read_text().splitlines():
        if line.startswith("```{snippet}"):
            section = line.partition("#")[2]
            assert f"// [{section}]" in (example / "soft_plus.cc").read_text()


def test_a_new_chapter_compiles_runs_and_passes_its_tests(scratch, make):
    root = scratch("zero_out")
    # Tests of pages that the copy lacks have no cases.
    few = "-o empty_parameter_set_mark=skip"
    (root / "docs" / "index.md").write_text(
        "# A scratch copy\n\n```{chapters}\nFirst:\n- zero_out\n```\n"
    )
    for targets in (
        ["new", "NAME=soft_plus"],
        ["page", "PAGE=soft_plus"],
        ["test", "TESTS=examples/soft_plus"],
        ["test", f"TESTS=tests/pages -k soft_plus {few}"],
    ):
        done = make(root, *targets)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "failed" not in done.stdout
        if targets[0] == "test":
            assert " passed" in done.stdout
    assert "soft_plus" in (root / "build/page/html/soft_plus.html").read_text()
