"""The recipe for Spack: its variants are the optional pieces, its options those of CMakeLists.txt.

It is evaluated with a stand-in for Spack that writes down what the recipe says; Spack itself is not started.
"""

from __future__ import annotations

import csv
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "contrib" / "spack" / "spack_repo" / "strata" / "packages" / "strata" / "package.py"
FOR_WHO_WORKS_ON_STRATA = {"STRATA_CHECKED_GRAPH", "STRATA_FUZZ", "STRATA_WERROR"}
# Pieces of every build, and what Spack calls others.
VARIANT = {"python-headers": "python", "tomlplusplus": None, "catch2": None}
# A wheel alone: Spack has OpenBLAS itself.
NOT_SPACKS = {"scipy-openblas32"}


class Spec(dict):
    """A spec with variants that are on or off."""

    def __init__(self, variants: dict[str, bool]) -> None:
        self.variants = variants
        super().__init__(
            python=SimpleNamespace(command=SimpleNamespace(path="/spack/python3")),
            openblas=SimpleNamespace(libs=["/spack/libopenblas.so"]),
        )

    def satisfies(self, asked: str) -> bool:
        return self.variants[asked[1:]] == (asked[0] == "+")


class CMakePackage:
    run_tests = False

    def __init__(self, variants: dict[str, bool]) -> None:
        self.spec = Spec(variants)

    def define(self, name: str, value: Any) -> tuple[str, Any]:
        return name, value

    def define_from_variant(self, name: str, variant: str) -> tuple[str, Any]:
        return name, self.spec.variants[variant]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The package, and all directives by name: first word and the rest, the enclosing `with when` too."""
    directives: dict[str, dict[str, dict[str, Any]]] = {}
    around: list[str] = []

    def directive(name: str) -> Callable[..., None]:
        def write(first: str, **rest: Any) -> None:
            if around:
                rest.setdefault("when", around[-1])
            directives.setdefault(name, {})[first] = rest

        return write

    @contextmanager
    def when(condition: str) -> Iterator[None]:
        around.append(condition)
        yield
        around.pop()

    spack = ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "extends", "generator"):
        setattr(spack, name, directive(name))
    spack.when = when  # type: ignore[attr-defined]
    spack.run_after = lambda *_, **__: lambda function: function  # type: ignore[attr-defined]
    builtin = ModuleType("spack_repo.builtin.build_systems.cmake")
    builtin.CMakePackage = CMakePackage  # type: ignore[attr-defined]
    for module in (spack, builtin):
        for i in range(module.__name__.count(".")):
            parent = ".".join(module.__name__.split(".")[: i + 1])
            monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    names: dict[str, Any] = {"__file__": str(RECIPE), "__name__": "recipe"}
    exec(compile(RECIPE.read_text(), RECIPE, "exec"), names)
    return SimpleNamespace(package=names["Strata"], checkout=names["CHECKOUT"], **directives)


def options() -> dict[str, str]:
    """The switches of the build, with their defaults."""
    return dict(
        re.findall(r'^option\((STRATA_\w+) "[^"]*" ([^)]+)\)', (ROOT / "CMakeLists.txt").read_text(), re.M)
    )


def optional_pieces() -> dict[str, str]:
    """Each optional piece with the switch that set-up has for it."""
    switches = dict(
        re.findall(r"^    switch ([\w-]+) (STRATA_\w+)$", (ROOT / "setup/build.sh").read_text(), re.M)
    )
    with (ROOT / "python" / "strata" / "pieces.csv").open(newline="") as file:
        pieces = [row["piece"] for row in csv.DictReader(file) if row["need"] == "optional"]
    assert set(pieces) == set(switches)
    return switches


def test_each_optional_piece_is_a_variant_that_switches_what_set_up_switches(said: SimpleNamespace) -> None:
    named = {piece: VARIANT.get(piece, piece) for piece in optional_pieces()}
    assert set(said.variant) == {variant for variant in named.values() if variant}
    all_on = dict.fromkeys(said.variant, True)
    everything = dict(said.package(all_on).cmake_args())
    for piece, switch in optional_pieces().items():
        if variant := named[piece]:
            less = dict(said.package(all_on | {variant: False}).cmake_args())
            assert everything[switch] is True and less[switch] is False, piece
            assert {key for key in less if less[key] != everything[key]} == {switch}, piece
    assert everything[optional_pieces()["tomlplusplus"]] is True
    assert everything[optional_pieces()["catch2"]] is False, "no tests, unless they are asked for"


def test_each_switch_of_the_build_is_set_and_no_other(said: SimpleNamespace) -> None:
    args = said.package(dict.fromkeys(said.variant, True)).cmake_args()
    names = [name for name, _ in args]
    assert sorted(names) == sorted({*options(), "Python_EXECUTABLE"} - FOR_WHO_WORKS_ON_STRATA)
    assert dict(args)["STRATA_NATIVE"] is False, "Spack's own wrappers name the processor"


def test_each_piece_is_a_dependency_under_its_variant(said: SimpleNamespace) -> None:
    needed = {re.split("[@ ]", name)[0]: rest for name, rest in said.depends_on.items()}
    needed |= {re.split("@", name)[0]: rest for name, rest in said.extends.items()}
    with (ROOT / "python" / "strata" / "pieces.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            variant = VARIANT.get(row["piece"], row["piece"]) if row["need"] == "optional" else None
            own = {"compiler": "cxx", "mpi": "mpi", "fortran": "fortran"}.get(row["piece"], row["spack"])
            if own == "ninja":
                assert "ninja" in said.generator
            elif own == "python":
                assert needed["python"]["when"] == "+python"
            else:
                assert needed[own].get("when") == (f"+{variant}" if variant else None), row["piece"]


def test_the_python_packages_are_those_of_pyproject(said: SimpleNamespace) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = dict(
        re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups()  # type: ignore[union-attr]
        for line in [
            *project["project"]["dependencies"],
            *project["project"]["optional-dependencies"]["python"],
        ]
    )
    found = dict(re.findall(r"^py-([\w-]+)@([\d.]+):$", "\n".join(said.depends_on), re.M))
    assert found == {name: at_least for name, at_least in asked.items() if name not in NOT_SPACKS}
    minimum = project["project"]["requires-python"].removeprefix(">=")
    assert list(said.extends) == [f"python@{minimum}:"]


def test_its_version_and_its_source_are_this_checkout(said: SimpleNamespace) -> None:
    version = re.search(r"^    VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)
    assert version and list(said.version) == [version[1]]
    assert said.checkout == ROOT
    assert said.package.git == f"file://{ROOT}"


def test_what_it_runs_with_is_named_to_the_front(said: SimpleNamespace) -> None:
    found: dict[str, str] = {}
    env = SimpleNamespace(set=found.__setitem__)
    for python in (True, False):
        found.clear()
        said.package(dict.fromkeys(said.variant, python)).setup_run_environment(env)
        assert found["STRATA_BLAS_CANDIDATES"] == "/spack/libopenblas.so"
        assert found.get("STRATA_PYTHON") == ("/spack/python3" if python else None)
