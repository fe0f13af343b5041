"""From a summary to report.html (one self-contained file), report.md and its figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from strata import own_folders
from strata.advice import studies
from strata.advice.findings import findings
from strata.advice.layouts import recommend
from strata.errors import StrataError, why
from strata.report import render
from strata.report.document import Document, Plot, Section, Text, numbered
from strata.report.figures.theme import standalone
from strata.report.sections import (
    compute,
    effects,
    machine,
    memory,
    messages,
    method,
    overview,
    published,
    study,
    tune,
)
from strata.report.source import Source


def build(summary: Mapping[str, Any], out: Path, more: Sequence[Mapping[str, Any]] = ()) -> Path:
    """Writes the report into the folder `out`, each file whole or not at all, and returns the path of
    report.html. `more`: summaries of studies that become sections of it.
    """
    return write(compose(summary, more), out)


def write(document: Document, out: Path) -> Path:
    """The document as files in the folder `out`."""
    try:
        own_folders.make_results(out)
        with own_folders.held(out) as inside:
            (inside / "figures").mkdir(exist_ok=True)
            with own_folders.held(inside / "figures") as figures:
                for plot in document.plots():
                    _write(figures / f"{plot.key}.svg", standalone(plot.svg))
            _write(inside / "report.md", render.markdown(document))
            _write(inside / "report.html", render.html(document))
    except OSError as error:
        raise StrataError(
            "cannot write the report",
            at=re.sub(r"^/proc/self/fd/\d+", lambda _: str(out), str(error.filename or out)),
            given=why(error),
            remedy="free some space or choose another folder, then `strata report`",
            code=1,
        ) from error
    return out / "report.html"


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".tmp")
    try:
        with open(own_folders.new(part), "w", encoding="utf-8") as file:  # noqa: PTH123 (a descriptor)
            file.write(text)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def compose(summary: Mapping[str, Any], more: Sequence[Mapping[str, Any]] = ()) -> Document:
    """The whole content, without any look; studies in `more` stand before how it was measured."""
    _check(summary)
    for one in more:
        _check(one)
        if one.get("kind") != "study":
            raise StrataError(
                "only studies become sections of another report",
                at="--with",
                given=f"results of `strata {one.get('kind')}`",
                allowed="results of `strata study`",
            )
    document = _composed(summary)
    if more:
        found = [_section_of(one, number) for number, one in enumerate(more, start=1)]
        at = next(i for i, s in enumerate(document.sections) if s.ident == "method")
        first = document.sections[:-2]  # how to reproduce and provenance are made again, for all
        document.sections = numbered([*first[:at], *found, *first[at:]])
        document.sections += [method.how_to(document), method.provenance(Source(summary))]
    return document


def _section_of(summary: Mapping[str, Any], number: int) -> Section:
    """A study as one section of another report; its plots get names of their own."""
    source = Source(summary)
    about = studies.about(summary)
    made = study.study(source)
    blocks = [_renamed(b, f"with-{number}") if isinstance(b, Plot) else b for b in made.blocks]
    where = f"Measured on {_title(summary)}, {summary.get('started')}."
    title = str(about.get("title") or summary.get("mode") or "study")
    return Section(f"study-{number}", title, [Text(where), *blocks])


def _renamed(plot: Plot, prefix: str) -> Plot:
    """The plot with another key, also inside its drawing, whose ids begin with it."""
    key = f"{prefix}-{plot.key}"
    svg = plot.svg.replace(f'id="{plot.key}-', f'id="{key}-').replace(f"#{plot.key}-", f"#{key}-")
    return replace(plot, key=key, svg=svg)


def _composed(summary: Mapping[str, Any]) -> Document:
    if summary.get("kind") == "study":
        return _study(summary)
    if summary.get("kind") == "tune":
        return _tune(summary)
    source = Source(summary)
    found, advice = findings(source.machine, summary), recommend(source.machine, summary)
    sections = [
        overview.overview(source, found, advice),
        machine.machine(source),
        machine.findings_section(found),
        machine.start(advice),
        memory.memory(source),
        compute.compute(source),
        messages.messages(source),
        effects.effects(source),
        compute.noise(source),
        compute.roofline_section(source),
        published.published(source),
        method.method(source),
    ]
    sections.append(method.everything(source))
    document = Document(
        _title(summary), "Characterization report", _facts(summary), _attention(summary), numbered(sections)
    )
    document.sections += [method.how_to(document), method.provenance(source)]
    return document


def _study(summary: Mapping[str, Any]) -> Document:
    """A study's report: its own section, then method and provenance as everywhere."""
    source = Source(summary)
    about = studies.about(summary)
    sections = [
        study.study(source),
        machine.machine(source),
        method.method(source),
        method.everything(source),
    ]
    title = str(about.get("title") or summary.get("mode") or "study")
    document = Document(
        title, f"Study on {_title(summary)}", _facts(summary), _attention(summary), numbered(sections)
    )
    document.sections += [method.how_to(document), method.provenance(source)]
    return document


def _tune(summary: Mapping[str, Any]) -> Document:
    """A tuning's report: the answer and the race, then method and provenance as everywhere."""
    source = Source(summary)
    sections = [
        tune.answer(source),
        tune.race(source),
        tune.traps(source),
        machine.machine(source),
        tune.rules(source),
        method.method(source),
        method.everything(source),
    ]
    document = Document(
        tune.title(summary),
        f"The best layout on {_title(summary)}",
        _facts(summary),
        _attention(summary),
        numbered(sections),
    )
    document.sections += [method.how_to(document), method.provenance(source)]
    return document


def _check(summary: Mapping[str, Any]) -> None:
    schema = summary.get("schema")
    if not str(schema).startswith("strata.summary/") or not isinstance(summary.get("machine"), Mapping):
        raise StrataError(
            "this is not a summary of measurements",
            at="schema",
            given=repr(schema),
            allowed="strata.summary/1 with a machine in it",
            remedy="give the results folder of a finished or interrupted `strata characterize`",
        )


def _title(summary: Mapping[str, Any]) -> str:
    m = summary["machine"]
    return str(m.get("hostname") or m.get("cpu_model") or "machine")


def _facts(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    m = summary["machine"]
    return [
        ("Processor", str(m.get("cpu_model") or "unknown")),
        ("Measured", str(summary.get("started") or "unknown")),
        ("Mode", str(summary.get("mode") or "unknown")),
    ]


def _attention(summary: Mapping[str, Any]) -> str | None:
    """The words above a document that describes no real measurement, or one that goes on; None for any
    other.
    """
    m = summary["machine"]
    if progress := summary.get("in_progress"):
        return f"this run goes on ({progress}); load the page again for more"
    if summary.get("synthetic") or m.get("synthetic"):
        return str(summary.get("label") or "synthetic fixture, not a measurement")
    if str(m.get("source") or "system") != "system":
        return f"the machine comes from {m['source']}, not from the system that was measured"
    return None
