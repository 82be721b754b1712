"""The command line: each verb a thin shell over a function with the same keywords.

Exit codes: 0 fine; 1 the work found something; 2 wrong call; 3 our fault.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from grader import class_verbs
from grader.course import Course, CourseError
from grader.lesson import LessonError
from grader.sandbox import SandboxError

if TYPE_CHECKING:
    from grader.grade import Grader
    from grader.sandbox import Policy

__all__ = ["main"]

FOUND, WRONG_CALL, OUR_FAULT = 1, 2, 3

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
out = Console(soft_wrap=False)
err = Console(stderr=True)
app.add_typer(class_verbs.app)  # no name: its verbs stand beside these


class Device(StrEnum):
    """Where answers are run."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


Unsafe = Annotated[bool, typer.Option("--unsafe", help="Run notebooks without a sandbox. Only for code you trust.")]


def main() -> None:
    """Run the command line; what we did not foresee ends in exit code 3 and a sentence."""
    try:
        app()
    except LessonError as error:
        err.print(str(error), markup=False, highlight=False, soft_wrap=True, style="red")
        sys.exit(FOUND)
    except (CourseError, SandboxError) as error:
        err.print(str(error), markup=False, highlight=False, soft_wrap=True, style="red")
        sys.exit(WRONG_CALL)
    except Exception as error:
        if type(error).__module__ == "sqlalchemy.exc":  # not imported: most verbs need no gradebook
            err.print(_gradebook_words(error), markup=False, highlight=False, soft_wrap=True, style="red")
            sys.exit(WRONG_CALL)
        err.print_exception(show_locals=False)
        err.print("This is a fault of the grader, not of your files. Nothing that was stored is lost.")
        sys.exit(OUR_FAULT)


def _gradebook_words(error: Exception) -> str:
    return (
        f"The gradebook cannot be used: {getattr(error, 'orig', None) or error}. It is .grading/gradebook.db unless"
        " nbgrader_config.py names another. Keep a copy of it before you change anything. After an upgrade of nbgrader,"
        " 'nbgrader db upgrade' brings it up to date; a damaged one can be replaced by an older copy, and what that"
        " lacks is stored again, but for points given by hand since."
    )


@app.callback()
def _verbs() -> None:
    """Build the lessons, grade submissions, say what this host can do."""


@app.command()
def build(check: Annotated[bool, typer.Option("--check", help="Compare only; exit 1 on drift.")] = False) -> None:
    """Make the notebooks from the lessons' text."""
    from grader import build as builder

    course = Course.find()
    if not check:
        changed = builder.build(course)
        for path in changed:
            out.print(f"wrote {path.relative_to(course.root)}", highlight=False)
        out.print(f"{len(course.lessons)} lessons, {len(changed) or 'no'} files changed", highlight=False)
        return
    drift = builder.drifted(course)
    for found in drift:
        err.print(f"{found.path.relative_to(course.root)}: {found.why}", highlight=False)
    if drift:
        err.print("Run 'python -m grader build' and commit what it writes.")
        raise typer.Exit(FOUND)
    out.print(f"{len(course.lessons)} lessons, all notebooks as built", highlight=False)


@app.command()
def score(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Notebooks to score.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    device: Annotated[Device, typer.Option(help="Where answers are run.")] = Device.AUTO,
    unsafe: Unsafe = False,
) -> None:
    """Grade notebooks by name and print what they earned. Exit 1 where one could not be graded."""
    from grader import report
    from grader.score import score as score_files

    with _grader(device, unsafe) as grader:
        rows = list(score_files(files, grader))
    if json:
        typer.echo(report.score_json(rows))
    else:
        out.print(report.score_table(rows))
    if any(ledger.reason for _, ledger in rows):
        raise typer.Exit(FOUND)


@app.command()
def autograde(
    lessons: Annotated[list[str], typer.Argument(metavar="LESSON...", help="Lessons to grade.", show_default=False)],
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; one a core unless given.")] = None,
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler to grade on instead.")] = None,
    student: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A student's folder name, or a pattern; may be repeated.")
    ] = None,
    device: Annotated[Device, typer.Option(help="Where answers are run.")] = Device.AUTO,
    force: Annotated[bool, typer.Option("--force", help="Grade anew what has not changed.")] = False,
    unsafe: Unsafe = False,
) -> None:
    """Grade a class on every core and store the marks in nbgrader's gradebook. Exit 1 where a person must look."""
    from grader import progress
    from grader.autograde import autograde as run
    from grader.gpu import chosen

    if jobs is not None and dask is not None:
        raise typer.BadParameter("either --jobs or --dask; a cluster has the workers that it has")
    with progress.shown(out) as bar:
        rows = run(
            Course.find(),
            lessons,
            jobs=jobs,
            dask=dask,
            students=student or ["*"],
            device=chosen(device),
            policy=_policy(unsafe),
            force=force,
            warn=lambda sentence: err.print(sentence, style="yellow", highlight=False, soft_wrap=True),
            begun=bar.begun,
            stored=bar.stored,
        )
    out.print(progress.summary(rows))
    if any(row.ledger.reason or row.ledger.broken for row in rows):
        raise typer.Exit(FOUND)


@app.command()
def doctor() -> None:
    """Say what this host can do: sandbox, GPU, browser. Exit 1 where other people's notebooks cannot be run safely."""
    from grader import doctor as host

    findings = host.report(Course.find().root)
    out.print(host.table(findings))
    if not host.safe(findings):
        raise typer.Exit(FOUND)


@app.command()
def demo() -> None:
    """Grade the sample class through nbgrader and print who got what and why."""
    from grader.demo import demo as run

    raise typer.Exit(run(Course.find(), out))


@app.command()
def strength(check: Annotated[bool, typer.Option("--check", help="Compare only; exit 1 on drift.")] = False) -> None:
    """Try the hidden checks on every named fault, style and do-nothing answer, and keep the record."""
    from grader.strength import strength as run

    raise typer.Exit(run(check=check))


@app.command()
def weights() -> None:
    """Train the translator that lesson 5 uses, with the reference, and write its weights."""
    from grader.weights import PLACE, make

    course = Course.find()
    made = make(course)
    (course.root / PLACE).write_bytes(made)
    out.print(f"wrote {PLACE}, {len(made) // 1000} kB", highlight=False)


@contextmanager
def _grader(device: Device, unsafe: bool) -> Iterator[Grader]:
    from grader.gpu import chosen, with_device
    from grader.grade import Grader
    from grader.release import masters
    from grader.sandbox import Sandbox

    course, device_here = Course.find(), chosen(device)
    with Sandbox(with_device(_policy(unsafe), device_here), course_root=course.root) as sandbox:
        yield Grader(course, sandbox, masters(course), device_here)


def _policy(unsafe: bool) -> Policy:
    from grader.sandbox import Mode, Policy

    if not unsafe:
        return Policy()
    err.print("[bold red]--unsafe: notebooks run without a sandbox, with your own rights.[/bold red]")
    return Policy(mode=Mode.NONE, unsafe=True)
