"""A clock that stands still: the same episode gives the same bytes on any day.

Tools stamp mails, files and orders with `datetime.now()`. The modules of the
benchmark see a stand-in for `datetime` that makes real `datetime` objects and
differs in the current time alone. Each executed call moves it on by one second, so
that "most recent" keeps its meaning.
"""

import datetime as real
import sys

START = real.datetime(2024, 5, 15, 12, 0, 0)
_elapsed = 0


def set_elapsed(seconds):
    """Sets the clock to `seconds` after the start of an episode."""
    global _elapsed
    _elapsed = seconds


def now(tz=None):
    """The current time of the running episode."""
    stamp = START + real.timedelta(seconds=_elapsed)
    return stamp if tz is None else stamp.replace(tzinfo=real.timezone.utc).astimezone(tz)


class _StandIn(type):
    """Behaves as the real class in calls, `isinstance`, attributes and comparison."""

    def __call__(cls, *args, **kwargs):
        return cls.real(*args, **kwargs)

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.real)

    def __subclasscheck__(cls, subclass):
        return issubclass(getattr(subclass, "real", subclass), cls.real)

    def __getattr__(cls, name):
        return getattr(cls.real, name)

    def __eq__(cls, other):
        return other is cls.real or other is cls

    def __hash__(cls):
        return hash(cls.real)


class _DateTime(metaclass=_StandIn):
    real = real.datetime
    now = staticmethod(now)
    today = staticmethod(lambda: now())
    utcnow = staticmethod(lambda: now())


class _Date(metaclass=_StandIn):
    real = real.date
    today = staticmethod(lambda: now().date())


class _Module:
    """Stands in for the module `datetime`."""

    datetime = _DateTime
    date = _Date

    def __getattr__(self, name):
        return getattr(real, name)


def freeze(package):
    """Freezes the clock in every loaded module of `package`. Call it after all imports."""
    stand_in = _Module()
    for name, module in list(sys.modules.items()):
        if module is None or not (name == package or name.startswith(package + ".")):
            continue
        for attribute, value in list(vars(module).items()):
            if value is real:
                setattr(module, attribute, stand_in)
            elif value is real.datetime:
                setattr(module, attribute, _DateTime)
            elif value is real.date:
                setattr(module, attribute, _Date)
    _freeze_default_factories(package)


def _freeze_default_factories(package):
    """Fields whose default is the current time took the real clock when their class was made."""
    from pydantic import BaseModel

    models = [m for m in _subclasses(BaseModel) if m.__module__.startswith(package + ".")]
    models = [m for m in models if getattr(sys.modules.get(m.__module__), m.__name__, None) is m]
    clocks = {real.datetime.now: now, real.datetime.today: now, real.date.today: _Date.today}
    found = False
    for model in models:
        for field in model.model_fields.values():
            try:
                frozen = clocks.get(field.default_factory)
            except TypeError:  # an unhashable factory is none of these
                continue
            if frozen is not None:
                field.default_factory = lambda frozen=frozen: frozen()
                found = True
    if found:  # compiled schemas are copied into those of the models around them
        for model in models:
            if "__pydantic_core_schema__" in vars(model):
                del model.__pydantic_core_schema__
        for model in models:
            model.model_rebuild(force=True)


def _subclasses(cls):
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)
