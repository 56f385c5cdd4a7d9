"""What rings when a verdict changes: a command of the user's, a webhook, and the ping whose absence is the alarm.

None of them can hold up the watch for longer than its limit, and one that fails is said and changes no verdict. What a
URL holds after its host may be a secret, so it is never shown.

Source: the dead man's switch of Prometheus (an alert that always fires) and of ping services: who hears nothing pages.
Blind to: whether anybody reads what arrives.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from affidavit.fact.errors import AffidavitError, refusal

HOOK_SECONDS = 60.0
URL_SECONDS = 10.0
_STDERR = 2
"""Where a hook's output goes: ours may be a document that a program reads."""


class AddressError(AffidavitError):
    """A URL that nothing is ever sent to."""


def checked(url: str) -> str:
    """Return a URL that can be called.

    Raises:
        AddressError: it is no http(s) address; a file or an empty host would be an alarm that never rings.
    """
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise AddressError(
            refusal(
                subject="URL",
                expected="http:// or https:// and a host",
                saw=url.partition("?")[0][:60] or "nothing",
                means="Nothing would ever be sent there, so nothing is watched.",
                action="Give the whole address.",
                unaffected="the run",
            )
        )
    return url


def run_hook(command: str, told: Mapping[str, str], *, seconds: float = HOOK_SECONDS) -> str:
    """Run a command of the user's in a shell, cut off with all it started after its time; return what went wrong."""
    try:
        started = subprocess.Popen(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=_STDERR,
            env={**os.environ, **told},
            start_new_session=True,
        )
    except OSError as error:
        return f"hook: {error.strerror or error}"
    try:
        code = started.wait(seconds)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()
        return f"hook: cut off after {seconds:g} s"
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        raise
    return f"hook: it ended with exit code {code}" if code else ""


def post(url: str, document: object, *, seconds: float = URL_SECONDS) -> str:
    """Send a JSON document to a webhook; return what went wrong, or ""."""
    body = json.dumps(document, allow_nan=False).encode()
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"}, method="POST")
    return _called(request, "webhook", seconds)


def ping(url: str, *, seconds: float = URL_SECONDS) -> str:
    """Say to a ping service that the run lives; return what went wrong, or ""."""
    return _called(urllib.request.Request(url, method="GET"), "ping", seconds)


def _called(request: urllib.request.Request, what: str, seconds: float) -> str:
    """Call, in a thread: looking up a name has no time limit, and neither has a host that answers a byte at a time."""
    problems: list[str] = []
    calling = threading.Thread(target=lambda: problems.append(_problem(request, seconds)), daemon=True)
    calling.start()
    calling.join(seconds)
    problem = problems[0] if problems else f"no answer within {seconds:g} s"
    return f"{what} to {urlsplit(request.full_url).hostname}: {problem}" if problem else ""


def _problem(request: urllib.request.Request, seconds: float) -> str:
    request.add_header("User-Agent", "affidavit")
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds):
            return ""
    except urllib.error.HTTPError as error:
        error.close()
        return f"it answered {error.code}"
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return type(error).__name__


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected POST arrives as an empty GET somewhere else; whoever moved the address must say so."""

    def redirect_request(self, *_: object) -> None:
        return None
