"""Runs examples/verify.py on many files: reads [[file, key…], …] from stdin, writes a list of reports."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))
import verify

print(json.dumps([verify.judge(pathlib.Path(file), keys) for file, *keys in json.load(sys.stdin)]))
