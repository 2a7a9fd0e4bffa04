"""A window that shows pictures one after the other; pygame is imported when the first one comes."""

from __future__ import annotations

from typing import Any

import numpy as np


class Window:
    """Opens with the first picture. Closing it by hand closes it for good; play goes on."""

    def __init__(self, title: str, frames_per_second: int) -> None:
        self._title = title
        self._fps = frames_per_second
        self._screen: Any = None
        self._clock: Any = None
        self._closed = False

    def show(self, pixels: np.ndarray[Any, np.dtype[np.uint8]]) -> None:
        """Show a picture (H, W, 3), and wait so that no more than so many a second are shown."""
        if self._closed:
            return
        from boardenvs.render.raster import import_pygame

        pygame = import_pygame()
        if self._screen is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._screen = pygame.display.set_mode((pixels.shape[1], pixels.shape[0]))
            self._clock = pygame.time.Clock()
        self._screen.blit(pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close the window."""
        if self._screen is not None:
            from boardenvs.render.raster import import_pygame

            import_pygame().display.quit()
            self._screen = None
        self._closed = True
