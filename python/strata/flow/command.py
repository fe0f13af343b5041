"""`strata flow show` and `strata study uncertainty`: what was asked, and the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strata import documents, own_folders, paths
from strata.errors import FAILED, StrataError, why
from strata.flow import page, slices, surface, uncertainty
from strata.flow.uncertainty import Asked
from strata.report.build import write
from strata.run import series


def show(run: Path, beside: Sequence[Path], only: str, out: Path | None, command: str) -> int:
    """Writes the report of a run, and says where it is. `only`: curves whose names have this in them."""
    try:
        result = documents.from_json(documents.contents(run / "result.json"))
        if not isinstance(result, dict):
            raise ValueError("no object")
    except (OSError, ValueError) as error:
        raise StrataError(
            "no finished run there",
            at=str(run / "result.json"),
            given=why(error),
            remedy="give the folder that `strata run CASE --out FOLDER` has written",
            code=FAILED,
        ) from None
    if (solver := result.get("benchmark", "flow")) != "flow":
        raise StrataError(
            "not a run of compressible flow",
            at=str(run / "result.json"),
            given=f"a run of {solver}",
            allowed="a run of the solver flow",
            remedy="`strata md analyse` reads runs of md",
        )
    rows = series.read(run)
    walls = surface.newest(run) if any(run.glob("surface-*.csv")) else None
    curves = [curve for path in beside for curve in surface.recorded(path)]
    names = dict.fromkeys(curve.name for curve in curves)
    curves = [curve for curve in curves if only in curve.name]
    if beside and not curves:
        raise StrataError(
            "no recorded curve has such a name", at="--only", given=only, allowed=", ".join(names)
        )
    with documents.used(str(run), "the run"):
        document = page.of_run(run, result, rows, walls, curves, command, slices.newest(run))
    path = write(document, out or run / "report")
    for name, short in uncertainty.NAMES.items():
        if name in rows:
            print(f"{name}: {short} = {rows[name][-1]:.6g}")
    print(f"report: {path}")
    return 0


def study(asked: Asked, out: Path | None, command: str) -> int:
    """Runs the study, writes its report, prints the coefficients."""
    folder = out or paths.results_base() / f"uncertainty-{asked.case.stem}"
    if out is None:
        own_folders.need(folder, "results", "--out FOLDER, or STRATA_RESULTS=/a/folder/of/yours")
    try:
        own_folders.make_results(folder)
    except OSError as error:
        raise StrataError("cannot make the folder", at=str(folder), given=why(error)) from None
    found = uncertainty.study(replace(asked, out=folder))
    path = write(page.of_study(found, command), folder / "report")
    print("\n".join(uncertainty.lines(found)))
    print(f"report: {path}")
    return 0
