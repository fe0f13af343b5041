"""What root writes for a machine (samples, findings, units, figures) is nowhere that another user can replace
it. The other user is `nobody`, who has made folders and links before root came.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest

from strata import cli, paths
from strata.centre.fleet import quick
from strata.centre.integrity.history import State
from strata.centre.sampling.ring import Ring, read
from strata.errors import StrataError

pytestmark = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("setpriv") is None, reason="only root can become another user"
)
AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--")
STAYS = ("sh", "-c", "echo held; exec sleep 60")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder like /tmp: everybody may make files there."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of root's that nobody may read."""
    path = tmp_path / "secret"
    path.write_text("secret\n")
    path.chmod(0o600)
    return path


def nobody(*words: str | Path) -> None:
    subprocess.run([*AS_NOBODY, *map(str, words)], check=True)


def is_untouched(secret: Path) -> bool:
    return secret.read_text() == "secret\n" and secret.stat().st_mode & 0o777 == 0o600


def test_samples_are_not_written_to_a_folder_that_a_stranger_made(place: Path, secret: Path) -> None:
    folder = place / "samples"
    nobody("mkdir", folder)
    nobody("ln", "-s", secret, folder / "n1.ring")
    with pytest.raises(StrataError, match="samples are not kept where another user can replace") as refused:
        Ring(folder, "n1", 8192, 1)
    assert "belongs to user 65534" in str(refused.value.given)
    assert is_untouched(secret)


@pytest.mark.parametrize("way", ["a folder above it", "a link", "others may write in it"])
def test_nor_to_one_on_whose_way_a_stranger_can_put_another(place: Path, tmp_path: Path, way: str) -> None:
    folder = place / "theirs" / "samples"
    if way == "a folder above it":
        nobody("mkdir", place / "theirs")
    elif way == "a link":
        nobody("ln", "-s", tmp_path, place / "theirs")
    else:
        folder.mkdir(parents=True)
        folder.chmod(0o777)
    with pytest.raises(StrataError, match="where another user can replace them"):
        Ring(folder, "n1", 8192, 1)


def test_a_file_that_is_a_link_is_not_written_through(tmp_path: Path, secret: Path) -> None:
    """From before the folder was root's alone."""
    folder = tmp_path / "samples"
    folder.mkdir()
    (folder / "n1.ring").symlink_to(secret)
    with pytest.raises(StrataError, match="cannot write samples"):
        Ring(folder, "n1", 8192, 1)
    (folder / "n1.ring").unlink()
    (folder / "n1.ring").hardlink_to(secret)
    with pytest.raises(StrataError, match="may be another user's"):
        Ring(folder, "n1", 8192, 1)
    assert is_untouched(secret)


def test_an_epilog_ends_no_process_that_a_stranger_has_noted(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with subprocess.Popen(["sleep", "60"]) as victim:
        born = Path(f"/proc/{victim.pid}/stat").read_text().rpartition(")")[2].split()[19]
        folder = place / "samples"
        nobody("mkdir", folder)
        nobody("sh", "-c", f"echo {victim.pid} {born} >{folder}/.n1.7.sampler")
        monkeypatch.setenv("SLURMD_NODENAME", "n1")
        assert cli.main(["centre", "sample", "epilog", "--folder", str(folder), "--job", "7"]) == 0
        assert "where another user can replace them" in capsys.readouterr().err
        assert victim.poll() is None
        victim.kill()


@pytest.mark.parametrize("job", ["../7", "7/..", "7\n8"])
def test_a_job_has_no_number_that_leads_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], job: str
) -> None:
    assert cli.main(["centre", "sample", "epilog", "--folder", str(tmp_path), "--job", job]) == 0
    assert "not the number of a job" in capsys.readouterr().err


def test_samples_and_findings_are_nobody_elses_to_write_under_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ring = Ring(tmp_path / "a" / "samples", "n1", 8192, 1)
        state = State(tmp_path / "b" / "state")
        state.open()
        state.append({"event": "cleared"})
        state.close()
    finally:
        os.umask(before)
    ring.close()
    assert read(ring.path).samples == []
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o022 == 0, path


def test_findings_are_neither_read_nor_written_where_a_stranger_is(place: Path) -> None:
    folder = place / "state"
    nobody("mkdir", folder)
    nobody("sh", "-c", f'echo \'{{"event": "finding"}}\' >{folder}/history.jsonl')
    for do in (State(folder).open, State(folder).load):
        with pytest.raises(StrataError, match="findings are not kept where another user"):
            do()


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "strata"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(paths, "command", lambda: str(program))
    return program


def units(folder: Path, state: Path) -> int:
    return cli.main(["centre", "integrity", "--state", str(state), "--units", str(folder)])


