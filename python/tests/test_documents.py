"""The Python blocks of the guide and of README.md run in order."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", ["docs/src/python.md", "python/README.md"])
def test_blocks_of(page: str, tmp_path: Path) -> None:
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    names: dict[str, Any] = {}
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for number, block in enumerate(blocks):
            exec(compile(block, f"{page}, block {number}", "exec"), names)
    finally:
        os.chdir(before)
