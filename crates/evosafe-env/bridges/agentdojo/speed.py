"""The benchmark's own results, sooner.

Nothing here may change a result; tests/agentdojo_speed.rs compares with the plain way.
- YAML is read by libyaml's parser instead of the one in Python.
- An environment is copied by pickling. Like `deepcopy`, that keeps shared objects shared.
- A tool result is printed once: what is printed depends on the value's content
  alone, and equal pickles are equal contents (aliases included).
- A verdict depends on the two environments, the answer and the calls alone.
"""

import collections
import hashlib
import pickle
import types

import yaml


class Memo:
    """A bounded table; the least recently used entry goes first."""

    def __init__(self, entries, max_bytes=None):
        self.table = collections.OrderedDict()
        self.entries = entries
        self.max_bytes = max_bytes
        self.bytes = 0

    def get(self, key, compute):
        if key in self.table:
            self.table.move_to_end(key)
            return self.table[key]
        value = compute()
        self.table[key] = value
        self.bytes += len(value) if self.max_bytes else 0
        while len(self.table) > self.entries or (self.max_bytes and self.bytes > self.max_bytes):
            _, dropped = self.table.popitem(last=False)
            self.bytes -= len(dropped) if self.max_bytes else 0
        return value


def digest(*parts):
    """A key for a `Memo`. Parts are length-prefixed."""
    h = hashlib.blake2b(digest_size=24)
    for part in parts:
        h.update(len(part).to_bytes(8, "little"))
        h.update(part)
    return h.digest()


def freeze(value):
    """Bytes from which `thaw` makes independent copies."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


thaw = pickle.loads


def use_fast_yaml(task_suite_module, yaml_loader_module):
    """Points the benchmark's template loading at libyaml, where PyYAML was built with it."""
    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None:
        return False
    names = {name: getattr(yaml, name) for name in dir(yaml) if not name.startswith("__")}
    names["safe_load"] = lambda stream: yaml.load(stream, loader)
    task_suite_module.yaml = types.SimpleNamespace(**names)
    del yaml_loader_module  # `!include` files are read once a process: not worth touching
    return True


class ResultPrinter:
    """The benchmark's tool result formatter with a memory."""

    def __init__(self, plain):
        self.plain = plain
        self.memo = Memo(entries=20_000, max_bytes=64 << 20)

    def __call__(self, result):
        if isinstance(result, str):
            return self.plain(result)
        try:
            key = digest(freeze(result))
        except Exception:
            return self.plain(result)  # not picklable: print it every time
        return self.memo.get(key, lambda: self.plain(result))
