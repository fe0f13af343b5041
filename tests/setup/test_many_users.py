"""One installation that users may not write, and two of them at the same time: what was built, installed as
`./strata setup --install` does it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import sample

ROOT = Path(__file__).resolve().parents[2]
E2E = ROOT / "tests" / "e2e"
# Whatever else the machine does, every launch counts, and nobody waits for quiet.
TINY = (E2E / "tiny.toml").read_text().replace("patience_s = 30", "patience_s = 0") + (
    E2E / "tolerant.toml"
).read_text()
INSTALL = """
for part in key say own_folders pieces parts venv build install module_files; do . "$0/setup/$part.sh"; done
strata_key "$0" && STRATA_BUILD=$1 venv=$(readlink -f "$1/venv") strata_log=$2.log unfinished=
mapfile -t parts <"$1/current/share/strata/parts"
choose_prefix "$2" && install_for_all
"""
SBATCH = "#!/bin/sh\nexit 1\n"
SINFO = "#!/bin/sh\necho 'batch*|4|1|2|1|1:00:00|1:00:00'\n"
# Where the Python that environments rest on lies in a home that is closed to others, as a developer's may:
# then they see it, and nothing else of that home, in a view of the files of their own.
OPEN = """
base=$1 closed=$2 view=$3 uid=$4; shift 4
if [ -n "$closed" ]; then
    mount --rbind "$base" "$view" && mount -t tmpfs -o mode=755 tmpfs "$closed" || exit
    mkdir -p "$base" && mount --rbind "$view" "$base" || exit
