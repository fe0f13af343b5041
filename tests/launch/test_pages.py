"""Whether pages lie where the policy for memory said: read back from the running program."""

from __future__ import annotations

import pytest
from forbidden_calls import KNOWN, forbid
from launching import Launcher, needs_two_cores

FORBIDDEN = ("mbind", "move_pages")


@needs_two_cores
@pytest.mark.parametrize("memory", ["first-touch", "local", "bind:0", "interleave:0"])
def test_pages_of_each_process_are_read_and_agree_with_the_policy(
    launcher: Launcher, programs: dict[str, str], memory: str
) -> None:
    record = launcher.recorded("--layout", "2x1", "--memory", memory, program=[programs["busy"], "0.6", "1"])
    pages = record["pages"]
    if pages["verdict"].startswith("placement unverified"):
        pytest.skip(pages["verdict"])
    assert (pages["agrees"], pages["verdict"], pages["processes"]) == (True, "as promised", 2)
    assert record["agrees"] is True


def test_without_a_policy_nothing_is_promised_and_threads_alone_are_judged(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    record = launcher.recorded("--layout", "1x1", program=[programs["busy"], "0.4", "1"])
    assert (record["pages"]["agrees"], record["pages"]["verdict"]) == (None, "nothing promised")
    assert (record["threads_agree"], record["agrees"]) == (True, True)


@pytest.mark.skipif(not KNOWN, reason="numbers of system calls are not known for this processor")
def test_where_pages_cannot_be_asked_for_their_placement_is_unverified(
    launcher: Launcher, programs: dict[str, str]
) -> None:
    """As in a container: the policy may be set, but no page placed or asked where it lies."""
    options = ["--layout", "1x1", "--memory", "bind:0", "--explain", "--check"]
    done = launcher.run(
        "--record",
        str(launcher.record_file),
        *options,
        program=[programs["busy"], "0.4", "1"],
        preexec_fn=forbid(FORBIDDEN),
    )
    assert done.returncode == 0, done.stderr
    record = launcher.record()
    said = "placement unverified: mbind: Operation not permitted; move_pages: Operation not permitted"
    assert record["pages"]["verdict"] == said
    assert (record["pages"]["agrees"], record["threads_agree"], record["agrees"]) == (None, True, None)
    lines = done.stderr.splitlines()
    assert f"pages:   {said}" in lines
    assert f"read:    threads: as promised; pages: {said}" in lines
    assert f"strata: note: --check: {said}" in lines
