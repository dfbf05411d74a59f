import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of an environment that has nothing of the project but its wheel.

    The dependencies are those of the test's own environment, seen through a path file, since
    installing them anew would take longer than all other tests.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, CHECKOUT], check=True)
    (wheel,) = folder.glob("llmwiki_compiler-*.whl")
    venv.create(folder / "environment", with_pip=False)
    (site_packages,) = (folder / "environment").glob("lib/python*/site-packages")
    install = [*pip, "install", "--no-deps", "--no-warn-script-location", wheel]
    python = folder / "environment/bin/python"
    subprocess.run([*install[:3], "--python", python, *install[3:]], check=True)
    own = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
    (site_packages / "dependencies.pth").write_text(f"{own}\n")
    return folder / "environment/bin"


def test_a_wheel_outside_the_checkout_migrates_and_runs_a_night(
    installed: Path, reachable_folder: Path
) -> None:
    docs = reachable_folder / "docs"
    docs.mkdir()
    (docs / "pump.md").write_text("# Pump\n\nThe pump moves water through the pipe.\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(reachable_folder),
        "LLMWIKI_DATABASE_URL": f"embedded:{reachable_folder / 'database'}",
        "LLMWIKI_EMBEDDER__PROVIDER": "hashing",
    }

    def run(*command: str) -> str:
        result = subprocess.run(
            command,
            cwd=reachable_folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    python, llmwiki = str(installed / "python"), str(installed / "llmwiki")
    location = run(python, "-c", "import llmwiki; print(llmwiki.__file__)")
    assert str(installed.parent) in location
    run(llmwiki, "migrate")
    run(llmwiki, "ingest", "docs", "--collection", "docs")
    assert "1 compiled" in run(python, "-m", "jobs.nightly")
    assert "moves water" in run(llmwiki, "page", "pump", "--collection", "docs")