fi
exec setpriv "--reuid=$uid" "--regid=$uid" --clear-groups -- "$@"
"""
UNHELD = ("--bind", "none")  # the tests beside this one take the cores as well
QUICKLY = "CMAKE_BUILD_TYPE=Debug"  # solvers are built without optimisation


@dataclass
class User:
    """A person without rights: another one where tests run as root."""

    home: Path
    prefix: Path
    uid: int

    def run(self, *words: str | Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
        """A command as after `module load strata`."""
        return subprocess.run(
            [*self._becomes(), "env", *words],
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": f"{self.prefix}/bin:{path or os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def _becomes(self) -> tuple[str, ...]:
        if os.geteuid():
            return ()
        base = (self.prefix / "python" / "bin" / "python").resolve().parents[1]
        closed = [folder for folder in reversed(base.parents) if not folder.stat().st_mode & 0o001]
        view = self.prefix.parents[2] / "view"
        view.mkdir(exist_ok=True)
        words = (base, closed[0] if closed else "", view, self.uid)
        return ("unshare", "--mount", "sh", "-c", OPEN, "sh", *map(str, words))

    def good(self, *words: str | Path, path: str | None = None) -> str:
        done = self.run(*words, path=path)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        assert str(self.prefix.parent / ".trees") not in done.stdout, f"{words} name the tree, not its prefix"
        return done.stdout


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that others may read: pytest closes its own."""
    with tempfile.TemporaryDirectory(prefix="strata-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def prefix(folder: Path) -> Iterator[Path]:
    build = os.environ.get("STRATA_BUILD")
    if not build:
        pytest.skip("started outside ./strata test: there is no build to install")
    made = folder / "opt" / "strata" / "1.0"
    made.parent.mkdir(parents=True)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("STRATA_")}
    done = subprocess.run(
        ["bash", "-c", INSTALL, ROOT, build, made], env=clean, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    if os.geteuid():
        subprocess.run(["chmod", "-R", "a-w", made.parent], check=True)
    yield made
    if os.geteuid():
        subprocess.run(["chmod", "-R", "u+w", made.parent], check=True)


@pytest.fixture(scope="module")
def users(folder: Path, prefix: Path) -> list[User]:
    found = []
    for uid in (65533, 65534):
        home = folder / f"home {uid}"
        home.mkdir()
        if not os.geteuid():
            os.chown(home, uid, uid)
        found.append(User(home, prefix, uid))
    return found


@pytest.fixture(scope="module")
def node(folder: Path) -> str:
    """A PATH without compilers."""
    return sample.without_compiler(folder / "node")


@pytest.fixture(autouse=True)
def unwritten(prefix: Path) -> Iterator[None]:
    """No test changes what is installed."""
    before = state(prefix)
    yield
    assert state(prefix) == before


def state(prefix: Path) -> dict[Path, int]:
    return {path: path.lstat().st_mtime_ns for path in (prefix.parent, *prefix.parent.rglob("*"))}


def both(users: list[User], what: object) -> list[str]:
    """What two users get who do this at the same time."""
    with ThreadPoolExecutor(2) as at_once:
        return list(at_once.map(what, users))  # type: ignore[arg-type]


def test_two_users_measure_and_each_has_a_report_of_their_own(users: list[User], node: str) -> None:
    plan = users[0].home.parent / "tiny.toml"
    plan.write_text(TINY)

    def measure(user: User) -> str:
        said = user.good("strata", "characterize", "--case", plan, "--here", path=node)
        (results,) = (user.home / "strata-results").iterdir()
        page = results / "report" / "report.html"
        assert str(page) in said
        page.unlink()
        user.good("strata", "report", results, path=node)
        return page.read_text()

    for page in both(users, measure):
        assert "stream" in page


@pytest.mark.soak
def test_a_user_characterizes_the_machine_within_a_budget(users: list[User]) -> None:
    said = users[0].good("strata", "characterize", "--budget", "60s", "--here", "--out", "whole")
    assert str(users[0].home / "whole" / "report" / "report.html") in said


def test_two_users_run_a_case_and_launch_without_a_compiler(users: list[User], node: str) -> None:
    sample.need_solvers(users[0].prefix)

    def run(user: User) -> str:
        assert (
            user.good("strata", "launch", "--layout", "2x1", *UNHELD, "--", "echo", "hello", path=node)
            == "hello\n" * 2
        )
        case = user.prefix / "share" / "strata" / "cases" / "transport" / "heat.toml"
        return user.good("strata", "run", case, "--layout", "2x1", *UNHELD, "--out", "out", path=node)

    for said in both(users, run):
        assert "verified" in said


def test_two_users_write_solvers_and_build_them_in_their_own_folders(users: list[User]) -> None:
    sample.need_solvers(users[0].prefix)

    def new(user: User) -> str:
        assert user.good("strata", "--cmake-prefix").strip() == str(user.prefix)
        said = user.good("strata", "new", "wave")
        assert "strata run" in said
        assert user.good(QUICKLY, "strata", "run", "wave/case.toml", *UNHELD).count("verified: ") == 1
        assert (user.home / "wave" / "build").is_dir()
        return user.good(QUICKLY, "python3", "wave/test_wave.py")

    for said in both(users, new):
        assert said.count("passed: ") == 2


def test_a_solver_in_python_needs_no_compiler(users: list[User], node: str) -> None:
    user = users[0]
    if not list(user.prefix.glob("libexec/strata/strata_graph*.so")):
        pytest.skip("task graphs from Python are not built")
    user.good("strata", "new", "wavepy", "--python", path=node)
    assert "verified: " in user.good("strata", "run", "wavepy/case.toml", *UNHELD, path=node)


def test_a_solver_in_a_folder_that_is_only_read_is_built_in_the_users_cache(
    users: list[User], folder: Path
) -> None:
    user = users[0]
    sample.need_solvers(user.prefix)
    shared = folder / "shared"
    user.good("strata", "new", "given")
    shutil.copytree(user.home / "given", shared)
    shared.chmod(0o555)
    user.good(QUICKLY, "strata", "run", shared / "case.toml", *UNHELD, "--out", "given-out")
    assert list((user.home / ".cache" / "strata" / "solvers").glob("given-*"))
    shared.chmod(0o755)


def test_a_job_names_the_prefix_and_has_what_the_site_says(
    users: list[User], prefix: Path, folder: Path
) -> None:
    slurm = folder / "slurm"
    slurm.mkdir()
    for name, text in (("sinfo", SINFO), ("sbatch", SBATCH)):
        (slurm / name).write_text(text)
        (slurm / name).chmod(0o755)
    path = f"{slurm}:{os.environ['PATH']}"
    words = ("strata", "submit", "--dry-run", "--time", "1h", "--", "run", "case.toml", "--layout", "2x1")
    script = users[0].good(*words, path=path)
    assert f"exec {prefix}/bin/strata run case.toml" in script and "--account" not in script
    site = users[0].home / ".config" / "strata" / "site.toml"
    site.parent.mkdir(parents=True)
    example = (prefix / "etc" / "strata" / "site.toml").read_text()
    site.write_text(example.replace("# account", "account"))
    assert "#SBATCH --account=physics\n" in users[0].good(*words, path=path)


def test_doctor_knows_that_nothing_is_to_be_built_here(users: list[User], node: str) -> None:
    done = users[0].run("strata", "doctor", path=node)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing native can be built" in done.stdout, "no compiler: a solver of one's own would need it"
    assert "libscipy_openblas.so" in done.stdout
