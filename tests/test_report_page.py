"""Reports in one HTML file."""

import base64
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from variants import make, random_record

from boardenvs.report import Document, ReportTable
from boardenvs.report.figures import drawing, to_svg

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


def test_pictures_are_written_and_in_the_page(tmp_path):
    document = Document("Arena")
    document.picture("othello/ratings.svg", "Ratings", lambda: SVG)
    document.text("![x](../secret.svg) ![y](https://example.org/seen.svg)")
    document.write(tmp_path)
    page = (tmp_path / "report.html").read_text()
    (source,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert base64.b64decode(source) == SVG == (tmp_path / "othello" / "ratings.svg").read_bytes()
    assert page.count("<img") == 1
    assert "![Ratings](othello/ratings.svg)" in (tmp_path / "report.md").read_text()


def test_html_in_a_report_is_text():
    document = Document("<b>x</b>")
    document.text("<script>alert(1)</script>")
    document.table(ReportTable([{"a": "<i>"}]))
    document.picture("x.svg", '"><u>', lambda: SVG)
    page = document.page()
    assert "<script" not in page
    assert "<u>" not in page
    assert "<i>" not in page
    assert "<title>&lt;b&gt;x&lt;/b&gt;</title>" in page
    assert "<td>&lt;i&gt;</td>" in page
    assert ReportTable([], "<b>x</b>").html().count("&lt;b&gt;x&lt;/b&gt;") == 1


def test_numbers_stand_to_the_right_in_the_tables_of_a_report():
    names = ("player", "rating", "interval", "loss", "kind", "games")
    rows = [
        ("random", "1,000", "0.5 to 1", "", "8 empty squares", "none"),
        ("greedy", "-3.5e+01", "0 to ?", "2½", "16 empty squares", "2"),
        ("perfect", "1", "2", "", "", ""),
    ]
    table = ReportTable([dict(zip(names, row, strict=True)) for row in rows]).markdown()
    assert table.splitlines()[1] == "| --- | ---: | ---: | ---: | --- | ---: |"


def test_a_learning_curve_is_of_scores_within_their_intervals(monkeypatch):
    report = pytest.importorskip("training.report")
    scores = [(0.25, 0.125, 0.375), (0.5, 0.25, 0.625)]
    counted = {"wins": 1, "draws": 2, "losses": 3}
    results = [
        report.SuiteResult(
            steps=(step + 1) * 10**6,
            minutes=1,
            cpu_minutes=1,
            scores={"random": {"score": score, "low": low, "high": high, **counted}},
        )
        for step, (score, low, high) in enumerate(scores)
    ]
    monkeypatch.setattr(report, "to_svg", lambda figure, title: figure)
    (axes,) = report.draw_learning_curve(results, 10**6).axes
    best, line = axes.lines
    assert (best.get_xdata(), line.get_label()) == ([1, 1], "random")
    assert line.get_xydata().tolist() == [[1, 0.25], [2, 0.5]]
    (band,) = axes.collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    assert corners == {(1, 0.125), (2, 0.25), (1, 0.375), (2, 0.625)}


FOUND = """
# tiny: wolf_and_sheep, seed 7

3,000 steps in 12.3 minutes of wall time and 45.6 of CPU time, evaluations included. Made with \
torch 2, numpy 3. The best policy is that of step 2,000, chosen by the exact solution.

![Scores over steps](learning_curve.svg)

## Against the report's opponents

8 games each, on openings that did not choose the policy; a draw counts ½. *Shielded* takes a win \
in one and avoids a loss in one.

| opponent | player | score | 95 % interval | won / drawn / lost |
| --- | --- | ---: | ---: | ---: |
| random | policy | 0.625 | 0.250 to 0.750 | 4 / 2 / 1 |
| random | policy, shielded | 0.875 | 0.500 to 1.000 | 6 / 2 / 0 |

## By the exact solution

Of all positions that games can reach and a role has won, the share in which its move keeps the win.

| metric | policy | policy, shielded |
| --- | ---: | ---: |
| wolf keeps | 0.5 | 0.75 |

## What to do next
"""


def test_a_report_of_a_training_says_what_was_found(monkeypatch):
    report = pytest.importorskip("training.report")
    monkeypatch.setattr(report, "draw_learning_curve", lambda results, best: SVG)
    numbers = (0.625, 0.25, 0.75, 4, 2, 1), (0.875, 0.5, 1, 6, 2, 0)
    names = ("score", "low", "high", "wins", "draws", "losses")
    kinds = ("policy", "policy, shielded")
    final = report.FinalEvaluation(
        scores={
            kind: {"random": dict(zip(names, its, strict=True))}
            for kind, its in zip(kinds, numbers, strict=True)
        },
        samples=[random_record(make("tictactoe"))],
        exact={kind: {"wolf keeps": x} for kind, x in zip(kinds, (0.5, 0.75), strict=True)},
    )
    suite = SimpleNamespace(opponents=("random",), pairs=4)
    config = SimpleNamespace(name="tiny", seed=7, evaluation=suite, report=suite)
    best = SimpleNamespace(steps=2000, exact={"wolf keeps": 0.5})
    game = make("wolf_and_sheep")
    run = SimpleNamespace(
        config=config, best=best, steps=3000, game=game, folder=Path("runs"), results=[]
    )
    result = {"minutes": 12.34, "cpu_minutes": 45.6, "made_with": {"torch": 2, "numpy": 3}}
    text = report._document(run, final, result).markdown()
    assert text.startswith(FOUND.lstrip())
    best.exact = {}
    text = report._document(run, final, result).markdown()
    assert "step 2,000, chosen by its worst score against random." in text


def test_names_of_others_keep_their_signs():
    """What Markdown takes for a cell's end, and matplotlib for a formula."""
    table = ReportTable([{"player": "a|b", "rating": "1"}])
    assert table.markdown().splitlines()[2] == r"| a\|b | 1 |"
    document = Document("x")
    document.table(table)
    assert "<td>a|b</td>" in document.page()
    pytest.importorskip("matplotlib")
    with drawing(2, 1) as figure:
        assert ">$a and $b</text>" in (picture := to_svg(figure, "$a and $b").decode())
    assert "<dc:date>" not in picture  # so that the same run writes the same files
