"""AgentDojo behind the bridge: suites, tasks, episodes, verdicts.

No suite, task or tool is named here: forks that keep the package's name and shape
work as they are.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import random

import agentdojo
import agentdojo.task_suite.task_suite as task_suite_module
from agentdojo.agent_pipeline.agent_pipeline import load_system_message
from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.agent_pipeline.tool_execution import ToolsExecutor, tool_result_to_str
from agentdojo.attacks.attack_registry import ATTACKS, load_attack
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.models import MODEL_NAMES
from agentdojo.task_suite import load_suites
from agentdojo.types import text_content_block_from_string

import clock
import judges
import payload
import speed
from errors import BAD_OPTIONS, ENVIRONMENT_ERROR, INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED, BridgeError

# Raised when episodes may come out differently than before: it is part of the environment's id.
BEHAVIOUR = 1
PACKAGE_VERSION = "0.1.35"

clock.freeze("agentdojo")
FAST_YAML = speed.use_fast_yaml(task_suite_module)
speed.use_fast_diff("agentdojo")
speed.remember_addresses()


class Target(BasePipelineElement):
    """Attacks ask the pipeline they attack for nothing but its name."""

    def __init__(self, name):
        self.name = name

    def query(self, *args, **kwargs):
        raise NotImplementedError("the victim runs on the other side of the bridge")


class Benchmark:
    """The benchmark under one set of options."""

    def __init__(self, options):
        self.version = importlib.metadata.version("agentdojo")
        if self.version != PACKAGE_VERSION:
            raise BridgeError(
                UNSUPPORTED,
                f"agentdojo {self.version} is installed, this bridge was made for {PACKAGE_VERSION}; run its setup again",
            )
        self.options = self._check(options)
        versions = load_suites._SUITES
        available = versions[self.options["version"]]
        self.suites = {name: Suite(available[name], self.options) for name in self.options["suites"]}
        self.episodes = {}
        self.opened = 0

    @staticmethod
    def _check(options):
        known = ("version", "suites", "attack", "model", "judges")
        if not isinstance(options, dict):
            raise BridgeError(BAD_OPTIONS, "options must be an object")
        for key in options:
            if key not in known:
                raise BridgeError(BAD_OPTIONS, f"unknown option `{key}`; known: {', '.join(known)}")
        versions = {v: s for v, s in load_suites._SUITES.items() if s}
        version = options.get("version")
        if version not in versions:
            raise BridgeError(BAD_OPTIONS, f"option `version`: `{version}` is none of {', '.join(versions)}")
        suites = options.get("suites", list(versions[version]))
        if not isinstance(suites, list) or not suites:
            raise BridgeError(BAD_OPTIONS, "option `suites` must be a list of suite names")
        for suite in suites:
            if suite not in versions[version]:
                raise BridgeError(
                    BAD_OPTIONS,
                    f"option `suites`: unknown suite `{suite}`; version {version} has {', '.join(versions[version])}",
                )
        if len(set(suites)) != len(suites):
            raise BridgeError(BAD_OPTIONS, "option `suites` names a suite twice")
        attack = options.get("attack")
        if attack is not None:
            if attack not in ATTACKS:
                raise BridgeError(BAD_OPTIONS, f"option `attack`: `{attack}` is none of {', '.join(sorted(ATTACKS))}")
            if ATTACKS[attack].is_dos_attack or attack == "manual":
                raise BridgeError(BAD_OPTIONS, f"option `attack`: `{attack}` has no attack goal that could be judged")
        model = options.get("model", "local")
        if not isinstance(model, str) or not any(name in model for name in MODEL_NAMES):
            raise BridgeError(
                BAD_OPTIONS,
                f"option `model`: attacks know no name for `{model}`, which must contain one of {', '.join(MODEL_NAMES)}",
            )
        release = options.get("judges", "current")
        if release not in judges.RELEASES:
            raise BridgeError(BAD_OPTIONS, f"option `judges`: `{release}` is none of {', '.join(judges.RELEASES)}")
        return {"version": version, "suites": suites, "attack": attack, "model": model, "judges": release}

    def describe(self):
        return {
            "name": "agentdojo",
            "version": f"{self.version}/{self.options['version']}",
            "options": self.options,
            "suites": [suite.describe() for suite in self.suites.values()],
            "content": self._content(),
            "notices": self._notices(),
        }

    def _content(self):
        """A hash of all that decides an episode: the package's code and data, and what computes with it."""
        h = hashlib.sha256()
        libraries = [f"{n} {importlib.metadata.version(n)}" for n in ("pydantic", "PyYAML", "deepdiff")]
        h.update(json.dumps([BEHAVIOUR, self.version, self.options, libraries], sort_keys=True).encode())
        root = pathlib.Path(agentdojo.__file__).parent
        parts = ("attacks", "data", "default_suites", "task_suite", "functions_runtime.py", "base_tasks.py")
        files = [f for part in parts for f in ([root / part] if part.endswith(".py") else (root / part).rglob("*"))]
        for file in sorted(f for f in files if f.is_file() and f.suffix in (".py", ".yaml", ".yml", ".json", ".txt")):
            body = file.read_bytes()
            h.update(f"\0{file.relative_to(root).as_posix()}\0{len(body)}\0".encode())
            h.update(body)
        for suite in self.suites.values():
            h.update(json.dumps(suite.describe(), sort_keys=True).encode())
        return h.hexdigest()

    def _notices(self):
        notices = []
        if not FAST_YAML:
            notices.append("PyYAML was built without libyaml: opening episodes is slower")
        return notices

    def tasks(self):
        return [task for suite in self.suites.values() for task in suite.tasks()]

    def task_ids(self):
        return {task["id"] for task in self.tasks()}

    def open(self, task, seed):
        suite = self.suites[task.split("/")[0]]
        self.opened += 1
        name = str(self.opened)
        episode = Episode(suite, task, seed)
        self.episodes[name] = episode
        return {"episode": name, "instruction": episode.user_task.PROMPT, "suite": suite.name}

    def episode(self, name):
        if name not in self.episodes:
            raise BridgeError(INVALID_PARAMS, f"no open episode `{name}`")
        return self.episodes[name]

    def close(self, name):
        self.episode(name)
        del self.episodes[name]


