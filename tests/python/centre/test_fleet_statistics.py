"""Claims about slow nodes: which ones are named, on fleets that were generated with planted faults."""

from __future__ import annotations

import numpy as np
import pytest

from strata.centre.fleet import tails
from strata.centre.fleet.analysis import Analysis, analyse
from strata.centre.fleet.fleet import DAY, Fleet, blocks
from strata.centre.fleet.generate import Fault, generate
from strata.centre.fleet.proof import alarms, misses


def names(whole: Analysis) -> list[str]:
    return [s.name for s in whole.suspects]


def test_another_kernel_is_told_and_makes_no_suspect() -> None:
    fleet = generate(40, 3, (), seed=3)
    fleet.facts["kernel"] = ["6.0" if n == 5 else "6.1.2" for n in fleet.node]
    fleet.facts["links"] = ["mlx5_0/1 100 Gb/sec"] * fleet.runs
    whole = analyse(fleet)
    assert not whole.suspects and [d.words for d in whole.differences] == [
        "kernel 6.0, the others have 6.1.2"
    ]
    fleet.facts["links"] = ["mlx5_0/1 50 Gb/sec" if n == 7 else "mlx5_0/1 100 Gb/sec" for n in fleet.node]
    assert names(analyse(fleet)) == ["n08"]


def test_each_fault_is_named_with_its_figure_part_size_and_begin() -> None:
    faults = [
        Fault(16, "bandwidth", 0.12, 3),
        Fault(43, "core", 0.30, 4),
        Fault(89, "clock", 0.10, 3),
        Fault(119, "latency", 0.15, 3),
    ]
    whole = analyse(generate(200, 8, faults, seed=2))
    said = {s.name: s.sentence for s in whole.suspects}
    assert set(said) == {"n017", "n044", "n090", "n120"}
    assert (
        "bandwidth is 1" in said["n017"] and "% below the fleet's, since 2026-02-05 (3 runs)" in said["n017"]
    )
    assert said["n017"].startswith("node n017: domain ") and said["n017"].endswith(
        "its other figures are as usual"
    )
    assert "core " in said["n044"] and "30 % below" in said["n044"] and "(4 runs)" in said["n044"]
    assert "rate of all its cores" in said["n090"] and "clock is 1" in said["n090"]
    assert "% above the fleet's" in said["n120"]
    causes = {s.name: s.cause.partition(":")[0] for s in whole.suspects}
    assert causes == {
        "n017": "bandwidth of one domain",
        "n044": "one slow core",
        "n090": "clock",
        "n120": "latency of one domain",
    }


def test_healthy_fleets_have_as_few_suspects_as_is_said_also_where_small_deviations_matter() -> None:
    # Each of 60 reports may have one with a probability of 0.05: more than 9 have a probability of 0.1 %.
    assert sum(alarms(n, k, runs=6, least=0.005) for n, k in ((24, 30), (64, 25), (300, 5))) <= 9


def test_faults_of_an_eighth_are_found_after_three_runs_and_listed_after_one() -> None:
    late = misses(200, 6, 0.12, 3)
    assert sum(missed for _, missed, _ in late.values()) <= 2  # of 24, and suspects without a fault
    early = misses(200, 6, 0.20, 1)
    planted, missed, again = (sum(v[i] for k, v in early.items() if k != "false") for i in range(3))
    assert planted == 24 and again >= 0.8 * missed > 0


def test_what_no_healthy_node_ever_was_is_named_after_one_run() -> None:
    # Five faulty nodes hide neither each other nor themselves, also in the fleet's first campaign.
    for runs in (1, 8):
        faults = [Fault(n, "core", 0.6, 1) for n in (3, 50, 120, 199, 250)]
        whole = analyse(generate(300, runs, faults, seed=4))
        assert {s.node for s in whole.suspects} == {f.node for f in faults}
        assert all(o.runs == 1 for s in whole.suspects for o in s.outliers if o.figure == "core")


