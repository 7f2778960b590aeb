"""pandas, for those who have it: it is imported only when a frame is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dabp.errors import DabpError


def frame(columns: Mapping[str, Any]) -> Any:
    """A ``pandas.DataFrame`` with these columns."""
    try:
        import pandas as pd
    except ImportError:
        raise DabpError("a frame needs pandas, which is not installed: pip install pandas") from None
    return pd.DataFrame(dict(columns))
