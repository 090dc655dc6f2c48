"""The registry: what a plug-in file may define, and what becomes of mistakes in it."""

import json
import types
import warnings

import plugins
import pytest

import baselines
from experiments.errors import UserError
from experiments.output.readme import REPOSITORY
from experiments.runner import registry
from experiments.runner.experiments import Selection, check_selected, jobs_in, profile_of

pytestmark = pytest.mark.usefixtures("no_plugins")


EVERYTHING = (
    plugins.BOTH
    + '''
def halves(dataset, trial):
    """Halves of the rows."""
    raise NotImplementedError

PROTOCOLS = {"halves": halves}
METRICS = {"always-half": lambda y, p: 0.5, "misses": (lambda y, p: 1.0, "low")}
EXPERIMENTS = {"mine": {"methods": ["shallow", "cart"]}}
PROFILES = {"my-profile": {"parts": [{"experiment": "mine", "protocol": "paper", "trials": 2}]}}
TABLES = {"my-table": {"title": "Mine", "experiment": "mine"}}
PRINTED = {"their-table": {"csv": "theirs.csv"}}
'''
)


class TestOneFile:
    def test_offers_everything_that_has_a_name_and_is_documented(self, tmp_path):
        text = (REPOSITORY / "experiments" / "README.md").read_text(encoding="utf-8")
        assert [name for name in registry.READERS if f"`{name}`" not in text] == []
        path = plugins.write(tmp_path, EVERYTHING)
        registry.use([path])
        offered = {
            kind: list(registry.from_plugins(kind)) for kind, *_ in registry.READERS.values()
        }
        assert offered == {
            "learner": ["shallow"],
            "dataset": ["my-shop"],
            "protocol": ["halves"],
            "metric": ["always-half", "misses"],
            "experiment": ["mine"],
            "profile": ["my-profile"],
            "table": ["my-table"],
            "printed": ["their-table"],
        }
        assert registry.find("metric", "misses").better == "low"
        line = EVERYTHING[: EVERYTHING.index("PRINTED")].count("\n") + 1
        told = {"csv": tmp_path / "theirs.csv", "where": f"{path}, line {line}"}
        assert registry.entries("printed")["their-table"] == told
        jobs = jobs_in(profile_of("my-profile"), Selection(datasets=["my-shop"]))
        assert {(job.method, job.trial) for job in jobs} == {
            (method, trial) for method in ("shallow", "cart") for trial in (0, 1)
        }

    def test_a_protocol_has_another_version_when_its_function_changes(self, tmp_path):
        versions = []
        for number, body in enumerate(["return 1", "return 2", "return 2"]):
            text = f"def cut(dataset, trial):\n    {body}\nPROTOCOLS = {{'cut-{number}': cut}}\n"
            registry.use([plugins.write(tmp_path, text, f"p{number}.py")])
            versions.append(registry.find("protocol", f"cut-{number}").version)
        assert versions[0] != versions[1] == versions[2]

    @pytest.mark.parametrize("name", ["json.py", "a, b/mine, too.py", "random.py"])
    def test_may_have_any_name_and_hides_no_module(self, tmp_path, name, python):
        path = plugins.write(tmp_path, plugins.LEARNER, name)
        code = (
            f"from experiments.runner import registry; registry.use([{str(path)!r}]); "
            "import json, random; print(json.dumps([registry.learner('shallow').name, "
            "registry.plugin_files(), 0 <= random.random() < 1]))"
        )
        assert json.loads(python(code)) == ["Shallow tree", [str(path)], True]

    def test_helpers_beside_it_can_be_imported(self, tmp_path):
        plugins.write(tmp_path, "DEPTH = 7\n", "r2_helper_of_mine.py")
        text = "from r2_helper_of_mine import DEPTH\n" + plugins.LEARNER.replace(": 2}", ": DEPTH}")
        registry.use([plugins.write(tmp_path, text)])
        assert registry.learner("shallow").defaults("binary") == {"max_depth": 7}