def test_units_are_not_written_into_a_strangers_folder(
    place: Path, tmp_path: Path, entry: Path, secret: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody("mkdir", place / "units")
    nobody("ln", "-s", secret, place / "units" / "strata-integrity-health.sh")
    assert units(place / "units", tmp_path / "state") == 1
    assert "belongs to user 65534" in capsys.readouterr().err
    assert is_untouched(secret)


def test_root_has_no_units_that_run_a_strangers_program(
    tmp_path: Path, entry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert units(tmp_path / "units", tmp_path / "state") == 0
    os.chown(entry, 65534, 65534)
    assert units(tmp_path / "units", tmp_path / "state") == 1
    error = capsys.readouterr().err
    assert "programs that root runs" in error and "./strata setup --install" in error


def test_root_has_no_units_that_run_a_strangers_python(
    tmp_path: Path, entry: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python3"
    python.write_text("")
    os.chown(python, 65534, 65534)
    (tmp_path / "link").symlink_to(python)  # as in an environment
    monkeypatch.setattr("sys.executable", str(tmp_path / "link"))
    assert units(tmp_path / "units", tmp_path / "state") == 1
    assert "programs that root runs" in capsys.readouterr().err


@pytest.mark.parametrize("by", ["a stranger", "a stranger's link", "root"])
def test_the_hook_drains_for_what_root_has_written_alone(tmp_path: Path, entry: Path, by: str) -> None:
    state, tools = tmp_path / "state", tmp_path / "tools"
    for folder in (state, tools):
        folder.mkdir()
    assert units(tmp_path / "units", state) == 0
    (tools / "scontrol").write_text(f'#!/bin/sh\n[ "$1" = show ] || echo "$@" >{tmp_path}/asked\n')
    (tools / "scontrol").chmod(0o755)
    drain = state / "drain"
    if by == "a stranger's link":
        (state / "other").write_text("core 1: wrong\n")
        drain.symlink_to("other")
    else:
        drain.write_text("core 1: wrong\n")
        os.chown(drain, *((65534, 65534) if by == "a stranger" else (0, 0)))
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / "units" / "strata-integrity-health.sh"], env=environment, timeout=20)
    assert done.returncode == 0
    assert (tmp_path / "asked").exists() == (by == "root")


def test_metrics_are_written_through_no_link_of_the_collectors_user(place: Path, secret: Path) -> None:
    """The folder is often that user's: root gives away no rights to what is elsewhere."""
    from strata.measure.files import write_named

    path = place / "strata.prom"
    scratch = place / f".{path.name}.{os.getpid()}.tmp"
    for link in (path, scratch):
        nobody("ln", "-s", secret, link)
    write_named(path, "metrics\n", mode=0o644)
    assert not path.is_symlink() and path.read_text() == "metrics\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert is_untouched(secret)


def test_figures_that_a_prolog_measures_go_to_no_strangers_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody("mkdir", place / "fleet")
    monkeypatch.setattr(paths, "native", lambda: SimpleNamespace(front="nothing"))
    with pytest.raises(StrataError, match="where another user can replace them"):
        quick.quick(place / "fleet", None, print)


@pytest.mark.parametrize("theirs", ["a folder", "a file", "a link", "a file of root's for their group"])
def test_no_node_is_drained_for_what_a_stranger_has_written(
    place: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    theirs: str,
) -> None:
    asked, tools, fleet = tmp_path / "asked", tmp_path / "tools", place / "fleet"
    monkeypatch.chdir(tmp_path)
    words = ["centre", "fleet", "generate", "--nodes", "40", "--plant", "17:bandwidth:12%:3"]
    assert cli.main([*words, "--out", str(fleet)]) == 0
    tools.mkdir()
    (tools / "scontrol").write_text(f"#!/bin/sh\ntouch {asked}\n")
    (tools / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    if theirs == "a folder":
        os.chown(fleet / "n17", 65534, 65534)
    else:
        file = min((fleet / "n17").iterdir())
        if theirs == "a link":
            file.rename(place / "elsewhere")
            file.symlink_to(place / "elsewhere")
        os.chown(
            place / "elsewhere" if theirs == "a link" else file, 0 if "group" in theirs else 65534, 65534
        )
        if "group" in theirs:
            file.chmod(0o664)
            nobody("sh", "-c", 'printf " " >>"$0"', file)
    report = ["centre", "fleet", "report", str(fleet), "--json", "--drain-now"]
    assert cli.main(report) == 1
    assert "files by which nodes are drained are not kept where" in capsys.readouterr().err
    assert not asked.exists()
    assert cli.main(report[:-1]) == 1  # a suspect, which a person may look at


def test_a_stranger_cannot_hold_what_root_waits_for(place: Path) -> None:
    """Whoever may open a file, to read it as well, can lock it for as long as he likes: flock(2)."""
    place.chmod(0o755)

    def too_long(*_: object) -> None:
        raise TimeoutError("held up by a stranger")

    def use() -> None:
        ring = Ring(place, "n1", 8192, 1)
        ring.write([])
        ring.close()
        state = State(place)
        state.open()
        state.close()

    use()
    files = [path for path in place.rglob("*") if path.is_file()]
    held = [
        subprocess.Popen(
            [*AS_NOBODY, "flock", "-F", path, "sh", "-c", "echo held; exec sleep 60"], stdout=PIPE
        )
        for path in files
    ]
    try:
        said = [each.stdout.readline() for each in held if each.stdout is not None]
        assert b"held\n" in said, "samples may be read"
        before = signal.signal(signal.SIGALRM, too_long)
        signal.alarm(20)
        use()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    finally:
        signal.alarm(0)
        for each in held:
            each.kill()
            each.communicate()
