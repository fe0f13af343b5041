"""The native module of graphs: found beside the native programs, loaded by its path."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from strata.errors import FAILED, StrataError
from strata.paths import fronts, root

NAME = "strata_graph"


def _folders() -> list[Path]:
    """Where it may be: with the front that is known; where none is, in the checkout's builds."""
    bases = [front.resolve().parent.parent for front in fronts()]
    checkout = root()
    if "STRATA_BIN" not in os.environ and checkout is not None:
        builds = Path(os.environ.get("STRATA_BUILDS") or checkout / "build")
        trees = [tree.resolve() for tree in builds.glob("*/current") if tree.exists()]
        bases += sorted(trees, key=lambda tree: -tree.stat().st_mtime)
    return [base / part for base in bases for part in ("libexec/strata", "core/run/python")]


@cache
def module() -> ModuleType:
    """Raises StrataError where it was not built, or for another Python."""
    folders = _folders()
    others: list[str] = []
    for folder in folders:
        for ending in importlib.machinery.EXTENSION_SUFFIXES:
            path = folder / f"{NAME}{ending}"
            if path.is_file():
                spec = importlib.util.spec_from_file_location(NAME, path)
                assert spec is not None and spec.loader is not None
                loaded = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(loaded)
                return loaded
        others += sorted(map(str, folder.glob(f"{NAME}.*.so")))
    ending = importlib.machinery.EXTENSION_SUFFIXES[0]
    if others:
        raise StrataError(
            "graphs from Python were built for another Python",
            given=f"{others[0]}; this is {sys.executable}",
            allowed=f"{NAME}{ending}",
            remedy="start the program with strata run, which takes the Python that Strata was set up with",
            code=FAILED,
        )
    raise StrataError(
        "graphs from Python were not built",
        given=", ".join(map(str, folders)) + f" without {NAME}{ending}",
        remedy="install Python's headers (Debian: python3-dev, Fedora: python3-devel), then "
        "./strata setup --all; ./strata doctor says what else is missing",
        code=FAILED,
    )


@contextmanager
def native_errors() -> Iterator[None]:
    """Native errors as StrataError."""
    try:
        yield
    except RuntimeError as error:
        if not isinstance(error, module().NativeError):
            raise
        message, at, given, allowed, remedy, code = error.args
        raise StrataError(
            message,
            at=at or None,
            given=given or None,
            allowed=allowed or None,
            remedy=remedy or None,
            code=code,
        ) from None
