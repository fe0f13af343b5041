"""The virtual machine is what its description says."""

from __future__ import annotations

import json

from machine import CPUS, CPUS_PER_DOMAIN, DOMAINS, Done, Machine, distance


def test_strata_sees_the_domains_memories_and_distances(vm: Machine) -> None:
    done = vm.run("strata machine --json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert len(found["cores"]) == CPUS
    assert [len(domain["cores"]) for domain in found["domains"]] == [CPUS_PER_DOMAIN] * DOMAINS
    assert [memory["domain"] for memory in found["memories"]] == list(range(DOMAINS))
    assert found["distances"]["matrix"] == [[distance(a, b) for b in range(DOMAINS)] for a in range(DOMAINS)]


def test_a_command_that_fails_says_so(vm: Machine) -> None:
    done = vm.run("echo out; echo err >&2; exit 7")
    assert (done.status, done.out, done.err) == (7, "out\n", "err\n")


def test_a_script_arrives_whole_while_what_an_earlier_one_left_ends(vm: Machine) -> None:
    # Each of these ends as a child of the first process, which is told so by a signal.
    vm.run("for i in $(seq 10 99); do (sleep 0.$i; sleep 0.5) & done")
    for _ in range(8):
        assert vm.run(f": {'x' * 3000}\necho whole") == Done(0, "whole\n", "")
