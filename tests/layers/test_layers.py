"""Files keep to their layers: #include and import go downwards, and in no circle, those in functions too."""

from __future__ import annotations

from dataclasses import dataclass

import order
import pytest
from uses import imports_of, includes_of, native_files, python_modules


@dataclass(frozen=True)
class Side:
    """The files of one language, what they use of each other, and the order that they keep to."""

    uses: dict[str, set[str]]
    order: list[list[str]]
    separator: str
    least: int  # uses that are found at least, if they are found at all


def native() -> Side:
    return Side(includes_of(native_files()), order.NATIVE, "/", 1000)


def python() -> Side:
    uses = imports_of(python_modules())
    del uses["strata"]
    return Side(uses, order.PYTHON, ".", 300)


@pytest.fixture(scope="module", params=[native, python], ids=["native", "python"])
def side(request: pytest.FixtureRequest) -> Side:
    return request.param()


def test_a_file_uses_its_own_part_and_lower_ones(side: Side) -> None:
    assert sum(map(len, side.uses.values())) > side.least
    assert order.breaches(side.uses, side.order, side.separator) == []


def test_no_solver_includes_another() -> None:
    uses = native().uses
    assert {f"solvers/{name}/main.cpp" for name in ("flow", "md", "mpm", "transport")} <= uses.keys()
    assert order.between_solvers(uses) == []


def test_no_file_comes_back_to_itself(side: Side) -> None:
    assert order.circles(side.uses) == []


def test_each_part_is_there(side: Side) -> None:
    present = {order.part(name, side.order, side.separator) for name in side.uses}
    assert {name for line in side.order for name in line} - present == set()


def test_an_include_upwards_and_a_circle_are_told() -> None:
    files = {
        "core/base/a.hpp": '#include "core/launch/b.hpp"\n',
        "core/launch/b.hpp": '#  include "c.hpp"\n// #include "core/team/d.hpp"\n',
        "core/launch/c.hpp": '#include "core/launch/b.hpp"\n',
        "core/team/d.hpp": '#include "core/base/a.hpp"\n#include <vector>\n',
        "core/nowhere/e.hpp": "",
    }
    found = includes_of(files)
    assert order.breaches(found, order.NATIVE, "/") == [
        "core/base/a.hpp uses core/launch/b.hpp: core/launch is not below core/base",
        "core/nowhere/e.hpp lies in no part",
    ]
    assert order.circles(found) == [["core/launch/b.hpp", "core/launch/c.hpp"]]


def test_a_solver_that_includes_another_is_told() -> None:
    files = {
        "solvers/flow/main.cpp": '#include "solvers/flow/scheme/a.hpp"\n#include "methods/overset/d.hpp"\n',
        "solvers/flow/scheme/a.hpp": '#include "solvers/mpm/b.hpp"\n#include "core/base/error.hpp"\n',
        "solvers/mpm/main.cpp": "",
        "solvers/mpm/b.hpp": "",
        "methods/overset/d.hpp": "",
        "tests/solvers/test_both.cpp": '#include "solvers/flow/scheme/a.hpp"\n#include "solvers/mpm/b.hpp"\n',
    }
    assert order.between_solvers(includes_of(files)) == [
        "solvers/flow/scheme/a.hpp uses solvers/mpm/b.hpp: what solvers share lies in core or methods"
    ]


def test_a_method_that_includes_a_solver_is_told() -> None:
    files = {
        "methods/overset/a.hpp": '#include "core/graph/expand/b.hpp"\n',
        "methods/overset/c.cpp": '#include "methods/overset/a.hpp"\n#include "solvers/flow/d.hpp"\n',
        "methods/geometry/e.hpp": '#include "methods/overset/a.hpp"\n',
        "solvers/flow/d.hpp": '#include "methods/overset/a.hpp"\n',
        "core/graph/expand/b.hpp": '#include "methods/overset/a.hpp"\n',
    }
    assert order.breaches(includes_of(files), order.NATIVE, "/") == [
        "core/graph/expand/b.hpp uses methods/overset/a.hpp: methods/overset is not below core/graph/expand",
        "methods/geometry/e.hpp uses methods/overset/a.hpp: methods/overset is not below methods/geometry",
        "methods/overset/c.cpp uses solvers/flow/d.hpp: solvers/flow is not below methods/overset",
    ]


def test_an_import_upwards_and_a_circle_are_told() -> None:
    modules = {
        "strata": (True, ""),
        "strata.errors": (False, "def f():\n    from strata.measure import a\n"),
        "strata.measure": (True, ""),
        "strata.measure.a": (False, "from . import b\n"),
        "strata.measure.b": (False, "from strata.measure.a import anything\nimport strata.errors\n"),
        "strata.attic": (False, "import json\n"),
    }
    found = imports_of(modules)
    assert order.breaches(found, order.PYTHON, ".") == [
        "strata lies in no part",
        "strata.attic lies in no part",
        "strata.errors uses strata.measure.a: strata.measure is not below strata.errors",
    ]
    assert order.circles(found) == [["strata.errors", "strata.measure.a", "strata.measure.b"]]
