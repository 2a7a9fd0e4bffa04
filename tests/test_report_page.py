"""Reports in one HTML file."""

import base64
import re
from xml.etree import ElementTree

import pytest

from boardenvs.report import Document, ReportTable

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
    page = document.page()
    assert "<script" not in page
    assert "<i>" not in page
    assert "<title>&lt;b&gt;x&lt;/b&gt;</title>" in page
    assert "<td>&lt;i&gt;</td>" in page


def test_training_puts_games_and_settings_in():
    pytest.importorskip("sb3_contrib")
    from variants import make, random_record

    from training.config import Config
    from training.evaluation import FinalEvaluation
    from training.report import _add_games_and_settings

    config = Config(name="demo", game="othello", steps=100)
    judged = FinalEvaluation(
        scores={}, exact={}, ratings={}, samples=[random_record(make("othello"))]
    )
    document = Document("Demo")
    _add_games_and_settings(document, config, judged)
    page = document.page()
    assert "<iframe srcdoc=" in page
    assert "\ngame: othello\n" in page
    assert "samples" not in judged.model_dump()


def test_curves_are_smoothed_by_means():
    pytest.importorskip("sb3_contrib")
    from training.plots import _smoothed

    values = [float(n * n % 17) for n in range(40)]
    around = [values[max(0, place - 2) : place + 3] for place in range(40)]
    assert _smoothed(values, 5) == pytest.approx([sum(x) / len(x) for x in around])
    assert _smoothed([1.0, float("nan"), 3.0], 3) == [1.0, 2.0, 3.0]


def test_numbers_stand_to_the_right_in_the_tables_of_a_report():
    names = ("player", "rating", "interval", "loss", "kind")
    rows = [
        ("random", "1,000", "0.5 to 1", "", "8 empty squares"),
        ("greedy", "-3.5e+01", "0 to ?", "2½", "16 empty squares"),
    ]
    table = ReportTable([dict(zip(names, row, strict=True)) for row in rows]).markdown()
    assert table.splitlines()[1] == "| --- | ---: | ---: | ---: | --- |"


def draw_curves():
    """The pictures of a training of many opponents."""
    from training import plots
    from training.evaluation import Score, SuiteResult

    score = Score(score=0.4, low=0.1, high=0.9, wins=4, draws=0, losses=6)
    scores = dict.fromkeys(("random", "greedy", "positional", "alphabeta:depth=5"), score)
    results = [SuiteResult(steps=n * 10**6, minutes=n, scores=scores, exam=0.5) for n in range(9)]
    metrics = [{"steps": n, "train/entropy": 1.0 / (n + 1), "games/pool": 0.9} for n in range(99)]
    yield plots.learning_curve("demo", results, results[3], scores, scores)
    yield plots.metrics_over_steps("demo", metrics)


def test_pictures_have_text_of_12_pixels_and_colours_for_light_and_dark():
    pytest.importorskip("sb3_contrib")
    from training.plots import rating_scale

    ratings = {"policy": (100.0, None, 120.0), "random": (0.0, 0.0, 0.0)}
    for drawn in (*draw_curves(), rating_scale("demo", ratings, ["policy"])):
        svg = ElementTree.fromstring(drawn)
        a_unit = float(svg.get("width").removesuffix("pt")) / float(svg.get("viewBox").split()[2])
        texts = list(svg.iter("{http://www.w3.org/2000/svg}text"))
        sizes = [float(re.search(r"([\d.]+)px", text.get("style"))[1]) for text in texts]
        assert min(sizes) * a_unit * 96 / 72 >= 12
        assert all("fill: var(--" in text.get("style") for text in texts)
        (style,) = [part.text for part in svg.iter("{http://www.w3.org/2000/svg}style")][:1]
        light, dark = style.split("@media (prefers-color-scheme: dark)")
        assert re.findall("--[a-z]+", light) == re.findall("--[a-z]+", dark)
        assert not {b"fill: #ffffff", b"stroke: #000000"} & set(re.findall(rb"\w+: #\w+", drawn))


def test_legends_are_where_no_data_can_be(monkeypatch):
    pytest.importorskip("sb3_contrib")
    from training import plots

    monkeypatch.setattr(plots, "to_svg", lambda figure, title: figure)
    for figure in draw_curves():
        figure.draw_without_rendering()
        legends = [a.get_legend() for a in figure.axes if a.get_legend()] + figure.legends
        assert legends
        for legend in legends:
            box = legend.get_window_extent()
            assert all(figure.bbox.contains(*corner) for corner in box.corners())
            assert not any(box.overlaps(axes.bbox) for axes in figure.axes if axes.get_visible())
