"""Downloads of learning platforms: who sent what, which of it counts, and what strangers' archives may not do."""

from __future__ import annotations

import io
import os
import stat
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import ZipCollectApp
from typer.testing import CliRunner

from grader import cli, downloads
from grader.collecting import Row, State, Student, Taken, choose, submit
from grader.course import Course, CourseError
from grader.names import sender_of, student_id
from grader.roster import enter, known

LESSON = "01_mask"
SAMPLES = Path(__file__).parent.parent / "submissions" / "submitted"
MASK = (SAMPLES / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes()
OTHER = (SAMPLES / "ada" / "05_greedy_decode" / "05_greedy_decode.ipynb").read_bytes()
MARKED = MASK + b"\n"  # as right, and told apart by its bytes


def zipped(path: Path, entries: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        for name, target in (links or {}).items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, target)
    return path


def chosen(course: Course, *sources: Path, known: Mapping[str, str] | None = None) -> dict[str, bytes]:
    taken, _ = choose(course, LESSON, sources, known)
    assert len({one.student.id for one in taken}) == len(taken)
    return {one.student.id: one.data for one in taken}


def refused(course: Course, *sources: Path) -> dict[str, str]:
    return {row.file: row.reason for row in choose(course, LESSON, sources)[1] if row.state is State.REFUSED}


@pytest.mark.parametrize(
    ("path", "name", "number", "attempt"),
    [
        ("Ana María López_4711_assignsubmission_file_/mask.ipynb", "Ana María López", "4711", 0),
        ("Ana María López_4711_assignsubmission_file_mask.ipynb", "Ana María López", "4711", 0),
        ("Jean_Luc O'Neil-Δ_12_assignsubmission_file/a/b.ipynb", "Jean_Luc O'Neil-Δ", "12", 0),
        ("Group A/Ana_7_assignsubmission_file_/m.ipynb", "Ana", "7", 0),
        ("lopezana_4711_99_01_mask.ipynb", "lopezana", "4711", 99),
        ("lopezana_LATE_4711_100_01_mask-1.ipynb", "lopezana", "4711", 100),
        ("ana.ipynb", "ana", "", 0),
        ("ana lópez (2).ipynb", "ana lópez", "", 2),
        ("ana/01_mask/01_mask.ipynb", "ana", "", 0),
        ("Ana Mari\u0301a/x.ipynb", "Ana Mar\u00eda", "", 0),
    ],
)
def test_who_sent_it(path: str, name: str, number: str, attempt: int) -> None:
    sender = sender_of(path)
    assert sender and (sender.name, sender.number, sender.attempt) == (name, number, attempt)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Ana María López", "Ana_María_López"), ("O'Neil / Jr.", "O_Neil_Jr"), ("..", ""), ("../etc", "etc"),
        ("ana@school.org", "ana@school.org"), ("李 雷", "李_雷"), ("=cmd|x", "cmd_x"), ("a*?[b]", "a_b"), ("-rf", "rf"),
        ("x" * 300, "x" * 60), ("\u202egnp.exe", "gnp.exe"), ("हिन्दी", "हिन्दी"),
    ],
)  # fmt: skip
def test_ids_are_folders_names(name: str, id: str) -> None:
    assert student_id(name) == id


def test_names_that_are_shown_hold_no_markup(course: Course, tmp_path: Path) -> None:
    name = '<img src=x onerror="alert(1)"> O\'Neil & Löb\u202e'
    download = zipped(tmp_path / "x.zip", {f"{name}_11_assignsubmission_file_/x.ipynb": MASK})
    ((one,), _) = choose(course, LESSON, [download])
    assert (one.student.name, one.student.id) == (
        "img srcx onerroralert(1) O'Neil Löb",
        "img_src_x_onerror_alert_1_O_Neil_Löb",
    )


def test_a_moodle_download(course: Course, tmp_path: Path) -> None:
    download = zipped(
        tmp_path / "Course-Mask-1234.zip",
        {
            "Ana María López_11_assignsubmission_file_/01_mask.ipynb": MASK,
            "Ana María López_11_assignsubmission_file_/notes.pdf": b"pdf",
            "Ana María López_11_assignsubmission_file_/.ipynb_checkpoints/01_mask-checkpoint.ipynb": OTHER,
            "__MACOSX/Ana María López_11_assignsubmission_file_/._01_mask.ipynb": b"",
            "Zoë_12_assignsubmission_file_/Mask (1).ipynb": MARKED,
            "Zoë_12_assignsubmission_onlinetext_/onlinetext.html": b"<p>done",
            "Bob_13_assignsubmission_file_/essay.docx": b"doc",
            "Two_14_assignsubmission_file_/a_wrong_lesson.ipynb": OTHER,
            "Two_14_assignsubmission_file_/z.ipynb": MASK,
            "Same Name_15_assignsubmission_file_/m.ipynb": MASK,
            "Same Name_16_assignsubmission_file_/m.ipynb": MARKED,
        },
    )
    assert chosen(course, download) == {
        "Ana_María_López": MASK, "Zoë": MARKED, "Two": MASK, "Same_Name_15": MASK, "Same_Name_16": MARKED
    }  # fmt: skip
    taken, rows = choose(course, LESSON, [download])
    assert Row("", "Bob", State.REFUSED, "No notebook was handed in, but essay.docx.") in rows
    older = [(row.student, row.file.split("/")[1]) for row in rows if row.state is State.OLDER]
    assert older == [("Two", "a_wrong_lesson.ipynb")]
    assert all("look at both" in one.note for one in taken if one.student.name == "Same Name")


