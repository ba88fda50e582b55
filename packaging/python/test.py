"""The installed package, against the documents of its own program. Needs no package besides it."""

import json
import subprocess
import unittest

import yamba


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

    def test_wrong_name_is_an_error_with_its_fix(self) -> None:
        with self.assertRaisesRegex(yamba.YambaError, "(?s)lat_pip.*help:"):
            yamba.run("lat_pip")


unittest.main()
