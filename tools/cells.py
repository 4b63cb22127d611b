"""Sphinx extension: pages are read and their cells executed, and what fails is said in one line: page, line, reason."""

import re
import shutil
import tempfile
import textwrap
import time
import traceback
import weakref
from pathlib import Path

import myst_nb.core.execute
from book import DOCS
from docutils.nodes import document as Document
from jupyter_client import KernelManager
from myst_nb.core.execute.direct import NotebookClientDirect
from myst_nb.core.render import strip_ansi
from myst_nb.sphinx_ import Parser
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from nbformat import NotebookNode
from outputs import difference
from sphinx.application import Sphinx
from sphinx.util import logging
from stamp import stamp

START = DOCS / "support" / "start.py"


class KernelClient(NotebookClient):
    """Reaches its kernel through files of its own, for a port found free can be taken before the kernel binds it."""

    # What a process prints arrives in pieces. MyST-NB's own merging ends a line after each.
    coalesce_streams = True

    def create_kernel_manager(self) -> KernelManager:
        manager = super().create_kernel_manager()
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        manager.transport, manager.ip = "ipc", f"{folder}/kernel"
        manager.own = self.nb.metadata.get("kernel") == "own"
        return manager


class PageClient(NotebookClientDirect):
    """Takes the place of MyST-NB's client, which fails with a traceback, and without one when a kernel dies."""

    def start_client(self) -> None:
        self.running = (0, self.notebook.cells[0])
        client = KernelClient(
            self.notebook,
            timeout=self.nb_config.execution_timeout,
            startup_timeout=600,
            # After this the rest of what a cell shows would be left out, in silence.
            iopub_timeout=600,
            record_timing=False,
            on_cell_execute=self.on_start,
            resources={"metadata": {"path": str(self.path.parent)}},
            extra_arguments=[f"--IPKernelApp.exec_files={str(START)!r}"],
        )
        self.logger.info("Executing notebook")
        start, error = time.perf_counter(), None
        try:
            if any(cell.cell_type == "code" for cell in self.notebook.cells):
                client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as failure:
            error = type(failure).__name__
            self.complain(failure)
        for index, cell in enumerate(self.notebook.cells):
            if "remove-cell" in cell.metadata.get("tags", ()) and (lost := shows(cell)):
                self.say(index, 0, f"is removed, and so is what it shows: {lost}")
        seconds = time.perf_counter() - start
        if error is None and (changed := difference(self.path, self.notebook)):
            index, what = changed
            self.say(index, 0, what)
        if error is None:
            self.logger.info(f"Executed notebook in {seconds:.2f} seconds")
        self.exec_metadata = {
            "mtime": time.time(),
            "runtime": seconds,
            "method": self.nb_config.execution_mode,
            "succeeded": error is None,
            "error": error,
            "traceback": None,
            "stamp": stamp(),
        }

    def on_start(self, cell: NotebookNode, cell_index: int) -> None:
        self.running = (cell_index, cell)

    def complain(self, failure: Exception) -> None:
        index, cell = self.running
        offset, reason = 0, "the kernel died"
        if isinstance(failure, CellTimeoutError):
            reason = f"no answer in {self.nb_config.execution_timeout} s"
        elif isinstance(failure, CellExecutionError):
            reason = f"{failure.ename}: {failure.evalue}".rstrip(": ")
            if at := re.search(
                r"Cell In\[\d+\], line (\d+)", strip_ansi(failure.traceback)
            ):
                offset = int(at[1]) - 1
            if failure.ename == "CalledProcessError" and (said := printed(cell)):
                reason = f"{reason}: {said}"
        line = cell.source.split("\n")[offset].strip()
        self.say(index, offset, f"fails at `{line}`: {strip_ansi(reason)}")

    def say(self, index: int, offset: int, what: str) -> None:
        """Reports an error in a cell, with the line of the page that lies so far behind the cell's first."""
        number = sum(c.cell_type == "code" for c in self.notebook.cells[: index + 1])
        first = self.notebook.cells[index].source.split("\n")[0]
        logging.getLogger(__name__).error(
            f"code cell {number} {textwrap.shorten(what, 500)}",
            location=(self.path.stem, self.line_of(index, first) + offset),
        )

    def line_of(self, index: int, first: str) -> int:
        """The line of the page where a cell's code begins."""
        start = self.cell_line(index)
        page = self.path.read_text().split("\n")
        return next(
            (n for n, line in enumerate(page, 1) if n >= start and line == first), start
        )


class PageParser(Parser):
    """A page that cannot be read is no reason to read no other: without this, Sphinx stops, with a traceback."""

    def parse(self, inputstring: str, document: Document) -> None:
        try:
            super().parse(inputstring, document)
        except Exception as failure:  # whatever parsers and directives raise
            logger, page = logging.getLogger(__name__), document.settings.env.docname
            reason = textwrap.shorten(f"{type(failure).__name__}: {failure}", 500)
            *_, last = traceback.extract_tb(failure.__traceback__)
            place = f"{Path(last.filename).name}:{last.lineno}"
            logger.error(f"cannot be read: {reason} ({place})", location=page)
            logger.debug(traceback.format_exc())
            document.children.clear()
            document.attributes.pop("nb_renderer", None)  # it cannot be pickled
            super().parse(f"# {page}", document)


def shows(cell: NotebookNode) -> str:
    """The output of a cell, but for errors and what it records for the text."""
    return "".join(
        output.get("text") or output.data.get("text/plain", "a picture")
        for output in cell.get("outputs", ())
        if output.get("name", "stdout") == "stdout"
        and output.output_type != "error"
        and "scrapbook" not in output.get("metadata", {})
    )


def printed(cell: NotebookNode) -> str:
    """Why a program failed that the cell ran: what pytest says of each failed test, or the last line."""
    lines = [
        line
        for output in cell.outputs
        if output.output_type == "stream"
        for line in output.text.splitlines()
        if line.strip()
    ]
    failed = [line for line in lines if re.match("(FAILED|ERROR) ", line)]
    return "; ".join(failed or lines[-1:])


def setup(app: Sphinx) -> dict[str, bool]:
    myst_nb.core.execute.NotebookClientDirect = PageClient
    app.add_source_parser(PageParser, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