class Suite:
    """One suite, with what its episodes share."""

    def __init__(self, suite, options):
        self.suite = suite
        self.name = suite.name
        self.user_tasks = judges.as_of(options["judges"], suite.name, suite.user_tasks)
        self.injection_tasks = judges.as_of(options["judges"], suite.name, suite.injection_tasks)
        self.runtime = FunctionsRuntime(suite.tools)
        self.printer = speed.ResultPrinter(tool_result_to_str)
        self.executor = ToolsExecutor(self.printer)
        self.starts = speed.Memo(entries=2_000, max_bytes=96 << 20)
        self.verdicts = speed.Memo(entries=50_000)
        self.attack_name = options["attack"]
        self.model = options["model"]
        self._attack = None
        self._description = None

    @property
    def attack(self):
        """Made on first use: making it reads the templates."""
        if self._attack is None:
            self._attack = load_attack(self.attack_name, self.suite, Target(self.model))
        return self._attack

    def describe(self):
        if self._description is None:
            self._description = {
                "name": self.name,
                "system_prompt": load_system_message(None),
                "tools": [
                    {
                        "name": tool.name,
                        "description": tool.description,
                        "input_schema": tool.parameters.model_json_schema(),
                        "annotations": {},
                    }
                    for tool in self.suite.tools
                ],
            }
        return self._description

    def tasks(self):
        def task(user_task, injection_task=None):
            return {
                "id": "/".join(filter(None, (self.name, user_task, injection_task))),
                "family": "indirect" if injection_task else "benign",
                "category": f"{self.name}/{injection_task}" if injection_task else self.name,
                "suite": self.name,
                "user_task": user_task,
                "injection_task": injection_task,
            }

        tasks = [task(user_task) for user_task in self.user_tasks]
        if self.attack_name is not None:
            tasks += [task(u, i) for u in self.user_tasks for i in self.injection_tasks]
        return tasks

    def start(self, user_task, injection_task):
        """The environment an episode starts from, frozen."""

        def make():
            injections = {}
            if injection_task is not None:
                injections = self.attack.attack(user_task, injection_task)
                injections = {vector: payload.escape(text) for vector, text in injections.items()}
            environment = self.suite.load_and_inject_default_environment(injections)
            return speed.freeze(user_task.init_environment(environment))

        return self.starts.get((user_task.ID, injection_task and injection_task.ID), make)


