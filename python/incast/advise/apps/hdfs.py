"""HDFS with erasure coding: a client reads a stripe from many data nodes.

Source: hdfs-default.xml. `dfs.client.read.striped.threadpool.size` (18 by default) is the number of
threads that read the cells of stripes in parallel.
"""

from incast.advise.apps.app import App, Throttle, at_once
from incast.advise.words import Words

_KEY = "dfs.client.read.striped.threadpool.size"


def _limit(count: int) -> Words:
    return Words(
        "<!-- hdfs-site.xml of the client -->\n"
        f"<property>\n  <name>{_KEY}</name>\n  <value>{count}</value>\n</property>",
        "Remove the property: the default is 18.",
    )


APP = App(
    "hdfs",
    _limit,
    {_KEY: Throttle("cells of stripes that a client reads at a time", at_once)},
)
