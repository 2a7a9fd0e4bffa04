"""The settings of learning an evaluation; `configs/evaluation/othello.yaml` explains them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from training.settings import NotNegative, PlyRange, Positive, Section, Share


class GenerationSettings(Section):
    games: Positive = 7_000
    depth: Annotated[int, Field(ge=1, le=100)] = 3
    endgame: Annotated[int, Field(ge=0, le=64)] = 12
    opening_plies: PlyRange = (4, 24)


class FitSettings(Section):
    iterations: Positive = 25
    prior: NotNegative = 3.0
    neighbours: Share = 0.5
