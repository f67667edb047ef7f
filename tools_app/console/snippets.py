"""The same call as a command: curl and Python, with the token taken from the environment."""

from __future__ import annotations

import shlex

TOKEN_VARIABLE = "OPENJARVIS_TOKEN"  # noqa: S105  (a name, not a secret)


def curl_command(url: str, body: str) -> str:
    """Return a command for a POSIX shell that posts ``body`` exactly as it is."""
    return "\n  ".join(
        (
            f"curl -sS {shlex.quote(url)} \\",
            f'-H "Authorization: Bearer ${TOKEN_VARIABLE}" \\',
            "-H 'Content-Type: application/json' \\",
            f"--data-raw {shlex.quote(body)}",
        )
    )


def python_program(url: str, body: str) -> str:
    """Return a program of the standard library that posts ``body`` exactly as it is."""
    return f"""import os, urllib.request

request = urllib.request.Request(
    {url!r},
    data={body!r}.encode(),
    headers={{
        "Authorization": "Bearer " + os.environ["{TOKEN_VARIABLE}"],
        "Content-Type": "application/json",
    }},
)
print(urllib.request.urlopen(request).read().decode())
"""
