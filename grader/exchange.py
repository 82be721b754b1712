"""nbgrader's exchange, where a class came to us in more than one way."""

from __future__ import annotations

from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

__all__ = ["ReleaseFeedback"]

_KNOWN_BY = ("submission_secret.txt", "timestamp.txt")


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """Releases what came through the exchange. The rest is named; nbgrader itself would stop at the first of it."""

    def copy_files(self) -> None:
        """Called by nbgrader when the folders are there."""
        folders = [page.parent for page in Path("/").glob(f"{self.src_path}/*.html".lstrip("/"))]
        others = [at.parent.name for at in folders if not all((at / name).is_file() for name in _KNOWN_BY)]
        if others:
            self.log.warning("Not from the exchange, so give their pages back yourself: %s", ", ".join(sorted(others)))
        self.coursedir.student_id_exclude = ",".join(filter(None, [self.coursedir.student_id_exclude, *others]))
        super().copy_files()
