"""The verbs for a class, beside grading it: collect what was handed in, give feedback, report, publish.

Like all verbs each is a thin shell over a function. They are added to the command line in `cli`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from grader.course import Course

__all__ = ["app"]

FOUND = 1  # exit code: the work found something

app = typer.Typer()
out = Console(soft_wrap=False)
err = Console(stderr=True)


@app.command()
def collect(
    lesson: Annotated[str, typer.Argument(metavar="LESSON", help="What was handed in.", show_default=False)],
    sources: Annotated[
        list[Path], typer.Argument(metavar="DOWNLOAD...", help="Zip files or folders.", show_default=False)
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace what was collected before.")] = False,
) -> None:
    """Put a Moodle or Canvas download, or files named by student, where nbgrader looks. Exit 1 if any was refused."""
    from grader import collecting, roster
    from grader.settings import settings

    course = Course.find()
    config = settings(course).CourseDirectory
    taken, rows = collecting.choose(course, lesson, sources, roster.known(config.db_url))
    rows += collecting.submit(lesson, taken, folder=course.root / config.submitted_directory, force=force)
    roster.enter(config.db_url, [one.student for one in taken])
    out.print(collecting.summary(rows), highlight=False)
    if (shown := collecting.table(rows)).row_count:
        out.print(shown)
    place = course.grading / "downloaded" / lesson / "collected.csv"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(collecting.rows_csv(rows), encoding="utf-8")
    if any(row.state is collecting.State.REFUSED for row in rows):
        raise typer.Exit(FOUND)


@app.command()
def feedback(
    lessons: Annotated[list[str], typer.Argument(metavar="LESSON...", help="Graded lessons.", show_default=False)],
    student: Annotated[str, typer.Option(metavar="ID", help="A student's folder name, or a pattern of them.")] = "*",
) -> None:
    """Write a page of feedback for each graded submission, as `nbgrader generate_feedback` does."""
    from grader.feedback import feedback as run

    course = Course.find()
    for lesson in lessons:
        pages = run(course, lesson, student=student)
        out.print(f"{lesson}: {len(pages)} pages in {pages[0].parents[2]}", highlight=False, soft_wrap=True)


@app.command()
def report(
    lesson: Annotated[str, typer.Argument(metavar="LESSON", help="A graded lesson.", show_default=False)],
    to: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to; .grading/reports unless given.")] = None,
    no_names: Annotated[bool, typer.Option("--no-names", help="Numbers in place of students, to show it.")] = False,
) -> None:
    """Write the class report: a page with the class's points and faults, and the same as CSV. It names students."""
    from grader.class_facts import class_facts, without_names
    from grader.class_page import class_csv, class_page
    from grader.settings import settings

    course = Course.find()
    facts = class_facts(course, lesson, db_url=settings(course).CourseDirectory.db_url)
    stem = f"{lesson}-no-names" if no_names else lesson
    facts = without_names(facts) if no_names else facts
    folder = to or course.grading / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((f"{stem}.html", class_page(facts)), (f"{stem}.csv", class_csv(facts))):
        (folder / name).write_text(text, encoding="utf-8")
        out.print(f"wrote {folder / name}", highlight=False, soft_wrap=True)


@app.command()
def publish(folder: Annotated[Path, typer.Argument(metavar="DIR", help="An empty or new folder.")]) -> None:
    """Write the student bundle as a repository of its own. Exit 1, with nothing written, if it would tell a secret."""
    from grader.publish import publish as run

    done = run(Course.find(), folder)
    for leak in done.leaks:
        err.print(str(leak), markup=False, highlight=False, soft_wrap=True)
    if done.leaks:
        err.print("Nothing was written. Take these lines out of what learners get, or change the hidden ones.")
        raise typer.Exit(FOUND)
    history = "a repository with one commit" if done.repository else "no repository, since there is no git here"
    words = f"{done.folder}: {len(done.files)} files, nothing hidden in them; {history}"
    out.print(words, highlight=False, soft_wrap=True)
