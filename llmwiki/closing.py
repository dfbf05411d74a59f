"""What is closed at the end of its ``with`` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class ClosedAfterUse(ABC):
    """Closes itself when its ``with`` block ends, in whatever way it ends."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
