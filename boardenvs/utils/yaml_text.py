"""YAML of others, read without harm."""

from __future__ import annotations

from typing import Any

from boardenvs.utils.checks import cut

# Lists and groups within one another; PyYAML takes seconds for some thousands, then gives up.
_DEPTH = 50


def parse_yaml(text: str) -> Any:
    """The value of a YAML text, made of plain values alone; needs PyYAML.

    ValueError where it is no YAML, or its values are more than 50 levels deep.
    """
    import yaml

    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEPTH:
                raise ValueError("too many lists are in one another")
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"this is not YAML: {cut(str(error), 300)}") from None
