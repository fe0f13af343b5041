"""Claims about scaling laws and series: what is fitted is what was put in, and no sentence says more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from made_studies import around, figure, study, task

from strata.advice import scaling, series, views
from strata.errors import StrataError
from strata.report.build import build, compose


def _costs(law, cores=(1, 2, 4, 8, 16, 32), noise: float = 0.003) -> dict[float, list[float]]:
    rng = np.random.default_rng(5)
    return {p: list(law(p) * (1 + noise * rng.standard_normal(10))) for p in cores}


def test_amdahl_s_serial_fraction_is_found_with_an_interval_that_holds_it() -> None:
    law = scaling.fit(_costs(lambda p: 0.05 + 0.95 / p), weak=False)
    assert law is not None and law.name == "Amdahl"
    (fraction,), ((low, high),) = law.parameters, law.intervals
    assert low <= 0.05 <= high and fraction == pytest.approx(0.05, abs=0.005)
    assert law.error is not None and law.error < 0.01


def test_what_every_pair_of_cores_costs_is_gunther_s_law() -> None:
    law = scaling.fit(_costs(lambda p: (1 + 0.02 * (p - 1) + 0.002 * p * (p - 1)) / p), weak=False)
    assert law is not None and law.name == "Gunther"
    assert law.parameters == pytest.approx((0.02, 0.002), rel=0.25)


@pytest.mark.parametrize("grows", [True, False])
def test_weak_scaling_of_times_and_of_rates_is_gustafson_s(grows: bool) -> None:
    speedup = lambda p: p - 0.1 * (p - 1)  # noqa: E731
    costs = _costs(lambda p: p / speedup(p) if grows else 1 / speedup(p))
    law = scaling.fit(costs, weak=True, grows=grows)
    assert law is not None and law.name == "Gustafson"
    assert law.parameters[0] == pytest.approx(0.1, abs=0.01)
    last = scaling.points(costs, grows=grows)[-1]
    assert last.speedup == pytest.approx(speedup(32), rel=0.01) and last.low and last.high
    assert last.fraction(speedup(32), weak=True) == pytest.approx(0.1)


def test_the_karp_flatt_fraction_of_an_amdahl_program_is_its_serial_fraction() -> None:
    for cores in (2.0, 16.0):
        point = scaling.Point(cores, 6, 0, None, None, 1.0)
        assert point.fraction(cores / (1 + 0.03 * (cores - 1)), weak=False) == pytest.approx(0.03)


def test_as_many_points_as_parameters_have_no_error() -> None:
    law = scaling.fit(_costs(lambda p: 0.1 + 0.9 / p, cores=(1, 2)), weak=False)
    assert law is not None and law.error is None and law.left_out is None
    assert "cannot be told" in series.law_text(law)
    assert scaling.fit({1: [1.0] * 6}, weak=False) is None


def _point(cores: int, value: float, setting: str = "threads", better: str = "higher", n: int = 12):
    labels = {"program": "heat", "setting": setting, "layout": f"1x{cores}"}
    rate = figure("rate", "Mcell/s", around(value, n), better)
    return task("heat", labels, [rate], layout=f"1x{cores}", id=f"heat/{setting}/1x{cores}")


def _strong(view: str = "strong", n: int = 12):
    tasks = [_point(p, 100 * p / (1 + 0.04 * (p - 1)), n=n) for p in (1, 2, 4, 8)]
    return study(view, tasks, "eight_domains", x="cores")


def test_strong_scaling_says_speedup_efficiency_fraction_and_law() -> None:
    (said,) = views.statements(_strong())
    for words in ("heat, threads: speedup 6.2", "on 8 cores", "efficiency 78 %", "Karp-Flatt fraction 0.04",
                  "Amdahl's law: serial fraction 0.04"):  # fmt: skip
        assert words in said


def test_too_few_launches_say_nothing_of_scaling() -> None:
    assert views.statements(_strong(n=5)) == []


def test_the_report_draws_what_the_sentences_say(tmp_path: Path) -> None:
    page = build(_strong(), tmp_path).read_text()
    assert "Speedup and efficiency" in page and "Karp-Flatt" in page
    assert (tmp_path / "figures" / "scaling.svg").read_text().count("<svg") == 1


def _strides(values: dict[int, float]):
    tasks = []
    for stride, value in values.items():
        labels = {"program": "pingpong", "setting": "pair", "stride": str(stride), "distance": f"d{stride}"}
        latency = figure("latency", "us", around(value))
        tasks.append(task("pingpong", labels, [latency], layout="2x1", stride=stride, id=f"p/s{stride}"))
    return study("series", tasks, "eight_domains", x="stride")


def test_a_series_compares_its_first_place_with_its_last() -> None:
    (said,) = views.statements(_strides({1: 0.1, 2: 0.2, 8: 0.4}))
    assert "stride 8 (d8)" in said and "stride 1 (d1)" in said and "0.25" in said


def test_a_series_without_difference_says_so_and_one_place_is_no_series() -> None:
    assert "no difference measured" in views.statements(_strides({1: 0.1, 2: 0.1}))[0]
    assert views.statements(_strides({1: 0.1})) == [
        "latency of pingpong, pair: 0.1 us, at stride 1 (d1) alone."
    ]


def test_series_at_the_same_place_are_compared_by_the_best_of_many() -> None:
    tasks = [_point(p, v, s) for s, v in (("threads", 100), ("processes", 90)) for p in (1, 2)]
    said = views.statements(study("series", tasks, "eight_domains", x="cores"))
    assert any("The highest rate at 2 cores is that of heat, threads" in text for text in said)


def test_every_median_of_a_series_is_on_the_page() -> None:
    document = compose(_strides({1: 0.123, 2: 0.234}))
    cells = [c for s in document.sections for b in s.blocks if b.kind == "table" for r in b.rows for c in r]
    assert any("0.123" in c for c in cells) and any("0.234" in c for c in cells)


def test_studies_become_sections_of_another_report_with_plots_of_their_own(tmp_path: Path) -> None:
    first, second = _strides({1: 0.1, 2: 0.2}), _strides({1: 0.1, 2: 0.3})
    document = compose(_strong(), [first, second])
    titles = [s.title for s in document.sections]
    assert titles.index("What was found") < titles.index("A study of series")
    assert titles.count("A study of series") == 2
    plots = document.plots()
    assert len({p.key for p in plots}) == len(plots)
    assert [p.number for p in plots] == list(range(1, len(plots) + 1))
    page = build(_strong(), tmp_path, [first]).read_text()
    assert 'id="with-1-series-0-' in page and 'id="series-0-' not in page


def test_only_studies_become_sections() -> None:
    with pytest.raises(StrataError, match="only studies"):
        compose(_strong(), [{**_strong(), "kind": "characterize"}])
