# Lets a program in Python, started by `feros run`, say what to do about a module that it lacks.
#
# Python imports this module when it starts, from an archive in memory. The module removes its
# archive from the path and closes the descriptor, so that neither the program nor its processes meet
# it, and loads the module with the same name that Python would have found without it.
import os
import sys
from importlib.machinery import PathFinder

COMMAND, PROGRAM = COMMAND_WORDS


def explain(kind, error, trace):
    before(kind, error, trace)
    if not issubclass(kind, ModuleNotFoundError) or not error.name:
        return
    import subprocess

    try:
        sys.stderr.flush()
        words = [COMMAND, "run", "--explain", f"ModuleNotFoundError: {error}", PROGRAM]
        subprocess.run(words, check=False)
    except (AttributeError, OSError, ValueError):
        pass  # no standard error, or no command any more: the traceback has to suffice


def remove(archive):
    sys.path[:] = [folder for folder in sys.path if folder != archive]
    sys.path_importer_cache.pop(archive, None)
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = os.pathsep.join(folder for folder in folders if folder != archive)
    os.environ.pop("PYTHONPATH", None)
    if rest:
        os.environ["PYTHONPATH"] = rest
    os.close(int(os.path.basename(archive)))


def load_next():
    spec = PathFinder.find_spec(__name__)
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec

    sys.modules[__name__] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


remove(os.path.dirname(__file__))
load_next()
before = sys.excepthook  # the next module may have set it
sys.excepthook = explain
