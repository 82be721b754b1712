"""`nbgrader zip_collect` with our reading of downloads: only notebooks come out, and names are understood."""

from __future__ import annotations

from pathlib import Path

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from grader.collecting import State, choose, rows_csv, submit
from grader.course import Course

__all__ = ["Collector", "Extractor"]

REPORT = "collected.csv"


class Extractor(ExtractorPlugin):  # type: ignore[misc]
    """Takes one notebook for each student out of the archive folder. What it refused stands in `collected.csv`."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Called by nbgrader with the folder that the teacher filled and an empty one, side by side."""
        archive, extracted = Path(archive_path), Path(extracted_path)
        lesson = archive.parent.name
        course = Course.find(archive)
        taken, rows = choose(course, lesson, [archive])
        rows += submit(lesson, taken, folder=extracted)
        (archive.parent / REPORT).write_text(rows_csv(rows), encoding="utf-8")
        for row in rows:
            if row.state is State.REFUSED:
                self.log.warning("Refused %r: %s", row.file or row.student, row.reason)


class Collector(FileNameCollectorPlugin):  # type: ignore[misc]
    """Reads what the Extractor wrote: STUDENT/LESSON/LESSON.ipynb."""

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Called by nbgrader for each file of the extracted folder."""
        path = Path(submitted_file)
        if path.suffix != ".ipynb" or path.stem != path.parent.name:
            return None
        return {"student_id": path.parent.parent.name, "file_id": path.stem}