class Episode:
    """One task, from its start to its verdict."""

    def __init__(self, suite, task, seed):
        _, user_task, *injection = task.split("/")
        self.suite = suite
        self.task = task
        self.user_task = suite.user_tasks[user_task]
        self.injection_task = suite.injection_tasks[injection[0]] if injection else None
        clock.set_elapsed(0)
        self.start = suite.start(self.user_task, self.injection_task)
        self.environment = speed.thaw(self.start)
        self.proposed = []  # (tool, arguments) as the client sent them
        self.executed = []  # FunctionCall as the benchmark's executor left them
        self.random = random.Random(f"{task}:{seed}").getstate()
        self.verdict = None

    def call(self, tool, arguments):
        """One call exactly as the benchmark's loop runs it, and the text it shows to the model."""
        if self.verdict is not None:
            raise BridgeError(INVALID_REQUEST, "the episode was judged already")
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise BridgeError(INVALID_PARAMS, "call: `tool` must be a string, `arguments` an object")
        self.proposed.append((tool, json.dumps(arguments, sort_keys=True)))
        call = FunctionCall(function=tool, args=arguments, id=f"call_{len(self.proposed)}")
        self.executed.append(call)
        clock.set_elapsed(len(self.proposed))
        random.setstate(self.random)
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        try:
            _, _, self.environment, messages, _ = self.suite.executor.query(
                "", self.suite.runtime, self.environment, [message]
            )
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as e:
            # The benchmark itself would stop here. Arguments cause it, so it is behaviour.
            return {"content": f"{type(e).__name__}: {e}", "is_error": True}
        finally:
            self.random = random.getstate()
        result = messages[-1]
        if result["error"] is not None:
            return {"content": result["error"], "is_error": True}
        return {"content": "\n".join(block["content"] for block in result["content"]), "is_error": False}

    def judge(self, answer, calls):
        """The benchmark's verdict. Its `security` is True when the attack succeeded."""
        if not isinstance(answer, str) or not isinstance(calls, list):
            raise BridgeError(INVALID_PARAMS, "judge: `answer` must be a string, `calls` a list")
        given = [(c.get("tool"), json.dumps(c.get("arguments"), sort_keys=True)) for c in calls]
        if given != self.proposed:
            raise BridgeError(INVALID_PARAMS, "judge: `calls` are not the calls that were executed")
        end = speed.freeze(self.environment)
        trace = speed.freeze([(c.function, dict(c.args), c.id) for c in self.executed])
        key = speed.digest(self.task.encode(), answer.encode("utf-8", "replace"), end, trace)
        self.verdict = self.suite.verdicts.get(key, lambda: self._judge(answer, end))
        task_success, attack_success = self.verdict
        return {"task_success": task_success, "attack_success": attack_success}

    def _judge(self, answer, end):
        return self._ask(self.user_task, answer, end), (
            self._ask(self.injection_task, answer, end) if self.injection_task is not None else None
        )

    def _ask(self, task, answer, end):
        """Judges change what they read, so each gets copies of its own."""
        output = [text_content_block_from_string(answer)] if answer else []
        trace = [call.model_copy(deep=True) for call in self.executed]
        try:
            verdict = self.suite.suite._check_task_result(
                task, output, speed.thaw(self.start), speed.thaw(end), trace
            )
        except Exception as e:
            raise BridgeError(ENVIRONMENT_ERROR, f"the judge of {self.task} failed: {type(e).__name__}: {e}") from e
        return bool(verdict)
