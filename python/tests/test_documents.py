"""The Python blocks of the guide and of README.md run in order."""

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", ["docs/src/python.md", "python/README.md"])
def test_blocks_of(page: str, tmp_path: Path) -> None:
    blocks = BLOCK.findall((ROOT / page).read_text())
    assert blocks
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        for number, block in enumerate(blocks):
            exec(compile(block, f"{page}, block {number}", "exec"), names)
    finally:
        os.chdir(before)


@pytest.mark.filterwarnings("default")
def test_the_notebook(tmp_path: Path) -> None:
    notebook = nbformat.read(ROOT / "docs" / "src" / "python.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    shown = [{kind for output in of for kind in output.get("data", {})} for of in outputs]
    assert "text/html" in shown[1], "the page of the paper"
    assert "image/png" in shown[4], "the curves"
    assert "text/html" in shown[5], "the time-sequence picture"
    assert "second" in shown_text(outputs[6])


def shown_text(outputs: list[Any]) -> str:
    return "".join(output["data"]["text/plain"] for output in outputs)
