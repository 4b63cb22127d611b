"""Writes opcheck/releases.toml, by which opcheck reads mangled names: what the wheels of TensorFlow's releases export.

    python packages/opcheck/releases.py 2.5 2.21

Each wheel, up to 300 MB, is downloaded into a folder that is deleted after it has been read.
"""

import datetime
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TABLE = Path(__file__).parent / "opcheck" / "releases.toml"
LIBRARY = "tensorflow/libtensorflow_framework.so.2"
PLATFORMS = ("2010", "2014", "_2_12", "_2_17", "_2_24", "_2_27", "_2_28")
# The functions of namespace tensorflow and of the classes that an op meets.
CLASSES = (
    "8OpKernel 15OpKernelContext 20OpKernelConstruction 6Tensor 11TensorShape 14TensorShapeRep 18PartialTensorShape "
    "15shape_inference16InferenceContext 8internal21CheckOpMessageBuilder 12OpDefBuilder 6Status"
)
MET = re.compile(
    rf"(_ZNK?10tensorflow(?:{'|'.join(CLASSES.split())})?\d+[A-Za-z]+)(B5cxx11)?E"
)


def library_of(release: str) -> tuple[str, bytes]:
    """The whole version of a release's last wheel, and its library."""
    with tempfile.TemporaryDirectory() as folder:
        python = "3.11" if int(release.split(".")[1]) >= 12 else "3.9"
        platforms = [f"--platform=manylinux{name}_x86_64" for name in PLATFORMS]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += [
            "--pre",
            "--no-cache-dir",
            "--only-binary=:all:",
            f"--dest={folder}",
        ]
        command += [f"--python-version={python}", *platforms]
        subprocess.run([*command, f"tensorflow-cpu=={release}.*"], check=True)
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as zipped:
            return wheel.name.split("-")[1], zipped.read(LIBRARY)


def described(library: bytes) -> tuple[dict[str, object], set[str], set[str]]:
    """What the table says of a library, and which functions return a std::string and which do not."""
    names = {name.decode() for name in set(re.findall(rb"_Z\w+", library))}
    [date] = {
        match[1]
        for name in names
        for match in re.finditer(r"4absl1[24]lts_(\d{8}|\d{4}_\d\d_\d\d)", name)
    } or {""}
    met = [match for name in names if (match := MET.match(name))]
    tagged = {match[1] for match in met if match[2]}
    status = [
        space
        for space, name in {"tensorflow": "10tensorflow", "tsl": "3tsl"}.items()
        if any(re.match(rf"_ZNK?{name}6Status(?!I)\D", one) for one in names)
    ]
    row = {
        "abi": int(bool(tagged)),
        "absl": date.replace("_", ""),
        "status": status[0] if status else "absl",
        "cpp": 17 if any("St17basic_string_view" in name for name in names) else 14,
    }
    return row, tagged, {match[1] for match in met if not match[2]}


def main(first: str, last: str) -> None:
    rows, tagged, others = [], set(), set()
    for minor in range(int(first[2:]), int(last[2:]) + 1):
        version, library = library_of(f"2.{minor}")
        row, strings, rest = described(library)
        if row["abi"]:
            tagged |= strings
            others |= rest
        row = {"version": version, **row}
        lines = [f"{name} = {json.dumps(value)}\n" for name, value in row.items()]
        rows.append("".join(["[[release]]\n", *lines]))
        print(row, len(strings), flush=True)
    names = "".join(f'  "{name}",\n' for name in sorted(tagged - others))
    TABLE.write_text(
        f"# Made by `python packages/opcheck/releases.py {first} {last}` on {datetime.date.today()}, from the last\n"
        f"# wheels of tensorflow-cpu 2.x for Linux on x86-64, {LIBRARY} of each.\n"
        "# abi     its _GLIBCXX_USE_CXX11_ABI, as its names tell\n"
        "# absl    the date in Abseil's namespace\n"
        "# status  the namespace whose class tensorflow::Status is\n"
        "# cpp     17 where absl::string_view is std::string_view, else 14\n"
        "# tagged  functions that return a std::string: with ABI 1, B5cxx11 comes behind these names\n\n"
        f"tagged = [\n{names}]\n\n" + "\n".join(rows)
    )


if __name__ == "__main__":
    if not re.fullmatch(r"2\.\d+ 2\.\d+", " ".join(sys.argv[1:])):
        sys.exit("usage: python packages/opcheck/releases.py 2.5 2.21")
    main(*sys.argv[1:])
