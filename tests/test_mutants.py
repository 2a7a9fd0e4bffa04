"""The list of planted errors fits the code: `make mutants` tries whether tests see them."""

import pytest
from mutants.__main__ import ROOT, mutants


@pytest.mark.parametrize("mutant", mutants(), ids=str)
def test_what_is_to_be_replaced_stands_there_once(mutant):
    assert (ROOT / mutant.path).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.new != mutant.old
    for test in mutant.tests:
        path, _, name = test.partition("::")
        text = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert f"def {name.partition('[')[0]}" in text
