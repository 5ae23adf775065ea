"""Delay differential equations, solved by the fourth-order Runge-Kutta method in fixed steps."""

from __future__ import annotations

from collections.abc import Callable

State = tuple[float, ...]
Past = Callable[[float], State]
"""A function that returns the state at an earlier time in seconds; before 0, the initial state."""


class History:
    """States on a grid of times, with cubic Hermite interpolation between these times.

    Parameters
    ----------
    initial
        The state at time 0 and before.
    step
        Width of the grid, seconds.
    """

    def __init__(self, initial: State, step: float) -> None:
        self.states = [initial]
        self.slopes: list[State] = []
        self._step = step

    def __call__(self, time: float) -> State:
        """Return the state at `time`, which must not be later than the newest known slope."""
        position = time / self._step
        if position <= 0:
            return self.states[0]
        left = min(int(position), len(self.slopes) - 2)
        if left < 0:
            return self.states[0]
        s, h = position - left, self._step
        rest = 1 - s
        here, there = (1 + 2 * s) * rest * rest, s * s * (3 - 2 * s)
        rise, fall = s * rest * rest * h, -s * s * rest * h
        states, slopes = self.states, self.slopes
        return tuple(
            [
                here * a + there * b + rise * da + fall * db
                for a, b, da, db in zip(
                    states[left], states[left + 1], slopes[left], slopes[left + 1], strict=True
                )
            ]
        )


def integrate(
    derivative: Callable[[float, State, Past], State],
    initial: State,
    steps: int,
    step: float,
    confine: Callable[[State], State],
) -> list[State]:
    """Return the states at 0, `step`, ... `steps` x `step`.

    Parameters
    ----------
    derivative
        Function of the time, the state and the past. The function may use past states that are at
        least one step old.
    initial
        The state at time 0 and before.
    steps
        Number of steps.
    step
        Width of a step, seconds.
    confine
        Function that corrects an impossible state, such as a negative queue, after each step.

    Notes
    -----
    The method is of fourth order where the equation is smooth and no delay is below one step. The
    method is of first order at kinks, such as a queue that becomes empty.
    """
    history = History(initial, step)
    state, half = initial, step / 2
    for n in range(steps):
        time = n * step
        k1 = derivative(time, state, history)
        history.slopes.append(k1)
        k2 = derivative(time + half, _ahead(state, k1, half), history)
        k3 = derivative(time + half, _ahead(state, k2, half), history)
        k4 = derivative(time + step, _ahead(state, k3, step), history)
        state = confine(
            tuple(
                x + step / 6 * (a + 2 * b + 2 * c + d)
                for x, a, b, c, d in zip(state, k1, k2, k3, k4, strict=True)
            )
        )
        history.states.append(state)
    return history.states


def _ahead(state: State, slope: State, time: float) -> State:
    return tuple(x + time * dx for x, dx in zip(state, slope, strict=True))