def test_one_run_that_a_healthy_node_had_too_names_nobody() -> None:
    fleet = generate(100, 8, [Fault(40, "core", 0.45, 1)], seed=6)
    assert names(analyse(fleet)) == ["n041"]
    mine = np.flatnonzero(fleet.node == 20)[3]  # weeks ago, and since then as good as any
    fleet.figures["core"].values[mine, 5] *= 0.5
    whole = analyse(fleet)
    assert not whole.suspects and "n041" in [a.name for a in whole.again]


def test_healthy_fleets_of_one_campaign_have_no_suspect_beyond_the_stated_rate() -> None:
    assert sum(alarms(n, k, runs=1) for n, k in ((24, 20), (64, 10), (300, 2))) <= 6  # of 32; 1.6 expected


def test_a_change_of_all_nodes_is_no_nodes() -> None:
    fleet = generate(100, 6, (), seed=5)
    last = fleet.time > fleet.time.max() - 2 * 7 * DAY
    fleet.figures["bandwidth"].values[last] *= 0.7
    fleet.facts["kernel"] = ["6.9" if late else "6.1.2" for late in last]
    whole = analyse(fleet)
    assert not whole.suspects
    found = [c for c in whole.changes if c.figure == "bandwidth" and c.slow > 0.1]
    assert [c.group for c in found] == [g.name for g in whole.groups if len(g.nodes) >= 12]
    assert all(-np.expm1(-c.slow) == pytest.approx(0.3, abs=0.01) for c in found)
    assert {c.facts for c in found} == {("kernel 6.1.2 became 6.9",)}


def test_a_node_that_lost_what_it_had_before_is_named_though_the_fleet_is_no_better() -> None:
    fleet = generate(60, 8, (), seed=7)
    mine = np.flatnonzero(fleet.node == 30)
    fleet.figures["dgemm"].values[mine[:-3]] *= 1.06  # it was the best
    fleet.figures["dgemm"].values[mine[-3:]] *= 0.97  # 8 % less, and 3 % less than the others
    (found,) = analyse(fleet).suspects
    assert found.name == "n31" and "below its own of before" in found.sentence


def test_another_purchase_is_another_group_and_a_lost_module_is_a_finding() -> None:
    fleet = generate(40, 4, (), seed=3)
    half = fleet.node >= 25
    fleet.figures["dgemm"].values[half] *= 0.5
    fleet.facts["memory_gib"] = ["1024" if late else "512" for late in half]
    whole = analyse(fleet)
    assert [len(g.nodes) for g in whole.groups] == [25, 15] and not whole.suspects
    fleet.facts["memory_gib"] = [
        "480" if n == 3 else m for n, m in zip(fleet.node, fleet.facts["memory_gib"], strict=True)
    ]
    (found,) = analyse(fleet).suspects
    assert found.name == "n04" and found.reasons == ["it has 480 GiB of memory, the others 512"]


def test_few_nodes_are_compared_with_their_own_past_alone() -> None:
    fleet = generate(4, 8, [Fault(1, "bandwidth", 0.3, 3)], seed=1)
    whole = analyse(fleet)
    assert names(whole) == ["n2"] and "its own of before" in whole.suspects[0].sentence
    assert [len(g.nodes) for g in whole.small] == [4]
    once = analyse(generate(4, 8, [Fault(2, "dgemm", 0.3, 1)], seed=1))
    assert not once.suspects and [a.name for a in once.again] == ["n3"]
    assert "its own of before" in once.again[0].reason
    always = generate(4, 8, [Fault(1, "bandwidth", 0.3, 8)], seed=1)
    assert not analyse(always).suspects  # four nodes do not say which of them is right


def test_a_wrong_result_is_first_however_small_the_fleet() -> None:
    fleet = generate(3, 2, (), seed=1)
    fleet.failed.append((int(fleet.newest()[2]), "dgemm", "scaled residual: 2e9"))
    fleet.failed.append((0, "dgemm", "an earlier run's"))
    (found,) = analyse(fleet).suspects
    assert found.cause == "wrong results" and found.reasons == [
        "wrong results of dgemm: scaled residual: 2e9"
    ]


