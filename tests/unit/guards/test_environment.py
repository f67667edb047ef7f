"""The environment of child processes."""

from __future__ import annotations

import pytest

from tools_app.guards.environment import EnvironmentRefused, child_environment, is_refused_variable

SERVICE = {
    "PATH": "/usr/bin",
    "LANG": "C.UTF-8",
    "LC_TIME": "C",
    "TZ": "UTC",
    "HOME": "/srv/service",
    "DATABASE_URL": "postgres://u:p@h/d",
    "OPENAI_API_KEY": "sk-x",
    "OPENJARVIS_SECRET_KEY": "x",
    "PYTHONPATH": "/srv",
    "LD_PRELOAD": "/x.so",
    "SSH_AUTH_SOCK": "/x",
}

REFUSED = """
    PATH NODE_OPTIONS NODE_PATH PYTHONHOME PYTHONPATH PERL5LIB PERL5OPT RUBYLIB RUBYOPT BASH_ENV
    ENV GIT_EXTERNAL_DIFF SHELL SHELLOPTS PS4 GCONV_PATH IFS SSLKEYLOGFILE LD_PRELOAD
    LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_FUNC_ls%% ld_preload Path pythonpath
""".split()  # noqa: SIM905 - a table
ALLOWED = """
    MY_VAR NODE_ENV ENVIRONMENT PATHS LDFLAGS DYLD PYTHONUNBUFFERED GIT_AUTHOR_NAME SHELL_LEVEL
    IFS_X HOME LANG _X a1
""".split()  # noqa: SIM905 - a table


def test_only_the_allow_list_is_inherited() -> None:
    assert child_environment(inherited=SERVICE) == {
        "PATH": "/usr/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "C",
        "TZ": "UTC",
    }


def test_there_is_always_a_path() -> None:
    assert child_environment(inherited={})["PATH"] == "/usr/local/bin:/usr/bin:/bin"
    prepended = child_environment(inherited=SERVICE, path_prepend=["/opt/a", "/opt/b"])
    assert prepended["PATH"] == "/opt/a:/opt/b:/usr/bin"


def test_home_is_the_scratch_folder() -> None:
    environment = child_environment(inherited=SERVICE, home="/scratch/1")
    assert (environment["HOME"], environment["TMPDIR"]) == ("/scratch/1", "/scratch/1")


@pytest.mark.parametrize("name", REFUSED)
def test_must_block(name: str) -> None:
    assert is_refused_variable(name)
    with pytest.raises(EnvironmentRefused):
        child_environment({name: "x"}, inherited={})


@pytest.mark.parametrize("name", ALLOWED)
def test_must_pass(name: str) -> None:
    assert not is_refused_variable(name)
    assert child_environment({name: "x"}, inherited={})[name] == "x"


@pytest.mark.parametrize(
    ("name", "value"), [("", "x"), ("A=B", "x"), ("1A", "x"), ("A", "x\0y"), ("A", 3), ("A B", "")]
)
def test_malformed_variables_are_refused(name: str, value: str) -> None:
    with pytest.raises(EnvironmentRefused):
        child_environment({name: value}, inherited={})
