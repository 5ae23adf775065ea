"""Values in the pictures of a capture."""

import numpy as np

from incast.diagnose.pictures import kilobytes


def test_sequence_numbers_are_relative_to_the_first_and_may_wrap() -> None:
    numbers = np.array([2**32 - 2000, 2**32 - 1000, 0, 3000, 2**32 - 3000])
    assert kilobytes(numbers).tolist() == [0.0, 1.0, 2.0, 5.0, -1.0]
