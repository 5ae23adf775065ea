"""MinIO: a client gets objects, or parts of them, from many servers.

The settings are those of the client that makes the requests. Sources: the AWS CLI's page on the
configuration of S3 (`max_concurrent_requests`, 10 by default, and `multipart_chunksize`, 8MB by
default) and boto3's `TransferConfig` (`max_concurrency`, 10 by default, for one transfer). No
setting bounds the number of servers from which one MinIO server reads the shards of an object.
"""

from incast.advise.apps.app import App, Throttle, answer, at_once
from incast.advise.words import Words

_REQUESTS = "requests that one client has in flight, each to one server"


def _limit(count: int) -> Words:
    return Words(
        "# ~/.aws/config of the client (AWS CLI); in boto3, TransferConfig(max_concurrency="
        f"{count})\n[default]\ns3 =\n    max_concurrent_requests = {count}",
        "Remove the line, or the argument: the default is 10.",
    )


APP = App(
    "minio",
    _limit,
    {
        "max_concurrent_requests": Throttle(_REQUESTS, at_once),
        "max_concurrency": Throttle(_REQUESTS, at_once),
        "multipart_chunksize": Throttle("bytes of a part; one request asks for one part", answer),
    },
)
