"""Mistakes that are not in the scenario itself."""


class ResultsError(ValueError):
    """A results directory or an output that cannot be used as asked.

    The message is one line that starts with the path in question.
    """


class ModelError(ValueError):
    """A question that the models cannot be asked; the message is one line."""


class FigureError(ValueError):
    """A figure of the literature that is not what it should be.

    The message is one line: the file, the key, what was given and what would be accepted.
    """


class ColumnError(ValueError):
    """A column that there is not; the message is one line that says what there is."""


class ConditionError(ValueError):
    """A condition that cannot be judged; the message is one line that says what can be."""
