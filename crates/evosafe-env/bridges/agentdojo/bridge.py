"""Bridge between evosafe and AgentDojo: JSON-RPC 2.0, one message a line.

Requests come on standard input, answers go to standard output; both are taken
away from the benchmark first, so that nothing a library prints or reads can be
mistaken for protocol. Standard error is log. docs/formats.md, section "bridge
protocol", is the contract.

The process ends when standard input does, and a watchdog ends it when its parent
is gone although standard input is still open somewhere.
"""

import importlib.metadata
import json
import os
import sys
import threading
import time
import traceback

from errors import (
    ENVIRONMENT_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_ALLOWED,
    PARSE_ERROR,
    UNSUPPORTED,
    BridgeError,
)

PROTOCOL = 1
MAX_LINE = 64 * 1024 * 1024


def take_stdio():
    """Takes the protocol's two streams away from everybody else in this process."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    os.dup2(2, 1)
    sys.stdin = open(0, closefd=False)
    sys.stdout = sys.stderr
    return requests, answers


def watch_parent(parent):
    """Ends the process once `parent` is no longer its parent, whatever the main thread does."""

    def watch():
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(3)

    threading.Thread(target=watch, name="watchdog", daemon=True).start()


def pin_hash_seed():
    """Sets are listed in hash order by some tools, so string hashes must not be random."""
    if sys.flags.hash_randomization:
        env = dict(os.environ, PYTHONHASHSEED="0")
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], env)


def installed():
    """What is installed, for messages."""
    try:
        return importlib.metadata.version("agentdojo")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


class Server:
    """Maps methods to the benchmark, which is imported by `describe` and not before."""

    def __init__(self):
        self.benchmark = None
        self.allowed = None

    def dispatch(self, method, params):
        handler = getattr(self, f"do_{method}", None)
        if handler is None:
            raise BridgeError(METHOD_NOT_FOUND, f"unknown method `{method}`")
        if method != "describe" and self.benchmark is None:
            raise BridgeError(INVALID_REQUEST, "`describe` must come first")
        try:
            return handler(**params)
        except TypeError as e:
            if e.__traceback__.tb_next is None:  # raised by the call itself: wrong parameters
                raise BridgeError(INVALID_PARAMS, f"{method}: {e}") from e
            raise

    def do_describe(self, options):
        if self.benchmark is not None:
            raise BridgeError(INVALID_REQUEST, "`describe` was called before")
        try:
            from dojo import Benchmark
        except ImportError as e:
            raise BridgeError(UNSUPPORTED, f"cannot import agentdojo ({installed()}): {e}") from e
        self.benchmark = Benchmark(options)
        return dict(self.benchmark.describe(), protocol=PROTOCOL)

    def do_tasks(self):
        return {"tasks": self.benchmark.tasks()}

    def do_allow(self, ids=None, all=False):
        """Fixes what may be opened. A second call can only narrow it."""
        if (ids is None) != bool(all):
            raise BridgeError(INVALID_PARAMS, "allow: give either `ids` or `all: true`")
        known = self.benchmark.task_ids()
        wanted = known if all else set(ids)
        if unknown := sorted(wanted - known):
            raise BridgeError(INVALID_PARAMS, f"allow: unknown task `{unknown[0]}` ({len(unknown)} unknown)")
        if self.allowed is not None and not wanted <= self.allowed:
            raise BridgeError(NOT_ALLOWED, "allow: the list of allowed tasks can only be narrowed")
        self.allowed = wanted
        return {"allowed": len(wanted)}

    def do_open(self, task, seed):
        if self.allowed is None:
            raise BridgeError(NOT_ALLOWED, "`allow` must come before `open`")
        if task not in self.allowed:
            raise BridgeError(NOT_ALLOWED, f"task `{task}` is not among those this bridge may open")
        return self.benchmark.open(task, seed)

    def do_call(self, episode, tool, arguments):
        return self.benchmark.episode(episode).call(tool, arguments)

    def do_judge(self, episode, answer, calls):
        return self.benchmark.episode(episode).judge(answer, calls)

    def do_close(self, episode):
        self.benchmark.close(episode)
        return {}


def answer(server, line):
    """The answer to one line, as a JSON-ready object."""
    request_id = None
    try:
        try:
            request = json.loads(line)
        except ValueError as e:
            raise BridgeError(PARSE_ERROR, f"not JSON: {e}") from e
        if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or "id" not in request:
            raise BridgeError(INVALID_REQUEST, "not a JSON-RPC 2.0 request")
        request_id = request["id"]
        method, params = request.get("method"), request.get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            raise BridgeError(INVALID_REQUEST, "`method` must be a string and `params` an object")
        return {"jsonrpc": "2.0", "id": request_id, "result": server.dispatch(method, params)}
    except BridgeError as e:
        error = {"code": e.code, "message": e.message}
    except Exception as e:
        traceback.print_exc()
        error = {"code": ENVIRONMENT_ERROR, "message": f"{type(e).__name__}: {e}"[:4000]}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def encode(message):
    """One line of UTF-8. Half a surrogate pair is not text, and readers refuse it."""
    line = json.dumps(message, ensure_ascii=False)
    return line.encode("utf-8", "replace") + b"\n"


def main():
    pin_hash_seed()
    requests, answers = take_stdio()
    if len(sys.argv) > 1:
        watch_parent(int(sys.argv[1]))
    server = Server()
    while line := requests.readline(MAX_LINE):
        if not line.endswith(b"\n"):
            break  # cut off by the end of the stream, or too long to be ours
        answers.write(encode(answer(server, line)))
        answers.flush()


if __name__ == "__main__":
    main()
