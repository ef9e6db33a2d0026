"""Texts in double quotes, under the name by which the bundle and resolver rules know them."""

from shared.domain.gotext import quoted

__all__ = ["quoted"]
