"""The benchmark's own results, sooner.

Nothing here may change a result; tests/agentdojo.rs compares with the plain way.
- YAML is read by libyaml's parser instead of the one in Python.
- An environment is copied by pickling. Like `deepcopy`, that keeps shared objects shared.
- A tool result is printed once: what is printed depends on the value's content
  alone, and equal pickles are equal contents (aliases included).
- A comparison of environments skips what is equal.
- A verdict depends on the two environments, the answer and the calls alone.
"""

import collections
import datetime
import enum
import functools
import hashlib
import pickle
import sys
import types

import pydantic.networks as networks
import yaml
from deepdiff.diff import DeepDiff
from pydantic import BaseModel


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


def use_fast_yaml(task_suite_module):
    """Points the benchmark's template loading at libyaml, where PyYAML was built with it."""
    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None:
        return False
    names = {name: getattr(yaml, name) for name in dir(yaml) if not name.startswith("__")}
    names["safe_load"] = lambda stream: yaml.load(stream, loader)
    task_suite_module.yaml = types.SimpleNamespace(**names)
    return True


def remember_addresses():
    """Mail addresses are validated once each; pydantic's rule has no state."""
    networks.validate_email = functools.lru_cache(maxsize=10_000)(networks.validate_email)


def use_fast_diff(package):
    """Environments are compared by `DeepDiff`, which does not look into what is the same object.

    It is handed a second environment in which what equals its counterpart *is* its
    counterpart. The first one and the caller's second one are left as they are.
    """
    for name, module in list(sys.modules.items()):
        if module is None or not (name == package or name.startswith(package + ".")):
            continue
        for attribute, value in list(vars(module).items()):
            if value is DeepDiff:
                setattr(module, attribute, diff)
            elif isinstance(value, functools.partial) and value.func is DeepDiff:
                setattr(module, attribute, functools.partial(diff, *value.args, **value.keywords))


def diff(t1, t2, **options):
    """`DeepDiff(t1, t2, **options)`."""
    try:
        other = thaw(freeze(t2))
    except Exception:
        return DeepDiff(t1, t2, **options)
    return DeepDiff(t1, t1 if _share(t1, other) else other, **options)


def _share(a, b):
    """Whether `a` and `b` are equal all through. Equal parts of `b` are replaced by those of `a`.

    Anything unknown counts as different, which only costs time.
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, BaseModel):
        rest = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
        return _share(vars(a), vars(b)) and all(getattr(a, n, None) == getattr(b, n, None) for n in rest)
    if type(a) is dict:
        equal = list(a) == list(b)
        for key, value in b.items():
            if key in a and _share(a[key], value):
                b[key] = a[key]
            else:
                equal = False
        return equal
    if type(a) is list:
        equal = len(a) == len(b)
        for i in range(min(len(a), len(b))):
            if _share(a[i], b[i]):
                b[i] = a[i]
            else:
                equal = False
        return equal
    return isinstance(a, _LEAVES) and a == b


_LEAVES = (str, int, float, bool, type(None), bytes, enum.Enum, datetime.date, datetime.time, datetime.timedelta)


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