LINE = plugins.LEARNER.split("LEARNER =")[0].count("\n") + 1
PART = {"experiment": "tuned", "protocol": "paper"}
MISTAKES = [
    ("LEARNER = Learner(", 1, "was never closed"),
    ("import missing_package_xyz", 1, "ModuleNotFoundError"),
    ("x = 1\nraise SystemExit(3)", 2, "SystemExit"),
    ("x = 1", 1, "nothing is offered"),
    (plugins.LEARNER.replace('Learner("s', 'str("s').split(', "Sh')[0] + ")", LINE, "is a str"),
    (plugins.LEARNER.replace('"shallow"', '"My Learner"'), LINE, "lower-case"),
    (plugins.LEARNER.replace('"shallow"', '"cart"'), LINE, "there is a learner 'cart' already"),
    (plugins.LEARNER.replace('"1", defaults', "1, defaults"), LINE, "version is 1"),
    (plugins.LEARNER.replace(": 2}", ": np.int64(2)}"), LINE, "numpy.int64"),
    (plugins.LEARNER.replace("[1, 2, 3]", "np.arange(3)"), LINE, "no numpy.ndarray"),
    (plugins.LEARNER.replace("space=", "needs='x', space="), LINE, "Write tuple[str, ...], no str"),
    (plugins.LEARNER.replace("Shallow tree", "CART"), LINE, "there is a learner 'CART' already"),
    (plugins.LEARNER.replace("Shallow tree", "Small, fast"), LINE, "without commas"),
    (plugins.LEARNER.replace("split, params, seed", "X, y"), LINE, "Write Callable[["),
    (plugins.LEARNER.replace('{"max_depth": 2}', "{2: 2}"), LINE, "is {2: 2}"),
    (plugins.LEARNER.replace(": 2}", ": [np.int64(2)]}"), LINE, "[np.int64(2)]"),
    ("x = '\0'", 1, "null bytes"),
    (plugins.LEARNER.replace("return {", "return 1 / 0, {"), LINE, "ZeroDivisionError"),
    (plugins.LEARNER.replace("defaults, fit", "defaults, None"), LINE, "fit is None"),
    (plugins.LEARNER + "LEARNERS = [LEARNER]\n", LINE, "already"),
    (plugins.BOTH.replace('"y")}', '"why")}'), 25, "no column 'why'"),
    (plugins.BOTH.replace('(_frame, "y")}', "_frame}"), 25, "pandas table, target"),
    (plugins.BOTH.replace("My shop", "Iris"), 25, "there is a dataset 'iris' already"),
    ("METRICS = [len]", 1, "Write METRICS = {name: f(y, p)"),
    ("METRICS = {'mine': 3}", 1, "'mine' of METRICS: it is 3, no function"),
    ("METRICS = {'mine': lambda y: 1}", 1, "no function of two arguments"),
    ("METRICS = {'test_f1': max}", 1, "lower-case"),
    ("PROFILES = {'p': {'prats': []}}", 1, "unknown key 'prats'"),
    ("PROFILES = {'p': {'parts': [{'experimnt': 'tuned'}]}}", 1, "unknown key 'experimnt'"),
    ("PROFILES = {'p': {'parts': ['tuned']}}", 1, "a part is a str"),
    ("PROFILES = {'p': {'parts': [{'experiment': 'tuned'}]}}", 1, "a part lacks its protocol"),
    (f"PROFILES = {{'p': {{'parts': {PART}}}}}", 1, "Write [{key: value}, …]"),
    *(
        (f"PROFILES = {{'p': {{'parts': [\n{{**{PART}, {change}}}]}}}}", line, told)
        for change, line, told in [
            ("'datasets': 'iris'", 1, "Literal['all', 'fresh', 'regression'], list[str]"),
            ("'datasets': ['irsi']", 2, "did you mean iris"),
            ("'methods': ['crat']", 2, "did you mean cart"),
            ("'protocol': 'claen'", 2, "did you mean clean"),
            ("'experiment': 'tunde'", 2, "did you mean tuned"),
        ]
    ),
    ("PROFILES = {'p': {'includes': ['smok']}}", 1, "did you mean smoke"),
    (
        "PROFILES = {'p': {'parts': [dict(experiment='e', protocol='p', datasets={'rows': 3})]}}",
        *(1, "conditions are"),
    ),
    ("TABLES = {'t': 3}", 1, "is a int"),
    ("EXPERIMENTS = ['tuned']", 1, "Write EXPERIMENTS = {name"),
    ("EXPERIMENTS = {'e': {'methods': ['cart'], 'seed': 3}}", 1, "unknown key 'seed'"),
    ("EXPERIMENTS = {'e': {\n'methods': ['crat']}}", 2, "did you mean cart"),
    ("EXPERIMENTS = {'e': {'methods': ['cart'], 'setting': 'ous'}}", 1, "'published', 'ours']"),
    ("EXPERIMENTS = {'e': {'methods': ['cart'], 'seeds': '12'}}", 1, "Sequence[int]"),
    ("EXPERIMENTS = {'e': {'methods': ['cart'],\n'overrides': {'crat': {}}}}", 2, "mean cart"),
    (
        "import numpy as np\n"
        "EXPERIMENTS = {'e': {'methods': ['cart'], 'repeats': [{'a': np.int64(3)}]}}",
        *(2, "repeats is [{'a': np.int64(3)}]"),
    ),
    ("PROTOCOLS = {'p': 3}", 1, "no function"),
]


class TestMistakes:
    @pytest.mark.parametrize(("text", "line", "told"), MISTAKES)
    def test_are_two_lines_that_name_file_and_line(self, tmp_path, text, line, told):
        path = plugins.write(tmp_path, text)
        with pytest.raises(UserError) as caught:
            registry.use([path])
        message = str(caught.value)
        assert told in message
        assert f"{path}, line {line}: " in message
        assert len(message.splitlines()) <= 2


def test_a_broken_module_of_the_checkout_stops_only_itself(monkeypatch):
    real = baselines.importlib.import_module

    def broken(name: str) -> types.ModuleType:
        if name == "baselines.boosting":
            raise SyntaxError("half a file")
        return real(name)

    monkeypatch.setattr(baselines.importlib, "import_module", broken)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = [learner.slug for learner in baselines._discover()]
    assert "cart" in found
    assert "boosting" not in found
    assert "boosting.py left out" in str(told[0].message)


@pytest.mark.usefixtures("plugged")
class TestNamedMethods:
    """A named method is run or refused, never dropped."""

    def test_without_a_name_they_join_the_default_experiment(self):
        jobs = jobs_in(profile_of("paper"), Selection(datasets=["my-shop"]))
        where = {job.experiment for job in jobs if job.method == "shallow"}
        assert where == {"default"}

    @pytest.mark.parametrize(
        ("profile", "chosen", "told"),
        [
            ("paper", Selection(methods=["cart", "gradtree-tuned"], experiments=["tuned"]),
             "method 'gradtree-tuned'"),
            ("smoke", Selection(datasets=["iris", "adult"]), "dataset 'adult'"),
            ("paper", Selection(protocols=["paper", "clean"]), "protocol 'clean'"),
            ("smoke", Selection(experiments=["tuned", "nested"]), "experiment 'nested'"),
        ],
    )  # fmt: skip
    def test_what_cannot_run_is_refused(self, profile, chosen, told):
        with pytest.raises(UserError, match=told):
            check_selected(profile_of(profile), chosen, jobs_in(profile_of(profile), chosen))
