from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of plans."""
    (tmp_path / "plans").mkdir()
    return tmp_path / "plans"
