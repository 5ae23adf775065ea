"""Ray: a node pulls objects from the nodes that have them.

Source: Ray's list of settings (`ray_config_def.h`). `object_manager_max_bytes_in_flight` (2 GiB by
default) bounds the bytes that a node sends at a time. This setting is a variable in the environment
of `ray start`, with the prefix `RAY_`. No setting bounds the number of nodes from which a node
pulls. The program can bound this number, because `ray.wait` fetches only the objects that it is
given (Ray's page "Fetching too many objects at once").
"""

from incast.advise.apps.app import App, Throttle, answer
from incast.advise.words import Words, python


def _limit(count: int) -> Words:
    return python(
        "import ray\n\n"
        f"under_way, waiting = refs[:{count}], refs[{count}:]  # instead of ray.get(refs)\n"
        "while under_way:\n"
        "    ready, under_way = ray.wait(under_way)  # fetches only the objects in under_way\n"
        "    under_way, waiting = under_way + waiting[:1], waiting[1:]\n"
        "    use(ray.get(ready[0]))"
    )


_KEY = "object_manager_max_bytes_in_flight"

APP = App(
    "ray",
    _limit,
    {
        name: Throttle("bytes that a node sends at a time, to all other nodes together", answer)
        for name in (f"RAY_{_KEY}", _KEY)
    },
)
