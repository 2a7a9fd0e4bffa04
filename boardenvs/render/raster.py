"""A picture in pixels by pygame: as an array without a display, an animated GIF, a window.

Each distinct drawing is drawn once, larger than needed, and scaled down to smooth its edges; a
picture consists of copies of them.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from boardenvs.game.look import GLOW_AT, Circle, Drawing, Ink, Polygon, Rect, Scene, Shape, Text
from boardenvs.utils.imports import extra

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

OVERSAMPLING = 4
RINGS = 48  # steps of a circle's glow


def import_pygame() -> ModuleType:
    """Return pygame; ImportError with the command that installs it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with extra("render"):
        import pygame
    return pygame


def draw_rgb(scene: Scene, unit: int) -> Pixels:
    """Return the picture, (H, W, 3) uint8, with squares of `unit` pixels."""
    pygame = import_pygame()
    picture = pygame.Surface((round(scene.width * unit), round(scene.height * unit)), 0, 32)
    picture.fill(scene.ground)
    for what in scene.placed:
        at = round(what.x * unit), round(what.y * unit)
        picture.blit(_sprite(what.drawing, unit), at, None, pygame.BLEND_PREMULTIPLIED)
    return np.ascontiguousarray(pygame.surfarray.pixels3d(picture).swapaxes(0, 1))


@lru_cache(maxsize=64)
def _sprite(drawing: Drawing, unit: int) -> Any:
    """Return a surface with premultiplied alpha, so that scaling keeps edges clean."""
    pygame = import_pygame()
    size = (round(drawing.width * unit), round(drawing.height * unit))
    large = pygame.Surface([OVERSAMPLING * length for length in size], pygame.SRCALPHA, 32)
    for shape in drawing.shapes:
        if shape.ink.opacity == 1:
            _draw(pygame, large, shape, OVERSAMPLING * unit)
            continue
        # pygame's shapes replace pixels; only copied surfaces are blended.
        layer = pygame.Surface(large.get_size(), pygame.SRCALPHA, 32)
        _draw(pygame, layer, shape, OVERSAMPLING * unit)
        large.blit(layer, (0, 0))
    return pygame.transform.smoothscale(large.premul_alpha(), size)


def _draw(pygame: ModuleType, surface: Any, shape: Shape, unit: int) -> None:
    match shape:
        case Rect(x, y, width, height, ink, radius):
            left, top = round(x * unit), round(y * unit)
            size = (round((x + width) * unit) - left, round((y + height) * unit) - top)
            pygame.draw.rect(
                surface, _rgba(ink), ((left, top), size), border_radius=round(radius * unit)
            )
        case Circle(x, y, radius, ink, glow):
            if glow is None:
                pygame.draw.circle(surface, _rgba(ink), (x * unit, y * unit), radius * unit)
                return
            # Circles that shrink towards the glow, like a radial gradient with a focus.
            rim, bright = pygame.Color(ink.colour), pygame.Color(glow)
            for ring in range(RINGS):
                part = ring / RINGS
                centre = [
                    (at + part * radius * offset) * unit
                    for at, offset in zip((x, y), GLOW_AT, strict=True)
                ]
                pygame.draw.circle(
                    surface, rim.lerp(bright, part), centre, (1 - part) * radius * unit
                )
        case Polygon(points, ink, edge):
            corners = [(x * unit, y * unit) for x, y in points]
            pygame.draw.polygon(surface, _rgba(ink), corners)
            pygame.draw.lines(surface, _rgba(ink), True, corners, round(2 * edge * unit))
            for corner in corners:
                pygame.draw.circle(surface, _rgba(ink), corner, edge * unit)
        case Text(x, y, text, size, ink):
            pygame.font.init()
            # At 1.2 times the size the bundled font's letters are as large as Helvetica's.
            font = pygame.font.Font(None, round(1.2 * size * unit))
            line = font.render(text, True, ink.colour)
            line.set_alpha(round(255 * ink.opacity))
            surface.blit(line, line.get_rect(center=(x * unit, y * unit)))


def _rgba(ink: Ink) -> str:
    return f"{ink.colour}{round(255 * ink.opacity):02x}"


def write_gif(frames: Sequence[Pixels], seconds: float) -> bytes:
    """Return frames, each (H, W, 3) uint8, as a repeating GIF; the last stays three times as long.

    ImportError if Pillow is missing.
    """
    with extra("render"):
        from PIL import Image
    images = [Image.fromarray(frame).quantize(128) for frame in frames]
    milliseconds = round(1000 * seconds)
    content = io.BytesIO()
    images[0].save(
        content,
        "GIF",
        save_all=True,
        append_images=images[1:],
        duration=[milliseconds] * (len(images) - 1) + [3 * milliseconds],
        loop=0,
        optimize=True,
    )
    return content.getvalue()


class Window:
    """The one window of pygame; it stays closed once the user has closed it."""

    def __init__(self, title: str, frames_per_second: int, picture: Pixels) -> None:
        pygame = import_pygame()
        pygame.display.init()
        pygame.display.set_caption(title)
        pygame.display.set_mode(picture.shape[1::-1])
        self._fps, self._clock = frames_per_second, pygame.time.Clock()

    def show(self, picture: Pixels) -> None:
        """Show a picture (H, W, 3), and wait to keep to the number of frames per second."""
        pygame = import_pygame()
        if not pygame.display.get_init():
            return
        shown = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        pygame.display.get_surface().blit(shown, (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
        else:
            self._clock.tick(self._fps)

    def close(self) -> None:
        """Close the window."""
        import_pygame().display.quit()
