"""The wheel and the source archive, built and installed as users get them."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import boardenvs

ROOT = Path(__file__).resolve().parents[1]
BUILD = "import sys; from hatchling.build import *; print({}(sys.argv[1]))"


def build(what, source, folder):
    """The archive that hatchling builds of the source: `build_wheel` or `build_sdist`."""
    pytest.importorskip("hatchling", reason="archives are built with it: pip install '.[test]'")
    command = [sys.executable, "-c", BUILD.format(what), str(folder)]
    shown = subprocess.run(command, cwd=source, capture_output=True, text=True, check=True)
    return folder / shown.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("build_wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The source archive, unpacked."""
    place = tmp_path_factory.mktemp("source")
    with tarfile.open(build("build_sdist", ROOT, tmp_path_factory.mktemp("archive"))) as archive:
        archive.extractall(place, filter="data")
    (folder,) = place.iterdir()
    return folder


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The Python of a new environment with the wheel, which borrows other libraries from this."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ["-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, *install, str(wheel)], check=True, capture_output=True)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    borrowed = dict.fromkeys(str(Path(sysconfig.get_path(name))) for name in ("purelib", "platlib"))
    borrowed |= dict.fromkeys(path for path in sys.path if "site-packages" in path)
    (packages / "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    return python


def run(command, folder):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_holds_the_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    shown = subprocess.run(
        ["git", "ls-files", "boardenvs"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if not shown.stdout:
        pytest.skip("what belongs to the project is known in a checkout only")
    assert names == set(shown.stdout.split())


def test_the_installed_package_works(python, tmp_path):
    where = run([python, "-c", "import boardenvs; print(boardenvs.__file__)"], tmp_path)
    assert Path(where.stdout.strip()).is_relative_to(python.parents[1]), where.stderr
    shown = run([python.parent / "boardenvs", "--version"], tmp_path)
    assert shown.stdout.startswith(f"boardenvs {boardenvs.__version__}\n"), shown.stderr
    match = ["match", "wolf_and_sheep", "trained", "random", "--pairs", "2"]
    played = run([python.parent / "boardenvs", *match], tmp_path)
    assert played.returncode == 0, played.stderr
    page = run([python.parent / "boardenvs", "games", "othello"], tmp_path)
    assert "Observation space" in page.stdout, page.stderr


def test_the_source_archive_builds_the_same_wheel(wheel, unpacked, tmp_path):
    again = build("build_wheel", unpacked, tmp_path)
    contents = []
    for path in (wheel, again):
        with zipfile.ZipFile(path) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    assert contents[0] == contents[1]
    names = ("README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "tests/test_interfaces.py")
    for name in names:
        assert (unpacked / name).exists()


def test_the_source_archive_runs_the_commands_of_its_pages(unpacked):
    makefile, pages = (unpacked / "Makefile").read_text(), (unpacked / "README.md").read_text()
    for target in re.findall(r"^make (\w+)", pages, re.MULTILINE):
        shown = run(["make", "-n", target], unpacked)
        assert shown.returncode == 0, shown.stderr
    named = re.findall(r"(?<![\w/])(?:\.ci|configs|tests|training)/[\w/]+\.\w+", makefile + pages)
    assert {"configs/demo.yaml", ".ci/constraints.txt"} < set(named)
    assert [name for name in named if not (unpacked / name).exists()] == []


def test_the_version_is_one(wheel):
    version = boardenvs.__version__
    assert wheel.name.startswith(f"boardenvs-{version}-")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert version in re.findall(r"^## (\d+\.\d+\.\d+)", changes, re.MULTILINE)


def test_links_of_the_guide_lead_to_the_repository_on_a_package_index(tmp_path):
    """To pages of its files, and to pictures themselves; what leads elsewhere stays."""
    guide = Path(shutil.copy(ROOT / "README.md", tmp_path))
    command = [sys.executable, ROOT / ".ci/absolute_links.py", guide, "someone/boardenvs", "v1"]
    assert run(command, ROOT).returncode == 0
    link = re.compile(r"""(?:\]\(|(?:src|href|srcset)=")([^)"\s]+)""")
    written, changed = (link.findall(path.read_text()) for path in (ROOT / "README.md", guide))
    for old, new in zip(written, changed, strict=True):
        kind = "raw" if Path(old).suffix in (".gif", ".png", ".svg") else "blob"
        inside = (ROOT / old.partition("#")[0]).exists() and not old.startswith("#")
        address = f"https://github.com/someone/boardenvs/{kind}/v1/{old}"
        assert new == (address if inside else old)
        assert inside or re.match("https?:|#|mailto:", old)
