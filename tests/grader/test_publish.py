"""The student bundle: nothing hidden is in it, and lesson 1 can be finished with it alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from grader import cli
from grader.bundle import bundle
from grader.course import Course, CourseError
from grader.lesson import released
from grader.publish import publish
from grader.secrecy import leaks
from grader.source import source_notebook

CANARY = "canary 8d2f61"


@pytest.fixture(scope="module")
def published(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "bundle"
    assert publish(course, folder).repository
    return folder


@pytest.fixture(scope="module")
def files(course: Course) -> Mapping[str, bytes]:
    return bundle(course)


def planted(course: Course, folder: Path) -> Course:
    """A copy of the course with a canary in every hidden text, and in what lies about in `notebooks/`."""
    without = shutil.ignore_patterns("__pycache__", "*.egg-info", ".venv")
    for name in ("solutions", "notebooks"):
        shutil.copytree(getattr(course, name), folder / name, ignore=without)
    other = Course(folder)
    for path in other.solutions.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.parent == other.solutions:
            text = text.replace("    ### BEGIN SOLUTION\n", f"    ### BEGIN SOLUTION\n    # {CANARY}\n")
        else:
            text += f"\n# {CANARY}\n"
        path.write_text(text, encoding="utf-8")
    (other.notebooks / "attnlab" / "notes.md").write_text(CANARY)
    (other.notebooks / "01_mask" / "solved.ipynb").write_text(CANARY)
    opened = other.notebooks / "01_mask" / "01_mask.ipynb"
    opened.write_text(opened.read_text(encoding="utf-8").replace("raise NotImplementedError", CANARY), encoding="utf-8")
    return other


def test_no_canary_leaves_the_house(course: Course, tmp_path: Path) -> None:
    other = planted(course, tmp_path)
    assert publish(other, tmp_path.parent / f"{tmp_path.name}-out").leaks == ()
    out = tmp_path.parent / f"{tmp_path.name}-out"
    assert [p for p in out.rglob("*") if p.is_file() and CANARY.encode() in p.read_bytes()] == []
    whole = subprocess.run(["git", "log", "-p", "--all"], cwd=out, capture_output=True, text=True, check=True).stdout
    assert whole.count("\ncommit ") == 0 and CANARY not in whole


def hidden_pieces(course: Course) -> dict[str, str]:
    """Things that somebody could copy by mistake."""
    answer = next(course.lesson("01_mask").of_kind("solution")).source
    texts = (
        path.read_text(encoding="utf-8") for path in sorted((course.solutions / "hidden" / "checks").rglob("*.py"))
    )
    checks = next(text for text in texts if "@check_of" in text)
    return {
        "a line of a solution": f"x = 1\n{answer.split('BEGIN SOLUTION')[1].splitlines()[-2]}\n",
        "a solution without its comments": re.sub(r"  #.*", "", answer),
        "a hidden check": "@check_of" + checks.split("@check_of")[1],
        "an import": "from solutions.hidden.inputs import word_ids\n",
    }


@pytest.mark.parametrize(
    "piece", ["a line of a solution", "a solution without its comments", "a hidden check", "an import"]
)
def test_what_is_hidden_is_found(piece: str, course: Course, files: Mapping[str, bytes]) -> None:
    (leak, *_) = leaks(course, {**files, "attnlab/notes.py": hidden_pieces(course)[piece].encode()})
    assert str(leak).startswith("attnlab/notes.py: holds ")


def test_hidden_folders_are_found(course: Course, files: Mapping[str, bytes]) -> None:
    (leak,) = leaks(course, {**files, "hidden/notes.txt": b"nothing"})
    assert leak.file == "hidden/notes.txt"


def test_a_solved_notebook_is_found(course: Course, files: Mapping[str, bytes]) -> None:
    assert leaks(course, files) == ()
    for name, lesson in course.lessons.items():
        solved = nbformat.writes(source_notebook(lesson)).encode()
        assert len(leaks(course, {**files, f"{name}/{name}.ipynb": solved})) > len(lesson.exercises)


def test_a_leak_writes_nothing(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = planted(course, tmp_path / "course")
    (other.notebooks / "attnlab" / "extra.py").write_text(f"# {CANARY}\n")
    monkeypatch.chdir(other.root)
    done = CliRunner().invoke(cli.app, ["publish", str(tmp_path / "out")])
    assert (done.exit_code, (tmp_path / "out").exists()) == (1, False)


def test_only_an_empty_folder_outside_the_course_is_taken(course: Course, tmp_path: Path) -> None:
    (tmp_path / "thing").write_text("")
    for folder, why in (
        (tmp_path, "is not empty"),
        (tmp_path / "thing", "is not a folder"),
        (course.root / "bundle", "inside"),
    ):
        with pytest.raises(CourseError, match=why):
            publish(course, folder)
    (tmp_path / "empty").mkdir()
    assert publish(course, tmp_path / "empty").files


def test_pins_are_the_courses(course: Course) -> None:
    def pins(path: Path) -> dict[str, str]:
        lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
        return dict(line.split("==") for line in lines if "==" in line)

    mine, all_of_them = pins(course.notebooks / "requirements.txt"), pins(course.root / "requirements.txt")
    assert mine.items() <= all_of_them.items()
    binder = (course.notebooks / "binder" / "environment.yml").read_text(encoding="utf-8")
    assert f"pytorch-cpu={mine['torch']} " in binder


def test_binder_opens_lesson_1_without_a_pop_up(published: Path) -> None:
    server = json.loads((published / "binder" / "jupyter_server_config.json").read_text())
    for application in ("JupyterNotebookApp", "LabApp", "ServerApp"):  # whichever of them Binder starts
        page = server[application]["default_url"].removeprefix("/lab/tree/")
        assert (published / page).is_file()
    assert json.loads((published / "binder" / "overrides.json").read_text())
    script = published / "binder" / "postBuild"
    assert script.stat().st_mode & 0o100
    for name in ("requirements.txt", "binder/overrides.json", "binder/jupyter_server_config.json"):
        assert name in script.read_text() and (published / name).is_file()


def test_make_lab_opens_lesson_1(published: Path) -> None:
    command = ["make", "--no-print-directory", "--dry-run", "lab"]  # a make within 'make test' would print it
    done = subprocess.run(command, cwd=published, capture_output=True, text=True, check=True)
    assert "pip install" in done.stdout
    opened = done.stdout.splitlines()[-1]
    assert opened.startswith(".venv/bin/jupyter lab ") and (published / opened.split()[-1]).is_file()


RUN = """
import json, sys, nbformat, nbclient, attnlab
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": sys.argv[2]}}).execute()
reports = [o.data for c in notebook.cells if c.source.startswith("check(") for o in c.outputs]
print(json.dumps({"from": attnlab.__file__, "points": [float(r["text/plain"]) for r in reports]}))
"""


@pytest.mark.slow
@pytest.mark.xdist_group("kernels")
def test_lesson_1_is_finished_with_the_bundle_alone(published: Path, course: Course, tmp_path: Path) -> None:
    """A fresh environment that has the libraries, but neither the grader nor this checkout's attnlab."""
    fresh = tmp_path / "fresh"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", fresh], check=True)
    python = fresh / "bin" / "python"
    (folder,) = fresh.glob("lib/*/site-packages")
    (folder / "libraries.pth").write_text(sysconfig.get_path("purelib"))  # its own .pth files are not read there
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    source = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", published, source], check=True)
    subprocess.run([*install, "--no-build-isolation", "--no-index", str(source)], check=True, timeout=120)
    for missing in ("grader", "solutions"):
        done = subprocess.run([python, "-c", f"import {missing}"], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode

    lesson = course.lesson("01_mask")
    notebook = nbformat.read(source / "01_mask" / "01_mask.ipynb", as_version=4)
    answers = {released(cell.source): cell.source for cell in lesson.of_kind("solution")}
    for cell in notebook.cells:
        cell.source = answers.pop(cell.source, cell.source)
    assert not answers
    nbformat.write(notebook, source / "01_mask" / "01_mask.ipynb")
    paths = [str(source / "01_mask" / "01_mask.ipynb"), str(source / "01_mask")]
    done = subprocess.run(
        [python, "-c", RUN, *paths], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=180
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert Path(said["from"]).is_relative_to(fresh)
    assert said["points"] == list(lesson.points.values())