def counted(fleet: Fleet, name: str, per_run: dict[int, float]) -> None:
    runs = np.arange(fleet.runs) - np.searchsorted(fleet.node, fleet.node)
    fleet.counters[name] = runs * np.array([per_run.get(int(n), 0.0) for n in fleet.node])


def test_errors_of_links_and_memory_count_by_what_grew() -> None:
    fleet = generate(120, 4, (), seed=9)
    fleet.booted[:] = fleet.time.min() - DAY
    counted(fleet, "link symbol_error", {5: 168 * 9.0, 7: 168 * 40.0})  # 9 and 40 an hour
    counted(fleet, "link mlx5_0/1 symbol_error", {5: 168 * 9.0, 7: 168 * 40.0})
    counted(fleet, "memory uncorrected", {50: 1.0})
    counted(fleet, "memory corrected", {51: 20.0})
    found = {s.name: s.reasons for s in analyse(fleet).suspects}
    assert set(found) == {"n008", "n051"}
    assert "symbol errors of links (mlx5_0/1) in 16" in found["n008"][0]
    assert found["n051"][0].startswith("1 uncorrected errors of memory in 16")


def test_a_counter_that_was_reset_counts_from_its_boot() -> None:
    fleet = generate(20, 3, (), seed=9)
    fleet.booted[:] = fleet.time - 3600
    fleet.counters["link link_downed"] = np.where(fleet.node == 4, 3.0, 0.0)
    (found,) = analyse(fleet).suspects
    assert found.reasons == ["3 times a link went down in 1 h"]


def test_runs_of_a_day_or_a_campaign_belong_together() -> None:
    fleet = generate(3, 2, (), seed=1)
    fleet.campaign = [""] * fleet.runs
    fleet.time = np.array([0.0, 3600.0, 100.0, DAY, 200.0, DAY + 5])
    found = blocks(fleet)
    assert found.of.tolist() == [0, 1, 0, 2, 0, 2]  # the second of one day stands by itself
    assert found.time.tolist() == [100.0, 3600.0, DAY + 2.5]


def test_tails_hold_for_samples_whose_tails_are_known() -> None:
    random = np.random.default_rng(1)
    normal = tails.lasting(random.normal(size=5000))
    assert normal.beyond(normal.at(np.array([0.2, 0.05, 1e-6]))) == pytest.approx([0.2, 0.05, 1e-6])
    assert 4.75 <= float(normal.at(np.array([1e-6]))[0]) <= 7.5  # 4.75 by its distribution
    few = tails.lasting(random.normal(size=40))
    assert 3.72 < few.at(np.array([1e-4]))[0] < 12  # 3.72 by its distribution
    heavy = tails.lasting(random.standard_gamma(1.0, size=5000))
    assert 11 <= float(heavy.at(np.array([1e-6]))[0]) <= 17  # 13.8
    noise = tails.passing(np.where(random.random(20000) < 0.02, random.exponential(0.03, 20000), 0.001))
    true = 0.02 * np.exp(-np.array([0.02, 0.1, 0.3]) / 0.03)
    assert (noise.beyond(np.array([0.02, 0.1, 0.3])) >= 0.8 * true).all()
    assert noise.beyond(np.array([0.3]))[0] < 1e-4


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_chance_of_slow_runs_in_a_row_is_that_of_a_simulation(k: int) -> None:
    random = np.random.default_rng(k)
    lasts = random.exponential(1.0, 4_000) * np.where(random.random(4_000) < 0.5, 1, -1)
    passes = random.exponential(0.5, 40_000)
    t = np.array([1.0, 2.0, 4.0])
    found = tails.together(tails.lasting(lasts), tails.passing(passes), t, k)
    many = random.exponential(1.0, 400_000) * np.where(random.random(400_000) < 0.5, 1, -1)
    runs = many[:, None] + random.exponential(0.5, (400_000, k))
    true = (runs.min(axis=1)[:, None] >= t).mean(axis=0)
    assert (found > 0.9 * true).all() and (found < 4 * true + 1e-3).all()