def test_a_canvas_download(course: Course, tmp_path: Path) -> None:
    download = zipped(
        tmp_path / "submissions.zip",
        {
            "lopezana_11_901_01_mask.ipynb": OTHER,
            "lopezana_11_950_01_mask-1.ipynb": MASK,
            "neilbob_LATE_12_902_01_mask.ipynb": MASK,
            "smithjo_13_903_01_mask.ipynb": MASK,
            "smithjo_14_904_01_mask.ipynb": MARKED,
        },
    )
    ids = chosen(course, download, known={"13": "jo.smith"})
    assert ids == {"lopezana": MASK, "neilbob": MASK, "jo.smith": MASK, "smithjo_14": MARKED}
    late = next(one for one in choose(course, LESSON, [download])[0] if one.student.id == "neilbob")
    assert (late.note, late.student.number) == ("Handed in late, says Canvas.", "12")


def test_a_folder_of_files(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    for name, data in {
        "ana.ipynb": MASK, "ana (1).ipynb": MARKED, "bob/anything.ipynb": MASK, "carl/01_mask/01_mask.ipynb": MASK,
        "dora/readme.txt": b"", "carl/05_greedy_decode/x.ipynb": OTHER, "eve/05_greedy_decode/x.ipynb": OTHER,
        "İpek Ünal.ipynb": MASK,
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    zipped(folder / "emil.zip", {"01_mask.ipynb": MASK})
    wanted = {"ana": MARKED, "bob": MASK, "carl": MASK, "emil": MASK, "İpek_Ünal": MASK}
    assert chosen(course, folder) == wanted
    rows = {row.file: row.state for row in choose(course, LESSON, [folder])[1]}
    assert rows["eve/05_greedy_decode/x.ipynb"] is State.IGNORED
    inside = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert chosen(course, zipped(tmp_path / "all.zip", inside)) == wanted
    assert chosen(course, zipped(tmp_path / "in.zip", {f"hw 1/{n}": d for n, d in inside.items()})) == wanted
    for archive in (tmp_path / "all.zip", tmp_path / "in.zip"):
        other = tmp_path / f"holds {archive.name}"
        other.mkdir()
        archive.rename(other / archive.name)
        assert chosen(course, other) == wanted


def test_what_leads_out_is_refused(course: Course, tmp_path: Path) -> None:
    outside = tmp_path / "secret.ipynb"
    outside.write_bytes(MASK)
    names = ["../../x.ipynb", "a/../../x.ipynb", "/etc/x.ipynb", "C:\\x.ipynb", "..\\x.ipynb"]
    download = zipped(
        tmp_path / "x.zip", {**dict.fromkeys(names, MASK), "fine.ipynb": MASK}, links={"bob.ipynb": str(outside)}
    )
    assert chosen(course, download) == {"fine": MASK}
    why = refused(course, download)
    assert len(why) == len(names) + 1
    assert why["bob.ipynb"] == "It is a link, not a file."

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "fine.ipynb").write_bytes(MASK)
    (folder / "link.ipynb").symlink_to(outside)
    (folder / "all").symlink_to(tmp_path)
    (folder / "link.zip").symlink_to(tmp_path / "x.zip")
    os.mkfifo(folder / "pipe.ipynb")
    os.mkfifo(folder / "pipe.zip")
    assert chosen(course, folder) == {"fine": MASK}
    assert set(refused(course, folder)) == {"all", "link.ipynb", "link.zip", "pipe.ipynb", "pipe.zip"}
    (tmp_path / "linked").symlink_to(folder)
    assert refused(course, tmp_path / "linked") == {"linked": "It is a link, not a file."}


def test_a_bomb_is_read_no_further_than_it_may(course: Course, tmp_path: Path) -> None:
    swollen = io.BytesIO()
    with zipfile.ZipFile(swollen, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("01_mask.ipynb", "w") as file:
        for _ in range(60):
            file.write(bytes(1 << 20))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("deeper.zip", swollen.getvalue())
    liar = swollen.getvalue().replace((60 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    download = zipped(
        tmp_path / "x.zip",
        {
            "fine.ipynb": MASK,
            "big_1_assignsubmission_file_/x.ipynb": bytes(60 << 20),
            "swollen_2_assignsubmission_file_/x.zip": swollen.getvalue(),
            "deep_3_assignsubmission_file_/x.zip": inner.getvalue(),
            "liar_4_assignsubmission_file_/x.zip": liar,
            "torn_5_assignsubmission_file_/x.zip": swollen.getvalue()[:-30],
        },
    )
    tracemalloc.start()
    taken, rows = choose(course, LESSON, [download])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * downloads.MAX_BYTES
    assert [one.student.id for one in taken] == ["fine"]
    why = {row.student: row.reason for row in rows if row.state is State.REFUSED}
    assert "over 32 MB" in why["big"] and "over 32 MB" in why["swollen"]
    assert "archive in an archive" in why["deep"]
    assert {"liar", "torn"} <= set(why)


def test_other_broken_archives(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.zip").write_text("not a zip")
    assert "broken" in next(iter(refused(course, tmp_path / "text.zip").values()))
    locked = bytearray(zipped(tmp_path / "locked.zip", {"ana.ipynb": MASK}).read_bytes())
    for at in (locked.index(b"PK\x03\x04") + 6, locked.index(b"PK\x01\x02") + 8):
        locked[at] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    assert refused(course, tmp_path / "locked.zip") == {"ana.ipynb": "It is locked with a password."}
    monkeypatch.setattr(downloads, "MAX_ENTRIES", 3)
    many = zipped(tmp_path / "many.zip", {f"s{i}.ipynb": b"" for i in range(4)})
    assert "4 entries" in next(iter(refused(course, many).values()))
    with pytest.raises(CourseError, match="is not there"):
        choose(course, LESSON, [tmp_path / "missing.zip"])


def test_what_was_collected_stays_unless_forced(tmp_path: Path) -> None:
    def states(data: bytes, *, force: bool = False) -> list[State]:
        one = Taken(Student("ana", "ana"), "ana.ipynb", data)
        return [row.state for row in submit(LESSON, [one], folder=tmp_path, force=force)]

    assert states(MASK) == [State.TAKEN]
    assert states(MASK) == [State.UNCHANGED]
    assert states(MARKED) == [State.KEPT]
    (tmp_path / "ana" / LESSON / "timestamp.txt").write_text("2026-01-01")
    assert states(MARKED, force=True) == [State.TAKEN]
    assert [path.name for path in (tmp_path / "ana" / LESSON).iterdir()] == [f"{LESSON}.ipynb"]


def test_numbers_are_noted_and_people_are_not_overruled(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    enter(url, [Student("ana", "Ana López"), Student("bob", "bob", "12")])
    with Gradebook(url) as gradebook:
        gradebook.update_or_create_student("ana", first_name="Ana", last_name="L")
    enter(url, [Student("ana", "Someone Else", "11"), Student("bob", "bob", "99")])
    assert known(url) == {"11": "ana", "12": "bob"}
    with Gradebook(url) as gradebook:
        ana = gradebook.find_student("ana")
        assert (ana.first_name, ana.last_name) == ("Ana", "L")


@pytest.fixture
def copy(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course folder of its own with the same lessons and configuration."""
    root = tmp_path / "course"
    root.mkdir()
    for name in ("solutions", "notebooks", "nbgrader_config.py"):
        (root / name).symlink_to(course.root / name)
    (root / "nbgrader_config.py").unlink()
    (root / "nbgrader_config.py").write_text((course.root / "nbgrader_config.py").read_text())
    monkeypatch.chdir(root)
    return Course(root)


def test_the_command(copy: Course, tmp_path: Path) -> None:
    download = zipped(tmp_path / "x.zip", {"ana.ipynb": MASK, "bob.ipynb": MASK, "../e\x1b]0;ve.ipynb": MASK})
    done = CliRunner().invoke(cli.app, ["collect", LESSON, str(download)])
    assert done.exit_code == 1, done.output
    assert "2 taken, 1 refused" in done.output and "leads out" in done.output
    assert "\x1b" not in done.output
    found = {path.relative_to(copy.grading / "submitted").as_posix() for path in copy.grading.rglob("*.ipynb")}
    assert found == {f"{name}/{LESSON}/{LESSON}.ipynb" for name in ("ana", "bob")}
    assert "../e ]0;ve.ipynb" in (copy.grading / "downloaded" / LESSON / "collected.csv").read_text()


def test_nbgraders_own_command(copy: Course) -> None:
    archive = copy.grading / "downloaded" / LESSON / "archive"
    archive.mkdir(parents=True)
    names = {"Ana María_1_assignsubmission_file_/x.ipynb": MASK, "Zoë_2_assignsubmission_file_/x.ipynb": MARKED}
    zipped(archive / "Course-1.zip", {**names, "../../out_3_assignsubmission_file_/x.ipynb": MASK})
    app = ZipCollectApp()
    app.initialize([LESSON])
    app.start()
    submitted = copy.grading / "submitted"
    assert {p.relative_to(submitted).as_posix(): p.read_bytes() for p in submitted.rglob("*") if p.is_file()} == {
        f"Ana_María/{LESSON}/{LESSON}.ipynb": MASK, f"Zoë/{LESSON}/{LESSON}.ipynb": MARKED
    }  # fmt: skip
    assert "leads out" in (archive.parent / "collected.csv").read_text()
