"""Runs of Yamba as Python objects.

    >>> import yamba
    >>> run = yamba.run("lat_pipe", quick=True)
    >>> print(run["lat_pipe"].median, run["lat_pipe"].unit)

Every function starts the program `yamba` and reads the document that it prints with `--json`
(docs/json.md). `program` says which program that is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

__all__ = ["Benchmark", "Comparison", "Run", "StoredRun", "YambaError", "compare", "program", "run", "runs", "show"]
__version__ = "0.1.0"


class YambaError(Exception):
    """`yamba` cannot be started, or refused its arguments or input. The text has the fix."""


@dataclass(frozen=True)
class Benchmark:
    """A figure of a run, or the reason for its absence."""

    name: str
    parameters: Mapping[str, str]
    status: str
    """`ok`, or another status; then the figure is no measurement."""
    valid: bool
    is_disturbed: bool
    median: float | None
    """In `unit`; None without a figure."""
    interval: tuple[float, float] | None
    """The confidence interval of the median, in `unit`."""
    unit: str | None
    notes: Sequence[Any]
    document: Mapping[str, Any]
    """Everything that the document says of it."""

    @staticmethod
    def _read(entry: Mapping[str, Any]) -> Benchmark:
        bounds = entry.get("confidence_interval")
        return Benchmark(
            name=entry["name"],
            parameters=entry.get("parameters") or {},
            status=entry["status"],
            valid=entry.get("valid", False),
            is_disturbed=entry.get("is_disturbed", False),
            median=entry.get("median"),
            interval=(bounds[0], bounds[1]) if bounds else None,
            unit=entry.get("unit"),
            notes=entry.get("notes") or [],
            document=entry,
        )


class _Rows:
    """A document, and its list of entries as a data frame."""

    def __init__(self, document: Mapping[str, Any], entries: str) -> None:
        self.document = document
        self._entries = entries

    def frame(self) -> pandas.DataFrame:
        """One row for each entry. Needs pandas: `pip install 'yamba[pandas]'`."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            if error.name != "pandas":  # pandas itself is incomplete
                raise
            fix = "frame() needs pandas: pip install 'yamba[pandas]'"
            raise ModuleNotFoundError(fix, name=error.name) from None

        return pandas.json_normalize(list(self.document[self._entries]))


class Run(_Rows):
    """A run: a sequence of benchmarks.

    `run["lat_pipe"]` is the first one of that name, `run[0]` the first of all, and
    `"lat_pipe" in run` says whether there is one of that name.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document, "benchmarks")
        self.id: str = document["id"]
        self.benchmarks: list[Benchmark] = [Benchmark._read(entry) for entry in document["benchmarks"]]

    def __iter__(self) -> Iterator[Benchmark]:
        return iter(self.benchmarks)

    def __len__(self) -> int:
        return len(self.benchmarks)

    def __getitem__(self, key: str | int) -> Benchmark:
        if not isinstance(key, str):
            return self.benchmarks[key]
        for benchmark in self.benchmarks:
            if benchmark.name == key:
                return benchmark
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return key in self.benchmarks or any(benchmark.name == key for benchmark in self.benchmarks)


@dataclass(frozen=True)
class StoredRun:
    """A run in the store."""

    id: str
    started: str | None
    tags: Sequence[str]
    benchmarks: Sequence[str]
    document: Mapping[str, Any]


class Comparison(_Rows):
    """Two runs: `rows` has the ratio B/A of each benchmark, its interval and its verdict."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document, "benchmarks")
        self.rows: list[Mapping[str, Any]] = list(document["benchmarks"])


def program() -> str:
    """The path of the program.

    The variable YAMBA names it. Otherwise it is the one that was installed with this module, and
    without one, as in a source tree, the `yamba` of PATH.

    Raises YambaError if there is none.
    """
    found = os.environ.get("YAMBA") or _installed() or shutil.which("yamba")
    if not found:
        raise YambaError("there is no program `yamba`\nhelp: set the variable YAMBA to its path")
    return found


def _installed() -> str | None:
    """The program of the package that this module is part of."""
    folder = Path(__file__).parent.parent
    # Only the record beside this module is read: another folder may have another version.
    for package in metadata.distributions(name="yamba", path=[str(folder)]):
        # `pip install --target` moves the files after it wrote the record, whose path may then
        # lead to another installation. No other scheme puts programs beside the modules.
        moved = folder / "bin/yamba"
        if moved.is_file():
            return str(moved)
        # The record knows where the installer put the program, whatever the scheme.
        for file in package.files or []:
            found = Path(os.path.normpath(str(package.locate_file(file))))
            if found.parts[-2:] == ("bin", "yamba") and found.is_file():
                return str(found)
    return None


def run(
    *names: str,
    quick: bool = False,
    set: Mapping[str, object] | None = None,
    prebuilt: bool = False,
    store: str | os.PathLike[str] | None = None,
    options: Sequence[str] = (),
) -> Run:
    """Measures benchmarks; without a name, the whole suite. The run is stored.

    `set` has values of parameters, `options` further options of `yamba run`. Warnings go to
    standard error. A figure that is not valid has another status than `ok`.

    Raises YambaError for wrong names or values, or if nothing could be measured.
    """
    words = ["run", *names, *options]
    words += ["--quick"] if quick else []
    words += ["--prebuilt"] if prebuilt else []
    for name, value in (set or {}).items():
        words += ["--set", f"{name}={value}"]
    return Run(_document([*words, *_store(store)]))


def show(run: str = "latest", store: str | os.PathLike[str] | None = None) -> Run:
    """A stored run, by its id, its tag or `latest`."""
    return Run(_document(["show", run, *_store(store)]))


def runs(store: str | os.PathLike[str] | None = None) -> list[StoredRun]:
    """The stored runs, the latest first."""
    return [
        StoredRun(entry["id"], entry.get("started"), entry.get("tags", []), entry.get("benchmarks", []), entry)
        for entry in _document(["runs", *_store(store)])
    ]


def compare(a: str, b: str, store: str | os.PathLike[str] | None = None) -> Comparison:
    """Compares two stored runs, each by its id, its tag, `latest` or a file."""
    return Comparison(_document(["compare", a, b, *_store(store)]))


def _store(store: str | os.PathLike[str] | None) -> list[str]:
    return [] if store is None else ["--store", os.fspath(store)]


def _document(words: Sequence[str]) -> Any:
    """The document that `yamba` prints. It writes UTF-8 in any locale."""
    path = program()
    try:
        done = subprocess.run(
            [path, *words, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        reason = error.strerror or error
        fix = "set the variable YAMBA to the path of the program `yamba`"
        raise YambaError(f"{path} cannot be started: {reason}\nhelp: {fix}") from error
    failure = YambaError(done.stderr.strip() or f"`yamba {words[0]}` ended with status {done.returncode}")
    # Status 1 says that the answer is no, as for a figure that is not valid, and has a document.
    if done.returncode not in (0, 1):
        raise failure
    try:
        document = json.loads(done.stdout)
    except ValueError:
        raise failure from None
    sys.stderr.write(done.stderr)
    return document
