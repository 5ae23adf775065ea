"""Errors outside the scenario."""


class ResultsError(ValueError):
    """A results directory or an output that cannot be used as requested.

    The message is one line that starts with the path in question.
    """


class ModelError(ValueError):
    """A question that the models cannot answer; the message is one line."""


class FigureError(ValueError):
    """A figure of the literature that is not valid.

    The message is one line: the file, the key, the given value and what it must be.
    """


class ColumnError(ValueError):
    """A column that does not exist; the message is one line with a suggestion."""


class ConditionError(ValueError):
    """A condition that is not valid; the message is one line that states what it must be."""


class LiveError(ValueError):
    """A request that real hosts on this machine cannot carry out; the message is one line."""


class FetchError(ValueError):
    """A failed or impossible read from real servers; the message is one line."""


class AdviceError(ValueError):
    """Advice that is not possible, or unreadable input for advice; the message is one line."""


class CaptureError(ValueError):
    """A capture that cannot be read; the message is one line that starts with the file."""


class ExploreError(ValueError):
    """The explorer cannot be served; the message is one line."""
