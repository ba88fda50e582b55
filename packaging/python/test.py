"""The installed package, against the documents of its own program. Needs no package besides it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from importlib import metadata
from pathlib import Path
from unittest import mock

import yamba


def figure(name: str) -> dict[str, object]:
    return {"name": name, "status": "ok"}


class Scripted(unittest.TestCase):
    """Documents and failures that a shell script prints instead of the program."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / "yamba"
        named = mock.patch.dict(os.environ, {"YAMBA": str(self.program)})
        named.start()
        self.addCleanup(named.stop)

    def prints(self, *figures: str, then: str = "") -> None:
        document = {"id": "a", "benchmarks": [figure(name) for name in figures]}
        text = json.dumps(document, ensure_ascii=False)
        self.program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n{then}\n", encoding="utf-8")
        self.program.chmod(0o755)

    def test_document_is_utf8_in_an_ascii_locale(self) -> None:
        self.prints("Größe", then="echo Überlauf >&2")
        # Python itself chooses UTF-8 in the locale C, unless it is forbidden.
        words = [sys.executable, "-I", "-X", "utf8=0", "-c"]
        folder = str(Path(yamba.__file__).parent.parent)
        code = f"import sys; sys.path.insert(0, {folder!r}); import yamba; print(ascii(yamba.show()[0].name))"
        answer = subprocess.run([*words, code], env={**os.environ, "LC_ALL": "C"}, capture_output=True)
        self.assertEqual(answer.stdout.split(), [ascii("Größe").encode()], answer.stderr)

    def test_document_of_status_1_is_read(self) -> None:
        self.prints("x", then="exit 1")
        self.assertEqual([one.name for one in yamba.show()], ["x"])

    def test_other_status_is_an_error_despite_a_document(self) -> None:
        for then in ("exit 2", "kill -9 $$"):
            self.prints("x", then=f"echo refused >&2; {then}")
            with self.assertRaisesRegex(yamba.YambaError, "refused"):
                yamba.show()

    def test_program_that_cannot_start_is_an_error_with_path_and_fix(self) -> None:
        with self.assertRaisesRegex(yamba.YambaError, f"(?s){self.program}.*No such file.*YAMBA"):
            yamba.show()
        self.program.touch()
        with self.assertRaisesRegex(yamba.YambaError, f"(?s){self.program}.*Permission.*YAMBA"):
            yamba.show()

    def test_run_is_a_sequence_with_names(self) -> None:
        self.prints("x", "y", "x")
        run = yamba.show()
        self.assertIs(run["x"], run[0])
        self.assertIs(run["y"], run[-2])
        self.assertTrue("x" in run and run[1] in run and "z" not in run)
        self.assertEqual(len(run), len(list(run)))
        self.assertRaises(KeyError, lambda: run["z"])
        self.assertRaises(IndexError, lambda: run[3])

    def test_frame_without_pandas_says_what_to_install(self) -> None:
        self.prints("x")
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, r"pip install 'yamba\[pandas\]'"):
                yamba.show().frame()


class Package(unittest.TestCase):
    def test_run_is_stored_and_shown(self) -> None:
        run = yamba.run("lat_syscall_getppid", quick=True)
        figure = run["lat_syscall_getppid"]
        self.assertEqual((figure.status, figure.valid, figure.unit), ("ok", True, "ns"))
        self.assertGreater(figure.median, 0)
        self.assertEqual(yamba.show(run.id)["lat_syscall_getppid"].median, figure.median)
        self.assertIn(run.id, [stored.id for stored in yamba.runs()])

    def test_fields_are_those_of_the_document(self) -> None:
        document = json.loads(subprocess.check_output([yamba.program(), "show", "latest", "--json"]))
        for figure, entry in zip(yamba.show(), document["benchmarks"]):
            self.assertEqual((figure.name, figure.median), (entry["name"], entry["median"]))
            self.assertEqual(list(figure.interval or []), entry["confidence_interval"] or [])

    def test_comparison_has_a_verdict_for_each_benchmark(self) -> None:
        a = yamba.run("lat_syscall_getppid", options=["--launches", "6", "--time", "1s"])
        b = yamba.run("lat_syscall_getppid", options=["--launches", "6", "--time", "1s"])
        (row,) = yamba.compare(a.id, b.id).rows
        self.assertEqual(row["name"], "lat_syscall_getppid")
        self.assertIn(row["verdict"], ["same", "suspect", "unknown"])

    def test_metadata_is_of_the_version_of_its_fields(self) -> None:
        try:
            package = metadata.distribution("yamba")
        except metadata.PackageNotFoundError:
            self.skipTest("the module is not installed")
        # PyPI refuses these fields in older versions.
        self.assertIn("License-Expression", package.metadata)
        version = tuple(int(part) for part in package.metadata["Metadata-Version"].split("."))
        self.assertGreaterEqual(version, (2, 4))
        names = package.metadata.get_all("License-File")
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertTrue(package.read_text(f"licenses/{name}"), name)

    def test_wrong_name_is_an_error_with_its_fix(self) -> None:
        with self.assertRaisesRegex(yamba.YambaError, "(?s)lat_pip.*help:"):
            yamba.run("lat_pip")


unittest.main()
