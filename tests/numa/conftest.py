"""The virtual machine, booted once a session for each version of control groups."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from building import Missing, build_image, find_kernel
from machine import Machine


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The RAM disk with strata and the test programs in /bin."""
    folder = tmp_path_factory.mktemp("numa")
    try:
        made = build_image(folder)
    except Missing as why:
        pytest.skip(str(why))
    yield made
    shutil.rmtree(folder, ignore_errors=True)


# The controllers of version 1 that the kernel lacks; many newer ones are built without cpuset and memory.
LACKING = "for c in cpuset memory cpu; do grep -q ^cgroup./sys/fs/cgroup/$c. /proc/mounts || echo $c; done"


def _boot(image: Path, cgroup: int) -> Iterator[Machine]:
    machine = Machine(find_kernel(), image, image.parent, cgroup)
    lacking = machine.run(LACKING).out.split() if cgroup == 1 else []
    if not lacking:
        yield machine
    machine.close()
    if lacking:
        pytest.skip(f"the kernel has no control groups of version 1 for {', '.join(lacking)}")


@pytest.fixture(scope="session")
def vm(image: Path) -> Iterator[Machine]:
    """The machine of 4 domains with control groups of version 2."""
    yield from _boot(image, 2)


@pytest.fixture(scope="session")
def vm_cgroup1(image: Path) -> Iterator[Machine]:
    """The same with version 1."""
    yield from _boot(image, 1)


@pytest.fixture(params=["vm", "vm_cgroup1"])
def any_vm(request: pytest.FixtureRequest) -> Machine:
    """One after the other."""
    machine: Machine = request.getfixturevalue(request.param)
    return machine


# What a run may leave for an instant, while its guardian ends, and no longer.
LEFT = """
for i in 1 2 3 4 5 6 7 8 9 10; do
    left=$(ls -d /dev/shm/strata-* /tmp/strata-* /sys/fs/cgroup/strata-* /sys/fs/cgroup/*/strata-* 2>/dev/null
        ps | grep -E '[s]trata|[p]ages')
    [ -z "$left" ] && exit 0
    sleep 0.3
done
echo "$left"
killall -9 strata pages
exit 1
"""


@pytest.fixture
def tidy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Afterwards nothing of a run is left in the machines that the test used: no process, group or folder."""
    yield
    for machine in request.node.funcargs.values():
        if isinstance(machine, Machine):
            done = machine.run(LEFT)
            assert done.status == 0, f"left behind:\n{done.out}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """What the kernels said stands beside a failure."""
    report: pytest.TestReport = yield
    if report.failed and isinstance(item, pytest.Function):
        for name, machine in item.funcargs.items():
            if isinstance(machine, Machine) and (said := machine.messages()):
                report.sections.append((f"kernel messages ({name})", said))
    return report
