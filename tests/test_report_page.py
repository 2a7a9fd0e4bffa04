"""Reports in one HTML file."""

import base64
import re
from xml.etree import ElementTree

import pytest

from boardenvs.utils.html import report_page
from boardenvs.utils.tables import markdown_table

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


def test_pictures_are_in_the_file_but_for_those_outside_of_the_folder(tmp_path):
    (tmp_path / "secret.svg").write_bytes(SVG)
    run = tmp_path / "run"
    (run / "othello").mkdir(parents=True)
    (run / "othello" / "ratings.svg").write_bytes(SVG)
    text = "# Arena\n\n![Ratings](othello/ratings.svg) ![x](../secret.svg) ![y](missing.svg)\n"
    (source,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', report_page(text, run))
    assert base64.b64decode(source) == SVG


def test_html_in_a_report_is_text(tmp_path):
    page = report_page(
        "# <b>x</b>\n\n<script>alert(1)</script>\n\n| a |\n|---|\n| <i> |\n", tmp_path
    )
    assert "<script" not in page
    assert "<i>" not in page
    assert "<title>&lt;b&gt;x&lt;/b&gt;</title>" in page
    assert "<td>&lt;i&gt;</td>" in page


def test_training_puts_games_and_settings_in(tmp_path):
    pytest.importorskip("sb3_contrib")
    from variants import make, random_record

    from training.config import Config
    from training.evaluation import FinalEvaluation
    from training.report import _html

    config = Config(name="demo", game="othello", steps=100)
    judged = FinalEvaluation(
        scores={}, exact={}, ratings={}, samples=[random_record(make("othello"))]
    )
    page = _html("# Demo\n", tmp_path, config, judged)
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
    rows = [
        ("random", "1,000", "0.5 to 1", "", "8 empty squares"),
        ("greedy", "-3.5e+01", "0 to ?", "2", "16 empty squares"),
    ]
    table = markdown_table(("player", "rating", "interval", "loss", "kind"), rows)
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

    monkeypatch.setattr(plots, "_svg", lambda figure, title: figure)
    for figure in draw_curves():
        figure.draw_without_rendering()
        legends = [a.get_legend() for a in figure.axes if a.get_legend()] + figure.legends
        assert legends
        for legend in legends:
            box = legend.get_window_extent()
            assert all(figure.bbox.contains(*corner) for corner in box.corners())
            assert not any(box.overlaps(axes.bbox) for axes in figure.axes if axes.get_visible())
